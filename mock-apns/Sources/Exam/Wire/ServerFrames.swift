import HTTP2

/// The server's frames as bytes.
enum ServerFrames {
    typealias Setting = (identifier: UInt16, value: UInt32)

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = payload.count
        let head = [
            UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
            UInt8(truncatingIfNeeded: length),
        ]
        return head + [type, flags] + bytes(UInt32(bitPattern: stream)) + payload
    }

    static func settings(_ settings: [Setting]) -> [UInt8] {
        let payload = settings.flatMap { setting -> [UInt8] in
            [UInt8(setting.identifier >> 8), UInt8(truncatingIfNeeded: setting.identifier)] + bytes(setting.value)
        }
        return frame(Frame.settings, payload)
    }

    static func goAway(last: Int32, _ code: ErrorCode, reason: String?) -> [UInt8] {
        let text = reason.map { "{\"reason\":\"\($0)\"}" } ?? ""
        return frame(Frame.goAway, bytes(UInt32(bitPattern: last)) + bytes(code.rawValue) + Array(text.utf8))
    }

    static func reset(_ stream: Int32, _ code: ErrorCode) -> [UInt8] {
        frame(Frame.reset, stream: stream, bytes(code.rawValue))
    }

    static func windowUpdate(_ stream: Int32, by increment: UInt32) -> [UInt8] {
        frame(Frame.windowUpdate, stream: stream, bytes(increment))
    }

    /// An answer: HEADERS, and DATA where there is a body. Its fields are literals without indexing (RFC 7541 section 6.2.2).
    ///
    /// - Parameter fields: names in lower case; names and values shorter than 127 bytes.
    static func answer(_ stream: Int32, status: Int, fields: [(name: String, value: String)], body: String?) -> [UInt8]
    {
        // Static entry 8 is `:status 200`, and lends its name.
        var block: [UInt8] = status == 200 ? [0x88] : [0x08] + text(String(status))
        for field in fields { block += [0x00] + text(field.name) + text(field.value) }
        guard let body else {
            return frame(Frame.headers, flags: Frame.endHeaders | Frame.endStream, stream: stream, block)
        }
        return frame(Frame.headers, flags: Frame.endHeaders, stream: stream, block)
            + frame(Frame.data, flags: Frame.endStream, stream: stream, Array(body.utf8))
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        precondition(bytes.count < 127, "a header text of \(bytes.count) bytes")
        return [UInt8(bytes.count)] + bytes
    }

    static func bytes(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}

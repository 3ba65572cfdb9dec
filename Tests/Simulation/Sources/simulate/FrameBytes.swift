/// HTTP/2 frames as arrays of bytes (RFC 9113 section 4.1), written here once more so that nothing of what is tested is used.
enum FrameBytes {
    static func frame(_ type: UInt8, _ flags: UInt8, _ stream: Int32, _ payload: [UInt8], length: Int? = nil) -> [UInt8]
    {
        let count = UInt32(length ?? payload.count)
        var bytes = number(count << 8 | UInt32(type))
        bytes.append(flags)
        bytes += number(UInt32(bitPattern: stream))
        bytes += payload
        return bytes
    }

    /// Four bytes, the highest first.
    static func number(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    static func settings(_ entries: [(UInt16, UInt32)]) -> [UInt8] {
        var payload: [UInt8] = []
        for (identifier, value) in entries {
            payload += [UInt8(identifier >> 8), UInt8(identifier & 255)]
            payload += number(value)
        }
        return frame(4, 0, 0, payload)
    }

    static func goAway(last: Int32, code: UInt32) -> [UInt8] {
        frame(7, 0, 0, number(UInt32(bitPattern: last)) + number(code))
    }

    /// `types`' names, for people.
    static func name(_ type: UInt8) -> String {
        let names = [
            "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE",
            "CONTINUATION",
        ]
        return Int(type) < names.count ? names[Int(type)] : "frame \(type)"
    }
}

/// Cuts a stream of bytes into frames, however it comes.
struct FrameCutter {
    struct Frame {
        let type: UInt8
        let flags: UInt8
        let stream: Int32
        let payload: [UInt8]
        /// Where the frame begins and ends in the whole stream.
        let start: Int
        let end: Int
        var bytes: [UInt8] { FrameBytes.frame(type, flags, stream, payload) }
    }

    private(set) var rest: [UInt8] = []
    private(set) var position = 0

    mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) { rest += bytes }

    mutating func next() -> Frame? {
        guard rest.count >= 9 else { return nil }
        let length = Int(rest[0]) << 16 | Int(rest[1]) << 8 | Int(rest[2])
        guard rest.count >= 9 + length else { return nil }
        let frame = Frame(
            type: rest[3], flags: rest[4], stream: Int32(bitPattern: FrameBytes.number(rest[5..<9]) & 0x7FFF_FFFF),
            payload: Array(rest[9..<(9 + length)]), start: position, end: position + 9 + length)
        rest.removeFirst(9 + length)
        position += 9 + length
        return frame
    }

    mutating func skip(_ count: Int) {
        rest.removeFirst(count)
        position += count
    }
}

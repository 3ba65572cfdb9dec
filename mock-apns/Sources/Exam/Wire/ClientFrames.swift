import HTTP2

/// A frame of the client's.
struct ClientFrame {
    let type: UInt8
    let flags: UInt8
    let stream: Int32
    let payload: [UInt8]

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    /// The payload of DATA or HEADERS without padding and priority (RFC 9113 sections 6.1 and 6.2); nil when it is too short for
    /// what its flags say.
    var content: ArraySlice<UInt8>? {
        var content = payload[...]
        if has(Frame.padded) {
            guard let padding = content.popFirst(), content.count >= Int(padding) else { return nil }
            content = content.dropLast(Int(padding))
        }
        if type == Frame.headers, has(Frame.hasPriority) {
            guard content.count >= 5 else { return nil }
            content = content.dropFirst(5)
        }
        return content
    }

    /// Four bytes at a place of the payload as a number; nil where there are none.
    func number(at place: Int) -> UInt32? {
        guard payload.count >= place + 4 else { return nil }
        return payload[place..<(place + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// Cuts what a client sends into frames (RFC 9113 sections 3.4 and 4.1), however its bytes come. Holds at most one frame of 16 KiB
/// and what came with it.
struct ClientFrames {
    enum Step {
        case frame(ClientFrame)
        case needsMore
        /// Why the bytes are no HTTP/2.
        case broken(String)
    }

    private static let longest = 16_384
    private var bytes: [UInt8] = []
    private var hasPreface = false

    mutating func take(_ new: some Sequence<UInt8>) { bytes.append(contentsOf: new) }

    mutating func next() -> Step {
        if !hasPreface {
            let length = min(bytes.count, Frame.preface.count)
            guard bytes[..<length] == Frame.preface[..<length] else { return .broken("no connection preface") }
            guard length == Frame.preface.count else { return .needsMore }
            hasPreface = true
            bytes.removeFirst(length)
        }
        guard bytes.count >= Frame.headerLength else { return .needsMore }
        let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        guard length <= Self.longest else { return .broken("a frame of \(length) bytes") }
        let end = Frame.headerLength + length
        guard bytes.count >= end else { return .needsMore }
        let stream = bytes[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let frame = ClientFrame(
            type: bytes[3], flags: bytes[4], stream: Int32(stream), payload: Array(bytes[Frame.headerLength..<end]))
        bytes.removeFirst(end)
        return .frame(frame)
    }
}

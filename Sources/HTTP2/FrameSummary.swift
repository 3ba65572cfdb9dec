/// A frame in one line, for logs.
public struct FrameSummary: CustomStringConvertible, Sendable {
    public let type: UInt8
    public let flags: UInt8
    public let stream: Int32
    /// Payload bytes.
    public let length: Int
    /// Error code of RST_STREAM and GOAWAY, increment of WINDOW_UPDATE.
    private let detail: String

    init(type: UInt8, flags: UInt8, stream: Int32, payload: UnsafePointer<UInt8>, length: Int) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.length = length
        switch type {
        case Frame.reset where length >= 4: detail = " \(ErrorCode(rawValue: Frame.read32(payload)))"
        case Frame.goAway where length >= 8:
            let code = ErrorCode(rawValue: Frame.read32(payload + 4))
            detail = " \(code) last stream \(Frame.read32(payload) & 0x7FFF_FFFF)"
        case Frame.windowUpdate where length >= 4: detail = " by \(Frame.read32(payload) & 0x7FFF_FFFF)"
        case Frame.settings:
            detail = stride(from: 0, to: length - length % 6, by: 6).map { place in
                let identifier = UInt16(payload[place]) << 8 | UInt16(payload[place + 1])
                let name = Frame.Setting.names[identifier] ?? "\(identifier)"
                return " \(name)=\(Frame.read32(payload + place + 2))"
            }.joined()
        default: detail = ""
        }
    }

    private static let names = [
        "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE",
        "CONTINUATION",
    ]

    public var description: String {
        let name = Int(type) < Self.names.count ? Self.names[Int(type)] : "type \(type)"
        let isAnswer = flags & Frame.acknowledgement != 0 && (type == Frame.settings || type == Frame.ping)
        let ends = flags & Frame.endStream != 0 && (type == Frame.data || type == Frame.headers)
        return "\(name) stream \(stream) length \(length)\(isAnswer ? " ACK" : "")\(ends ? " END_STREAM" : "")\(detail)"
    }
}

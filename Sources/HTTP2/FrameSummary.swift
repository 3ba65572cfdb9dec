import CNghttp2

/// A frame in one line, for logs.
public struct FrameSummary: CustomStringConvertible, Sendable {
    public let type: UInt8
    public let flags: UInt8
    public let stream: Int32
    /// Payload bytes.
    public let length: Int
    /// Error code of RST_STREAM and GOAWAY, increment of WINDOW_UPDATE.
    private let detail: String

    init(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        type = header.type
        flags = header.flags
        stream = header.stream_id
        length = header.length
        switch header.type {
        case Frame.reset: detail = " \(ErrorCode(rawValue: frame.pointee.rst_stream.error_code))"
        case Frame.goAway:
            let goAway = frame.pointee.goaway
            detail = " \(ErrorCode(rawValue: goAway.error_code)) last stream \(goAway.last_stream_id)"
        case Frame.windowUpdate: detail = " by \(frame.pointee.window_update.window_size_increment)"
        case Frame.settings:
            detail = (0..<frame.pointee.settings.niv).map { index in
                let entry = frame.pointee.settings.iv[index]
                return
                    " \(SettingIdentifier(rawValue: UInt16(entry.settings_id)).map(String.init(describing:)) ?? "\(entry.settings_id)")=\(entry.value)"
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

/// An HTTP/2 error code: RFC 9113 section 7.
public struct ErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let noError = ErrorCode(rawValue: 0)
    public static let protocolError = ErrorCode(rawValue: 1)
    public static let internalError = ErrorCode(rawValue: 2)
    public static let flowControlError = ErrorCode(rawValue: 3)
    public static let settingsTimeout = ErrorCode(rawValue: 4)
    public static let streamClosed = ErrorCode(rawValue: 5)
    public static let frameSizeError = ErrorCode(rawValue: 6)
    public static let refusedStream = ErrorCode(rawValue: 7)
    public static let cancel = ErrorCode(rawValue: 8)
    public static let compressionError = ErrorCode(rawValue: 9)
    public static let enhanceYourCalm = ErrorCode(rawValue: 11)

    /// The codes RFC 9113 names, in order of their value.
    public static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    public var description: String {
        Int(rawValue) < Self.names.count ? Self.names[Int(rawValue)] : "error code \(rawValue)"
    }
}

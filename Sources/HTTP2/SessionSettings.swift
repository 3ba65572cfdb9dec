/// What one side announces in its first SETTINGS frame (RFC 9113 section 6.5.2) and how it uses the other's.
public struct SessionSettings: Sendable, Equatable {
    /// SETTINGS_HEADER_TABLE_SIZE in bytes: how large a dynamic table the peer may use towards us.
    public var headerTableSize: UInt32 = 4096
    /// The largest dynamic table we use towards the peer, in bytes; the peer's own limit is obeyed besides.
    public var encoderTableSize: UInt32 = 4096
    /// SETTINGS_MAX_CONCURRENT_STREAMS; nil announces none. A client announces none: APNs does not push streams.
    public var maxConcurrentStreams: UInt32?
    /// SETTINGS_INITIAL_WINDOW_SIZE in bytes, 0…2^31-1: flow control towards us on each stream.
    public var streamWindow: UInt32 = 65_535
    /// The connection's receive window in bytes, 65,535…2^31-1, announced by WINDOW_UPDATE.
    public var connectionWindow: UInt32 = 65_535
    /// SETTINGS_MAX_FRAME_SIZE in bytes, 16,384…16,777,215.
    public var maxFrameSize: UInt32 = 16_384
    /// SETTINGS_MAX_HEADER_LIST_SIZE in bytes; nil announces none.
    public var maxHeaderListSize: UInt32?

    public init() {}
}

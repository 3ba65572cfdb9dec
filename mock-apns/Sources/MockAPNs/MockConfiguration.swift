import HTTP2
import Networking
import Payloads
import Signing

/// What a mock server listens on and how it judges.
public struct MockConfiguration: Sendable {
    public var host = "127.0.0.1"
    /// 0: the kernel chooses.
    public var port: UInt16 = 0
    /// nil: plaintext HTTP/2 with prior knowledge.
    public var tls: TLSOptions?
    public var threads = 1
    /// Keys whose provider tokens are valid.
    public var identities: [ProviderIdentity] = []
    /// Bundle ids a push may be for; nil allows every topic.
    public var topics: Set<String>?
    /// Registered devices; nil registers every well-formed token.
    public var devices: SyntheticDevices?
    /// SETTINGS_MAX_CONCURRENT_STREAMS; Apple's is about 1,000.
    public var maxConcurrentStreams: UInt32 = 1000
    /// Flow control towards the server, bytes.
    public var streamWindow: UInt32 = 65_535
    public var connectionWindow: UInt32 = 1_048_576
    /// Pushes tracked of each run.
    public var ledgerCapacity: UInt64 = 1 << 32
    /// Most connections at once; the next one is closed at once.
    public var maxConnections = 100_000
    /// A connection that has not finished TLS and sent its preface after so long is closed, ns.
    public var handshakeTimeout: UInt64 = 10_000_000_000

    public init() {}
}

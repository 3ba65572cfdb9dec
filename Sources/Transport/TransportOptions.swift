import HTTP2
import Networking

/// Where pushes go.
public struct Target: Sendable {
    package let addresses: any TargetAddresses
    /// Host name or numeric address: SNI, certificate check.
    public let host: String
    /// `:authority`, with the port when it is not the scheme's own.
    public let authority: String
    /// nil: plaintext HTTP/2 with prior knowledge (RFC 9113 section 3.3).
    public let tls: TLSContext?

    public init(address: SocketAddress, host: String, authority: String, tls: TLSContext?) {
        self.init(addresses: FixedAddress(address), host: host, authority: authority, tls: tls)
    }

    /// - Parameter addresses: those of a name, which may change while the run goes on.
    package init(addresses: any TargetAddresses, host: String, authority: String, tls: TLSContext?) {
        self.addresses = addresses
        self.host = host
        self.authority = authority
        self.tls = tls
    }

    /// `https://127.0.0.1:2197`.
    package var url: String { "\(tls == nil ? "http" : "https")://\(authority)" }
}

/// How `PushClient` writes and reads frames.
public enum EngineKind: String, Sendable, CaseIterable {
    /// Frames written here, for exactly this traffic.
    case wire
    /// nghttp2's sessions.
    case nghttp2
}

/// Tunings of one worker's connections. Times are nanoseconds.
public struct TransportOptions: Sendable {
    public var engine = EngineKind.wire
    /// Connections of this worker, at least 1.
    public var connections = 1
    /// Number of this worker's first connection within the whole run.
    public var firstConnection = 0
    /// Most streams open at once on a connection; the peer's SETTINGS_MAX_CONCURRENT_STREAMS is obeyed besides.
    public var streams = 1000
    /// Bytes gathered before they are written, 1…65,536; 16,384 fills one TLS record.
    public var sendBatch = 65_536
    /// While answers come one after the other and nothing is due, they gather for so long before they are read: a wake-up and a read for
    /// all of them, which are later by at most that and what the system adds to a sleep. 0: they are read as they come.
    public var readBatch: UInt64 = 0
    /// Each push goes over the connection that its driver names, where that is there and can take it.
    public var bindsPushes = false
    /// How due pushes are waited for.
    public var pacing = Pacing.sleep
    public var session = SessionSettings()
    /// Engine `wire`: code header strings with Huffman where that makes them shorter; `nghttp2` chooses for itself.
    public var huffman = false
    public var socket = SocketOptions()
    /// Connections that are being made at once, at least 1: each holds 45 KB for its handshake, a few KB once it is open. As many as
    /// keep a core busy over a round trip of 100 ms.
    public var handshakes = 512
    /// TCP, TLS and the peer's SETTINGS must be there after so long.
    public var connectTimeout: UInt64 = 10_000_000_000
    /// A push without an answer for so long since it was started is reset and failed.
    public var pushTimeout: UInt64 = 30_000_000_000
    /// A connection on which nothing was read for so long is asked with PING.
    public var pingInterval: UInt64 = 5_000_000_000
    /// No byte for so long after a PING: the peer has vanished.
    public var pingTimeout: UInt64 = 5_000_000_000
    /// With no connection open for so long, all that is left is failed.
    public var giveUpAfter: UInt64 = 10_000_000_000
    /// How often a push that the peer refused unprocessed is sent again.
    public var retryLimit: UInt8 = 10
    /// After the second failed attempt in a row a connection waits a random time of up to `reconnectDelay` × 2^n, at most
    /// `reconnectDelayMax`, before the next; n stays 0 while attempts are refused. A connection that had answers is replaced at once.
    public var reconnectDelay: UInt64 = 50_000_000
    public var reconnectDelayMax: UInt64 = 5_000_000_000
    /// Seed of the backoff's jitter.
    public var seed: UInt64 = 0

    public init() {}
}

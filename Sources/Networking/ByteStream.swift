/// What one attempt to read or write did.
public enum IOResult: Equatable, Sendable {
    /// So many bytes were moved, at least one.
    case bytes(Int)
    /// Nothing can be moved until the descriptor is ready again.
    case wouldBlock
    /// The peer closed its side in an orderly way.
    case endOfStream
    /// The connection is broken; `ByteStream.failure` says how.
    case failed
}

/// What one attempt to go on with connecting did.
public enum ConnectResult: Equatable, Sendable {
    case done
    case inProgress
    /// `ByteStream.failure` says how.
    case failed
}

/// A connection's bytes, both ways, non-blocking. `SocketStream` is the real one; a simulation brings its own.
///
/// The owner registers `descriptor` with its event loop for `interest` and calls `advance` until it says `.done`, then `read`
/// and `write`.
open class ByteStream {
    public init() {}

    /// What the owner's event loop knows it by.
    open var descriptor: Int32 { -1 }
    /// What the owner should wait for while it has nothing of its own to write.
    open var interest: Readiness { .readable }
    /// True when bytes wait that the event loop cannot see.
    open var hasBufferedInput: Bool { false }
    /// When the call that took the last bytes `write` told of began, ns of the event loop's clock.
    open var sendTime: UInt64 { 0 }
    /// Time in the kernel's recv and send, counts of `CycleClock`.
    open var socketCycles: UInt64 { 0 }
    /// CPU time of the calling thread in making the stream and in `advance`, ns: TCP's and TLS' handshake.
    open var handshakeTime: UInt64 { 0 }
    /// The negotiated TLS version and cipher, `TLSv1.3 TLS_AES_256_GCM_SHA384`; nil on a plain connection.
    open var tlsDescription: String? { nil }
    open var isTLS12: Bool { false }
    /// `127.0.0.1:40312`; `-` when there is none any more.
    open var peerAddress: String { "-" }
    /// What the peer's certificate says, if it showed one.
    open var peerCertificate: PeerCertificate? { nil }
    /// Bytes given to the kernel since the connection began, and those of them that the peer's kernel has taken; 0 where that is not
    /// known.
    open var progress: (given: UInt64, taken: UInt64) { (0, 0) }
    /// Why the stream failed; nil while it works.
    open var failure: NetworkError? { nil }

    /// Goes on connecting and shaking hands; call it when the descriptor is ready.
    open func advance() -> ConnectResult { .done }
    /// Reads up to `capacity` bytes.
    open func read(into buffer: UnsafeMutablePointer<UInt8>, capacity: Int) -> IOResult { .wouldBlock }
    /// Writes up to `count` bytes.
    ///
    /// Unless all were taken, some of the others may be sealed: the next call has to begin with the same ones, at least as many.
    open func write(_ bytes: UnsafePointer<UInt8>, count: Int) -> IOResult { .wouldBlock }
    /// Lets the close that follows reset the connection (RST) instead of finishing it.
    open func reset() {}
    /// Says goodbye; what has been written still goes out.
    open func finish() {}
}

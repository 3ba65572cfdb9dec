import Networking

/// The client's side of one HTTP/2 connection (RFC 9113), for requests with a payload and short answers. It knows neither
/// sockets nor clocks: bytes from the peer go into `receive`, bytes for it lie in `output`, whose owner writes them; what
/// became of a stream is told to a `ClientOwner`.
///
/// Two sessions are behind these verbs: `WireSession`, frames read and written for exactly this traffic, and `NGHTTP2Session`.
/// What is asked for every push (`canSend`, what is written, a stream's body) is read from stored properties here; a verb is one
/// call through the class's table, of which `send` is the only one a push makes. An answer's end is another one, `didEnd`.
public class ClientSession {
    public final let streams: ClientStreams
    /// What is to be written.
    @exclusivity(unchecked) public final var output: SendBuffer
    /// Requests that `output` has, whole.
    @exclusivity(unchecked) public final var unwritten: WrittenQueue
    /// Bytes of DATA that may be sent on the connection now.
    @exclusivity(unchecked) public final internal(set) var sendWindow = 65_535
    /// Most streams at once, ours and the peer's limit taken together.
    @exclusivity(unchecked) public final internal(set) var streamLimit: Int
    /// Answers that came whole.
    @exclusivity(unchecked) public final internal(set) var answered: UInt64 = 0
    private final var hasToldFault = false
    /// What answers that are not whole yet say in `retry-after`, by stream.
    private final var retryAfters: [Int32: String] = [:]
    @exclusivity(unchecked) private final var owner = Unmanaged.passUnretained(nobody)

    /// Bytes of `output` that must be free before a request is begun: its HEADERS frame must leave the session at once,
    /// because its header values lie in memory that the next request reuses.
    public static let requestRoom = 28_672

    /// - Parameters:
    ///   - streams: most at once, whatever the peer allows.
    ///   - sendBuffers: of more than `requestRoom` bytes each.
    init(streams: Int, sendBuffers: BufferPool) {
        self.streams = ClientStreams(capacity: streams)
        streamLimit = streams
        output = SendBuffer(sendBuffers)
        unwritten = WrittenQueue(capacity: streams * 2)
    }

    deinit {
        output.release()
        unwritten.release()
    }

    /// Whom to tell what the peer did; before anything is received. It is not retained.
    public final func report(to owner: ClientOwner) { self.owner = .passUnretained(owner) }

    /// Without counting a reference, which costs two atomic operations.
    @inline(__always)
    final func tell(_ body: (ClientOwner) -> Void) { owner._withUnsafeGuaranteedRef(body) }

    // Read here rather than by other modules, for which `@exclusivity(unchecked)` does not hold: a check is 80 instructions.

    /// The place of the next stream in `streams`.
    @inline(__always)
    public final var nextIndex: Int { streams.nextIndex }
    /// Streams that are open.
    @inline(__always)
    public final var inFlight: Int { streams.used }
    /// Bytes of `output` that are not written.
    @inline(__always)
    public final var pending: Int { output.count }

    /// One more request can be sent now, as far as the session knows.
    @inline(__always)
    public final var canSend: Bool {
        !streams.isFull && streams.used < streamLimit && !unwritten.isFull && output.room >= Self.requestRoom
            && sendWindow > 0
    }

    /// Streams whose payload, or the rest of it, the peer's windows keep from being sent (RFC 9113 section 5.2).
    public final var heldBack: Int { streams.heldBack }

    // MARK: Verbs

    /// Says the preface and SETTINGS.
    public func begin() {}

    /// Takes bytes from the peer; after a violation no more.
    ///
    /// - Parameter now: ns, never going back.
    /// - Returns: nil when all is well, or what makes the connection unusable; a GOAWAY may then lie in `output`.
    public func receive(_ bytes: UnsafePointer<UInt8>, count: Int, now: UInt64) -> Violation? { nil }

    /// Sends a request, on the stream at `nextIndex`. The caller has checked `canSend`.
    ///
    /// - Returns: false when the stream ids are used up.
    public func send(_ request: ClientRequest) -> Bool { false }

    /// Moves what there is to say to `output`, as far as it fits.
    public func produce() {}

    /// Cancels a stream, of which nothing more is told.
    public func reset(_ index: Int) {}

    public func ping() {}

    /// False when there is nothing left to do.
    public var isAlive: Bool { true }

    /// How the peer broke HTTP/2, where `receive` could not say it yet: known once `produce` has said so to the peer.
    public var violation: String? { nil }

    /// A header block of the stream's answer has begun, and has not ended or cannot be decoded.
    public func isInHeaders(_ index: Int) -> Bool { streams.entries[index].isInHeaders }

    /// Part of the stream's answer has come; interim answers (RFC 9110 section 15.2) are none.
    public final func hasStatus(_ index: Int) -> Bool { streams.entries[index].status >= 200 }

    /// What the stream's answer says in `retry-after` (RFC 9110 section 10.2.3), as it came; nil: it says nothing. Known of 429 and
    /// 503, until `didEnd` returns.
    public final func retryAfter(_ index: Int) -> String? {
        retryAfters.isEmpty ? nil : retryAfters[streams.entries[index].id]
    }

    @inline(never)
    final func keepRetryAfter(_ text: String, _ index: Int, _ status: UInt16) {
        // These two are in no static table, so that the text is their own block's.
        guard status == 429 || status == 503 else { return }
        // Of streams that are over: as many as are open at most stay.
        if retryAfters.count > streams.capacity { retryAfters = retryAfters.filter { streams.find($0.key) != nil } }
        retryAfters[streams.entries[index].id] = text
    }

    /// The connection is gone, and the stream with it: nothing is told or sent of it.
    public final func forget(_ index: Int) { streams.free(index) }

    // MARK: For the sessions

    /// A stream is over: tells so, and frees it.
    @inline(__always)
    final func end(_ index: Int, _ ending: StreamEnding) {
        tell { $0.didEnd(index, ending) }
        streams.free(index)
    }

    /// Tells what is wrong with the first of the connection's broken streams.
    final func tellFault(_ fault: @autoclosure () -> String) {
        if hasToldFault { return }
        hasToldFault = true
        let text = fault()
        tell { $0.didFindFault(text) }
    }

    /// All of a request's bytes are in `output`.
    @inline(__always)
    final func didProduce(_ index: Int) {
        unwritten.append(
            .init(
                index: Int32(truncatingIfNeeded: index), stream: streams.entries[index].id, endOffset: output.endOffset)
        )
    }
}

nonisolated(unsafe) private let nobody = ClientOwner()

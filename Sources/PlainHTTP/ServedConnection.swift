import Networking

/// A connection of a `PlainServer`, whatever is spoken on it. Requests on it are told apart by their stream, which is 0 in HTTP/1.1.
class ServedConnection {
    final let token: UInt64
    final let stream: ByteStream
    final let limits: PlainLimits
    private final let reactor: Reactor
    private final var interest: Readiness
    private(set) final var isClosed = false
    /// `expire` is called then, monotonic ns.
    final var deadline: UInt64

    // For `PlainServer`.
    /// What it has counted of `held`.
    final var counted = 0
    /// It is among those to be looked at again.
    final var isWaiting = false
    final var isUnflushed = false
    /// Requests that were refused, for they could not be read or were not complete in time, and that it has not counted.
    final var refused: UInt64 = 0

    init(token: UInt64, stream: ByteStream, reactor: Reactor, limits: PlainLimits, deadline: UInt64) {
        self.token = token
        self.stream = stream
        self.reactor = reactor
        self.limits = limits
        self.deadline = deadline
        interest = .readable
        reactor.add(stream.descriptor, token: token, interest: interest)
    }

    /// Goes on with the stream of another, which is not used any more.
    init(following other: ServedConnection) {
        token = other.token
        stream = other.stream
        reactor = other.reactor
        limits = other.limits
        deadline = other.deadline
        interest = other.interest
    }

    /// Bytes of memory that wait: for the rest of a request, or for the client to read.
    var held: Int { 0 }
    var isEventStream: Bool { false }
    /// Nothing is taken from it before the request that it waits for is answered.
    var isBusy: Bool { false }
    /// There may be another request among what was read.
    var hasMore: Bool { false }
    /// What goes on with its stream.
    var successor: ServedConnection? { nil }
    /// `respond` and `reset` leave the writing to `flushAnswers`.
    var flushesLater: Bool { false }

    /// Reads at most one buffer and has what it holds answered.
    ///
    /// - Returns: true when there may be another request among what was read.
    func handle(
        _ buffer: UnsafeMutableBufferPointer<UInt8>, now: UInt64,
        answer: (PlainRequest, _ stream: Int32) -> PlainResponse?
    ) -> Bool { false }

    /// The request that is being taken is answered by `respond`, whenever that is.
    func await(_ request: PlainRequest, stream: Int32) {}
    /// - Returns: false when the stream is gone.
    func respond(_ response: PlainResponse, stream: Int32, _ now: UInt64) -> Bool { false }
    func flushAnswers(_ now: UInt64) {}
    /// It gets no answer, but has the time of one.
    func leaveUnanswered(stream: Int32, _ now: UInt64) {}
    /// Closes with a RST; in HTTP/2 the stream.
    func reset(stream: Int32) {}
    /// Something came while it waits for an answer: it is gone, or says more than it may yet.
    func interrupt(_ readiness: Readiness) {}
    /// Its time is over: a request that was begun is told, and whoever else it is goes without a word.
    func expire(_ now: UInt64) {}

    /// The answer to a subscription; events follow.
    func beginEvents(_ answer: PlainResponse, _ now: UInt64) {}
    /// - Parameter isFull: nothing is kept for who has not read the event before.
    /// - Returns: false when the event was dropped because the client does not keep up.
    func sendEvent(_ bytes: [UInt8], now: UInt64, isFull: Bool) -> Bool { false }
    /// Lets go of the events that wait, all but the first, which may have been begun: the client is told how many it lost.
    ///
    /// - Returns: how many.
    func dropEvents() -> Int { 0 }
    /// A comment, so that a peer that has vanished is noticed.
    func sendHeartbeat(_ now: UInt64) {}

    final func setInterest(_ wanted: Readiness) {
        guard wanted != interest, !isClosed else { return }
        interest = wanted
        reactor.modify(stream.descriptor, token: token, interest: wanted)
    }

    final func close() {
        guard !isClosed else { return }
        isClosed = true
        reactor.remove(stream.descriptor)
    }
}

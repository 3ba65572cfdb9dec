/// A push on its way to a connection.
public struct PushTicket: Sendable {
    /// Its number within the run.
    public var sequence: UInt64
    /// When it was meant to be sent, nanoseconds of the monotonic clock. Kept over every retry.
    public var due: UInt64
    /// How often it has been given to a connection before.
    public var attempts: UInt8
    /// How often its driver has given it out again after an answer or a loss.
    public var retries: UInt8
    /// An attempt of it was handed to the kernel whole: what is sent now is sent again.
    public var wasWritten = false
    /// It counts in rates and latencies: not of the warm-up. Decided once, when it is given out.
    public var isMeasured = true

    public init(sequence: UInt64, due: UInt64, attempts: UInt8 = 0, retries: UInt8 = 0) {
        self.sequence = sequence
        self.due = due
        self.attempts = attempts
        self.retries = retries
    }
}

/// What the source of pushes says when it is asked for one.
public enum Supply: Sendable {
    /// The ticket was filled in.
    case push
    /// None is due before this time.
    case notBefore(UInt64)
    /// None will come any more.
    case finished
}

/// The variable parts of one request, written by the driver into the engine's memory.
public struct PushRequest {
    /// What stands before the device token in `:path`.
    package static let pathPrefix: StaticString = "/3/device/"

    /// Which of the header sets given at start, 0..<count.
    public var headerSet = 0
    /// Memory for the device token's digits, `tokenCapacity` bytes.
    public let token: UnsafeMutablePointer<UInt8>
    public var tokenLength = 0
    /// Memory for the payload, `payloadCapacity` bytes.
    public let payload: UnsafeMutablePointer<UInt8>
    public var payloadLength = 0
    /// Memory for an `apns-id`, 36 bytes; sent when `hasIdentifier`.
    public let identifier: UnsafeMutablePointer<UInt8>
    public var hasIdentifier = false
    /// Value of `authorization`, valid until the next compose; nil sends none.
    public var authorization: UnsafeBufferPointer<UInt8>?
    /// Which value that is: another number for each other value of the worker's; 0: not said, so that it is compared.
    public var authorizationVersion: UInt64 = 0

    /// For engines: the memory of one request, theirs.
    package init(
        token: UnsafeMutablePointer<UInt8>, payload: UnsafeMutablePointer<UInt8>,
        identifier: UnsafeMutablePointer<UInt8>
    ) {
        self.token = token
        self.payload = payload
        self.identifier = identifier
    }
}

/// How a push ended.
public enum PushOutcome: Sendable {
    /// Status 200.
    case accepted
    /// Any other status.
    case rejected(status: UInt16)
    case failed(FailureCause)
}

/// What happens to connections, for counting.
public enum ConnectionEvent: Sendable, Equatable {
    case opened
    /// An open connection broke.
    case lost
    /// Connecting failed before the connection was open.
    case connectFailed
    /// Told to go away; it drains.
    case goAway
    /// A new attempt after a loss or failure.
    case reconnecting
    /// The connection is over: told once, besides the above, of each that was lost, was told to go away, never opened or has
    /// no stream ids left.
    case ended(ConnectionEnd)
}

/// What an engine asks of a run and tells it. One a worker; every method is called on the worker's thread.
///
/// An abstract class rather than a protocol: its calls are plain virtual calls on a known object, without existential
/// containers, and every engine can share it across module boundaries.
open class PushDriver {
    public init() {}

    /// The next push that is due, if there is one.
    open func take(now: UInt64, into ticket: inout PushTicket) -> Supply { .finished }

    /// Whether `take` may still give a push, or what is under way may come back. Asked about fifty times a second: what no
    /// connection can send is over all the same.
    open func hasMore(now: UInt64) -> Bool { true }

    /// With `TransportOptions.bindsPushes`: the number of the connection within the run that the push belongs to.
    open func connection(of ticket: borrowing PushTicket) -> Int { 0 }

    /// When the next push is due that has not been taken, ns; nil: none is left, or the run has not begun. A closed loop's are due from
    /// its start on.
    open func nextDue(now: UInt64) -> UInt64? { nil }

    /// For how long the engine had no connection for pushes that were due; told before each tick.
    open func missed(_ noConnection: NoConnection) {}

    /// The engine had nothing to do until `time`, ns: it waited for that time to come, for a stream or for a connection. What
    /// was due and is late since then is the engine's own fault.
    open func idled(until time: UInt64) {}

    /// Signs and encodes a push: fills `request`. Called once an attempt.
    open func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {}

    /// The last byte of the push, put on a stream at `started`, was handed to the kernel by a write that began at `time`.
    open func written(_ ticket: borrowing PushTicket, started: UInt64, at time: UInt64) {}

    /// The last byte of a push that is over already, by an early answer or its time-out, was handed to the kernel all the same.
    open func writtenAfterEnd(at time: UInt64) {}

    /// The push is over. `connection` is the one it was on, -1 when on none; `started` is when it was put on a stream, 0 when
    /// it never was; `written` is 0 when it never reached the kernel. `body` is the answer's (cut at 256 bytes).
    open func finished(
        _ ticket: borrowing PushTicket, outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
        at time: UInt64,
        body: UnsafeBufferPointer<UInt8>
    ) {}

    /// The answer that is told next asks for so long a wait before its push is sent again (Retry-After of 429 and 503), ns.
    open func askedToWait(_ time: UInt64) {}

    /// An answer of status 403 to a push that was put on a stream at `started`: whether what it was signed with has since been
    /// replaced, so that it is to be sent again; `isLast`: it has been sent too often for that.
    open func hasSignedAnew(
        connection: Int, started: UInt64, isLast: Bool, body: UnsafeBufferPointer<UInt8>
    ) -> Bool { false }

    /// The push was refused unprocessed and will be sent again.
    open func requeued(_ ticket: borrowing PushTicket) {}

    /// No connection can be made any more: nothing more will be taken, and what was never taken ends with `cause`.
    open func abandon(_ cause: FailureCause, now: UInt64) {}

    /// Whether the engine, which has nothing left to do, may end; asked about fifty times a second then.
    open func mayEnd(now: UInt64) -> Bool { true }

    /// The engine is done: no push of its is open, and it will ask for no other.
    open func ended(now: UInt64) {}

    /// The run was ended before its pushes were, and `cause` is what they end with: nothing more will be taken. Called once.
    open func stopped(_ cause: FailureCause, now: UInt64) {}

    open func connection(_ index: Int, _ event: ConnectionEvent) {}

    /// What a connection ran into that was lost or could not be made, one line; besides the events.
    open func connectionProblem(_ text: String) {}

    /// What the peer did wrong on the first stream of a connection that it broke, such as a malformed answer (RFC 9113 section
    /// 8.1.1), one line; besides the outcomes.
    open func streamFault(_ text: String) {}

    /// Called about fifty times a second, first before anything is taken, and once at the end.
    ///
    /// - Parameter unixTime: seconds.
    open func tick(now: UInt64, unixTime: Int64, inFlight: Int) {}
}

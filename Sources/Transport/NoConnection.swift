/// Time in which a worker had pushes to send and no open connection to send them on. A connection that was told to go away
/// (GOAWAY) takes no pushes; one whose streams are all in use is open.
public struct NoConnection: Sendable, Equatable {
    /// In all, ns.
    public private(set) var total: UInt64 = 0
    /// The longest such time without a break, ns, and why the last connection before its end was lost or not made; nil: none had been.
    public private(set) var longest: UInt64 = 0
    public private(set) var cause: ConnectionEnd?
    /// What the attempt that ended it had waited for (`TransportOptions.reconnectDelay`), ns.
    public private(set) var wait: UInt64 = 0
    /// It lasts, for so long, ns; 0: a connection is open, or nothing is due. And its cause so far.
    public private(set) var current: UInt64 = 0
    public private(set) var currentCause: ConnectionEnd?
    /// While it lasts: when the next connection is made, ns; nil: one is being made.
    public internal(set) var nextAttempt: UInt64?
    /// Up to when it has been counted, ns; nil while a connection is open.
    private var counted: UInt64?

    public init() {}

    /// The last open connection has gone.
    mutating func begin(_ now: UInt64) { counted = now }

    /// Counts up to now.
    ///
    /// - Parameters:
    ///   - due: since when a push has been due, ns; nil: none is.
    ///   - why: what kept the worker from a connection last.
    ///   - wait: before the attempt that ends it, or that comes next, ns.
    mutating func count(_ now: UInt64, due: UInt64?, why: ConnectionEnd?, wait: UInt64) {
        guard let from = counted else { return }
        counted = now
        guard let due, max(due, from) < now else { return }
        let time = now - max(due, from)
        total += time
        current += time
        currentCause = why
        guard current >= longest else { return }
        (longest, cause, self.wait) = (current, why, wait)
    }

    /// A connection is open, or the run has ended.
    mutating func end() { (counted, current, currentCause, nextAttempt) = (nil, 0, nil, nil) }

    /// With another worker's: the one that lacked a connection for longer stands for both.
    package mutating func add(_ other: NoConnection) {
        if other.current > current {
            (current, currentCause, nextAttempt) = (other.current, other.currentCause, other.nextAttempt)
        }
        guard other.total > total else { return }
        (total, longest, cause, wait) = (other.total, other.longest, other.cause, other.wait)
    }
}

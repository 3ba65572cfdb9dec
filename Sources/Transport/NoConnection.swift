/// Time in which a worker had pushes to send and no open connection to send them on. A connection that was told to go away
/// (GOAWAY) takes no pushes; one whose streams are all in use is open.
public struct NoConnection: Sendable, Equatable {
    /// In all, ns.
    public private(set) var total: UInt64 = 0
    /// The longest such time without a break, ns, and why the last connection before its end was lost or not made.
    public private(set) var longest: UInt64 = 0
    public private(set) var cause: ConnectionEnd?
    /// What the attempt that ended it had waited for (`TransportOptions.reconnectDelay`), ns.
    public private(set) var wait: UInt64 = 0
    /// It lasts, for so long, ns; 0: a connection is open, or nothing is due.
    public private(set) var current: UInt64 = 0
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
    ///   - wait: before the attempt that is under way or comes next, ns.
    mutating func count(_ now: UInt64, due: UInt64?, why: ConnectionEnd?, wait: UInt64) {
        guard let from = counted else { return }
        counted = now
        guard let due, max(due, from) < now else { return }
        let time = now - max(due, from)
        total += time
        current += time
        guard current >= longest else { return }
        longest = current
        (cause, self.wait) = (why, wait)
    }

    /// A connection is open, or the run has ended.
    mutating func end() { (counted, current, nextAttempt) = (nil, 0, nil) }

    /// With another worker's: the longer one stands for both.
    package mutating func add(_ other: NoConnection) {
        total = max(total, other.total)
        if other.current > current { (current, nextAttempt) = (other.current, other.nextAttempt) }
        guard other.longest > longest else { return }
        (longest, cause, wait) = (other.longest, other.cause, other.wait)
    }
}

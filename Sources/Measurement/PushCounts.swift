/// How many pushes were begun and how they ended.
public struct PushCounts: Sendable, Equatable {
    /// Taken from the plan.
    public var taken: UInt64 = 0
    /// Handed to the kernel completely, first attempts and repeated ones.
    public var sent: UInt64 = 0
    /// Of these, repeated ones.
    public var sentAgain: UInt64 = 0
    /// Answered with status 200.
    public var accepted: UInt64 = 0
    /// Answered with another status.
    public var rejected: UInt64 = 0
    /// Begun, and not answered.
    public var failed: UInt64 = 0
    /// Never begun.
    public var notSent: UInt64 = 0
    /// Attempts after the first.
    public var retried: UInt64 = 0
    /// Answered, and not in the warm-up.
    public var measured: UInt64 = 0

    public init() {}

    public var ended: UInt64 { accepted + rejected + failed + notSent }

    public mutating func add(_ other: PushCounts) {
        taken += other.taken
        sent += other.sent
        sentAgain += other.sentAgain
        accepted += other.accepted
        rejected += other.rejected
        failed += other.failed
        notSent += other.notSent
        retried += other.retried
        measured += other.measured
    }
}

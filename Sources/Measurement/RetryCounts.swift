/// What became of sending pushes again.
public struct RetryCounts: Sendable, Equatable {
    public var attempts: UInt64 = 0
    /// Pushes accepted after at least one.
    public var recovered: UInt64 = 0
    /// Pushes that had been sent again as often as allowed.
    public var exhausted: UInt64 = 0
    /// Pushes not sent again because the budget was used up.
    public var overBudget: UInt64 = 0

    public init() {}

    public mutating func add(_ other: RetryCounts) {
        attempts += other.attempts
        recovered += other.recovered
        exhausted += other.exhausted
        overBudget += other.overBudget
    }
}

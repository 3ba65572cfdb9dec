import Measurement

/// Says when a run knows a percentile well enough to end.
///
/// It looks seldom, wants a little more than was asked for, and wants it twice: a look that happens to be lucky would end the run too
/// soon, and then the interval would hold the truth less often than it says. How often it does is measured (docs/judging.md).
public struct PrecisionGoal: Sendable {
    /// Fewer blocks are too few to end a run by.
    static let fewestBlocks = 20
    /// Nothing is looked at before, nanoseconds of the blocks (a warm-up has none).
    static let least: UInt64 = 1_000_000_000
    /// From one look to the next the time of the blocks grows so many times.
    static let growth = 1.2
    /// Of what was asked for: what still comes in until the run has ended may widen the interval, by 7 % where one block more makes
    /// pairs of all and leaves half of the degrees of freedom.
    static let margin = 0.9

    /// 0…100.
    package let percentile: Double
    /// Half of the 95 % interval's width as a share of the figure, at most.
    package let share: Double
    private let leastChange: UInt64
    private var next = least
    private var wasNarrow = false
    private var seen: UInt64 = 0

    /// - Parameter leastChange: as of `BlockFigure`, ns.
    public init(_ percentile: Double, within share: Double, leastChange: UInt64 = BlockFigure.leastChange) {
        self.percentile = percentile
        self.leastChange = leastChange
        self.share = share
    }

    /// Looks where it is time to.
    ///
    /// - Parameters:
    ///   - blocks: of the run so far.
    ///   - elapsed: nanoseconds since the start.
    public mutating func isReached(_ blocks: [LatencyBlock], at elapsed: UInt64) -> Bool {
        let count = blocks.reduce(0) { $0 &+ $1.count }
        let begun = UInt64(max(0, min((blocks.first?.from ?? 0) * 1e9, 1e18)))
        let measured = elapsed - min(elapsed, begun)
        // Where nothing has come since, a look sees nothing new.
        guard measured >= next, blocks.count >= Self.fewestBlocks, count > seen else { return false }
        seen = count
        next = UInt64(min(Double(measured) * Self.growth, 1e18))
        let half = BlockFigure(percentile, blocks, isSought: true, leastChange: leastChange)?.halfWidth ?? .infinity
        defer { wasNarrow = half <= Self.margin * share }
        return wasNarrow && half <= Self.margin * share
    }
}

import Measurement

/// A percentile of a run's latencies, judged by what the run's blocks make of it: whether it stays what it is from one end of the
/// run to the other, whether blocks are independent of each other, and its 95 % confidence interval.
///
/// All three look at one number a block: how many of its pushes took longer than the figure of the whole run, as a share. The
/// interval is Woodruff's for clusters (Woodruff: Confidence Intervals for Medians and Other Position Measures, JASA 47, 1952; the
/// share's variance between clusters of different sizes: Cochran: Sampling Techniques, 1977, section 3.12): the share's standard
/// error between the blocks, times Student's t, says which other percentiles the figure may just as well be. What hangs together
/// within a block is accounted for by that, nothing is assumed of how latencies are distributed, and what is left of it between
/// neighbours is added: twice their covariance, which leaves a third of the degrees of freedom (a truncated lag window of one
/// lag; Priestley: Spectral Analysis and Time Series, 1981, section 6.2).
///
/// Where pushes take the same time, as far as their counter tells, the figure is that counter when it would be with `fewestBeyond` more, and
/// the interval's part fewer, pushes on either side.
///
/// Blocks that resemble their neighbours, but not much, are merged in pairs until they do not, at most until there are `fewestMerged`.
public struct BlockFigure: Sendable, Equatable {
    /// Fewer blocks are not judged.
    public static let fewest = 10
    static let fewestMerged = 8
    /// Fewer pushes beyond the figure do not make an interval.
    public static let fewestBeyond = 100.0
    /// Nor do fewer clumps of pushes that were slow or fast together.
    static let fewestClumps = 8.0
    /// The variance between blocks may be so much smaller by what neighbours make of it, as a share.
    static let leastVariance = 0.25
    /// Neighbours resemble each other where chance would make them so in fewer cases than this.
    static let correlationLevel = 0.05
    /// Blocks of which neighbours are so much alike, and that change by more than `tolerance` at one place, are not merged: the change
    /// would be lost in few of them. Nor are those of a step.
    static let strong = 0.5
    /// As `correlationLevel`, for a trend, and for changes at one place, of each kind.
    static let trendLevel = 0.01
    static let swingLevel = 0.005
    /// A run that ends when an interval is narrow ends sooner where it is so by chance: the interval is wider by this much, but of one
    /// that ended as soon as it could, which was looked at only twice.
    static let sought = 1.1
    /// Of the blocks of a run that ended so, seconds.
    static let soonest = 1.25
    /// A smaller change of the figure is none, unless it crosses a limit: as a share, and in nanoseconds where nothing else is said.
    public static let tolerance = 0.05
    public static let leastChange: UInt64 = 20_000

    /// Why there is no interval.
    public enum Without: Sendable, Equatable {
        /// The run is too short.
        case fewBlocks
        /// So many measured ones would be enough, if as large shares of them took longer than the figure and as long; nil: slow and fast
        /// ones hang together for so long that it cannot be said.
        case fewPushes(needed: UInt64?)
        /// Pushes without an answer are within the interval.
        case unanswered
        case notSteady
        case notIndependent
    }

    /// The figure was another one before than after.
    public struct Shift: Sendable, Equatable {
        /// When, seconds since the start; nil: little by little, `before` is of the first third and `after` of the last one.
        public let at: Double?
        /// Nanoseconds.
        public let before: UInt64
        public let after: UInt64
        /// The load was asked to change then.
        public var isAskedFor = false
        /// In one of them so many pushes got no answer that it has no such figure.
        var isUnanswered = false
    }

    /// Blocks are slow and fast by turns.
    public struct Swing: Sendable, Equatable {
        /// Nanoseconds, of the faster half of the blocks and of the slower one.
        public let fast: UInt64
        public let slow: UInt64
    }

    private let leastChange: UInt64
    private let limits: [UInt64]
    private let turns: [ClosedRange<Double>]
    /// 0…100.
    public let percentile: Double
    /// Nanoseconds, of all blocks together.
    public let value: UInt64
    /// Nanoseconds; nil where `without` says why.
    public private(set) var low: UInt64?
    public private(set) var high: UInt64?
    public private(set) var without: Without?
    /// nil: it stayed what it is, as far as the blocks tell.
    public private(set) var shift: Shift?
    /// nil: blocks are not slow and fast by turns, as far as they tell, or differ by less than `tolerance`, or there is no interval. It
    /// makes none too narrow.
    public private(set) var swing: Swing?
    /// Blocks do not resemble their neighbours; nil: there are too few to tell.
    public private(set) var isIndependent: Bool?
    /// Blocks resemble their neighbours, and the faster half of them differs noticeably from the slower one.
    public private(set) var isWandering = false
    /// Of the blocks that were judged: how many, how long one is (seconds), the correlation of one with the next (−1…1) and the chances
    /// of that and of the trend where there is none (0…1).
    public private(set) var blocks: Int
    public private(set) var blockSeconds: Double
    public private(set) var correlation: Double?
    public private(set) var correlationP: Double?
    public private(set) var trendP: Double?

    /// Half of the interval's width as a share of the value; nil without one.
    public var halfWidth: Double? {
        guard let low, let high, value > 0 else { return nil }
        return (Double(high) - Double(low)) / 2 / Double(value)
    }

    /// One end of the interval is far further from the value than the other: there are hardly any pushes on that side, as between a fast
    /// and a slow path, and how much longer a run makes it narrow cannot be said. False without an interval.
    public var isLopsided: Bool {
        guard let low, let high, value > 0 else { return false }
        let (below, above) = (Double(value) - Double(low), Double(high) - Double(value))
        return max(below, above) > Self.tolerance * Double(value) && max(below, above) > 10 * min(below, above)
    }

    /// nil of no push at all.
    ///
    /// - Parameters:
    ///   - isSought: the run goes on until this figure is known well enough.
    ///   - leastChange: a smaller change is none, ns.
    ///   - limits: nanoseconds; a change from one side of one of these to the other counts, however small.
    ///   - turns: when the load was asked to change between the first block's begin and the last one's end, seconds: a change of the figure
    ///     at one of these, and any trend if there is one, was asked for.
    public init?(
        _ percentile: Double, _ everything: [LatencyBlock], isSought: Bool = false,
        leastChange: UInt64 = Self.leastChange, limits: [UInt64] = [], turns: [ClosedRange<Double>] = []
    ) {
        // One in which nothing came says nothing.
        let blocks = everything.filter { $0.count > 0 }
        let all = Whole(blocks)
        guard all.count > 0 else { return nil }
        self.percentile = percentile
        (self.leastChange, self.limits, self.turns) = (leastChange, limits, turns)
        value = all.value(atShare: percentile / 100)
        (self.blocks, blockSeconds) = (blocks.count, Self.length(blocks))
        guard !all.isUnanswered(atShare: percentile / 100) else {
            without = .unanswered
            return
        }
        guard blocks.count >= Self.fewest else {
            without = .fewBlocks
            return
        }
        let settled = Self.settled(blocks, value)
        let judged = judge(settled)
        shift = findShift(settled, judged)
        let swings = findTurns(judged)
        isWandering = isIndependent == false && halves(judged) != nil
        let count = Double(judged.reduce(0) { $0 &+ $1.count })
        let beyond = Double(judged.reduce(0) { $0 &+ $1.above(value) })
        let enough = max(Self.fewestBeyond, Self.fewestClumps * Self.clump(blocks, all))
        // Where many take the same time the figure is in its counter, however many more took longer, or less: `enough` are more than those
        // beyond, fewer than that, can be off by; those below may be many.
        let due = (1 - percentile / 100) * count
        let least = all.lowest(with: value)
        let below = least > 0 ? least - 1 : 0
        let reaching = Double(judged.reduce(0) { $0 &+ $1.above(below) })
        let spare = min(due - beyond, reaching - due - Self.margin(judged, above: below))
        if shift?.isUnanswered == true || swings?.isUnanswered == true {
            shift = nil
            without = .unanswered
        } else if shift != nil {
            without = .notSteady
        } else if isIndependent == false {
            without = .notIndependent
        } else if beyond >= enough {
            let isLate = (everything.last?.to ?? 0) - (everything.first?.from ?? 0) > Self.soonest
            interval(judged, all, isSought && isLate ? Self.sought : 1)
        } else if spare >= enough {
            (low, high) = (least, value)
        } else {
            // Blocks that were merged hang together for longer than they are.
            let share = judged.count < settled.count ? 0 : max(beyond, spare) / count
            // Those of the first blocks are not judged.
            let first = Double(all.count) - count
            without = .fewPushes(needed: share > 0 ? UInt64(min(enough / share + first, 1e18).rounded(.up)) : nil)
        }
        // Of fewer pushes the halves differ by chance.
        if low != nil, let swings { swing = Swing(fast: swings.before, slow: swings.after) }
    }

    /// Without the first ones, in which pushes that take as long as the figure cannot have ended yet: a block has what ends in it.
    private static func settled(_ blocks: [LatencyBlock], _ value: UInt64) -> [LatencyBlock] {
        let begin = (blocks.first?.from ?? 0) + Double(value) / 1e9
        let settled = Array(blocks.drop { $0.from + $0.length / 2 < begin })
        return settled.count >= fewest ? settled : blocks
    }

    private static func length(_ blocks: [LatencyBlock]) -> Double {
        blocks.isEmpty ? 0 : blocks.reduce(0) { $0 + $1.length } / Double(blocks.count)
    }

    private func shares(_ blocks: [LatencyBlock]) -> [Double] {
        blocks.map { Double($0.above(value)) / Double($0.count) }
    }

    /// Blocks that are long enough not to resemble their neighbours, if there are such.
    private mutating func judge(_ first: [LatencyBlock]) -> [LatencyBlock] {
        var blocks = first
        while true {
            let found = NeighbourCorrelation(shares(blocks))
            (correlation, correlationP) = (found?.r, found?.p)
            isIndependent = found.map { $0.p > Self.correlationLevel }
            if isIndependent != false || blocks.count / 2 < Self.fewestMerged { break }
            if (found?.r ?? 0) >= Self.strong || isStep(blocks), change(blocks) != nil { break }
            blocks = LatencyBlock.paired(blocks)
        }
        (self.blocks, blockSeconds) = (blocks.count, Self.length(blocks))
        trendP = MannKendall(shares(blocks))?.p
        return blocks
    }

    /// What a trend, or a change at one place, comes to, the larger one; nil where there is none, or it is small. Changes are looked for
    /// where blocks are independent, or else in all there are: what hangs together for so long has changed.
    private func findShift(_ first: [LatencyBlock], _ judged: [LatencyBlock]) -> Shift? {
        let third = judged.count / 3
        let hasTrend = (trendP ?? 1) <= Self.trendLevel
        let trend = hasTrend ? compare(judged.prefix(third), judged.suffix(third), at: nil) : nil
        let change = change(isIndependent == false ? first : judged)
        guard let trend, let change else { return trend ?? change }
        // What nobody asked for is to be told.
        if trend.isAskedFor, !change.isAskedFor { return change }
        // A step looks like a trend, too.
        return 1.25 * Self.size(change) >= Self.size(trend) ? change : trend
    }

    /// All blocks before some place have smaller shares than all after it, or larger ones: more than wandering makes of them.
    private func isStep(_ blocks: [LatencyBlock]) -> Bool {
        let shares = shares(blocks)
        let fewest = ChangePoints.leastValues
        return (fewest...max(fewest, shares.count - fewest)).contains { place in
            let (before, after) = (shares.prefix(place), shares.dropFirst(place))
            guard let low = before.min(), let high = before.max(), let least = after.min(), let most = after.max()
            else {
                return false
            }
            return high < least || most < low
        }
    }

    /// The faster half of the blocks and the slower one, where neighbours, or those of every second block, are unlike each other: chance
    /// makes them so in `swingLevel` of cases. Of a rhythm with a longer period neighbours are alike, and blocks are merged.
    private func findTurns(_ blocks: [LatencyBlock]) -> Shift? {
        let shares = shares(blocks)
        let isByTurns = [1, 2].contains { lag in
            NeighbourCorrelation(shares, lag: lag).map { $0.pSmaller <= Self.swingLevel / 2 } ?? false
        }
        return isByTurns ? halves(blocks) : nil
    }

    /// The faster half of the blocks and the slower one.
    private func halves(_ blocks: [LatencyBlock]) -> Shift? {
        let ordered = zip(shares(blocks), blocks).sorted { $0.0 < $1.0 }.map(\.1)
        let half = ordered.count / 2
        return compare(ordered.prefix(half), ordered.suffix(half), at: nil)
    }

    private static func size(_ shift: Shift) -> Double { abs(Double(shift.after) - Double(shift.before)) }

    /// The largest change between neighbouring stretches; one that was asked for only where there is no other.
    private func change(_ blocks: [LatencyBlock]) -> Shift? {
        let changes = stretches(shares(blocks)).flatMap { stretches in
            zip(stretches, stretches.dropFirst()).compactMap { before, after in
                compare(blocks[before], blocks[after], at: blocks[after.lowerBound].from)
            }
        }
        let others = changes.filter { !$0.isAskedFor }
        return (others.isEmpty ? changes : others).max { Self.size($0) < Self.size($1) }
    }

    /// Whether the load was asked to change when the figure did: answers come later than pushes are due, and a change is seen by the
    /// block. What changes little by little goes with any of them.
    private func isAskedFor(_ at: Double?) -> Bool {
        guard let at else { return !turns.isEmpty }
        let room = 1.5 * blockSeconds + Double(value) / 1e9
        return turns.contains { at >= $0.lowerBound - room && at <= $0.upperBound + room }
    }

    /// Between the places where shares change: by their ranks, which no outlier misleads, and by themselves, which shows the few blocks
    /// that are far from all others at one end of the run.
    private func stretches(_ shares: [Double]) -> [[Range<Int>]] {
        [true, false].map { ChangePoints(shares, level: Self.trendLevel, isRanked: $0).segments(of: shares.count) }
    }

    private func compare(_ before: ArraySlice<LatencyBlock>, _ after: ArraySlice<LatencyBlock>, at: Double?) -> Shift? {
        let share = percentile / 100
        let wholes = [Whole(before), Whole(after)]
        guard !wholes.contains(where: { $0.isUnanswered(atShare: share) }) else {
            return Shift(at: at, before: 0, after: .max, isUnanswered: true)
        }
        let values = wholes.map { $0.value(atShare: share) }
        let (small, large) = (Double(min(values[0], values[1])), Double(max(values[0], values[1])))
        guard large > small else { return nil }
        let (low, high) = (min(values[0], values[1]), max(values[0], values[1]))
        guard
            Self.isNoticeable(from: low, to: high, least: leastChange)
                || limits.contains(where: { low <= $0 && $0 < high })
        else {
            return nil
        }
        return Shift(at: at, before: values[0], after: values[1], isAskedFor: isAskedFor(at))
    }

    /// Whether one value is larger than another by a twentieth and by `least` nanoseconds.
    public static func isNoticeable(from low: UInt64, to high: UInt64, least: UInt64 = leastChange) -> Bool {
        high > low && high - low >= least && Double(high - low) >= tolerance * Double(low)
    }

    /// Of the number of pushes that took longer than `value`, if their number in all were given.
    private static func variance(_ blocks: [LatencyBlock], above value: UInt64) -> Double {
        let above = blocks.map { Double($0.above(value)) }
        let share = above.reduce(0, +) / max(1, blocks.reduce(0) { $0 + Double($1.count) })
        let deviations = zip(blocks, above).map { $1 - share * Double($0.count) }
        let count = Double(blocks.count)
        let own = deviations.reduce(0) { $0 + $1 * $1 } * count / (count - 1)
        let neighbours = zip(deviations, deviations.dropFirst()).reduce(0) { $0 + $1.0 * $1.1 } * count / (count - 1)
        // Deviations from their own mean correlate by −1/count.
        return max(own + 2 * neighbours + 2 * own / count, leastVariance * own)
    }

    /// How many more or fewer pushes than there are may be expected to take longer than `value`, 95 %.
    private static func margin(_ blocks: [LatencyBlock], above value: UInt64) -> Double {
        StudentDistribution.quantile(0.975, degrees: max(1, (blocks.count - 1) / 3))
            * variance(blocks, above: value).squareRoot()
    }

    /// How many pushes are as good as one that is independent of all others, by how blocks differ in pushes above the median: 1 where
    /// nothing hangs together (the design effect of Kish: Survey Sampling, 1965, section 8.2).
    private static func clump(_ blocks: [LatencyBlock], _ all: Whole) -> Double {
        let median = all.value(atShare: 0.5)
        let whole = Double(all.count)
        let share = Double(blocks.reduce(0) { $0 &+ $1.above(median) }) / whole
        let expected = whole * share * (1 - share)
        return expected > 0 ? max(1, variance(blocks, above: median) / expected) : 1
    }

    private mutating func interval(_ blocks: [LatencyBlock], _ all: Whole, _ widened: Double) {
        let share = percentile / 100
        let whole = Double(all.count)
        let margin = widened * Self.margin(blocks, above: value) / blocks.reduce(0) { $0 + Double($1.count) }
        // In ranks: what lies below the figure is one of these numbers of pushes.
        let (least, most) = ((share - margin) * whole, (share + margin) * whole + 1)
        guard least >= 1, most <= whole else {
            without = .fewPushes(needed: UInt64(min(2 * whole, 1e18)))
            return
        }
        guard most <= Double(all.answered) else {
            without = .unanswered
            return
        }
        low = min(value, all.between(least))
        high = max(value, all.between(most))
    }
}

/// Blocks together.
private struct Whole {
    private let latencies: LatencyHistogram
    let answered: UInt64
    let count: UInt64

    init(_ blocks: some Sequence<LatencyBlock>) {
        var latencies = LatencyHistogram()
        var count: UInt64 = 0
        for block in blocks {
            block.add(to: &latencies)
            count &+= block.count
        }
        self.latencies = latencies
        answered = latencies.count
        self.count = count
    }

    /// Of the push that a share of all is no slower than, as results have it.
    private func rank(_ share: Double) -> Double { max(1, (share * Double(count) - 1e-9).rounded(.up)) }

    func isUnanswered(atShare share: Double) -> Bool { rank(share) > Double(answered) }

    /// Of one without an answer, the longest answer.
    func value(atShare share: Double) -> UInt64 { highest(atRank: rank(share)) }

    /// What the push of a rank took, from 1, as if those of a counter were spread evenly over what it holds.
    func between(_ rank: Double) -> UInt64 {
        var seen = 0.0
        for counter in latencies.counters {
            let count = Double(counter.count)
            if seen + count >= rank {
                let width = Double(highest(atRank: seen + count)) - Double(counter.value)
                return counter.value &+ UInt64(max(0, width * (rank - seen) / count))
            }
            seen += count
        }
        return latencies.counters.last?.value ?? 0
    }

    /// The least of what the counter of a value holds.
    func lowest(with value: UInt64) -> UInt64 {
        var lowest = value
        for counter in latencies.counters {
            guard counter.value <= value else { break }
            lowest = counter.value
        }
        return lowest
    }

    /// What the push of a rank, from 1, took at most.
    func highest(atRank rank: Double) -> UInt64 {
        // Half a record lower, so that rounding does not take the next.
        latencies.value(atPercentile: min(100, (rank - 0.5) / Double(answered) * 100))
    }
}

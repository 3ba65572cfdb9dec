/// Where a series of numbers changes: E-divisive (Matteson, James: A Nonparametric Approach for Multiple Change Point Analysis
/// of Multivariate Data, 2014), on the ranks of the values, so that no outlier counts for more than its place, or on the values
/// themselves, which sees a few that are far from all others.
///
/// Of all stretches between the change points found so far, the split with the largest distance between what lies before and
/// after it is taken, and kept when shuffling the values within the stretches seldom gives one as large. The share of series
/// without a change in which one is found is at most `level`, whatever the values are distributed like, as long as their order
/// means nothing. Who looks again after each value has many chances: `look` is the level of one look that keeps them together.
/// How often changes are found, and how often where none is: docs/comparing.md, as measured by the coverage benchmark.
///
/// Quadratic in the number of values, times the number of shuffles.
package struct ChangePoints: Sendable, Equatable {
    /// The fewest values between change points.
    package static let leastValues = 3
    /// The fewest values of which a change is looked for: one half above the other is as rare as this among the orders of the values only
    /// from there on.
    package static func fewest(level: Double) -> Int {
        ((2 * leastValues)...).first { MannWhitney.smallestP($0 / 2, $0 - $0 / 2) <= level } ?? .max
    }
    /// More take minutes.
    package static let most = 1000
    /// Looks at a growing series see much of what the looks before them saw: those after each of 100 values find a change, where none
    /// is, no more often than so many looks together that see nothing of each other. Measured: docs/comparing.md.
    static let looks = 10.0
    /// The level of one look, for a series that is looked at after each value: of series without a change, the share in which any
    /// of the looks at its first 100 values finds one is then at most `level`.
    package static func look(_ level: Double) -> Double { level / looks }
    /// Five shuffles in so many may have as large a distance: what the test needs to be exact, and nearly as strong as one with
    /// more.
    static func shuffles(_ level: Double) -> Int { max(1000, Int((5 / level).rounded(.up))) - 1 }

    /// The index of the first value after each change, ascending.
    package let starts: [Int]
    /// The p-value each was found with, in the order of `starts`; one in all shuffles … level.
    package let p: [Double]

    /// - Parameters:
    ///   - values: in the order of time, at most `most`.
    ///   - level: the chance of finding a change where there is none; 0.0001 … 0.2.
    ///   - isRanked: looks at ranks.
    ///   - seed: the same seed gives the same change points.
    package init(_ values: [Double], level: Double = 0.01, isRanked: Bool = true, seed: UInt64 = 1) {
        precondition(values.count <= Self.most && (0.00005...0.2).contains(level))
        let looked = isRanked ? Ranks.of(values) : values
        var random = SplitMix(seed: seed)
        var found: [(start: Int, p: Double)] = []
        let isLong = values.count >= Self.fewest(level: level)
        while isLong {
            let bounds = [0] + found.map(\.start).sorted() + [values.count]
            guard let best = Self.best(looked, bounds), best.distance > 0 else { break }
            let p = Self.chance(best.distance, looked, bounds, level, &random)
            guard p <= level else { break }
            found.append((best.start, p))
        }
        found.sort { $0.start < $1.start }
        starts = found.map(\.start)
        p = found.map(\.p)
    }

    /// The stretches between change points, as ranges of indices of `count` values.
    package func segments(of count: Int) -> [Range<Int>] {
        let bounds = [0] + starts + [count]
        return zip(bounds, bounds.dropFirst()).map { $0..<$1 }
    }

    /// How often shuffles have as large a distance as was seen, the series itself counted as one. Stops where it is sure to be
    /// above the level, which does not change what is decided.
    private static func chance(
        _ observed: Double, _ values: [Double], _ bounds: [Int], _ level: Double, _ random: inout SplitMix
    ) -> Double {
        let shuffles = Self.shuffles(level)
        let most = Int(level * Double(shuffles + 1) + 1e-9)
        var shuffled = values
        var asLarge = 1
        for _ in 0..<shuffles {
            for (low, high) in zip(bounds, bounds.dropFirst()) { shuffled[low..<high].shuffle(using: &random) }
            if let best = best(shuffled, bounds), best.distance >= observed - 1e-9 * observed { asLarge += 1 }
            if asLarge > most { return 1 }
        }
        return Double(asLarge) / Double(shuffles + 1)
    }

    /// The split with the largest distance within any stretch; nil when all are too short.
    private static func best(_ values: [Double], _ bounds: [Int]) -> (start: Int, distance: Double)? {
        var result: (start: Int, distance: Double)?
        for (low, high) in zip(bounds, bounds.dropFirst()) {
            guard let split = split(values, low, high), split.distance > result?.distance ?? -.infinity else {
                continue
            }
            result = split
        }
        return result
    }

    /// Within one stretch: what lies before a split, against what lies from there to an end that may be moved, too. The energy
    /// distance of both (Székely, Rizzo: Energy Statistics, 2013), times n · m / (n + m).
    package static func split(_ values: [Double], _ low: Int, _ high: Int) -> (start: Int, distance: Double)? {
        let count = high - low
        guard count >= 2 * leastValues else { return nil }
        var result = (start: low, distance: -Double.infinity)
        values.withUnsafeBufferPointer { values in
            // Of the values before each split: distances among them; to those from the split to the end, so far.
            withUnsafeTemporaryAllocation(of: Double.self, capacity: 2 * count) { sums in
                sums.initialize(repeating: 0)
                let (within, across) = (sums.baseAddress!, sums.baseAddress! + count)
                var all = 0.0
                for end in 1..<count {
                    // The value at `end` comes in: its distances to those before it, added up.
                    let value = values[low + end]
                    within[end] = all
                    var distances = 0.0
                    for before in 0..<end {
                        distances += abs(value - values[low + before])
                        across[before + 1] += distances
                    }
                    // A split right before this value has all of these across, and nothing within the second half.
                    all += distances
                    guard end + 1 >= 2 * leastValues else { continue }
                    for split in leastValues...(end + 1 - leastValues) {
                        let (n, m) = (Double(split), Double(end + 1 - split))
                        let first = within[split] / (n * (n - 1) / 2)
                        let second = (all - within[split] - across[split]) / (m * (m - 1) / 2)
                        let distance = n * m / (n + m) * (2 * across[split] / (n * m) - first - second)
                        if distance > result.distance { result = (low + split, distance) }
                    }
                }
            }
        }
        return result
    }
}

/// A 95 % confidence interval of the ratio of two medians, B's to A's: percentile bootstrap (Efron, Tibshirani: An Introduction
/// to the Bootstrap, 1993, chapter 13). Of few runs it is too narrow, so that it is not to be the only witness.
package struct BootstrapRatio: Sendable, Equatable {
    /// What fewer resamples would make of the interval's ends is not worth printing.
    package static let fewestResamples = 2000

    /// Of the medians as they are.
    package let ratio: Double
    package let low: Double
    package let high: Double

    /// nil when a side has fewer than two values, or one that is not above 0: there is no ratio then.
    ///
    /// - Parameters:
    ///   - resamples: at least 2,000.
    ///   - seed: the same seed gives the same interval.
    package init?(_ a: [Double], _ b: [Double], resamples: Int = 10_000, seed: UInt64 = 1) {
        let isPositive = (a + b).allSatisfy { $0 > 0 && $0.isFinite }
        guard a.count > 1, b.count > 1, isPositive, resamples >= Self.fewestResamples else { return nil }
        let (a, b) = (a.sorted(), b.sorted())
        var random = SplitMix(seed: seed)
        var counts = [Int](repeating: 0, count: max(a.count, b.count))
        var ratios: [Double] = []
        ratios.reserveCapacity(resamples)
        for _ in 0..<resamples {
            let below = Self.resampledMedian(a, &random, &counts)
            ratios.append(Self.resampledMedian(b, &random, &counts) / below)
        }
        ratios.sort()
        ratio = Quantile.of(b, 0.5) / Quantile.of(a, 0.5)
        low = Quantile.of(ratios, 0.025)
        high = Quantile.of(ratios, 0.975)
    }

    /// The median of as many draws with replacement, by counting how often each value was drawn.
    package static func resampledMedian(
        _ sorted: [Double], _ random: inout SplitMix, _ counts: inout [Int]
    ) -> Double {
        let count = sorted.count
        for index in 0..<count { counts[index] = 0 }
        for _ in 0..<count { counts[random.below(count)] += 1 }
        let (first, second) = ((count - 1) / 2, count / 2)
        var seen = 0
        var lower: Double?
        for index in 0..<count {
            seen += counts[index]
            if lower == nil, seen > first { lower = sorted[index] }
            if let lower, seen > second { return (lower + sorted[index]) / 2 }
        }
        return sorted[count - 1]
    }
}

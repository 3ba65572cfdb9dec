/// Does a value resemble the one before it, or one that lies some places before? The correlation of ranks from one value to the other
/// (Wald, Wolfowitz: An Exact Test for Randomness in the Non-Parametric Case Based on Serial Correlation, 1943), held against that of
/// shuffled values, each side by itself: a positive one makes intervals of means and quantiles too narrow.
package struct NeighbourCorrelation: Sendable, Equatable {
    package static let shuffles = 999

    /// −1…1; 0 where all values are equal.
    package let r: Double
    /// How often shuffled values have one as large, the order itself counted as one; 1/1,000…1.
    package let p: Double
    /// How often they have one as small, likewise. Where many values are equal both may be 1.
    package let pSmaller: Double

    /// nil of fewer than `lag` + 3 values, or of one that is not a number.
    ///
    /// - Parameters:
    ///   - lag: how many places values lie apart, from 1.
    ///   - seed: the same seed gives the same p.
    package init?(_ values: [Double], lag: Int = 1, seed: UInt64 = 1) {
        guard values.count > 2 + lag, !values.contains(where: \.isNaN) else { return nil }
        let middle = Double(values.count + 1) / 2
        var ranks = Ranks.of(values).map { $0 - middle }
        let squares = ranks.reduce(0) { $0 + $1 * $1 }
        guard squares > 0 else {
            (r, p, pSmaller) = (0, 1, 1)
            return
        }
        let observed = Self.products(ranks, lag)
        var random = SplitMix(seed: seed)
        var (asLarge, asSmall) = (1, 1)
        for _ in 0..<Self.shuffles {
            ranks.shuffle(using: &random)
            let products = Self.products(ranks, lag)
            if products >= observed - 1e-9 * squares { asLarge += 1 }
            if products <= observed + 1e-9 * squares { asSmall += 1 }
        }
        r = observed / squares
        p = Double(asLarge) / Double(Self.shuffles + 1)
        pSmaller = Double(asSmall) / Double(Self.shuffles + 1)
    }

    private static func products(_ values: [Double], _ lag: Int) -> Double {
        var sum = 0.0
        for index in lag..<values.count { sum += values[index - lag] * values[index] }
        return sum
    }
}

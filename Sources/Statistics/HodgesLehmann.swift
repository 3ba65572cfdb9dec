import Foundation

/// By which factor one sample's values are larger than another's, with a confidence interval without any assumption on how
/// they are distributed: the median of all ratios of a value of B to a value of A, and the ratios between which the
/// Mann–Whitney test does not tell the samples apart (Hodges, Lehmann: Estimates of Location Based on Rank Tests, 1963).
/// A few values far out move it little.
package struct HodgesLehmann: Sendable, Equatable {
    package let ratio: Double
    /// 0 where the samples are too small for an end of this level.
    package let low: Double
    /// Infinite where the samples are too small for an end of this level.
    package let high: Double

    /// nil when a value is not above 0, or the samples are too small for an interval of this level.
    ///
    /// - Parameters:
    ///   - a, b: together at most 400 values.
    ///   - error: the chance, on each side, that the interval misses the true ratio; above 0, below 0.5.
    package init?(_ a: [Double], _ b: [Double], error: Double) {
        self.init(a, b, lowError: error, highError: error)
        guard low > 0, high.isFinite else { return nil }
    }

    /// An end of its own level on each side; nil when a value is not above 0.
    ///
    /// - Parameters:
    ///   - a, b: together at most 400 values.
    ///   - lowError: the chance that the true ratio is below `low`; above 0, below 0.5.
    ///   - highError: the chance that it is above `high`.
    ///   - stretch: by which factor the estimate deviates further than that of independent values (`SerialCorrelation`): the
    ///     logarithms of the ends are so much further from that of the ratio. At least 1.
    package init?(_ a: [Double], _ b: [Double], lowError: Double, highError: Double, stretch: Double = 1) {
        guard !a.isEmpty, !b.isEmpty, (a + b).allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
        var ratios: [Double] = []
        ratios.reserveCapacity(a.count * b.count)
        for x in a { for y in b { ratios.append(y / x) } }
        self.init(
            ratios, low: Self.rank(a.count, b.count, error: lowError),
            high: Self.rank(a.count, b.count, error: highError), stretch: stretch)
    }

    /// By which factor the second value of a pair is larger than the first: the median of the geometric means of every two
    /// ratios, and the means between which Wilcoxon's signed-rank test does not tell the pairs apart (the same paper). Exact
    /// where the logarithm of a ratio is as likely to lie above its true value as equally far below, as it is when the order in
    /// which a pair was measured is drawn by lot. nil when a ratio is not above 0, or there is none.
    ///
    /// - Parameters:
    ///   - ratios: of the second value to the first, one a pair; at most 400.
    ///   - lowError, highError: as above.
    package init?(ratios: [Double], lowError: Double, highError: Double) {
        guard !ratios.isEmpty, ratios.allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
        var means: [Double] = []
        means.reserveCapacity(ratios.count * (ratios.count + 1) / 2)
        for (index, one) in ratios.enumerated() {
            for other in ratios[index...] { means.append((one * other).squareRoot()) }
        }
        self.init(
            means, low: SignedRank.rank(ratios.count, error: lowError),
            high: SignedRank.rank(ratios.count, error: highError))
    }

    /// - Parameters:
    ///   - values: what the ratio is the median of.
    ///   - low, high: ranks of the ends, from 0, counted from either side.
    private init(_ values: [Double], low: Int?, high: Int?, stretch: Double = 1) {
        let sorted = values.sorted()
        let ratio = Quantile.of(sorted, 0.5)
        self.ratio = ratio
        func end(_ value: Double) -> Double { stretch == 1 ? value : ratio * pow(value / ratio, stretch) }
        self.low = low.map { end(sorted[$0]) } ?? 0
        self.high = high.map { end(sorted[sorted.count - 1 - $0]) } ?? .infinity
    }

    /// Which of the sorted ratios, from 0, is the interval's lower end: the highest k with P(U ≤ k) ≤ error; nil when there is none.
    package static func rank(_ n: Int, _ m: Int, error: Double) -> Int? {
        rank(MannWhitney.ways(n, m), error: error)
    }

    /// The same of any statistic, of which is known in how many ways each value from 0 comes about.
    static func rank(_ ways: [Double], error: Double) -> Int? {
        let most = error * ways.reduce(0, +)
        var sum = 0.0
        var count = 0
        while count < ways.count, sum + ways[count] <= most {
            sum += ways[count]
            count += 1
        }
        return count > 0 ? count - 1 : nil
    }
}

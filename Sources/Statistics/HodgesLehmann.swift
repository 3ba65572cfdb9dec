/// By which factor one sample's values are larger than another's, with a confidence interval without any assumption on how
/// they are distributed: the median of all ratios of a value of B to a value of A, and the ratios between which the
/// Mann–Whitney test does not tell the samples apart (Hodges, Lehmann: Estimates of Location Based on Rank Tests, 1963).
/// A few values far out move it little.
package struct HodgesLehmann: Sendable, Equatable {
    package let ratio: Double
    package let low: Double
    package let high: Double

    /// nil when a value is not above 0, or the samples are too small for an interval of this level.
    ///
    /// - Parameters:
    ///   - a, b: together at most 400 values.
    ///   - error: the chance, on each side, that the interval misses the true ratio; above 0, below 0.5.
    package init?(_ a: [Double], _ b: [Double], error: Double) {
        guard !a.isEmpty, !b.isEmpty, (a + b).allSatisfy({ $0 > 0 && $0.isFinite }),
            let rank = Self.rank(a.count, b.count, error: error)
        else { return nil }
        var ratios: [Double] = []
        ratios.reserveCapacity(a.count * b.count)
        for x in a { for y in b { ratios.append(y / x) } }
        ratios.sort()
        ratio = Quantile.of(ratios, 0.5)
        low = ratios[rank]
        high = ratios[ratios.count - 1 - rank]
    }

    /// Which of the sorted ratios, from 0, is the interval's lower end: the highest k with P(U ≤ k) ≤ error; nil when there is none.
    package static func rank(_ n: Int, _ m: Int, error: Double) -> Int? {
        let ways = MannWhitney.ways(n, m)
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

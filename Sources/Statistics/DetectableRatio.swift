import Foundation

/// The smallest ratio that two samples could have shown: one that would be called a difference in about 80 of 100 repetitions of
/// log-normal runs. Simulated, at the level of one of eleven figures: of 20 runs a side 79, of 10 76, of 6 70; of 20 rounds 78, of 10 69, and
/// of 9, which are hardly enough for the level, 60.
package enum DetectableRatio {
    /// Rank tests take π/3 times as many values of a normal distribution as tests of means do (Lehmann: Nonparametrics, 1975,
    /// section 2.4).
    private static let ranksAgainstMeans = (Double.pi / 3).squareRoot()

    /// Above 1, of the pooled spread s of the logarithms: exp(√(π/3) · (t at 1 − level/2 + t₀.₈) · s · √(1/n + 1/m)), where the
    /// level is the largest p-value at or below the one given that such samples can have. nil when a side has fewer than three
    /// values, or one that is not above 0, or no p-value is as small.
    ///
    /// - Parameters:
    ///   - level: at which the difference is called; where several figures are judged, a figure's part of it.
    ///   - order: in which the values were made.
    package static func of(
        _ a: [Double], _ b: [Double], level: Double = 0.05, in order: RunOrder = .independent
    ) -> Double? {
        guard a.count > 2, b.count > 2, (a + b).allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
        let degrees = a.count + b.count - 2
        let spread = ((squares(a.map { log($0) }) + squares(b.map { log($0) })) / Double(degrees)).squareRoot()
        let tails = MannWhitney.Tails(a.count, b.count)
        return ratio(
            spread * (1 / Double(a.count) + 1 / Double(b.count)).squareRoot(), degrees, order.independentP(level),
            a.count * b.count, stretch: order.stretch, tails.atMost)
    }

    /// The same of rounds, by the spread of the logarithms of their ratios.
    package static func of(rounds a: [Double], _ b: [Double], level: Double = 0.05) -> Double? {
        guard a.count > 2, a.count == b.count, (a + b).allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
        let degrees = a.count - 1
        let spread = (squares(zip(a, b).map { log($1) - log($0) }) / Double(degrees)).squareRoot()
        let tails = SignedRank.Tails(a.count)
        return ratio(
            spread / Double(a.count).squareRoot(), degrees, level, a.count * (a.count + 1) / 2, tails.atMost)
    }

    private static func ratio(
        _ error: Double, _ degrees: Int, _ level: Double, _ most: Int, stretch: Double = 1, _ tail: (Int) -> Double
    ) -> Double? {
        let reached = 2 * tail(RankTail.place(below: level / 2, of: most / 2, tail: tail))
        guard reached <= level else { return nil }
        let factor =
            StudentDistribution.quantile(1 - reached / 2, degrees: degrees)
            + stretch * StudentDistribution.quantile(0.8, degrees: degrees)
        let ratio = exp(ranksAgainstMeans * factor * error)
        return ratio.isFinite ? ratio : nil
    }

    /// The squared distances from the mean, added up.
    private static func squares(_ values: [Double]) -> Double {
        let mean = values.reduce(0, +) / Double(values.count)
        return values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    }
}

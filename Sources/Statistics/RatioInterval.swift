import Foundation

/// By which factor B's values are larger than A's, with a confidence interval that is the inversion of a rank test (Hodges,
/// Lehmann: Estimates of Location Based on Rank Tests, 1963): it holds just the factors by which B could be divided so that the
/// test would not tell the sides apart. Nothing is assumed of how values are distributed. Where so few values allow no interval
/// of the confidence asked for, it is the widest there is, and says what that covers.
package struct RatioInterval: Sendable, Equatable {
    /// The median of all ratios that the interval's ends are taken from; not the ratio of the medians.
    package let ratio: Double
    package let low: Double
    package let high: Double
    /// In which share of repetitions the interval holds the true factor; 0…1.
    package let coverage: Double

    /// Of two groups of values: the ratios of each value of B to each of A, and Mann–Whitney's test. Three a side cover 90 %.
    ///
    /// nil when a side has fewer than two values, or one that is not above 0: there is no ratio then.
    ///
    /// - Parameters:
    ///   - a, b: each at most 2,000 values.
    ///   - order: in which they were made. Of one that is not independent the ends are `stretch` times as far from the ratio, as
    ///     logarithms, and the interval covers at least what it says.
    ///   - confidence: above 0, below 1.
    package init?(_ a: [Double], _ b: [Double], in order: RunOrder = .independent, confidence: Double = 0.95) {
        guard a.count > 1, b.count > 1, Self.arePositive(a), Self.arePositive(b) else { return nil }
        var ratios: [Double] = []
        ratios.reserveCapacity(a.count * b.count)
        for x in a { for y in b { ratios.append(y / x) } }
        let tails = MannWhitney.Tails(a.count, b.count)
        self.init(ratios, confidence, stretch: order.stretch, tails.atMost)
    }

    /// Of values that were made in rounds, one of A and one of B in each: the geometric means of the ratios of every two rounds
    /// (Walsh's averages, a round with itself too), and Wilcoxon's signed-rank test. What a round's values share (a machine that
    /// gets slower) is in neither. Four rounds cover 87.5 %, five 93.75 %.
    ///
    /// nil as above, or when the sides have not as many values as each other.
    package init?(rounds a: [Double], _ b: [Double], confidence: Double = 0.95) {
        guard a.count > 1, a.count == b.count, Self.arePositive(a), Self.arePositive(b) else { return nil }
        let logarithms = zip(a, b).map { log($1) - log($0) }
        var ratios: [Double] = []
        ratios.reserveCapacity(a.count * (a.count + 1) / 2)
        for i in logarithms.indices {
            for j in i..<logarithms.count { ratios.append((logarithms[i] + logarithms[j]) / 2) }
        }
        let tails = SignedRank.Tails(a.count)
        self.init(ratios.map { exp($0) }, confidence, tails.atMost)
    }

    private init?(
        _ ratios: [Double], _ confidence: Double, stretch: Double = 1, _ tail: (Int) -> Double
    ) {
        guard Self.arePositive(ratios) else { return nil }
        let ratios = ratios.sorted()
        let place = RankTail.place(below: (1 - confidence) / 2, of: (ratios.count - 1) / 2, tail: tail)
        let ratio = Quantile.of(ratios, 0.5)
        func end(_ value: Double) -> Double { stretch == 1 ? value : ratio * pow(value / ratio, stretch) }
        self.ratio = ratio
        low = end(ratios[place])
        high = end(ratios[ratios.count - 1 - place])
        coverage = max(0, 1 - 2 * tail(place))
        guard low > 0, high.isFinite else { return nil }
    }

    private static func arePositive(_ values: [Double]) -> Bool { values.allSatisfy { $0 > 0 && $0.isFinite } }

    /// Whether it excludes 1, and covers 90 % or more: what a sweep tells points apart by.
    package var tellsApart: Bool { coverage >= 0.9 - 1e-9 && (low > 1 || high < 1) }

    /// The least share by which the sides can be said to be the same: the true factor lies between 1/(1 + share) and 1 + share,
    /// and of factors outside, at most 5 in 100 are said to lie within. It is what two one-sided tests at 5 % allow (Schuirmann:
    /// A Comparison of the Two One-Sided Tests Procedure and the Power Approach, 1987), by an interval that covers 90 %.
    ///
    /// nil where this interval covers less.
    package var sameWithin: Double? { coverage >= 0.9 - 1e-9 ? max(high, 1 / low) - 1 : nil }
}

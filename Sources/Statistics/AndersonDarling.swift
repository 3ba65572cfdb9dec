import Foundation

/// The Anderson–Darling test: are values drawn from a distribution that is known entirely? (Anderson, Darling: A Test of Goodness of
/// Fit, JASA 49, 1954.) It weighs the tails more than Kolmogorov and Smirnov do.
package struct AndersonDarling: Sendable, Equatable {
    /// The statistic A².
    package let statistic: Double
    /// The chance of one as large or larger; 0…1, to within 0.0002 or so.
    package let p: Double

    /// nil of fewer than two values, or of one outside 0…1.
    ///
    /// - Parameter shares: of each value, the share of the distribution at or below it: even between 0 and 1 where the values are of it.
    package init?(_ shares: [Double]) {
        guard shares.count > 1, shares.allSatisfy({ (0...1).contains($0) }) else { return nil }
        // Farther out than what is told apart from 0 and 1 nothing is.
        let sorted = shares.map { min(max($0, 1e-15), 1 - 1e-15) }.sorted()
        let count = sorted.count
        var sum = 0.0
        for index in 0..<count {
            sum += Double(2 * index + 1) * (log(sorted[index]) + log(1 - sorted[count - 1 - index]))
        }
        statistic = -Double(count) - sum / Double(count)
        p = min(1, max(0, 1 - Self.cumulative(statistic, count: count)))
    }

    /// The distribution of A² of `count` values: Marsaglia, Marsaglia: Evaluating the Anderson–Darling Distribution, Journal of
    /// Statistical Software 9 (2), 2004; the short forms of ADinf and of the correction for finite numbers.
    package static func cumulative(_ z: Double, count: Int) -> Double {
        guard z > 0 else { return 0 }
        let (x, n) = (limit(z), Double(count))
        if x > 0.8 {
            return x + polynomial(x, [-130.2137, 745.2337, -1705.091, 1950.646, -1116.360, 255.7844]) / n
        }
        let edge = 0.01265 + 0.1757 / n
        if x < edge {
            let v = x / edge
            return x + v.squareRoot() * (1 - v) * (49 * v - 102) * (0.0037 / (n * n) + 0.00078 / n + 0.00006) / n
        }
        let v = (x - edge) / (0.8 - edge)
        let correction = polynomial(v, [-0.00022633, 6.54034, -14.6538, 14.458, -8.259, 1.91864])
        return x + correction * (0.04213 + 0.01365 / n) / n
    }

    /// The distribution for ever more values.
    private static func limit(_ z: Double) -> Double {
        if z < 2 {
            return exp(-1.2337141 / z) / z.squareRoot()
                * polynomial(z, [2.00012, 0.247105, -0.0649821, 0.0347962, -0.011672, 0.00168691])
        }
        return exp(-exp(polynomial(z, [1.0776, -2.30695, 0.43424, -0.082433, 0.008056, -0.0003146])))
    }

    /// Factors of rising powers.
    private static func polynomial(_ x: Double, _ factors: [Double]) -> Double {
        factors.reversed().reduce(0) { $0 * x + $1 }
    }
}

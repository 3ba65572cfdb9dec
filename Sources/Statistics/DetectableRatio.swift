import Foundation

/// The smallest ratio that two samples could have shown: one that would be called a difference in about 80 of 100 repetitions.
package enum DetectableRatio {
    /// Values are compared by medians, which take π/2 times as many runs as means do.
    private static let medianAgainstMean = (Double.pi / 2).squareRoot()

    /// Above 1, of the pooled spread s of the logarithms: exp(√(π/2) · (t at 1 − level/2 + t₀.₈) · s · √(1/n + 1/m)). nil when a
    /// side has fewer than three values, or one that is not above 0.
    ///
    /// - Parameter level: at which the difference is called; where several figures are judged, a figure's part of it.
    package static func of(_ a: [Double], _ b: [Double], level: Double = 0.05) -> Double? {
        guard a.count > 2, b.count > 2, (a + b).allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
        let degrees = a.count + b.count - 2
        let spread = ((squares(a.map(log)) + squares(b.map(log))) / Double(degrees)).squareRoot()
        let factor =
            StudentDistribution.quantile(1 - level / 2, degrees: degrees)
            + StudentDistribution.quantile(0.8, degrees: degrees)
        return exp(medianAgainstMean * factor * spread * (1 / Double(a.count) + 1 / Double(b.count)).squareRoot())
    }

    /// The squared distances from the mean, added up.
    private static func squares(_ values: [Double]) -> Double {
        let mean = values.reduce(0, +) / Double(values.count)
        return values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    }
}

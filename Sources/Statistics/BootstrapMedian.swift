/// A 95 % confidence interval of a median: percentile bootstrap (Efron, Tibshirani: An Introduction to the Bootstrap, 1993,
/// chapter 13). Of fewer than six values it is the span from the smallest to the largest, or nearly so.
package struct BootstrapMedian: Sendable, Equatable {
    package let median: Double
    package let low: Double
    package let high: Double

    /// nil of fewer than two values, or of one that is not finite.
    ///
    /// - Parameter seed: the same seed gives the same interval.
    package init?(_ values: [Double], resamples: Int = 10_000, seed: UInt64 = 1) {
        guard values.count > 1, values.allSatisfy(\.isFinite), resamples >= BootstrapRatio.fewestResamples else {
            return nil
        }
        let values = values.sorted()
        var random = SplitMix(seed: seed)
        var counts = [Int](repeating: 0, count: values.count)
        var medians = (0..<resamples).map { _ in BootstrapRatio.resampledMedian(values, &random, &counts) }
        medians.sort()
        median = Quantile.of(values, 0.5)
        low = Quantile.of(medians, 0.025)
        high = Quantile.of(medians, 0.975)
    }
}

import Results
import Statistics

/// Intervals of a plan's figures: the measured runs are drawn anew (`DrawnSamples`), the plan is made again, and 95 % of the answers lie
/// within. What was not measured (devices, round-trip time, sizes) is taken as exact.
struct PlanIntervals {
    static let resamples = 1000
    /// Of drawn runs; none where there was nothing to draw from.
    private(set) var models: [CostModel] = []

    /// Without repeated runs there is nothing to draw from, and no interval.
    init(_ samples: [CostSample], seed: UInt64, resamples: Int = resamples) {
        guard CostModel.hasRepeats(samples) else { return }
        var random = SplitMix(seed: seed)
        let drawn = CostModel.drawn(from: samples)
        for _ in 0..<resamples {
            if let model = CostModel(drawn.draw(&random)) { models.append(model) }
        }
    }

    /// - Parameter again: the same of drawn runs.
    static func figure(_ value: Double, _ again: [Double]) -> PlanDocument.Figure {
        let values = again.filter(\.isFinite).sorted()
        guard values.count > 1, let limits = Quantile.limits(values, holding: 0.95) else {
            return PlanDocument.Figure(value)
        }
        return PlanDocument.Figure(value, low: limits.lowerBound, high: limits.upperBound)
    }
}

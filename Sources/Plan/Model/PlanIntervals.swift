import Results
import Statistics

/// Intervals of a plan's figures: the measured runs are drawn anew with replacement, each setting by itself, the plan is made
/// again, and 95 % of the answers lie within (percentile bootstrap). What was not measured (devices, round-trip time, sizes) is
/// taken as exact.
struct PlanIntervals {
    static let resamples = 1000
    /// Of drawn runs; none where there was nothing to draw from.
    private(set) var models: [CostModel] = []

    /// Without repeated runs there is nothing to draw from, and no interval.
    init(_ samples: [CostSample], seed: UInt64) {
        guard CostModel.hasRepeats(samples) else { return }
        var random = SplitMix(seed: seed)
        for _ in 0..<Self.resamples {
            if let model = CostModel(CostModel.resampled(samples, &random)) { models.append(model) }
        }
    }

    /// - Parameter again: the same of drawn runs.
    static func figure(_ value: Double, _ again: [Double]) -> PlanDocument.Figure {
        let values = again.filter(\.isFinite).sorted()
        guard values.count > 1 else { return PlanDocument.Figure(value) }
        return PlanDocument.Figure(value, low: Quantile.of(values, 0.025), high: Quantile.of(values, 0.975))
    }
}

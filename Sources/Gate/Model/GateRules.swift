/// How a gate decides.
///
/// It looks after every 8 rounds. At a look each judged metric has an interval (`HodgesLehmann`). The metric passes when that
/// lies below the tolerance. When it lies above, 8 rounds more are made after a pause, and only if they alone say so too is it
/// a regression: what disturbs a machine for a few seconds is not one.
///
/// A false alarm takes two intervals of different rounds that both miss the true ratio on the same side. The level of each is
/// such that this happens at most once in 100 gates, over all looks at all metrics, to costs that are exactly at the tolerance.
struct GateRules: Sendable, Equatable {
    /// Rounds from look to look, and in a confirmation.
    static let roundsPerLook = 8
    /// The chance of a false alarm in a gate, 0…1.
    static let error = 0.01

    /// Names of the judged metrics.
    let metrics: [String]
    /// The share by which a cost may have grown, above 0.
    let tolerance: Double
    /// At least `roundsPerLook`.
    let mostRounds: Int

    /// The chance that an interval misses the true ratio, on one side: its square is the share of one look at one metric.
    var errorPerInterval: Double {
        let looks = (mostRounds + Self.roundsPerLook - 1) / Self.roundsPerLook
        return (Self.error / Double(max(1, looks * metrics.count))).squareRoot()
    }
}

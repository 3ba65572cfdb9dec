/// How a gate decides.
///
/// It looks after every 8 rounds. At a look each judged metric has an interval (`HodgesLehmann`) at such a level that all looks
/// at all metrics together miss a true ratio at most once in 100 gates. A metric passes when its interval lies below the
/// tolerance. When it lies above, as many rounds as a look has are made anew after a pause, and only if they alone say so too
/// is it a regression: what disturbs a machine for a few seconds is not one.
public struct GateRules: Sendable, Equatable {
    /// Rounds from look to look, and in a confirmation.
    public static let roundsPerLook = 8
    /// The chance that any of a gate's intervals misses the true ratio on the side where it matters, 0…1.
    public static let error = 0.01

    /// Names of the judged metrics.
    public let metrics: [String]
    /// The share by which a cost may have grown, above 0.
    public let tolerance: Double
    /// At least `roundsPerLook`.
    public let mostRounds: Int

    public init(metrics: [String], tolerance: Double, mostRounds: Int) {
        self.metrics = metrics
        self.tolerance = tolerance
        self.mostRounds = mostRounds
    }

    /// Each interval's share of the error, on one side.
    var errorPerInterval: Double {
        let looks = (mostRounds + Self.roundsPerLook - 1) / Self.roundsPerLook
        return Self.error / Double(max(1, looks * metrics.count))
    }
}

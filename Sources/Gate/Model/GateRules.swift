/// How a gate decides.
///
/// It looks after 8 rounds, 16, 32 and so on, and after the last one. At a look each judged metric has an interval
/// (`GateInterval`). The gate passes when all of them lie below the tolerance. It is a regression when one lies above, and each
/// half of the rounds by itself says so too: what disturbs a machine for a while is not one.
///
/// A false alarm takes an interval whose lower end lies above the true ratio. The chances of that, over all looks at which there
/// may be one and all metrics, add up to `falseAlarms`, whatever the looks have in common (they have the baseline, and the
/// earlier rounds): Bonferroni's inequality. A gate that passes a cost at the tolerance takes an interval of this cost whose
/// upper end lies below the true ratio; over all looks the chances of that add up to `falsePasses`.
struct GateRules: Sendable, Equatable {
    /// Rounds until the first look.
    static let firstLook = 8
    /// A regression takes two halves of at least as many rounds as a look.
    static let fewestForRegression = 2 * firstLook
    /// The chance that a gate ends as a regression though no cost is above the tolerance, 0…1.
    static let falseAlarms = 0.01
    /// The chance that a gate passes though a cost is above the tolerance, 0…1.
    static let falsePasses = 0.05

    /// Names of the judged metrics.
    let metrics: [String]
    /// The share by which a cost may have grown, above 0.
    let tolerance: Double
    /// At least `firstLook`.
    let mostRounds: Int

    /// The ratio up to which a cost may have grown.
    var limit: Double { 1 + tolerance }

    /// After how many rounds it looks; a gate that runs out of time makes its last look instead of the next one.
    var looks: [Int] {
        var looks: [Int] = []
        var count = Self.firstLook
        while count < mostRounds {
            looks.append(count)
            count *= 2
        }
        return looks + [mostRounds]
    }

    /// The chance that the lower end of an interval lies above the true ratio.
    var lowError: Double {
        Self.falseAlarms / Double(max(1, looks.count { $0 >= Self.fewestForRegression }) * max(1, metrics.count))
    }

    /// The chance that the upper end of an interval lies below the true ratio. A gate passes only when every metric does, so that
    /// the metrics do not add up.
    var highError: Double { Self.falsePasses / Double(looks.count) }
}

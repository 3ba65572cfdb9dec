import Results
import Settings

/// The outcome of `pushload gate`; what `--json` prints. `results/README.md` defines every field.
struct GateDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.gate/2"

    var schema = GateDocument.currentSchema
    var comparison: Comparison
    /// Name of the baseline, or the base binary.
    var base: String
    /// Of a baseline: why it is what it is, when it was made, and its rounds.
    @Nullable var reason: String?
    @Nullable var baselineUpdatedAt: String?
    @Nullable var baselineRounds: Int?
    /// Every setting that is run, by the names a result has them under.
    var scenario: [String: JSONValue]
    /// The chances that the lower end of an interval lies above the true ratio, and the upper end below it, 0…1.
    var lowError: Double
    var highError: Double
    var verdict: Verdict
    var metrics: [Metric]
    var rounds: [Round]
    /// From the first round to the verdict.
    var seconds: Double
    /// What a reader must know beside the figures, one sentence each.
    var warnings: [String]

    enum CodingKeys: String, CodingKey {
        case schema, comparison, base, reason, scenario, verdict, metrics, rounds, seconds, warnings
        case baselineUpdatedAt = "baseline_updated_at"
        case baselineRounds = "baseline_rounds"
        case lowError = "low_error"
        case highError = "high_error"
    }

    enum Comparison: String, Codable, Sendable {
        /// Rounds of this build, and those that a file has.
        case baseline
        /// Rounds of this build, each with one of the base beside it.
        case pairs
    }

    enum Verdict: String, Codable, Sendable {
        /// The whole interval lies below what is tolerated.
        case pass
        /// The whole interval lies above what is tolerated, and either half of the rounds says so too.
        case regression
        /// The whole interval lies as far below 1 as regressions lie above.
        case improved
        /// The rounds there were do not tell.
        case cannotTell = "cannot_tell"
        /// Shown, and not judged.
        case information
    }

    struct Metric: Codable, Sendable, Equatable {
        var name: String
        var unit: FigureUnit
        /// Medians, as measured.
        var base: Double
        var now: Double
        /// Now to the base, with the ends of its interval, where there are rounds enough for them; against a baseline, costs in
        /// CPU time are divided by the reference kernel's first.
        @Nullable var ratio: Double?
        @Nullable var low: Double?
        @Nullable var high: Double?
        /// Of a round's rank with the next one's, −1…1, and by which factor the interval is therefore wider (of logarithms), at
        /// least 1; nil for pairs.
        @Nullable var correlation: Double?
        @Nullable var stretch: Double?
        /// The ratio that is tolerated, above 1; nil when the metric is not judged.
        @Nullable var tolerated: Double?
        var verdict: Verdict
    }

    /// One run of the scenario, and the reference kernel beside it; of a pair, both runs.
    struct Round: Codable, Sendable, Equatable {
        /// By the names of metrics; what could not be measured is not there.
        var values: [String: Double]
        /// CPU time of a record of the reference kernel before and after the round, ns.
        var kernelBefore: Double
        var kernelAfter: Double
        /// The same of the base's round of a pair, and whether that was made first.
        @Nullable var base: [String: Double]? = nil
        @Nullable var isBaseFirst: Bool? = nil

        enum CodingKeys: String, CodingKey {
            case values, base
            case kernelBefore = "kernel_before_ns"
            case kernelAfter = "kernel_after_ns"
            case isBaseFirst = "base_first"
        }

        /// What the machine's speed is taken to be: the geometric mean of both.
        var kernel: Double { (kernelBefore * kernelAfter).squareRoot() }
    }
}

import Results

/// The outcome of `pushload gate`; what `--json` prints. `results/README.md` defines every field.
struct GateDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.gate/1"

    var schema = GateDocument.currentSchema
    /// Name of the baseline, and why it is what it is.
    var baseline: String
    var reason: String
    var baselineUpdatedAt: String
    var verdict: Verdict
    var metrics: [Metric]
    var rounds: [Round]
    /// Rounds of the baseline.
    var baselineRounds: Int
    /// From the first round to the verdict.
    var seconds: Double
    /// What a reader must know beside the figures, one sentence each.
    var warnings: [String]

    enum CodingKeys: String, CodingKey {
        case schema, baseline, reason, verdict, metrics, rounds, seconds, warnings
        case baselineUpdatedAt = "baseline_updated_at"
        case baselineRounds = "baseline_rounds"
    }

    enum Verdict: String, Codable, Sendable {
        /// The whole interval lies below what is tolerated.
        case pass
        /// The whole interval lies above what is tolerated, twice.
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
        var baseline: Double
        var now: Double
        /// Now to the baseline, with the ends of its interval; costs in CPU time are divided by the reference kernel's first.
        @Nullable var ratio: Double?
        @Nullable var low: Double?
        @Nullable var high: Double?
        /// The ratio that is tolerated, above 1; nil when the metric is not judged.
        @Nullable var tolerated: Double?
        var verdict: Verdict
    }

    /// One run of the scenario, and the reference kernel beside it.
    struct Round: Codable, Sendable, Equatable {
        /// By the names of metrics; what could not be measured is not there.
        var values: [String: Double]
        /// CPU time of a record of the reference kernel before and after the round, ns.
        var kernelBefore: Double
        var kernelAfter: Double

        enum CodingKeys: String, CodingKey {
            case values
            case kernelBefore = "kernel_before_ns"
            case kernelAfter = "kernel_after_ns"
        }

        /// What the machine's speed is taken to be: the geometric mean of both.
        var kernel: Double { (kernelBefore * kernelAfter).squareRoot() }
    }
}

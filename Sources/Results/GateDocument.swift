/// The outcome of `pushload gate`; what `--json` prints. `results/README.md` defines every field.
package struct GateDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.gate/1"

    var schema = GateDocument.currentSchema
    /// Name of the baseline, and why it is what it is.
    package var baseline: String
    package var reason: String
    package var baselineUpdatedAt: String
    package var verdict: Verdict
    package var metrics: [Metric]
    package var rounds: [Round]
    /// Rounds of the baseline.
    var baselineRounds: Int
    /// From the first round to the verdict.
    package var seconds: Double
    /// What a reader must know beside the figures, one sentence each.
    package var warnings: [String]

    enum CodingKeys: String, CodingKey {
        case schema, baseline, reason, verdict, metrics, rounds, seconds, warnings
        case baselineUpdatedAt = "baseline_updated_at"
        case baselineRounds = "baseline_rounds"
    }

    package init(
        baseline: String, reason: String, baselineUpdatedAt: String, verdict: Verdict, metrics: [Metric],
        rounds: [Round], baselineRounds: Int, seconds: Double, warnings: [String]
    ) {
        self.baseline = baseline
        self.reason = reason
        self.baselineUpdatedAt = baselineUpdatedAt
        self.verdict = verdict
        self.metrics = metrics
        self.rounds = rounds
        self.baselineRounds = baselineRounds
        self.seconds = seconds
        self.warnings = warnings
    }

    package enum Verdict: String, Codable, Sendable {
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

    package struct Metric: Codable, Sendable, Equatable {
        package var name: String
        package var unit: ComparisonDocument.Unit
        /// Medians, as measured.
        package var baseline: Double
        package var now: Double
        /// Now to the baseline, with the ends of its interval; costs in CPU time are divided by the reference kernel's first.
        @Nullable package var ratio: Double?
        @Nullable package var low: Double?
        @Nullable package var high: Double?
        /// The ratio that is tolerated, above 1; nil when the metric is not judged.
        @Nullable package var tolerated: Double?
        package var verdict: Verdict

        package init(
            name: String, unit: ComparisonDocument.Unit, baseline: Double, now: Double, ratio: Double?, low: Double?,
            high: Double?, tolerated: Double?, verdict: Verdict
        ) {
            self.name = name
            self.unit = unit
            self.baseline = baseline
            self.now = now
            self.ratio = ratio
            self.low = low
            self.high = high
            self.tolerated = tolerated
            self.verdict = verdict
        }
    }

    /// One run of the scenario, and the reference kernel beside it.
    package struct Round: Codable, Sendable, Equatable {
        /// By the names of metrics; what could not be measured is not there.
        package var values: [String: Double]
        /// CPU time of a record of the reference kernel before and after the round, ns.
        var kernelBefore: Double
        var kernelAfter: Double

        enum CodingKeys: String, CodingKey {
            case values
            case kernelBefore = "kernel_before_ns"
            case kernelAfter = "kernel_after_ns"
        }

        package init(values: [String: Double], kernelBefore: Double, kernelAfter: Double) {
            self.values = values
            self.kernelBefore = kernelBefore
            self.kernelAfter = kernelAfter
        }

        /// What the machine's speed is taken to be: the geometric mean of both.
        package var kernel: Double { (kernelBefore * kernelAfter).squareRoot() }
    }
}

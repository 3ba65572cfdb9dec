/// Two groups of runs beside each other, A before and B after; what `pushload compare --json` prints.
package struct ComparisonDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.comparison/1"

    var schema = ComparisonDocument.currentSchema
    package var a: Side
    package var b: Side
    /// How many figures were tested at once.
    package var judged: Int
    /// The fewest runs a side of which a difference of any of these can be called.
    package var fewestRuns: Int
    /// Only what both sides have figures of.
    package var metrics: [Metric]
    /// By the names histograms have in a result.
    package var distributions: [Distribution]
    /// What else differs between the runs, one sentence each.
    package var warnings: [String]

    enum CodingKeys: String, CodingKey {
        case schema, a, b, metrics, distributions, warnings
        case judged = "figures_judged"
        case fewestRuns = "fewest_runs_a_side"
    }

    package init(
        a: Side, b: Side, judged: Int, fewestRuns: Int, metrics: [Metric], distributions: [Distribution],
        warnings: [String]
    ) {
        self.a = a
        self.b = b
        self.judged = judged
        self.fewestRuns = fewestRuns
        self.metrics = metrics
        self.distributions = distributions
        self.warnings = warnings
    }

    package struct Side: Codable, Sendable, Equatable {
        package var name: String
        /// Their ids.
        package var runs: [String]

        package init(name: String, runs: [String]) {
            self.name = name
            self.runs = runs
        }
    }

    /// In what a metric is counted.
    package enum Unit: String, Codable, Sendable {
        case perSecond = "per_second"
        case nanoseconds, bytes, count
    }

    package enum Verdict: String, Codable, Sendable {
        case faster, slower, more, less
        /// Interval and test do not agree that there is one.
        case noDifference = "no_difference"
        /// A side has so few runs that no outcome could be called a difference.
        case tooFewRuns = "too_few_runs"
        case oneRun = "one_run"
        /// A median is 0.
        case noRatio = "no_ratio"
    }

    package struct Metric: Codable, Sendable, Equatable {
        package var name: String
        package var unit: Unit
        /// One value a run.
        package var a: [Double]
        package var b: [Double]
        package var medianA: Double
        package var medianB: Double
        /// B's median to A's, with the ends of its 95 % confidence interval.
        @Nullable package var ratio: Double?
        @Nullable package var low: Double?
        @Nullable package var high: Double?
        /// Mann–Whitney, two-sided; of this figure alone.
        @Nullable package var p: Double?
        /// After Holm's correction for all figures judged, which is what the verdict goes by.
        @Nullable package var adjusted: Double?
        /// Cliff's delta, −1…1; above 0 where B's values are larger.
        @Nullable package var delta: Double?
        /// The smallest ratio, above 1, that these runs could have shown, all figures being judged at once.
        @Nullable package var detectable: Double?
        package var verdict: Verdict

        enum CodingKeys: String, CodingKey {
            case name, unit, a, b, ratio, low, high, p, verdict
            case adjusted = "p_adjusted"
            case medianA = "median_a"
            case medianB = "median_b"
            case delta = "cliffs_delta"
            case detectable = "detectable_ratio"
        }

        package init(
            name: String, unit: Unit, a: [Double], b: [Double], medianA: Double, medianB: Double, ratio: Double?,
            low: Double?, high: Double?, p: Double?, adjusted: Double?, delta: Double?, detectable: Double?,
            verdict: Verdict
        ) {
            self.name = name
            self.unit = unit
            self.a = a
            self.b = b
            self.medianA = medianA
            self.medianB = medianB
            self.ratio = ratio
            self.low = low
            self.high = high
            self.p = p
            self.adjusted = adjusted
            self.delta = delta
            self.detectable = detectable
            self.verdict = verdict
        }
    }

    /// The latencies of all runs of a side, added up, against the other side's: Kolmogorov and Smirnov's test.
    package struct Distribution: Codable, Sendable, Equatable {
        package var name: String
        /// The largest distance between the two cumulative distributions, 0…1.
        package var d: Double
        /// Of the pushes, as if each were independent.
        package var p: Double
        /// How often exchanging runs between the sides gives as large a distance, 0…1, after Holm's correction for the
        /// distributions compared; nil of fewer than five runs a side.
        @Nullable package var betweenRuns: Double?
        /// Where it is, nanoseconds.
        package var place: UInt64
        /// Shares at or below `place`, 0…1.
        package var belowA: Double
        package var belowB: Double
        /// nil: far enough apart to differ, but so few runs cannot tell (`betweenRuns` is nil).
        @Nullable package var differs: Bool?

        enum CodingKeys: String, CodingKey {
            case name, d, p, differs
            case betweenRuns = "p_between_runs"
            case place = "at_ns"
            case belowA = "below_a"
            case belowB = "below_b"
        }

        package init(
            name: String, d: Double, p: Double, betweenRuns: Double?, place: UInt64, belowA: Double, belowB: Double,
            differs: Bool?
        ) {
            self.name = name
            self.d = d
            self.p = p
            self.betweenRuns = betweenRuns
            self.place = place
            self.belowA = belowA
            self.belowB = belowB
            self.differs = differs
        }
    }
}

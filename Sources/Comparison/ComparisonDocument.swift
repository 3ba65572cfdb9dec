import Results

/// Two groups of runs beside each other, A before and B after; what `pushload compare --json` prints.
struct ComparisonDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.comparison/1"

    var schema = ComparisonDocument.currentSchema
    var a: Side
    var b: Side
    /// How many figures were tested at once.
    var judged: Int
    /// The fewest runs a side of which a difference of any of these can be called.
    var fewestRuns: Int
    /// Only what both sides have figures of.
    var metrics: [Metric]
    /// By the names histograms have in a result.
    var distributions: [Distribution]
    /// What else differs between the runs, one sentence each.
    var warnings: [String]

    enum CodingKeys: String, CodingKey {
        case schema, a, b, metrics, distributions, warnings
        case judged = "figures_judged"
        case fewestRuns = "fewest_runs_a_side"
    }

    struct Side: Codable, Sendable, Equatable {
        var name: String
        /// Their ids.
        var runs: [String]
    }

    struct Metric: Codable, Sendable, Equatable {
        var name: String
        var unit: FigureUnit
        /// One value a run.
        var a: [Double]
        var b: [Double]
        var medianA: Double
        var medianB: Double
        /// B's median to A's, with the ends of its 95 % confidence interval.
        @Nullable var ratio: Double?
        @Nullable var low: Double?
        @Nullable var high: Double?
        /// Mann–Whitney, two-sided; of this figure alone.
        @Nullable var p: Double?
        /// After Holm's correction for all figures judged, which is what the verdict goes by.
        @Nullable var adjusted: Double?
        /// Cliff's delta, −1…1; above 0 where B's values are larger.
        @Nullable var delta: Double?
        /// The smallest ratio, above 1, that these runs could have shown, all figures being judged at once.
        @Nullable var detectable: Double?
        var verdict: FigureVerdict

        enum CodingKeys: String, CodingKey {
            case name, unit, a, b, ratio, low, high, p, verdict
            case adjusted = "p_adjusted"
            case medianA = "median_a"
            case medianB = "median_b"
            case delta = "cliffs_delta"
            case detectable = "detectable_ratio"
        }
    }

    /// The latencies of all runs of a side, added up, against the other side's: Kolmogorov and Smirnov's test.
    struct Distribution: Codable, Sendable, Equatable {
        var name: String
        /// The largest distance between the two cumulative distributions, 0…1.
        var d: Double
        /// Of the pushes, as if each were independent.
        var p: Double
        /// How often exchanging runs between the sides gives as large a distance, 0…1, after Holm's correction for the
        /// distributions compared; nil of fewer than five runs a side.
        @Nullable var betweenRuns: Double?
        /// Where it is, nanoseconds.
        var place: UInt64
        /// Shares at or below `place`, 0…1.
        var belowA: Double
        var belowB: Double
        /// nil: far enough apart to differ, but so few runs cannot tell (`betweenRuns` is nil).
        @Nullable var differs: Bool?

        enum CodingKeys: String, CodingKey {
            case name, d, p, differs
            case betweenRuns = "p_between_runs"
            case place = "at_ns"
            case belowA = "below_a"
            case belowB = "below_b"
        }
    }
}

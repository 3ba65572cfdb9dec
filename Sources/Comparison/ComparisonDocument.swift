import Results

/// Two groups of runs beside each other, A before and B after; what `pushload compare --json` prints.
struct ComparisonDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.comparison/2"

    var schema = ComparisonDocument.currentSchema
    var a: Side
    var b: Side
    var analysis: Analysis
    /// By which factor intervals are wider, as logarithms, than those of independent runs, because runs of a side were made together;
    /// at least 1. p-values allow for it too.
    var stretch: Double
    /// The share, above 0, by which figures may differ and are still called the same.
    var margin: Double
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
        case schema, a, b, analysis, stretch, margin, metrics, distributions, warnings
        case judged = "figures_judged"
        case fewestRuns = "fewest_runs_a_side"
    }

    /// How the sides are held against each other.
    enum Analysis: String, Codable, Sendable {
        /// All runs of the one against all of the other: Mann–Whitney's test, Hodges' and Lehmann's interval.
        case groups
        /// Each run against the one of its round: Wilcoxon's signed-rank test, the interval of Walsh's averages.
        case rounds
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
        /// By which factor B's values are larger than A's: the median of the ratios of all their runs, or rounds, with the ends
        /// of its confidence interval. Of one run a side the ratio of the two.
        @Nullable var ratio: Double?
        @Nullable var low: Double?
        @Nullable var high: Double?
        /// What share of such intervals hold the true ratio, 0…1.
        @Nullable var coverage: Double?
        /// The least margin by which the sides could be called the same: the ratio lies within 1 / (1 + this) and 1 + this. nil
        /// of so few runs that it cannot be said at 5 %.
        @Nullable var sameWithin: Double?
        /// Two-sided; of this figure alone.
        @Nullable var p: Double?
        /// After Holm's correction for all figures judged, which is what the verdict goes by.
        @Nullable var adjusted: Double?
        /// Cliff's delta, −1…1; above 0 where B's values are larger.
        @Nullable var delta: Double?
        /// The smallest ratio, above 1, that these runs could have shown, all figures being judged at once.
        @Nullable var detectable: Double?
        var verdict: FigureVerdict

        enum CodingKeys: String, CodingKey {
            case name, unit, a, b, ratio, low, high, coverage, p, verdict
            case sameWithin = "same_within"
            case adjusted = "p_adjusted"
            case medianA = "median_a"
            case medianB = "median_b"
            case delta = "cliffs_delta"
            case detectable = "detectable_ratio"
        }
    }

    /// The latencies of all runs of a side, added up, against the other side's: Kolmogorov's and Smirnov's distance.
    struct Distribution: Codable, Sendable, Equatable {
        var name: String
        /// The largest distance between the two cumulative distributions, 0…1.
        var d: Double
        /// How often exchanging runs between the sides, or within rounds, gives as large a distance, 0…1, after Holm's correction
        /// for the distributions compared; nil of fewer than five runs a side (six of sides made one after the other), or seven
        /// rounds.
        @Nullable var p: Double?
        /// Where it is, nanoseconds.
        var place: UInt64
        /// Shares at or below `place`, 0…1.
        var belowA: Double
        var belowB: Double
        /// nil: so few runs cannot tell (`p` is nil).
        @Nullable var differs: Bool?

        enum CodingKeys: String, CodingKey {
            case name, d, p, differs
            case place = "at_ns"
            case belowA = "below_a"
            case belowB = "below_b"
        }
    }
}

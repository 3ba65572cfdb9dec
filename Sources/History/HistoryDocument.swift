import Results

/// Runs over time, with what changed when; what `pushload history --json` prints.
struct HistoryDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.history/2"

    var schema = HistoryDocument.currentSchema
    /// The chance that a figure without a change ever shows one, when it is looked at after each of its first 100 runs; 0…1.
    var level: Double
    /// The longest first.
    var series: [Series]
    /// Runs that are in no series, and figures that are not known of some that are; one sentence each.
    var leftOut: [LeftOutResult]

    enum CodingKeys: String, CodingKey {
        case schema, level, series
        case leftOut = "left_out"
    }

    /// Runs that can be held against each other, the oldest first.
    struct Series: Codable, Sendable, Equatable {
        var name: String
        /// In what it differs from the other series; empty when it is the only one.
        var facts: [String: String]
        var runs: [Run]
        var metrics: [Metric]
        /// What is wrong with some of the runs; one sentence each.
        var doubts: [String] = []
    }

    struct Run: Codable, Sendable, Equatable {
        var id: String
        var path: String
        var startedAt: String
        var version: String
        @Nullable var commit: String?

        enum CodingKeys: String, CodingKey {
            case id, path, version, commit
            case startedAt = "started_at"
        }
    }

    /// One figure of every run of a series.
    struct Metric: Codable, Sendable, Equatable {
        var name: String
        var unit: FigureUnit
        /// One a run; nil where a run has no such figure.
        var values: [Double?]
        /// Stretches without a change, in order.
        var segments: [Segment]
        /// Between each two of `segments`.
        var changes: [Change]
        /// Why no change could have been found: so few runs have the figure.
        var isTooShort: Bool

        enum CodingKeys: String, CodingKey {
            case name, unit, values, segments, changes
            case isTooShort = "too_short"
        }
    }

    struct Segment: Codable, Sendable, Equatable {
        /// Indices into `runs`, both included.
        var first: Int
        var last: Int
        var median: Double
    }

    struct Change: Codable, Sendable, Equatable {
        /// The first run after it, an index into `runs`.
        var run: Int
        var before: Double
        var after: Double
        /// By which factor the values after it are larger than those before (the median of all ratios), with the ends of its
        /// confidence interval; nil where a value is 0.
        @Nullable var ratio: Double?
        @Nullable var low: Double?
        @Nullable var high: Double?
        /// What share of such intervals hold the true ratio, if the change is where it was found; 0…1.
        @Nullable var coverage: Double?
        /// Of the shuffles, how many have as large a distance.
        var p: Double
        var verdict: FigureVerdict
        /// It is for the worse, and the newest runs still are.
        var isWorse: Bool
        /// Somebody knows of it.
        var isAcknowledged = false

        enum CodingKeys: String, CodingKey {
            case run, before, after, ratio, low, high, coverage, p, verdict
            case isWorse = "worse"
            case isAcknowledged = "acknowledged"
        }
    }

    /// Changes for the worse that nobody has acknowledged, with the places of their series and figures.
    var alerts: [(series: Int, metric: Int, change: Int)] {
        series.indices.flatMap { series in
            self.series[series].metrics.indices.flatMap { metric in
                let changes = self.series[series].metrics[metric].changes
                return changes.indices.filter { changes[$0].isWorse && !changes[$0].isAcknowledged }.map {
                    (series, metric, $0)
                }
            }
        }
    }
}

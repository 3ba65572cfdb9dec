/// Runs over time, with what changed when; what `pushload history --json` prints.
package struct HistoryDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.history/1"

    var schema = HistoryDocument.currentSchema
    /// The chance of finding a change in a figure of a series that has none, 0…1.
    package var level: Double
    /// The longest first.
    package var series: [Series]
    /// Runs that are in no series, and figures that are not known of some that are; one sentence each.
    package var leftOut: [LeftOut]

    enum CodingKeys: String, CodingKey {
        case schema, level, series
        case leftOut = "left_out"
    }

    package init(level: Double, series: [Series], leftOut: [LeftOut]) {
        self.level = level
        self.series = series
        self.leftOut = leftOut
    }

    package struct LeftOut: Codable, Sendable, Equatable {
        package var path: String
        package var reason: String

        package init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }
    }

    /// Runs that can be held against each other, the oldest first.
    package struct Series: Codable, Sendable, Equatable {
        package var name: String
        /// In what it differs from the other series; empty when it is the only one.
        package var facts: [String: String]
        package var runs: [Run]
        package var metrics: [Metric]

        package init(name: String, facts: [String: String], runs: [Run], metrics: [Metric]) {
            self.name = name
            self.facts = facts
            self.runs = runs
            self.metrics = metrics
        }
    }

    package struct Run: Codable, Sendable, Equatable {
        package var id: String
        package var path: String
        package var startedAt: String
        package var version: String
        @Nullable package var commit: String?

        enum CodingKeys: String, CodingKey {
            case id, path, version, commit
            case startedAt = "started_at"
        }

        package init(id: String, path: String, startedAt: String, version: String, commit: String?) {
            self.id = id
            self.path = path
            self.startedAt = startedAt
            self.version = version
            self.commit = commit
        }
    }

    /// One figure of every run of a series.
    package struct Metric: Codable, Sendable, Equatable {
        package var name: String
        package var unit: ComparisonDocument.Unit
        /// One a run; nil where a run has no such figure.
        package var values: [Double?]
        /// Stretches without a change, in order.
        package var segments: [Segment]
        /// Between each two of `segments`.
        package var changes: [Change]
        /// Why no change could have been found: so few runs have the figure.
        package var isTooShort: Bool

        enum CodingKeys: String, CodingKey {
            case name, unit, values, segments, changes
            case isTooShort = "too_short"
        }

        package init(
            name: String, unit: ComparisonDocument.Unit, values: [Double?], segments: [Segment], changes: [Change],
            isTooShort: Bool
        ) {
            self.name = name
            self.unit = unit
            self.values = values
            self.segments = segments
            self.changes = changes
            self.isTooShort = isTooShort
        }
    }

    package struct Segment: Codable, Sendable, Equatable {
        /// Indices into `runs`, both included.
        package var first: Int
        package var last: Int
        package var median: Double

        package init(first: Int, last: Int, median: Double) {
            self.first = first
            self.last = last
            self.median = median
        }
    }

    package struct Change: Codable, Sendable, Equatable {
        /// The first run after it, an index into `runs`.
        package var run: Int
        package var before: Double
        package var after: Double
        /// The median after it to the one before, with the ends of its 95 % confidence interval; nil where a value is 0.
        @Nullable package var ratio: Double?
        @Nullable package var low: Double?
        @Nullable package var high: Double?
        /// Of the shuffles, how many have as large a distance.
        package var p: Double
        package var verdict: ComparisonDocument.Verdict

        package init(
            run: Int, before: Double, after: Double, ratio: Double?, low: Double?, high: Double?, p: Double,
            verdict: ComparisonDocument.Verdict
        ) {
            self.run = run
            self.before = before
            self.after = after
            self.ratio = ratio
            self.low = low
            self.high = high
            self.p = p
            self.verdict = verdict
        }
    }
}

/// Runs over time, with what changed when; what `pushload history --json` prints.
public struct HistoryDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    public static let currentSchema = "pushload.history/1"

    public var schema = HistoryDocument.currentSchema
    /// The chance of finding a change in a figure of a series that has none, 0…1.
    public var level: Double
    /// The longest first.
    public var series: [Series]
    /// Runs that are in no series, and figures that are not known of some that are; one sentence each.
    public var leftOut: [LeftOut]

    enum CodingKeys: String, CodingKey {
        case schema, level, series
        case leftOut = "left_out"
    }

    public init(level: Double, series: [Series], leftOut: [LeftOut]) {
        self.level = level
        self.series = series
        self.leftOut = leftOut
    }

    public struct LeftOut: Codable, Sendable, Equatable {
        public var path: String
        public var reason: String

        public init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }
    }

    /// Runs that can be held against each other, the oldest first.
    public struct Series: Codable, Sendable, Equatable {
        public var name: String
        /// In what it differs from the other series; empty when it is the only one.
        public var facts: [String: String]
        public var runs: [Run]
        public var metrics: [Metric]

        public init(name: String, facts: [String: String], runs: [Run], metrics: [Metric]) {
            self.name = name
            self.facts = facts
            self.runs = runs
            self.metrics = metrics
        }
    }

    public struct Run: Codable, Sendable, Equatable {
        public var id: String
        public var path: String
        public var startedAt: String
        public var version: String
        @Nullable public var commit: String?

        enum CodingKeys: String, CodingKey {
            case id, path, version, commit
            case startedAt = "started_at"
        }

        public init(id: String, path: String, startedAt: String, version: String, commit: String?) {
            self.id = id
            self.path = path
            self.startedAt = startedAt
            self.version = version
            self.commit = commit
        }
    }

    /// One figure of every run of a series.
    public struct Metric: Codable, Sendable, Equatable {
        public var name: String
        public var unit: ComparisonDocument.Unit
        /// One a run; nil where a run has no such figure.
        public var values: [Double?]
        /// Stretches without a change, in order.
        public var segments: [Segment]
        /// Between each two of `segments`.
        public var changes: [Change]
        /// Why no change could have been found: so few runs have the figure.
        public var isTooShort: Bool

        enum CodingKeys: String, CodingKey {
            case name, unit, values, segments, changes
            case isTooShort = "too_short"
        }

        public init(
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

    public struct Segment: Codable, Sendable, Equatable {
        /// Indices into `runs`, both included.
        public var first: Int
        public var last: Int
        public var median: Double

        public init(first: Int, last: Int, median: Double) {
            self.first = first
            self.last = last
            self.median = median
        }
    }

    public struct Change: Codable, Sendable, Equatable {
        /// The first run after it, an index into `runs`.
        public var run: Int
        public var before: Double
        public var after: Double
        /// The median after it to the one before, with the ends of its 95 % confidence interval; nil where a value is 0.
        @Nullable public var ratio: Double?
        @Nullable public var low: Double?
        @Nullable public var high: Double?
        /// Of the shuffles, how many have as large a distance.
        public var p: Double
        public var verdict: ComparisonDocument.Verdict

        public init(
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

import Results

/// What came of a sweep; what `pushload sweep --json` prints and `outcome.json` beside the runs holds.
struct SweepDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.sweep-outcome/1"

    var schema = SweepDocument.currentSchema
    var name: String
    var version: String
    /// ISO 8601, UTC.
    var startedAt: String
    /// `8 × AMD EPYC …`, as the runs say.
    var machine: String
    /// Of the order of the runs, and of everything random in them.
    var seed: UInt64
    var method: String
    var goal: String
    /// Runs of each point.
    var repeats: Int
    var runsPlanned: Int
    var runsMade: Int
    var axes: [Axis]
    /// By number; only points that were chosen.
    var points: [Point]
    /// nil when no point is fit to be one.
    @Nullable var best: Best?
    /// Numbers of the points no other is better than in rate, p99 and client CPU at once, by rate.
    var front: [Int]
    /// What a reader must know beside the figures, one sentence each.
    var notes: [String]

    enum CodingKeys: String, CodingKey {
        case schema, name, version, machine, seed, method, goal, repeats, axes, points, best, notes
        case startedAt = "started_at"
        case runsPlanned = "runs_planned"
        case runsMade = "runs_made"
        case front = "pareto_front"
    }

    struct Axis: Codable, Sendable, Equatable {
        var name: String
        var labels: [String]
        /// The values as numbers (counts, bytes, nanoseconds, pushes a second); nil when they are texts.
        @Nullable var numbers: [Double]?
        /// They are nanoseconds.
        var isTime = false

        enum CodingKeys: String, CodingKey {
            case name, labels, numbers
            case isTime = "is_time"
        }
    }

    struct Point: Codable, Sendable, Equatable {
        var number: Int
        /// Which value of each axis it has, from 0.
        var place: [Int]
        /// The same as labels.
        var labels: [String]
        /// How often `halving` doubled the length of the runs whose figures these are.
        var rung: Int
        /// Ids of the runs the figures are of.
        var runs: [String]
        /// Pushes a second.
        @Nullable var rate: Figure?
        /// Nanoseconds, due to answered.
        @Nullable var p50: Figure?
        @Nullable var p99: Figure?
        /// Nanoseconds a push.
        @Nullable var clientCPU: Figure?
        @Nullable var mockCPU: Figure?
        /// Pushes that may be open at once (streams × connections) and the link's round trip, nanoseconds.
        var inFlight: Double
        @Nullable var roundTrip: Double?
        /// Of its runs, those that are not made yet; while there are any it is neither the best nor on the front.
        var runsMissing = 0
        /// Why it is neither: it cannot be run, or runs went wrong.
        @Nullable var problem: String?

        /// All its runs are made and none has a problem.
        var isCompared: Bool { problem == nil && runsMissing == 0 }

        enum CodingKeys: String, CodingKey {
            case number, place, labels, rung, runs, problem
            case rate = "per_second"
            case p50 = "p50_ns"
            case p99 = "p99_ns"
            case clientCPU = "client_cpu_ns_per_push"
            case mockCPU = "mock_cpu_ns_per_push"
            case runsMissing = "runs_missing"
            case inFlight = "most_in_flight"
            case roundTrip = "link_round_trip_ns"
        }
    }

    /// A figure over the runs of a point.
    struct Figure: Codable, Sendable, Equatable {
        var median: Double
        /// Ends of the median's interval, from order statistics; nil of one run.
        @Nullable var low: Double?
        @Nullable var high: Double?
        /// What share of such intervals hold the true median, 0…1.
        @Nullable var coverage: Double?
        /// One a run.
        var values: [Double]

        /// From the smallest value to the largest, as a share of the median; nil of one run.
        var spread: Double? {
            guard values.count > 1, median > 0, let least = values.min(), let most = values.max() else { return nil }
            return (most - least) / median
        }
    }

    struct Best: Codable, Sendable, Equatable {
        /// The point's number.
        var point: Int
        /// Points that these runs cannot tell from it.
        var alike: [Int]
    }

    func point(numbered number: Int) -> Point? { points.first { $0.number == number } }
}

/// What came of a sweep; what `pushload sweep --json` prints and `outcome.json` beside the runs holds.
package struct SweepDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.sweep-outcome/1"

    var schema = SweepDocument.currentSchema
    package var name: String
    package var version: String
    /// ISO 8601, UTC.
    package var startedAt: String
    /// `8 × AMD EPYC …`, as the runs say.
    package var machine: String
    /// Of the order of the runs, and of everything random in them.
    package var seed: UInt64
    package var method: String
    package var goal: String
    /// Runs of each point.
    package var repeats: Int
    package var runsPlanned: Int
    package var runsMade: Int
    package var axes: [Axis]
    /// By number; only points that were chosen.
    package var points: [Point]
    /// nil when no point is fit to be one.
    @Nullable package var best: Best?
    /// Numbers of the points no other is better than in rate, p99 and client CPU at once, by rate.
    package var front: [Int]
    /// What a reader must know beside the figures, one sentence each.
    package var notes: [String]

    enum CodingKeys: String, CodingKey {
        case schema, name, version, machine, seed, method, goal, repeats, axes, points, best, notes
        case startedAt = "started_at"
        case runsPlanned = "runs_planned"
        case runsMade = "runs_made"
        case front = "pareto_front"
    }

    package init(
        name: String, version: String, startedAt: String, machine: String, seed: UInt64, method: String, goal: String,
        repeats: Int, runsPlanned: Int, runsMade: Int, axes: [Axis], points: [Point], best: Best?, front: [Int],
        notes: [String]
    ) {
        self.name = name
        self.version = version
        self.startedAt = startedAt
        self.machine = machine
        self.seed = seed
        self.method = method
        self.goal = goal
        self.repeats = repeats
        self.runsPlanned = runsPlanned
        self.runsMade = runsMade
        self.axes = axes
        self.points = points
        self.best = best
        self.front = front
        self.notes = notes
    }

    package struct Axis: Codable, Sendable, Equatable {
        package var name: String
        package var labels: [String]
        /// The values as numbers (counts, bytes, nanoseconds, pushes a second); nil when they are texts.
        @Nullable package var numbers: [Double]?
        /// They are nanoseconds.
        package var isTime: Bool

        enum CodingKeys: String, CodingKey {
            case name, labels, numbers
            case isTime = "is_time"
        }

        package init(name: String, labels: [String], numbers: [Double]?, isTime: Bool = false) {
            self.name = name
            self.labels = labels
            self.numbers = numbers
            self.isTime = isTime
        }
    }

    package struct Point: Codable, Sendable, Equatable {
        package var number: Int
        /// Which value of each axis it has, from 0.
        package var place: [Int]
        /// The same as labels.
        package var labels: [String]
        /// How often `halving` doubled the length of the runs whose figures these are.
        package var rung: Int
        /// Ids of the runs the figures are of.
        package var runs: [String]
        /// Pushes a second.
        @Nullable public var rate: Figure?
        /// Nanoseconds, due to answered.
        @Nullable public var p50: Figure?
        @Nullable public var p99: Figure?
        /// Nanoseconds a push.
        @Nullable package var clientCPU: Figure?
        @Nullable package var mockCPU: Figure?
        /// Pushes that may be open at once (streams × connections) and the link's round trip, nanoseconds.
        package var inFlight: Double
        @Nullable package var roundTrip: Double?
        /// Of its runs, those that are not made yet; while there are any it is neither the best nor on the front.
        package var runsMissing: Int
        /// Why it is neither: it cannot be run, or runs went wrong.
        @Nullable package var problem: String?

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

        package init(
            number: Int, place: [Int], labels: [String], rung: Int, runs: [String], rate: Figure?, p50: Figure?,
            p99: Figure?, clientCPU: Figure?, mockCPU: Figure?, inFlight: Double, roundTrip: Double?,
            runsMissing: Int = 0,
            problem: String?
        ) {
            self.number = number
            self.place = place
            self.labels = labels
            self.rung = rung
            self.runs = runs
            self.rate = rate
            self.p50 = p50
            self.p99 = p99
            self.clientCPU = clientCPU
            self.mockCPU = mockCPU
            self.inFlight = inFlight
            self.roundTrip = roundTrip
            self.runsMissing = runsMissing
            self.problem = problem
        }
    }

    /// A figure over the runs of a point.
    package struct Figure: Codable, Sendable, Equatable {
        package var median: Double
        /// Ends of the median's 95 % bootstrap interval; nil of one run.
        @Nullable package var low: Double?
        @Nullable package var high: Double?
        /// One a run.
        package var values: [Double]

        package init(median: Double, low: Double?, high: Double?, values: [Double]) {
            self.median = median
            self.low = low
            self.high = high
            self.values = values
        }

        /// From the smallest value to the largest, as a share of the median; nil of one run.
        package var spread: Double? {
            guard values.count > 1, median > 0, let least = values.min(), let most = values.max() else { return nil }
            return (most - least) / median
        }
    }

    package struct Best: Codable, Sendable, Equatable {
        /// The point's number.
        package var point: Int
        /// Points that these runs cannot tell from it.
        package var alike: [Int]

        package init(point: Int, alike: [Int]) {
            self.point = point
            self.alike = alike
        }
    }

    package func point(numbered number: Int) -> Point? { points.first { $0.number == number } }
}

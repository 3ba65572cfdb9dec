import Results

/// What it takes to reach so many devices in so long; what `pushload plan --json` prints.
struct PlanDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.plan/2"

    var schema = PlanDocument.currentSchema
    var question: Question
    var measured: Measured
    /// nil when no pushes were asked for: then only `bounds` say what the configuration can do.
    @Nullable var needed: Needed?
    var configuration: Configuration
    /// What the configuration can do by each bound, the tightest first.
    var bounds: [Bound]
    var simulation: Simulation
    /// What the devices ask of their backend; nil without a device model.
    @AddedLater var echo: Echo?
    /// But those of the echo, which has its own.
    var goals: [Goal]
    var sensitivities: [Sensitivity]
    var assumptions: [String]
    var warnings: [String]

    /// The devices are reached in time, and every goal holds.
    var isReached: Bool {
        needed?.inTime != false && goals.allSatisfy(\.held) && echo?.goals.allSatisfy(\.held) != false
    }

    /// A value, and where 95 % of the bootstrap's resamples of the measured runs put it; nil without repeated runs.
    struct Figure: Codable, Sendable, Equatable {
        var value: Double
        @Nullable var low: Double?
        @Nullable var high: Double?

        init(_ value: Double, low: Double? = nil, high: Double? = nil) {
            self.value = value
            self.low = low
            self.high = high
        }

        init(_ value: Double, in range: ClosedRange<Double>?) {
            self.init(value, low: range?.lowerBound, high: range?.upperBound)
        }
    }

    /// Times in nanoseconds, sizes in bytes, bandwidths in bytes a second.
    struct Question: Codable, Sendable, Equatable {
        @Nullable var devices: UInt64?
        /// One a device, or one a registration of the audience.
        @Nullable var pushes: UInt64?
        @Nullable var within: Double?
        var roundTrip: Double
        var serverTime: Double
        var streams: Int
        var utilisation: Double
        var payload: Double
        var request: Double
        var answer: Double
        var wire: Double
        @Nullable var bandwidth: Double?
        @Nullable var linkRate: Double?
        @Nullable var window: Double?
        /// How the server answers; nil: not said.
        @Nullable var answers: CostSample.Answers? = nil
        var jitter = 0.0
        /// Shares, 0 ... 1.
        var loss = 0.0
        @Nullable var goAwayEvery: Double? = nil
        /// Some connection gets so many pushes that the server ends it.
        var endsConnections = false
        @Nullable var fewerStreams: FewerStreams? = nil
        var sentAgain = 0.0

        enum CodingKeys: String, CodingKey {
            case devices, pushes, streams, utilisation, bandwidth, answers, loss
            case jitter = "jitter_ns"
            case goAwayEvery = "goaway_every"
            case endsConnections = "ends_connections"
            case fewerStreams = "fewer_streams"
            case sentAgain = "sent_again"
            case within = "within_ns"
            case roundTrip = "rtt_ns"
            case serverTime = "server_time_ns"
            case payload = "payload_bytes"
            case request = "request_bytes"
            case answer = "answer_bytes"
            case wire = "wire_bytes"
            case linkRate = "connection_bandwidth"
            case window = "window_bytes"
        }
    }

    /// What the runs gave for the planned configuration.
    struct Measured: Codable, Sendable, Equatable {
        var origin: String
        var runs: Int
        var settings: Int
        /// Of busy workers, and of those that send at the planned rate.
        var clientCPU: Figure
        @Nullable var pacedCPU: Figure? = nil
        @Nullable var serverCPU: Figure?
        /// What a push takes on its way besides link and server, ns.
        var overhead: Figure
        var memoryBase: Figure
        var memoryPerConnection: Figure
        /// CPU time of the client for a connection that is made anew, ns.
        @Nullable var handshake: Figure? = nil
        /// The universal scalability law's σ and κ; nil: not measured, and taken as 0.
        @Nullable var contention: Figure?
        @Nullable var crosstalk: Figure?
        var workerCounts: Int

        enum CodingKeys: String, CodingKey {
            case origin, runs, settings, contention, crosstalk
            case clientCPU = "client_cpu_ns_per_push"
            case pacedCPU = "paced_client_cpu_ns_per_push"
            case handshake = "handshake_ns"
            case serverCPU = "server_cpu_ns_per_push"
            case overhead = "overhead_ns"
            case memoryBase = "memory_bytes"
            case memoryPerConnection = "memory_bytes_per_connection"
            case workerCounts = "worker_counts"
        }
    }

    /// Before rounding up, which `configuration` does.
    struct Needed: Codable, Sendable, Equatable {
        var perSecond: Double
        /// Streams open at once.
        var inFlight: Figure
        var connections: Figure
        var cores: Figure
        var machines: Figure
        /// Of all machines together, bytes.
        var memory: Figure
        /// Of all machines together, towards the server, bytes a second.
        var bandwidth: Figure
        /// How long it takes with `configuration` at full use, ns; longer than asked for when that was given too small.
        var shortest: Figure
        /// Whether `shortest` is within the time asked for, and full use, simulated, not far from what is needed.
        var inTime = true
        /// Of the time, what no push is begun in: connecting, becoming fast, and the last answers, ns.
        var edges = 0.0
        /// With a server that answers each push by itself; nil: not measured, or the question says how it answers.
        @Nullable var coresIfSingle: Figure? = nil

        enum CodingKeys: String, CodingKey {
            case connections, cores, machines
            case inTime = "in_time"
            case edges = "edges_ns"
            case coresIfSingle = "cores_if_single"
            case perSecond = "per_second"
            case inFlight = "in_flight"
            case memory = "memory_bytes"
            case bandwidth = "bandwidth_bytes_per_second"
            case shortest = "shortest_ns"
        }
    }

    struct Configuration: Codable, Sendable, Equatable {
        var machines: Int
        /// Worker threads on each machine, one a core.
        var workers: Int
        /// On all machines together.
        var connections: Int
        var streams: Int
    }

    enum BoundName: String, Codable, Sendable, CaseIterable {
        case streams, window, loss
        case connectionRate = "connection_bandwidth"
        case bandwidth
        case clientCPU = "client_cpu"
        case serverCPU = "server_cpu"
        case sharedCores = "shared_cores"
    }

    struct Bound: Codable, Sendable, Equatable {
        var name: BoundName
        var perSecond: Figure

        enum CodingKeys: String, CodingKey {
            case name
            case perSecond = "per_second"
        }
    }

    /// The same model, event by event, on one worker's share unless `workers` says otherwise.
    struct Simulation: Codable, Sendable, Equatable {
        var seed: UInt64
        var workers: Int
        var connections: Int
        /// They are some of a worker's, with their part of its time: together they last too long (`--goaway-every`).
        var isPart = false
        /// Pushes simulated at full use.
        var pushes: Int
        /// What the share can do at full use: by the tightest bound, and simulated; nil: it takes too many pushes to see (`warnings` says
        /// why).
        var formula: Double
        @Nullable var simulated: Double?
        /// simulated / formula − 1.
        @Nullable var difference: Double?
        /// At the planned rate, due to answered; nil when no pushes were asked for, when the queue would grow all the time, or when it takes
        /// too many pushes to see.
        @Nullable var latency: ResultDocument.Latency?
        /// How often full use and the planned rate were simulated, each time with another seed; 1 where chance decides nothing, 0: not. The
        /// intervals below are of their means.
        var replications = 1
        var latencyReplications = 0
        /// `simulated`; nil of one replication.
        @Nullable var range: Figure? = nil
        /// What the share can do by exact mean value analysis; nil where that does not know what binds.
        @Nullable var meanValue: Double? = nil
        /// Due to answered, ns; nil of one replication.
        @Nullable var median: Figure? = nil
        @Nullable var p99: Figure? = nil
        /// From the first connection to the last answer at full use, ns.
        @Nullable var finish: Figure? = nil

        enum CodingKeys: String, CodingKey {
            case seed, workers, connections, pushes, difference, replications
            case isPart = "is_part_of_worker"
            case latencyReplications = "latency_replications"
            case range = "simulated_interval"
            case meanValue = "mean_value_analysis_per_second"
            case median = "total_p50_ns"
            case p99 = "total_p99_ns"
            case finish = "finish_ns"
            case formula = "formula_per_second"
            case simulated = "simulated_per_second"
            case latency = "total_ns"
        }
    }

    struct Goal: Codable, Sendable, Equatable {
        var text: String
        /// In the goal's own unit (nanoseconds, bytes, pushes/s); nil for a latency that grows all the time.
        @Nullable var value: Double?
        var held: Bool
    }

    /// By what per cent each need grows when an input grows by one per cent, from ±10 %.
    struct Sensitivity: Codable, Sendable, Equatable {
        var input: String
        var connections: Double
        var cores: Double
        var memory: Double
        var bandwidth: Double
    }
}

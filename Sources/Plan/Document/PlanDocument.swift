import Results

/// What it takes to reach so many devices in so long; what `pushload plan --json` prints.
struct PlanDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.plan/1"

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

        enum CodingKeys: String, CodingKey {
            case devices, pushes, streams, utilisation, bandwidth
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
        var clientCPU: Figure
        @Nullable var serverCPU: Figure?
        /// What a push takes on its way besides link and server, ns.
        var overhead: Figure
        var memoryBase: Figure
        var memoryPerConnection: Figure
        /// The universal scalability law.
        var contention: Double
        var crosstalk: Double
        var workerCounts: Int

        enum CodingKeys: String, CodingKey {
            case origin, runs, settings, contention, crosstalk
            case clientCPU = "client_cpu_ns_per_push"
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
        /// Whether `shortest` is within the time asked for.
        var inTime = true

        enum CodingKeys: String, CodingKey {
            case connections, cores, machines
            case inTime = "in_time"
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
        case streams, window
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
        /// Pushes simulated.
        var pushes: Int
        /// What the share can do at full use: by the tightest bound, and simulated.
        var formula: Double
        var simulated: Double
        /// simulated / formula − 1.
        var difference: Double
        /// At the planned rate, due to answered; nil when no pushes were asked for, or when the queue would grow all the time.
        @Nullable var latency: ResultDocument.Latency?

        enum CodingKeys: String, CodingKey {
            case seed, workers, connections, pushes, difference
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

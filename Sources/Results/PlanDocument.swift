/// What it takes to reach so many devices in so long; what `pushload plan --json` prints.
public struct PlanDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    public static let currentSchema = "pushload.plan/1"

    public var schema = PlanDocument.currentSchema
    public var question: Question
    public var measured: Measured
    /// nil when no devices were asked for: then only `bounds` say what the configuration can do.
    @Nullable public var needed: Needed?
    public var configuration: Configuration
    /// What the configuration can do by each bound, the tightest first.
    public var bounds: [Bound]
    public var simulation: Simulation
    public var goals: [Goal]
    public var sensitivities: [Sensitivity]
    public var assumptions: [String]
    public var warnings: [String]

    public init(
        question: Question, measured: Measured, needed: Needed?, configuration: Configuration, bounds: [Bound],
        simulation: Simulation, goals: [Goal], sensitivities: [Sensitivity], assumptions: [String], warnings: [String]
    ) {
        self.question = question
        self.measured = measured
        self.needed = needed
        self.configuration = configuration
        self.bounds = bounds
        self.simulation = simulation
        self.goals = goals
        self.sensitivities = sensitivities
        self.assumptions = assumptions
        self.warnings = warnings
    }

    /// A value, and where 95 % of the bootstrap's resamples of the measured runs put it; nil without repeated runs.
    public struct Figure: Codable, Sendable, Equatable {
        public var value: Double
        @Nullable public var low: Double?
        @Nullable public var high: Double?

        public init(_ value: Double, low: Double? = nil, high: Double? = nil) {
            self.value = value
            self.low = low
            self.high = high
        }
    }

    /// Times in nanoseconds, sizes in bytes, bandwidths in bytes a second.
    public struct Question: Codable, Sendable, Equatable {
        @Nullable public var devices: UInt64?
        @Nullable public var within: Double?
        public var roundTrip: Double
        public var serverTime: Double
        public var streams: Int
        public var utilisation: Double
        public var payload: Double
        public var request: Double
        public var answer: Double
        public var wire: Double
        @Nullable public var bandwidth: Double?
        @Nullable public var linkRate: Double?
        @Nullable public var window: Double?

        enum CodingKeys: String, CodingKey {
            case devices, streams, utilisation, bandwidth
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

        public init(
            devices: UInt64?, within: Double?, roundTrip: Double, serverTime: Double, streams: Int, utilisation: Double,
            payload: Double, request: Double, answer: Double, wire: Double, bandwidth: Double?, linkRate: Double?,
            window: Double?
        ) {
            self.devices = devices
            self.within = within
            self.roundTrip = roundTrip
            self.serverTime = serverTime
            self.streams = streams
            self.utilisation = utilisation
            self.payload = payload
            self.request = request
            self.answer = answer
            self.wire = wire
            self.bandwidth = bandwidth
            self.linkRate = linkRate
            self.window = window
        }
    }

    /// What the runs gave for the planned configuration.
    public struct Measured: Codable, Sendable, Equatable {
        public var origin: String
        public var runs: Int
        public var settings: Int
        public var clientCPU: Figure
        @Nullable public var serverCPU: Figure?
        /// What a push takes on its way besides link and server, ns.
        public var overhead: Figure
        public var memoryBase: Figure
        public var memoryPerConnection: Figure
        /// The universal scalability law.
        public var contention: Double
        public var crosstalk: Double
        public var workerCounts: Int

        enum CodingKeys: String, CodingKey {
            case origin, runs, settings, contention, crosstalk
            case clientCPU = "client_cpu_ns_per_push"
            case serverCPU = "server_cpu_ns_per_push"
            case overhead = "overhead_ns"
            case memoryBase = "memory_bytes"
            case memoryPerConnection = "memory_bytes_per_connection"
            case workerCounts = "worker_counts"
        }

        public init(
            origin: String, runs: Int, settings: Int, clientCPU: Figure, serverCPU: Figure?, overhead: Figure,
            memoryBase: Figure, memoryPerConnection: Figure, contention: Double, crosstalk: Double, workerCounts: Int
        ) {
            self.origin = origin
            self.runs = runs
            self.settings = settings
            self.clientCPU = clientCPU
            self.serverCPU = serverCPU
            self.overhead = overhead
            self.memoryBase = memoryBase
            self.memoryPerConnection = memoryPerConnection
            self.contention = contention
            self.crosstalk = crosstalk
            self.workerCounts = workerCounts
        }
    }

    /// Before rounding up, which `configuration` does.
    public struct Needed: Codable, Sendable, Equatable {
        public var perSecond: Double
        /// Streams open at once.
        public var inFlight: Figure
        public var connections: Figure
        public var cores: Figure
        public var machines: Figure
        /// Of all machines together, bytes.
        public var memory: Figure
        /// Of all machines together, towards the server, bytes a second.
        public var bandwidth: Figure
        /// How long it takes with `configuration` at full use, ns; longer than asked for when that was given too small.
        public var shortest: Figure

        enum CodingKeys: String, CodingKey {
            case connections, cores, machines
            case perSecond = "per_second"
            case inFlight = "in_flight"
            case memory = "memory_bytes"
            case bandwidth = "bandwidth_bytes_per_second"
            case shortest = "shortest_ns"
        }

        public init(
            perSecond: Double, inFlight: Figure, connections: Figure, cores: Figure, machines: Figure, memory: Figure,
            bandwidth: Figure, shortest: Figure
        ) {
            self.perSecond = perSecond
            self.inFlight = inFlight
            self.connections = connections
            self.cores = cores
            self.machines = machines
            self.memory = memory
            self.bandwidth = bandwidth
            self.shortest = shortest
        }
    }

    public struct Configuration: Codable, Sendable, Equatable {
        public var machines: Int
        /// Worker threads on each machine, one a core.
        public var workers: Int
        /// On all machines together.
        public var connections: Int
        public var streams: Int

        public init(machines: Int, workers: Int, connections: Int, streams: Int) {
            self.machines = machines
            self.workers = workers
            self.connections = connections
            self.streams = streams
        }
    }

    public enum BoundName: String, Codable, Sendable, CaseIterable {
        case streams, window
        case connectionRate = "connection_bandwidth"
        case bandwidth
        case clientCPU = "client_cpu"
        case serverCPU = "server_cpu"
        case sharedCores = "shared_cores"
    }

    public struct Bound: Codable, Sendable, Equatable {
        public var name: BoundName
        public var perSecond: Figure

        enum CodingKeys: String, CodingKey {
            case name
            case perSecond = "per_second"
        }

        public init(name: BoundName, perSecond: Figure) {
            self.name = name
            self.perSecond = perSecond
        }
    }

    /// The same model, event by event, on one worker's share unless `workers` says otherwise.
    public struct Simulation: Codable, Sendable, Equatable {
        public var seed: UInt64
        public var workers: Int
        public var connections: Int
        /// Pushes simulated.
        public var pushes: Int
        /// What the share can do at full use: by the tightest bound, and simulated.
        public var formula: Double
        public var simulated: Double
        /// simulated / formula − 1.
        public var difference: Double
        /// At the planned rate, due to answered; nil when no devices were asked for.
        @Nullable public var latency: ResultDocument.Latency?

        enum CodingKeys: String, CodingKey {
            case seed, workers, connections, pushes, difference
            case formula = "formula_per_second"
            case simulated = "simulated_per_second"
            case latency = "total_ns"
        }

        public init(
            seed: UInt64, workers: Int, connections: Int, pushes: Int, formula: Double, simulated: Double,
            difference: Double, latency: ResultDocument.Latency?
        ) {
            self.seed = seed
            self.workers = workers
            self.connections = connections
            self.pushes = pushes
            self.formula = formula
            self.simulated = simulated
            self.difference = difference
            self.latency = latency
        }
    }

    public struct Goal: Codable, Sendable, Equatable {
        public var text: String
        /// In the goal's own unit (nanoseconds, bytes, pushes/s).
        public var value: Double
        public var held: Bool

        public init(text: String, value: Double, held: Bool) {
            self.text = text
            self.value = value
            self.held = held
        }
    }

    /// By what per cent each need grows when an input grows by one per cent, from ±10 %.
    public struct Sensitivity: Codable, Sendable, Equatable {
        public var input: String
        public var connections: Double
        public var cores: Double
        public var memory: Double
        public var bandwidth: Double

        public init(input: String, connections: Double, cores: Double, memory: Double, bandwidth: Double) {
            self.input = input
            self.connections = connections
            self.cores = cores
            self.memory = memory
            self.bandwidth = bandwidth
        }
    }
}

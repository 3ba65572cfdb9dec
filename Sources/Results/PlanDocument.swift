/// What it takes to reach so many devices in so long; what `pushload plan --json` prints.
package struct PlanDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.plan/1"

    var schema = PlanDocument.currentSchema
    package var question: Question
    package var measured: Measured
    /// nil when no devices were asked for: then only `bounds` say what the configuration can do.
    @Nullable package var needed: Needed?
    package var configuration: Configuration
    /// What the configuration can do by each bound, the tightest first.
    package var bounds: [Bound]
    package var simulation: Simulation
    package var goals: [Goal]
    package var sensitivities: [Sensitivity]
    package var assumptions: [String]
    package var warnings: [String]

    package init(
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
    package struct Figure: Codable, Sendable, Equatable {
        package var value: Double
        @Nullable package var low: Double?
        @Nullable package var high: Double?

        package init(_ value: Double, low: Double? = nil, high: Double? = nil) {
            self.value = value
            self.low = low
            self.high = high
        }
    }

    /// Times in nanoseconds, sizes in bytes, bandwidths in bytes a second.
    package struct Question: Codable, Sendable, Equatable {
        @Nullable package var devices: UInt64?
        @Nullable package var within: Double?
        package var roundTrip: Double
        var serverTime: Double
        package var streams: Int
        var utilisation: Double
        var payload: Double
        package var request: Double
        var answer: Double
        package var wire: Double
        @Nullable var bandwidth: Double?
        @Nullable var linkRate: Double?
        @Nullable var window: Double?

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

        package init(
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
    package struct Measured: Codable, Sendable, Equatable {
        package var origin: String
        package var runs: Int
        package var settings: Int
        package var clientCPU: Figure
        @Nullable package var serverCPU: Figure?
        /// What a push takes on its way besides link and server, ns.
        package var overhead: Figure
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

        package init(
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
    package struct Needed: Codable, Sendable, Equatable {
        package var perSecond: Double
        /// Streams open at once.
        package var inFlight: Figure
        package var connections: Figure
        package var cores: Figure
        package var machines: Figure
        /// Of all machines together, bytes.
        package var memory: Figure
        /// Of all machines together, towards the server, bytes a second.
        package var bandwidth: Figure
        /// How long it takes with `configuration` at full use, ns; longer than asked for when that was given too small.
        package var shortest: Figure

        enum CodingKeys: String, CodingKey {
            case connections, cores, machines
            case perSecond = "per_second"
            case inFlight = "in_flight"
            case memory = "memory_bytes"
            case bandwidth = "bandwidth_bytes_per_second"
            case shortest = "shortest_ns"
        }

        package init(
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

    package struct Configuration: Codable, Sendable, Equatable {
        package var machines: Int
        /// Worker threads on each machine, one a core.
        package var workers: Int
        /// On all machines together.
        package var connections: Int
        package var streams: Int

        package init(machines: Int, workers: Int, connections: Int, streams: Int) {
            self.machines = machines
            self.workers = workers
            self.connections = connections
            self.streams = streams
        }
    }

    package enum BoundName: String, Codable, Sendable, CaseIterable {
        case streams, window
        case connectionRate = "connection_bandwidth"
        case bandwidth
        case clientCPU = "client_cpu"
        case serverCPU = "server_cpu"
        case sharedCores = "shared_cores"
    }

    package struct Bound: Codable, Sendable, Equatable {
        package var name: BoundName
        package var perSecond: Figure

        enum CodingKeys: String, CodingKey {
            case name
            case perSecond = "per_second"
        }

        package init(name: BoundName, perSecond: Figure) {
            self.name = name
            self.perSecond = perSecond
        }
    }

    /// The same model, event by event, on one worker's share unless `workers` says otherwise.
    package struct Simulation: Codable, Sendable, Equatable {
        package var seed: UInt64
        package var workers: Int
        package var connections: Int
        /// Pushes simulated.
        package var pushes: Int
        /// What the share can do at full use: by the tightest bound, and simulated.
        package var formula: Double
        package var simulated: Double
        /// simulated / formula − 1.
        package var difference: Double
        /// At the planned rate, due to answered; nil when no devices were asked for.
        @Nullable public var latency: ResultDocument.Latency?

        enum CodingKeys: String, CodingKey {
            case seed, workers, connections, pushes, difference
            case formula = "formula_per_second"
            case simulated = "simulated_per_second"
            case latency = "total_ns"
        }

        package init(
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

    package struct Goal: Codable, Sendable, Equatable {
        package var text: String
        /// In the goal's own unit (nanoseconds, bytes, pushes/s).
        package var value: Double
        package var held: Bool

        package init(text: String, value: Double, held: Bool) {
            self.text = text
            self.value = value
            self.held = held
        }
    }

    /// By what per cent each need grows when an input grows by one per cent, from ±10 %.
    package struct Sensitivity: Codable, Sendable, Equatable {
        package var input: String
        package var connections: Double
        package var cores: Double
        package var memory: Double
        package var bandwidth: Double

        package init(input: String, connections: Double, cores: Double, memory: Double, bandwidth: Double) {
            self.input = input
            self.connections = connections
            self.cores = cores
            self.memory = memory
            self.bandwidth = bandwidth
        }
    }
}

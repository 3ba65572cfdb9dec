import Results

/// What planning needs of one run. Times are nanoseconds.
struct CostSample: Codable, Sendable, Equatable {
    var run: String
    var engine: String
    var version: String
    var machine: String
    var threads: Int
    var connections: Int
    var streams: Int
    /// Of the link the bundled mock emulated; 0 without one.
    var roundTrip: UInt64
    /// Whether the link, or the mock by its flags, was anything but plain.
    var isShaped: Bool
    var isBundledMock: Bool
    var perSecond: Double
    /// CPU time a push.
    var clientCPU: Double
    @Nullable var mockCPU: Double?
    /// Peak of the client, bytes; nil when other runs of the same process may have made it.
    @Nullable var clientMemory: UInt64?
    /// Of the busiest client thread, 0…1.
    var workerLoad: Double
    /// From a push being put on a stream to its answer being read, on average.
    var service: Double
    /// Of it in the mock.
    @Nullable var serverTime: Double?

    enum CodingKeys: String, CodingKey {
        case run, engine, version, machine, threads, connections, streams
        case roundTrip = "rtt_ns"
        case isShaped = "shaped"
        case isBundledMock = "bundled_mock"
        case perSecond = "per_second"
        case clientCPU = "client_cpu_ns_per_push"
        case mockCPU = "mock_cpu_ns_per_push"
        case clientMemory = "client_max_rss_bytes"
        case workerLoad = "worker_load"
        case service = "service_mean_ns"
        case serverTime = "server_mean_ns"
    }
}

extension CostSample {
    /// - Parameters:
    ///   - roundTrip: the scenario's `rtt`, read.
    ///   - keepsMemory: false when the process made other runs before.
    init(_ result: ResultDocument, roundTrip: UInt64, keepsMemory: Bool = true) {
        func whole(_ name: String) -> Int? {
            if case .integer(let value)? = result.scenario[name] { Int(value) } else { nil }
        }
        let environment = result.environment
        let flags = result.scenario["mock_flag_text"].map(\.description) ?? result.scenario["mock_flags"]?.description
        let isOpenLoop = result.latency[.service].count > 0
        self.init(
            run: result.run.id, engine: result.run.engine, version: environment.versions["pushload"] ?? "",
            machine: "\(environment.host), \(environment.cpu), \(environment.cores) cores",
            threads: max(1, whole("threads") ?? 1), connections: max(1, whole("connections") ?? 1),
            streams: max(1, whole("streams") ?? 1), roundTrip: roundTrip,
            isShaped: flags != nil && flags != "none" && flags != "",
            isBundledMock: result.run.target == "bundled mock", perSecond: result.throughput.answered,
            clientCPU: result.cost.clientCPU, mockCPU: result.cost.mockCPU,
            clientMemory: keepsMemory ? result.cost.clientMemory : nil,
            workerLoad: result.generator.workerLoad.max() ?? 0,
            service: isOpenLoop ? result.latency[.service].mean : result.latency.answeredMean,
            serverTime: result.latency[.inMock].count > 0 ? result.latency[.inMock].mean : nil)
    }
}

/// Measured costs, kept so that plans need not measure them again: what `pushload plan --calibration` writes.
struct CalibrationDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.calibration/1"

    var schema = CalibrationDocument.currentSchema
    /// ISO 8601, UTC.
    var madeAt: String
    var samples: [CostSample]

    enum CodingKeys: String, CodingKey {
        case schema, samples
        case madeAt = "made_at"
    }
}

import Analysis
import Measurement
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
    /// CPU time a push, without handshakes.
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
    /// Threads of the bundled mock; nil: another server, or an older calibration.
    @AddedLater var mockThreads: Int? = nil
    /// Of the client's machine.
    @AddedLater var cores: Int? = nil
    /// Pushes a second that came due in an open loop; nil in a closed one.
    @AddedLater var pace: Double? = nil
    /// How the bundled mock answered; nil: batched, or another server, of which it is not known.
    @AddedLater var answers: Answers? = nil
    /// From a push being due to its answer being read, ns, at `TimeDistribution.shares`; of open loops only.
    @AddedLater var totals: [Double]? = nil

    /// Pushes answered for each connection that was opened, where the server ended them (GOAWAY) ten times as often as there were
    /// connections; nil elsewhere.
    @AddedLater var pushesPerConnection: Double? = nil
    /// CPU time of the client for the handshake of a connection, ns; nil: an older run.
    @AddedLater var handshake: Double? = nil
    /// The same of the bundled mock.
    @AddedLater var mockHandshake: Double? = nil
    /// The bundled mock's answers took times of their own (`--latency 'lognormal …'`), so that they came one by one; nil: an older calibration.
    @AddedLater var spreadsAnswers: Bool? = nil
    /// Where another server than the bundled mock was; nil: it was that, or an older calibration.
    @AddedLater var target: String? = nil

    /// Settings that change what a push costs, and of which a plan does not know; of runs, and in no calibration.
    var others: [String: String] = [:]

    /// As warnings name it.
    var server: String { isBundledMock ? "the bundled mock" : target ?? "another" }

    /// How a server answers.
    enum Answers: String, Codable, Sendable, CaseIterable {
        /// What came together, together.
        case batched
        /// Each push by itself, in a TLS record of its own.
        case single
    }

    var isSingle: Bool { answers == .single }
    var isSpread: Bool { spreadsAnswers == true }
    var hasLink: Bool { roundTrip > 0 }

    /// The first field whose number no run has: a damaged file, or somebody else's. nil: none.
    var implausible: String? {
        let counts = [
            ("threads", threads), ("connections", connections), ("streams", streams), ("mock_threads", mockThreads),
            ("cores", cores),
        ]
        if let (name, _) = counts.first(where: { $0.1.map { !(1...1_000_000_000).contains($0) } ?? false }) {
            return name
        }
        // Of times nanoseconds; a day is more than any of them.
        let day = 86_400e9
        var figures: [(String, Double?, ClosedRange<Double>)] = [
            ("per_second", perSecond, 0...1e12), ("client_cpu_ns_per_push", clientCPU, 1e-3...day),
            ("mock_cpu_ns_per_push", mockCPU, 0...day), ("worker_load", workerLoad, 0...1000),
            ("service_mean_ns", service, 0...day), ("server_mean_ns", serverTime, 0...day),
            ("offered_per_second", pace, 1e-6...1e12), ("pushes_per_connection", pushesPerConnection, 0...1e18),
            ("handshake_ns", handshake, 0...day), ("mock_handshake_ns", mockHandshake, 0...day),
            ("rtt_ns", Double(roundTrip), 0...day), ("client_max_rss_bytes", clientMemory.map(Double.init), 0...1e15),
        ]
        figures += (totals ?? []).map { ("total_ns", $0, 0...day) }
        return figures.first { $0.1.map { [range = $0.2] in !range.contains($0) } ?? false }?.0
    }

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
        case mockThreads = "mock_threads"
        case cores, answers
        case pushesPerConnection = "pushes_per_connection"
        case handshake = "handshake_ns"
        case mockHandshake = "mock_handshake_ns"
        case target
        case spreadsAnswers = "spreads_answers"
        case pace = "offered_per_second"
        case totals = "total_ns"
    }
}

extension CostSample {
    /// Keys of settings that change what a push costs the client, beside those that a plan knows.
    static let costly: Set = [
        "apns_id", "by", "ciphers", "ciphersuites", "collapse_id", "device_file", "encoder_table", "header_table",
        "huffman", "ktls", "max_frame", "measure", "nodelay", "pacing", "pin", "plaintext", "profile", "read_batch",
        "registrations", "send_batch", "sign_policy", "template", "templates", "tls_max",
    ]

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
        let isBundled = result.run.target == ResultDocument.Run.bundledMock
        let words = flags?.replacing("=", with: " ").split(separator: " ") ?? []
        let values = zip(words, words.dropFirst())
        let isSingle = values.contains { $0 == "--answer-batching" && $1 == "off" }
        let isSpread = values.contains {
            $0 == "--latency" && $1.drop { "'\"".contains($0) }.first?.isLetter == true
        }
        let connections = Double(max(1, whole("connections") ?? 1))
        let opened = Double(result.connections.opened)
        let answered = Double(result.pushes.accepted) + Double(result.pushes.rejected)
        let isShaped = ![nil, "none", ""].contains(flags)
        let service = isOpenLoop ? result.latency[.service].mean : result.latency.answeredMean
        let inMock = result.latency[.inMock]
        let mockThreads: Int? = isBundled ? whole("mock_threads") ?? 1 : nil
        /// Without handshakes, of which a fan-out has as many as connections, and not as many as pushes.
        func pushing(_ cost: Double, _ handshakes: UInt64?) -> Double {
            cost - Double(handshakes ?? 0) / max(1, answered)
        }
        var totals: [Double]?
        if isOpenLoop, let total = try? result.censoredHistogram("total") {
            totals = TimeDistribution.values(total.lowerBound)
        }
        self.init(
            run: result.run.id, engine: result.run.engine, version: environment.versions["pushload"] ?? "",
            machine: "\(environment.host), \(environment.cpu), \(environment.cores) cores",
            threads: max(1, whole("threads") ?? 1), connections: max(1, whole("connections") ?? 1),
            streams: max(1, whole("streams") ?? 1), roundTrip: roundTrip,
            isShaped: isShaped, isBundledMock: isBundled, perSecond: result.throughput.answered,
            clientCPU: pushing(result.cost.clientCPU, result.cost.clientHandshakes),
            mockCPU: result.cost.mockCPU.map { pushing($0, result.cost.mockHandshakes) },
            clientMemory: keepsMemory ? result.cost.clientMemory : nil,
            workerLoad: result.generator.workerLoad.max() ?? 0, service: service,
            serverTime: inMock.count > 0 ? inMock.mean : nil)
        self.mockThreads = mockThreads
        cores = environment.cores
        pace = isOpenLoop ? result.throughput.offered : nil
        answers = isBundled && isSingle ? .single : nil
        self.totals = totals
        spreadsAnswers = isBundled && isSpread
        if opened >= 10 * connections { pushesPerConnection = answered / opened }
        others = RunFacts.of(result).filter { Self.costly.contains($0.key) }
        others["commit"] = environment.commit.map { String($0.prefix(12)) }
        if opened > 0 {
            handshake = result.cost.clientHandshakes.map { Double($0) / opened }
            mockHandshake = isBundled ? result.cost.mockHandshakes.map { Double($0) / opened } : nil
        }
        target = isBundled ? nil : result.run.target
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

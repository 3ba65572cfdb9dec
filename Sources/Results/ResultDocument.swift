import Measurement

/// The result of one run. `results/README.md` defines every field; names in JSON are the snake-case ones below.
public struct ResultDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    public static let currentSchema = "pushload.result/3"

    public var schema = ResultDocument.currentSchema
    public var run: Run
    public var environment: Environment
    /// The settings, flat.
    public var scenario: [String: Setting]
    public var pushes: Pushes
    public var throughput: Throughput
    public var latency: Latencies
    /// Outcomes apart by stage, profile or status, where there is more than one: by dimension, then label.
    @KnownAtEnd public var breakdown: [String: [String: Part]]
    public var warmup: Warmup
    @KnownAtEnd public var cooldown = Cooldown()
    @KnownAtEnd public var retries = Retries()
    @KnownAtEnd public var generator: Generator
    @KnownAtEnd public var statuses: [String: UInt64]
    @KnownAtEnd public var reasons: [String: UInt64]
    public var failures: [String: UInt64]
    /// Pushes that were never begun, by cause.
    public var notSent: [String: UInt64] = [:]
    @KnownAtEnd public var connections: Connections
    @KnownAtEnd public var cost: Cost
    public var series: [Point]
    /// All latencies by stage, as HdrHistogram's logs have them (V2, Base64): whole, so that results can be merged.
    public var histograms: [String: String]
    /// What a reader must know beside the figures, one sentence each.
    public var notes: [String]

    enum CodingKeys: String, CodingKey {
        case schema, run, environment, scenario, pushes, throughput, statuses, reasons, failures, connections, cost
        case series, notes, breakdown, warmup, cooldown, retries, generator, histograms
        case latency = "latency_ns"
        case notSent = "not_sent"
    }

    public init(
        run: Run, environment: Environment, scenario: [String: Setting], pushes: Pushes, throughput: Throughput,
        latency: Latencies, breakdown: [String: [String: Part]], warmup: Warmup, generator: Generator,
        statuses: [String: UInt64], reasons: [String: UInt64], failures: [String: UInt64],
        connections: Connections, cost: Cost, series: [Point], histograms: [String: String],
        notes: [String]
    ) {
        self.run = run
        self.environment = environment
        self.scenario = scenario
        self.pushes = pushes
        self.throughput = throughput
        self.latency = latency
        self.breakdown = breakdown
        self.warmup = warmup
        self.generator = generator
        self.statuses = statuses
        self.reasons = reasons
        self.failures = failures
        self.connections = connections
        self.cost = cost
        self.series = series
        self.histograms = histograms
        self.notes = notes
    }

    public struct Run: Codable, Sendable, Equatable {
        public var id: String
        public var name: String
        public var startedAt: String
        public var durationSeconds: Double
        /// False when the run was stopped before its plan was done.
        public var complete: Bool
        public var interrupted: Bool
        /// `target` where no URL was given.
        public static let bundledMock = "bundled mock"
        public var engine: String
        public var target: String
        @Nullable public var tls: String?

        enum CodingKeys: String, CodingKey {
            case id, name, complete, interrupted, engine, target, tls
            case startedAt = "started_at"
            case durationSeconds = "duration_seconds"
        }

        public init(
            id: String, name: String, startedAt: String, durationSeconds: Double, complete: Bool, interrupted: Bool,
            engine: String, target: String, tls: String?
        ) {
            self.id = id
            self.name = name
            self.startedAt = startedAt
            self.durationSeconds = durationSeconds
            self.complete = complete
            self.interrupted = interrupted
            self.engine = engine
            self.target = target
            self.tls = tls
        }
    }

    public struct Environment: Codable, Sendable, Equatable {
        public var host: String
        public var cpu: String
        public var cores: Int
        public var memoryBytes: UInt64
        public var kernel: String
        public var system: String
        public var versions: [String: String]
        @Nullable public var commit: String?

        enum CodingKeys: String, CodingKey {
            case host, cpu, cores, kernel, system, versions, commit
            case memoryBytes = "memory_bytes"
        }

        public init(
            host: String, cpu: String, cores: Int, memoryBytes: UInt64, kernel: String, system: String,
            versions: [String: String], commit: String?
        ) {
            self.host = host
            self.cpu = cpu
            self.cores = cores
            self.memoryBytes = memoryBytes
            self.kernel = kernel
            self.system = system
            self.versions = versions
            self.commit = commit
        }
    }

    public struct Pushes: Codable, Sendable, Equatable {
        public var planned: UInt64
        public var sent: UInt64
        /// Of these, attempts of pushes that had been sent before; nil: results of older versions do not tell.
        public var sentAgain: UInt64?
        public var accepted: UInt64
        public var rejected: UInt64
        /// Begun, and not answered.
        public var failed: UInt64
        /// Never begun: overflowed, or the run ended first.
        public var notSent: UInt64
        public var retried: UInt64
        /// nil: no ledger could be read.
        @Nullable public var lost: UInt64?
        @Nullable public var duplicated: UInt64?

        enum CodingKeys: String, CodingKey {
            case planned, sent, accepted, rejected, failed, retried, lost, duplicated
            case notSent = "not_sent"
            case sentAgain = "sent_again"
        }

        /// The four ends there are.
        public var ended: UInt64 { accepted &+ rejected &+ failed &+ notSent }

        public init(
            planned: UInt64, sent: UInt64, sentAgain: UInt64? = 0, accepted: UInt64, rejected: UInt64, failed: UInt64,
            notSent: UInt64 = 0, retried: UInt64, lost: UInt64?, duplicated: UInt64?
        ) {
            self.sentAgain = sentAgain
            self.notSent = notSent
            self.planned = planned
            self.sent = sent
            self.accepted = accepted
            self.rejected = rejected
            self.failed = failed
            self.retried = retried
            self.lost = lost
            self.duplicated = duplicated
        }
    }

    /// Pushes a second, all four over the same window: `results/README.md` defines it.
    public struct Throughput: Codable, Sendable, Equatable {
        /// Length of the window, seconds; 0 when nothing was measured.
        public var windowSeconds: Double
        /// Due; nil in closed loop, which offers what streams free.
        @Nullable public var offered: Double?
        /// Handed to the kernel, attempts counted.
        public var sent: Double
        /// Answered with any status.
        public var answered: Double
        /// Answered with status 200: goodput.
        public var accepted: Double

        enum CodingKeys: String, CodingKey {
            case windowSeconds = "window_seconds"
            case offered = "offered_per_second"
            case sent = "sent_per_second"
            case answered = "answered_per_second"
            case accepted = "accepted_per_second"
        }

        /// - Parameters:
        ///   - sent: nil: as many as were answered.
        ///   - accepted: nil: all that were answered.
        public init(
            windowSeconds: Double = 1, offered: Double?, sent: Double? = nil, answered: Double, accepted: Double? = nil
        ) {
            self.windowSeconds = windowSeconds
            self.offered = offered
            self.sent = sent ?? answered
            self.answered = answered
            self.accepted = accepted ?? answered
        }
    }

    public struct Latencies: Codable, Sendable, Equatable {
        @KnownAtEnd public var encode: Latency
        @KnownAtEnd public var sign: Latency
        /// Open loop only; the two parts of `queue`.
        @KnownAtEnd public var late: Latency
        @KnownAtEnd public var write: Latency
        @KnownAtEnd public var queue: Latency
        @KnownAtEnd public var roundTrip: Latency
        /// Open loop only: from being put on a stream to the answer.
        @KnownAtEnd public var service: Latency
        /// Of every push that was due and measured; one that got no answer counts as longer than all answers.
        public var total: Latency
        /// `total` of the accepted ones, and of the rejected ones, alone.
        public var totalAccepted = Latency()
        public var totalRejected = Latency()
        /// With the bundled mock, the parts of the round trip: to the mock, in it, and back; of a sample of the pushes.
        @KnownAtEnd public var toMock: Latency
        @KnownAtEnd public var inMock: Latency
        @KnownAtEnd public var fromMock: Latency

        enum CodingKeys: String, CodingKey {
            case encode, sign, late, write, queue, service, total
            case roundTrip = "round_trip"
            case toMock = "to_mock"
            case inMock = "in_mock"
            case fromMock = "from_mock"
            case totalAccepted = "total_accepted"
            case totalRejected = "total_rejected"
        }

        public init(
            encode: Latency, sign: Latency, late: Latency, write: Latency, queue: Latency, roundTrip: Latency,
            service: Latency, total: Latency, toMock: Latency, inMock: Latency, fromMock: Latency
        ) {
            self.encode = encode
            self.sign = sign
            self.late = late
            self.write = write
            self.queue = queue
            self.roundTrip = roundTrip
            self.service = service
            self.total = total
            self.toMock = toMock
            self.inMock = inMock
            self.fromMock = fromMock
        }

        /// By the names the document uses.
        public var byName: [(name: String, latency: Latency)] {
            [
                ("encode", encode), ("sign", sign), ("late", late), ("write", write), ("queue", queue),
                ("round_trip", roundTrip), ("service", service), ("total", total),
                ("total_accepted", totalAccepted), ("total_rejected", totalRejected), ("to_mock", toMock),
                ("in_mock", inMock), ("from_mock", fromMock),
            ]
        }
    }

    /// Nanoseconds.
    public struct Latency: Codable, Sendable, Equatable {
        /// Pushes, those without an answer among them.
        public var count: UInt64
        public var min: UInt64
        public var mean: Double
        public var p50: UInt64
        public var p90: UInt64
        public var p99: UInt64
        public var p999: UInt64
        public var max: UInt64
        /// Those of `count` that got no answer.
        public var unanswered: UInt64 = 0
        /// Names of the figures that are only known to be larger than what stands here, as JSON spells them.
        public var censored: [String] = []

        enum CodingKeys: String, CodingKey {
            case count, min, mean, p50, p90, p99, max, unanswered, censored
            case p999 = "p99_9"
        }

        /// Of nothing.
        public init() { self.init(count: 0, min: 0, mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0) }

        public init(
            count: UInt64, min: UInt64, mean: Double, p50: UInt64, p90: UInt64, p99: UInt64, p999: UInt64, max: UInt64
        ) {
            self.count = count
            self.min = min
            self.mean = mean
            self.p50 = p50
            self.p90 = p90
            self.p99 = p99
            self.p999 = p999
            self.max = max
        }
    }

    public struct Connections: Codable, Sendable, Equatable {
        public var opened: UInt64
        public var lost: UInt64
        public var connectFailures: UInt64
        public var goAways: UInt64
        public var reconnects: UInt64
        /// Connections that ended before the run did, by why.
        public var ends: [String: UInt64] = [:]

        enum CodingKeys: String, CodingKey {
            case opened, lost, reconnects, ends
            case connectFailures = "connect_failures"
            case goAways = "goaways"
        }

        public init(opened: UInt64, lost: UInt64, connectFailures: UInt64, goAways: UInt64, reconnects: UInt64) {
            self.opened = opened
            self.lost = lost
            self.connectFailures = connectFailures
            self.goAways = goAways
            self.reconnects = reconnects
        }
    }

    public struct Cost: Codable, Sendable, Equatable {
        public var clientCPU: Double
        @Nullable public var mockCPU: Double?
        public var clientMemory: UInt64
        @Nullable public var mockMemory: UInt64?
        @Nullable public var clientAllocations: Double?
        @Nullable public var mockAllocations: Double?
        public var tokensSigned: UInt64
        public var clockReading: Double
        public var histogramRecord: Double
        public var measuring: Double

        enum CodingKeys: String, CodingKey {
            case clientCPU = "client_cpu_ns_per_push"
            case mockCPU = "mock_cpu_ns_per_push"
            case clientMemory = "client_max_rss_bytes"
            case mockMemory = "mock_max_rss_bytes"
            case clientAllocations = "client_allocations_per_push"
            case mockAllocations = "mock_allocations_per_push"
            case tokensSigned = "tokens_signed"
            case clockReading = "clock_reading_ns"
            case histogramRecord = "histogram_record_ns"
            case measuring = "measuring_ns_per_push"
        }

        public init(
            clientCPU: Double, mockCPU: Double?, clientMemory: UInt64, mockMemory: UInt64?, clientAllocations: Double?,
            mockAllocations: Double?, tokensSigned: UInt64, clockReading: Double, histogramRecord: Double,
            measuring: Double
        ) {
            self.clientCPU = clientCPU
            self.mockCPU = mockCPU
            self.clientMemory = clientMemory
            self.mockMemory = mockMemory
            self.clientAllocations = clientAllocations
            self.mockAllocations = mockAllocations
            self.tokensSigned = tokensSigned
            self.clockReading = clockReading
            self.histogramRecord = histogramRecord
            self.measuring = measuring
        }
    }

    /// About 100 ms, the rest of that at the end, or neighbours merged.
    public struct Point: Codable, Sendable, Equatable {
        public var t: Double
        public var sent: UInt64
        public var accepted: UInt64
        public var rejected: UInt64
        public var failed: UInt64
        public var notSent: UInt64
        public var inFlight: Int
        public var backlog: UInt64
        public var p50: UInt64
        public var p99: UInt64

        enum CodingKeys: String, CodingKey {
            case t, sent, accepted, rejected, failed, backlog
            case notSent = "not_sent"
            case inFlight = "in_flight"
            case p50 = "p50_ns"
            case p99 = "p99_ns"
        }

        public init(
            t: Double, sent: UInt64, accepted: UInt64, rejected: UInt64, failed: UInt64, notSent: UInt64 = 0,
            inFlight: Int, backlog: UInt64, p50: UInt64, p99: UInt64
        ) {
            self.notSent = notSent
            self.t = t
            self.sent = sent
            self.accepted = accepted
            self.rejected = rejected
            self.failed = failed
            self.inFlight = inFlight
            self.backlog = backlog
            self.p50 = p50
            self.p99 = p99
        }

        public init(_ point: SeriesPoint) {
            self.init(
                t: point.time, sent: point.sent, accepted: point.accepted, rejected: point.rejected,
                failed: point.failed,
                notSent: point.notSent, inFlight: point.inFlight, backlog: point.backlog, p50: point.p50, p99: point.p99
            )
        }
    }
}

extension SeriesPoint {
    public init(_ point: ResultDocument.Point) {
        self.init(
            time: point.t, sent: point.sent, accepted: point.accepted, rejected: point.rejected, failed: point.failed,
            notSent: point.notSent, inFlight: point.inFlight, backlog: point.backlog, p50: point.p50, p99: point.p99)
    }
}

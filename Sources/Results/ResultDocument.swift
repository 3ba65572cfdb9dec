import Foundation
import Measurement
import Settings

/// The result of one run. `results/README.md` defines every field; names in JSON are the snake-case ones below.
public struct ResultDocument: Codable, Sendable, Equatable {
    /// What this version writes.
    static let currentSchema = "pushload.result/3"

    var schema = ResultDocument.currentSchema
    public var run = Run()
    package var environment = Environment()
    /// The settings, flat.
    public var scenario: [String: JSONValue] = [:]
    public var pushes = Pushes()
    public var throughput = Throughput()
    public var latency = Latencies()
    /// Outcomes apart by stage, profile or status, where there is more than one: by dimension, then label.
    @KnownAtEnd public var breakdown: [String: [String: Part]] = [:]
    /// What went to which audience; nil where no registrations were given, and in results of older versions.
    @AddedLater public var sends: [Send]?
    /// What became of accepted pushes at their devices; nil without a device model.
    @AddedLater public var devices: Devices?
    /// What devices asked of their backend; nil without one.
    @AddedLater public var echo: Echo?
    /// Each worker of a run of several; nil of a run of one, of merged runs, and in results of older versions.
    @AddedLater public var workers: [Worker]?
    /// How the clocks of several workers and their mocks agree; nil where that was not asked.
    @AddedLater public var clocks: [Clock]?
    /// Whether the figures may be believed; nil in partial results, of merged runs and of several workers, and in results of older
    /// versions.
    @AddedLater public var trust: Trust?
    public var warmup = Warmup()
    @KnownAtEnd package var cooldown = Cooldown()
    @KnownAtEnd public var retries = Retries()
    @KnownAtEnd package var generator = Generator()
    @KnownAtEnd public var statuses: [String: UInt64] = [:]
    @KnownAtEnd public var reasons: [String: UInt64] = [:]
    /// `503 ServiceUnavailable`, `503 without a reason`; nil in partial results and in results of older versions.
    @AddedLater package var rejections: [String: UInt64]?
    public var failures: [String: UInt64] = [:]
    /// Pushes that were never begun, by cause.
    public var notSent: [String: UInt64] = [:]
    @KnownAtEnd public var connections = Connections()
    /// Of each of several targets; nil where there was one, and in results of older versions.
    @AddedLater public var targets: [Target]?
    @KnownAtEnd package var cost = Cost()
    public var series: [SeriesPoint] = []
    /// All latencies by stage, as HdrHistogram's logs have them (V2, Base64): whole, so that results can be merged.
    public var histograms: [String: String] = [:]
    /// What a reader must know beside the figures, one sentence each.
    package var notes: [String] = []

    enum CodingKeys: String, CodingKey {
        case schema, run, environment, scenario, pushes, throughput, statuses, reasons, rejections, failures,
            connections,
            cost
        case targets, series, notes, breakdown, sends, devices, echo, workers, clocks, trust, warmup, cooldown, retries,
            generator, histograms
        case latency = "latency_ns"
        case notSent = "not_sent"
    }

    /// Of nothing.
    package init() {}

    public struct Run: Codable, Sendable, Equatable {
        public var id = ""
        package var name = ""
        /// ISO 8601, UTC, with milliseconds; older versions wrote whole seconds.
        package var startedAt = ""
        public var durationSeconds = 0.0
        /// False when the run was stopped before its plan was done.
        package var complete = true
        public var interrupted = false
        /// `target` where no URL was given.
        package static let bundledMock = "bundled mock"
        package var engine = ""
        package var target = ""
        @Nullable package var tls: String?

        enum CodingKeys: String, CodingKey {
            case id, name, complete, interrupted, engine, target, tls
            case startedAt = "started_at"
            case durationSeconds = "duration_seconds"
        }

        package init() {}
    }

    public struct Environment: Codable, Sendable, Equatable {
        package var host = ""
        package var cpu = ""
        package var cores = 0
        package var memoryBytes: UInt64 = 0
        package var kernel = ""
        package var system = ""
        package var versions: [String: String] = [:]
        @Nullable package var commit: String?

        enum CodingKeys: String, CodingKey {
            case host, cpu, cores, kernel, system, versions, commit
            case memoryBytes = "memory_bytes"
        }

        package init() {}
    }

    public struct Pushes: Codable, Sendable, Equatable {
        public var planned: UInt64 = 0
        public var sent: UInt64 = 0
        /// Of these, attempts of pushes that had been sent before; nil: results of older versions do not tell.
        @AddedLater public var sentAgain: UInt64? = 0
        public var accepted: UInt64 = 0
        public var rejected: UInt64 = 0
        /// Begun, and not answered.
        public var failed: UInt64 = 0
        /// Never begun: overflowed, or the run ended first.
        public var notSent: UInt64 = 0
        public var retried: UInt64 = 0
        /// nil: no ledger could be read.
        @Nullable public var lost: UInt64?
        @Nullable package var duplicated: UInt64?

        enum CodingKeys: String, CodingKey {
            case planned, sent, accepted, rejected, failed, retried, lost, duplicated
            case notSent = "not_sent"
            case sentAgain = "sent_again"
        }

        /// The four ends there are.
        public var ended: UInt64 { accepted &+ rejected &+ failed &+ notSent }

        package init() {}
    }

    /// Pushes a second, all four over the same window: `results/README.md` defines it.
    public struct Throughput: Codable, Sendable, Equatable {
        /// Length of the window, seconds; 0 when nothing was measured, or for too short a time (`hasRates`).
        public var windowSeconds = 0.0
        /// Due; nil in closed loop, which offers what streams free.
        @Nullable public var offered: Double?
        /// Handed to the kernel, attempts counted.
        public var sent = 0.0
        /// Of these, attempts of pushes that had been sent before; nil: results of older versions do not tell.
        @AddedLater public var sentAgain: Double? = 0
        /// Answered with any status.
        public var answered = 0.0
        /// Answered with status 200: goodput.
        public var accepted = 0.0

        enum CodingKeys: String, CodingKey {
            case windowSeconds = "window_seconds"
            case offered = "offered_per_second"
            case sent = "sent_per_second"
            case sentAgain = "sent_again_per_second"
            case answered = "answered_per_second"
            case accepted = "accepted_per_second"
        }

        /// Of nothing.
        package init() {}

        /// - Parameters:
        ///   - sent: nil: as many as were answered.
        ///   - accepted: nil: all that were answered.
        package init(
            windowSeconds: Double = 1, offered: Double?, sent: Double? = nil, answered: Double, accepted: Double? = nil
        ) {
            self.windowSeconds = windowSeconds
            self.offered = offered
            self.sent = sent ?? answered
            self.answered = answered
            self.accepted = accepted ?? answered
        }
    }

    /// The times of a push by stage; those that the run did not have are of nothing.
    public struct Latencies: Codable, Sendable, Equatable {
        private var figures = [Latency](repeating: Latency(), count: Stage.allCases.count)

        public subscript(stage: Stage) -> Latency {
            get { figures[stage.rawValue] }
            set { figures[stage.rawValue] = newValue }
        }

        /// Of nothing.
        package init() {}

        /// - Parameter figure: called for every stage.
        package init<Failure>(_ figure: (Stage) throws(Failure) -> Latency) throws(Failure) {
            for stage in Stage.allCases { self[stage] = try figure(stage) }
        }

        public init(from decoder: any Decoder) throws {
            let stages = try decoder.container(keyedBy: Stage.self)
            for stage in Stage.allCases {
                if Stage.ofDevices.contains(stage), !stages.contains(stage) { continue }
                self[stage] =
                    Self.knownMeanwhile.contains(stage)
                    ? try stages.decode(Latency.self, forKey: stage)
                    : try stages.decode(KnownAtEnd<Latency>.self, forKey: stage).wrappedValue
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var stages = encoder.container(keyedBy: Stage.self)
            for stage in Stage.allCases {
                let isPartial = encoder.userInfo[.isPartialResult] as? PartialResult == .ofRun
                if Stage.ofDevices.contains(stage), self[stage].count == 0 || isPartial { continue }
                if Self.knownMeanwhile.contains(stage) {
                    try stages.encode(self[stage], forKey: stage)
                } else {
                    try stages.encode(KnownAtEnd(wrappedValue: self[stage]), forKey: stage)
                }
            }
        }

        /// What a partial result has of them.
        private static let knownMeanwhile: Set<Stage> = [.total, .totalAccepted, .totalRejected]
    }

    /// Nanoseconds.
    public struct Latency: Codable, Sendable, Equatable {
        /// Pushes, those without an answer among them.
        public var count: UInt64
        public var min: UInt64
        package var mean: Double
        public var p50: UInt64
        package var p90: UInt64
        public var p99: UInt64
        package var p999: UInt64
        public var max: UInt64
        /// Those of `count` that got no answer.
        public var unanswered: UInt64 = 0
        /// Names of the figures that are only known to be larger than what stands here, as JSON spells them.
        package var censored: [String] = []

        enum CodingKeys: String, CodingKey {
            case count, min, mean, p50, p90, p99, max, unanswered, censored
            case p999 = "p99_9"
        }

        /// Of nothing.
        public init() { self.init(count: 0, min: 0, mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0) }

        package init(
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
        public var opened: UInt64 = 0
        public var lost: UInt64 = 0
        public var connectFailures: UInt64 = 0
        public var goAways: UInt64 = 0
        public var reconnects: UInt64 = 0
        /// Connections that ended before the run did, by why.
        public var ends: [String: UInt64] = [:]
        /// Time for which pushes were due and no connection was open; nil: none ever was, or the result is of an older version.
        @AddedLater package var noConnection: NoConnection?
        /// Share of the streams in use, and of the time, that the target's windows kept from sending; nil where nobody looked.
        @AddedLater package var windowLimited: Double?
        /// Share of the time in which sockets took no more bytes.
        @AddedLater package var writeBlocked: Double?
        /// Of the above, those once the measured span of an open loop was over.
        @AddedLater package var afterWindow: AfterWindow?

        enum CodingKeys: String, CodingKey {
            case opened, lost, reconnects, ends
            case noConnection = "no_connection"
            case windowLimited = "window_limited"
            case writeBlocked = "write_blocked"
            case afterWindow = "after_window"
            case connectFailures = "connect_failures"
            case goAways = "goaways"
        }

        public init() {}
    }

    /// Pushes were due, and no connection of their worker was open: connections that were told to go away take none, those whose streams
    /// are all in use are open. Of the worker thread for which it was longest.
    package struct NoConnection: Codable, Sendable, Equatable {
        /// In all.
        package var seconds = 0.0
        /// The longest time without a break.
        package var longest = 0.0
        /// Why the last connection was lost or not made in that, as `ends` spells it; nil: none was, or there was no such time.
        @Nullable package var cause: String?
        /// What the attempt that ended it had waited for, seconds: the back-off.
        package var wait = 0.0

        enum CodingKeys: String, CodingKey {
            case seconds, cause
            case longest = "longest_seconds"
            case wait = "wait_seconds"
        }

        package init(seconds: Double = 0, longest: Double = 0, cause: String? = nil, wait: Double = 0) {
            self.seconds = seconds
            self.longest = longest
            self.cause = cause
            self.wait = wait
        }

        /// `no connection for 1.98 s: connection refused, next attempt after 40.0 ms`; of several such times `(longest 1.98 s: …)`. nil
        /// below a millisecond, as long as making a connection takes.
        package var words: String? {
            guard seconds >= 0.001 else { return nil }
            let why =
                "\(cause.map(Self.plain) ?? "the first was being made")\(wait > 0 ? ", next attempt after \(Units.duration(nanoseconds: wait * 1e9))" : "")"
            let whole = "no connection for \(Units.duration(nanoseconds: seconds * 1e9))"
            return longest < 0.999 * seconds
                ? "\(whole) (longest \(Units.duration(nanoseconds: longest * 1e9)): \(why))" : "\(whole): \(why)"
        }

        /// A cause's name as words; what a peer said with GOAWAY as it is.
        package static func plain(_ cause: String) -> String {
            cause.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "_" } ? cause.replacing("_", with: " ") : cause
        }

        /// The words, where a share of all pushes, such as 0.01, that were late by so much, ns, may have been so for want of a connection:
        /// no more than twice as long as there was none, and no more than twice as many as came due meanwhile.
        ///
        /// - Parameters:
        ///   - seconds: the run's time, over which pushes came due.
        ///   - threads: that they were divided among.
        package func cause(ofLateness late: Double, share: Double, of seconds: Double, threads: Int) -> String? {
            guard late <= 2e9 * longest, 2 * self.seconds >= share * seconds * Double(threads) else { return nil }
            return words
        }
    }

    package struct AfterWindow: Codable, Sendable, Equatable {
        package var opened: UInt64 = 0
        package var lost: UInt64 = 0
        package var connectFailures: UInt64 = 0
        package var ends: [String: UInt64] = [:]

        enum CodingKeys: String, CodingKey {
            case opened, lost, ends
            case connectFailures = "connect_failures"
        }

        package init(
            opened: UInt64 = 0, lost: UInt64 = 0, connectFailures: UInt64 = 0, ends: [String: UInt64] = [:]
        ) {
            self.opened = opened
            self.lost = lost
            self.connectFailures = connectFailures
            self.ends = ends
        }
    }

    public struct Cost: Codable, Sendable, Equatable {
        package var clientCPU = 0.0
        @Nullable package var mockCPU: Double?
        package var clientMemory: UInt64 = 0
        @Nullable package var mockMemory: UInt64?
        @Nullable package var clientAllocations: Double?
        @Nullable package var mockAllocations: Double?
        /// CPU time of the handshakes of all connections, ns, which is a part of the cost of the pushes.
        @AddedLater package var clientHandshakes: UInt64?
        @AddedLater package var mockHandshakes: UInt64?
        package var tokensSigned: UInt64 = 0
        package var clockReading = 0.0
        package var histogramRecord = 0.0
        package var measuring = 0.0

        enum CodingKeys: String, CodingKey {
            case clientCPU = "client_cpu_ns_per_push"
            case mockCPU = "mock_cpu_ns_per_push"
            case clientMemory = "client_max_rss_bytes"
            case mockMemory = "mock_max_rss_bytes"
            case clientAllocations = "client_allocations_per_push"
            case mockAllocations = "mock_allocations_per_push"
            case clientHandshakes = "client_handshake_cpu_ns"
            case mockHandshakes = "mock_handshake_cpu_ns"
            case tokensSigned = "tokens_signed"
            case clockReading = "clock_reading_ns"
            case histogramRecord = "histogram_record_ns"
            case measuring = "measuring_ns_per_push"
        }

        public init() {}
    }
}

extension ResultDocument.Run {
    /// A time as `started_at` has it.
    package static func timestamp(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// When it started, seconds since 1970: between these two, because `started_at` may be cut to whole seconds; nil: that is no time.
    package var start: ClosedRange<Double>? {
        let fraction = startedAt.drop { $0 != "." }.dropFirst().prefix { $0.isNumber }
        let whole = fraction.isEmpty ? startedAt : startedAt.replacing(".\(fraction)", with: "")
        guard let date = ISO8601DateFormatter().date(from: whole) else { return nil }
        let known = date.timeIntervalSince1970 + (Double("0.\(fraction)") ?? 0)
        return known...(fraction.isEmpty ? known + 1 : known)
    }
}

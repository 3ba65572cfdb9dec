import Foundation
import Measurement
import Transport

/// What the workers of one run brought home.
struct LoadOutcome: Sendable {
    var measurements = MergedMeasurements(causes: FailureCause.count)
    var breakdowns = MergedBreakdowns()
    /// Of each send: from its start to the answers of what was accepted, ns.
    var fanOut: [LatencyHistogram] = []
    /// What answers said of registrations.
    var feedback = Feedback()
    /// How late the loops came back for pushes they could have sent on time.
    var loopLag = LatencyHistogram.empty
    var retries = RetryCounts()
    /// Of each worker: its thread's CPU time as a share of the run's time.
    var workerLoad: [Double] = []
    /// Of the worker that had to wait for a core most: the share of the run's time; nil where the kernel does not tell.
    var runQueueDelay: Double?
    /// Share of the workers' time that they spun away.
    var spin = 0.0
    /// Share of the machine's CPU time that other virtual machines took.
    var steal = 0.0
    /// The four rates; nil when nothing was measured, or for too short a time.
    var rates: Rates?
    /// Seconds from the start to the begin of the measured span.
    var warmup = 0.0
    /// With `--warmup auto`: whether the end was found, rather than set after a quarter of the run.
    var foundSteadyState: Bool?
    /// From the last push being taken to the end of the last one, seconds, and pushes open then.
    var cooldown = (seconds: 0.0, pushes: UInt64(0))
    /// CPU time of all worker threads in all, and what of it is known, ns.
    var workerTime = WorkerTime()
    var planned: UInt64 = 0
    /// Pushes of the plan that no worker took; they are among those not sent.
    var untaken: UInt64 = 0
    var isInterrupted = false
    /// A worker gave up for want of a connection.
    var isAbandoned = false
    /// Its time ended it, with pushes still to be sent or answered.
    var hasEndedInTime = false
    /// Why the run was ended before its time, by itself.
    var abortedFor: String?
    /// Why what was said of devices could not be kept.
    var lostFeedback: String?
    var connections = ConnectionCounts()
    /// Of these, those once the measured span of an open loop was over.
    var lateConnections = ConnectionCounts()
    /// Of the pushes that overflowed, those that came due while a worker's thread stood still or was busy.
    var ownOverflows: UInt64 = 0
    var holdUps = HoldUps()
    var tokensSigned: UInt64 = 0
    /// When the schedule, or the first push of a closed loop, began; nil when nothing did.
    var startedAt: Date?
    /// First intended send time to the end of the last push, seconds; where nothing began, for how long it was tried to.
    var duration: Double = 0
    var cpu: UInt64 = 0
    var allocations: UInt64?
    var series: [SeriesPoint] = []
    var tls: String?
    /// Why the last connection was lost or not made, empty when none was.
    var lastProblem = ""
    /// What was wrong with a worker's first stream that the target broke.
    var streamFault = ""
    /// The run goes on: what only its end can tell is left out.
    var isPartial = false
    /// What a reader must know besides, one sentence each.
    var notes: [String] = []

    /// - Parameters:
    ///   - time: ns of the monotonic clock.
    ///   - now: the same clock's reading now.
    static func date(of time: UInt64, now: UInt64) -> Date {
        Date().addingTimeInterval(-Double(now - min(now, time)) / 1e9)
    }
}

/// Pushes a second over one span.
struct Rates: Sendable {
    /// Seconds.
    let span: Double
    let offered: Double
    let sent: Double
    let sentAgain: Double
    let answered: Double
    let accepted: Double

    /// A shorter span, ns, says nothing of rates where the clock ends it: what is sent in it depends on when a thread looks.
    static let shortest: UInt64 = 1_000_000

    /// All workers' spans as one, from the first begin to the last end; nil when nothing was measured, or for too short a time.
    ///
    /// - Parameter now: where a span that has not ended is cut, ns.
    init?(_ windows: [RateWindow], now: UInt64 = .max) {
        let known = windows.filter { $0.from != .max }
        guard let from = known.map(\.from).min() else { return nil }
        let to = min(now, known.map { $0.to == .max ? $0.lastAnswer : $0.to }.max() ?? 0)
        let endsWithAnswers = known.allSatisfy { $0.to == .max }
        guard to > from, endsWithAnswers || to - from >= Self.shortest else { return nil }
        let seconds = Double(to - from) / 1e9
        span = seconds
        func perSecond(_ count: (RateWindow) -> UInt64) -> Double {
            Double(known.reduce(0) { $0 + count($1) }) / seconds
        }
        offered = perSecond(\.offered)
        sent = perSecond(\.sent)
        sentAgain = perSecond(\.sentAgain)
        answered = perSecond(\.answered)
        accepted = perSecond(\.accepted)
    }
}

/// What the worker threads did, ns. Only `cpu` is CPU time: the others were taken with a clock that goes on when a thread loses
/// its core.
struct WorkerTime: Sendable {
    /// With what was spun away.
    var cpu: UInt64 = 0
    var spin: UInt64 = 0
    /// In calls that read from and write to connections: TLS and the socket.
    var transfer: UInt64 = 0
    /// In the socket calls alone.
    var socket: UInt64 = 0
    var sign: UInt64 = 0
    /// When threads neither waited nor spun.
    var busy: UInt64 = 0

    /// What of a part's time was CPU time, on the whole.
    var onCore: Double {
        guard busy + spin > cpu else { return 1 }
        return Double(cpu) / Double(busy + spin)
    }

    mutating func add(_ other: WorkerTime) {
        cpu += other.cpu
        spin += other.spin
        transfer += other.transfer
        socket += other.socket
        sign += other.sign
        busy += other.busy
    }
}

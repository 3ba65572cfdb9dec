import Foundation
import Measurement
import Results
import Transport

/// What the workers of one run brought home. What a result has of it as it is, is of its types: `RunDocument` adds the rest.
struct LoadOutcome: Sendable {
    var measurements = MergedMeasurements(causes: FailureCause.count)
    var breakdowns = MergedBreakdowns()
    /// Of each send: from its start to the answers of what was accepted, ns.
    var fanOut: [LatencyHistogram] = []
    /// What answers said of registrations.
    var feedback = Feedback()
    /// How late the loops came back for pushes they could have sent on time.
    var loopLag = LatencyHistogram.empty
    var retries = ResultDocument.Retries()
    /// As measured: `GeneratorVerdict` judges it.
    var generator = ResultDocument.Generator()
    var throughput = ResultDocument.Throughput()
    /// Without how many pushes it had.
    var warmup = ResultDocument.Warmup()
    var cooldown = ResultDocument.Cooldown()
    /// CPU time of all worker threads in all, and what of it is known, ns.
    var workerTime = WorkerTime()
    var planned: UInt64 = 0
    /// Pushes of the plan that no worker took; they are among those not sent.
    var untaken: UInt64 = 0
    /// A worker gave up for want of a connection.
    var isAbandoned = false
    /// Its time ended it, with pushes still to be sent or answered.
    var hasEndedInTime = false
    /// Why the run was ended before its time, by itself.
    var abortedFor: String?
    /// Why what was said of devices could not be kept.
    var lostFeedback: String?
    /// Devices that are gone have left the registrations, or why not is among the notes.
    var hasKeptFeedback = false
    var connections = ConnectionCounts()
    /// Of these, those once the measured span of an open loop was over.
    var lateConnections = ConnectionCounts()
    /// Of the worker that had none for pushes that were due for longest.
    var noConnection = NoConnection()
    /// Of each of several targets; empty where there is one.
    var targets: [TargetCounts] = []
    var holdUps = HoldUps()
    var tokensSigned: UInt64 = 0
    /// Of these, those in place of one that the target said had expired.
    var tokensReplaced: UInt64 = 0
    /// Pushes sent again with one of those, and those for which that one was refused too.
    var sentAnew: UInt64 = 0
    var refusedAnew: UInt64 = 0
    /// Pushes that were not sent again because Retry-After asked for longer than a push may take.
    var retriesTooLong: UInt64 = 0
    /// Pushes of a recording that went over another connection than their own.
    var movedPushes: UInt64 = 0
    /// What workers know of it. It starts when the schedule or the first push of a closed loop does (empty: nothing did), and lasts
    /// from the first intended send time to the end of the last push; where nothing began, for as long as it was tried to.
    var run = ResultDocument.Run()
    var cpu: UInt64 = 0
    var allocations: UInt64?
    var series: [SeriesPoint] = []
    /// What figures are judged by.
    var blocks: [LatencyBlock] = []
    /// When the run began, ns of the monotonic clock; 0: it did not.
    var start: UInt64 = 0
    /// When pushes were begun, of each worker.
    var arrivals: [ArrivalSample] = []
    /// Why the last connection was lost or not made, empty when none was.
    var lastProblem = ""
    /// What was wrong with a worker's first stream that the target broke.
    var streamFault = ""
    /// A worker's first answer that rejected a push without a reason; nil: there was none.
    var unexplained: UnexplainedAnswer?
    /// The run goes on: what only its end can tell is left out.
    var isPartial = false
    /// What a reader must know besides, one sentence each.
    var notes: [String] = []

    mutating func addTargets(of worker: RunWorker) {
        guard let tally = worker.driver.breakdowns.targets else { return }
        if targets.isEmpty { targets = tally.counts.map { _ in TargetCounts() } }
        for (target, counts) in tally.counts.enumerated() {
            targets[target].add(counts)
            targets[target].contact.add(worker.engine.contacts[target])
        }
    }

    /// - Parameters:
    ///   - time: when it started, ns of the monotonic clock.
    ///   - now: the same clock's reading now.
    mutating func noteStart(_ time: UInt64, now: UInt64) {
        run.startedAt = ResultDocument.Run.timestamp(Date().addingTimeInterval(-Double(now - min(now, time)) / 1e9))
    }
}

/// What the worker threads did, ns. Only `cpu` and `handshake` are CPU time: the others were taken with a clock that goes on when a
/// thread loses its core.
struct WorkerTime: Sendable {
    /// With what was spun away.
    var cpu: UInt64 = 0
    var spin: UInt64 = 0
    /// In calls that read from and write to connections: TLS and the socket.
    var transfer: UInt64 = 0
    /// In the socket calls alone.
    var socket: UInt64 = 0
    var sign: UInt64 = 0
    /// CPU time of the handshakes of all connections.
    var handshake: UInt64 = 0
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
        handshake += other.handshake
        busy += other.busy
    }
}

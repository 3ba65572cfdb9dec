import Harness
import Results

/// A run of several workers as its folder shows it at one moment.
struct WatchedRun: Sendable {
    enum Phase: Sendable, Equatable {
        /// What is not there yet.
        case absent(String)
        /// Workers come, and wait for the start.
        case gathering
        case running
        /// Somebody asked all to stop before there was a start.
        case givenUp
        case ended(isComplete: Bool, status: Int32, lost: [Int])
    }

    /// What a run that has ended came to.
    struct Outcome: Sendable {
        /// Seconds.
        let duration: Double
        let pushes: ResultDocument.Pushes
        /// Answered pushes a second.
        let perSecond: Double
        /// Of `total`, ns; 0 where nothing was answered.
        let p99: UInt64

        init(_ result: ResultDocument) {
            duration = result.run.durationSeconds
            pushes = result.pushes
            perSecond = result.throughput.answered
            let total = result.latency[.total]
            p99 = total.count > total.unanswered ? total.p99 : 0
        }
    }

    let path: String
    /// Empty while there is no run.
    var id = ""
    var phase: Phase
    /// All there are to be, by index.
    var workers: [WatchedWorker] = []
    /// nil until the run has ended, and where its result cannot be read.
    var outcome: Outcome?
    /// What else must be known, a line each: who asked all to stop, who is not waited for, which files cannot be read.
    var remarks: [String] = []

    init(path: String, phase: Phase) {
        self.path = path
        self.phase = phase
    }

    /// The exit status that the run had; nil while it goes on.
    var status: Int32? {
        switch phase {
        case .absent, .gathering, .running: nil
        case .givenUp: HarnessError.Kind.failed.rawValue
        case .ended(_, let status, _): (0...255).contains(status) ? status : 1
        }
    }

    /// All workers together.
    var sum: WatchedSum {
        var sum = workers.sum
        guard let outcome else { return sum }
        let pushes = outcome.pushes
        sum.elapsed = outcome.duration
        (sum.planned, sum.accepted) = (pushes.planned, pushes.accepted)
        sum.errors = pushes.rejected &+ pushes.failed &+ pushes.notSent
        (sum.perSecond, sum.p99) = (outcome.perSecond, outcome.p99)
        return sum
    }
}

/// One worker of it.
struct WatchedWorker: Sendable {
    let index: Int
    /// What it said last; nil: nothing yet.
    var status: StatusFile?
    /// For how long it has written nothing, seconds.
    var silence = 0.0
    /// Of its part, pushes that attempts before this one have ended or given up.
    var before: UInt64 = 0
    /// It has written nothing for so long that nobody waits for it, or the run ended without it.
    var isLost = false
    /// It ended before its part was sent.
    var hasLeft = false
    /// What it came to in a run that has ended.
    var row: ResultDocument.Worker?

    /// Longer silences are shown: it should write each second.
    private static let noticed = 3.0

    var isSilent: Bool { status.map { $0.state != .done && silence > Self.noticed } ?? false }
    /// What it said last of its rate and times is of now.
    var isHeard: Bool { status != nil && !isSilent && !isLost && !hasLeft }
    var isRunning: Bool { status?.state == .running && isHeard }
    /// Its part was sent.
    var hasSent: Bool { !isLost && !hasLeft && (status?.state == .waiting || status?.state == .done) }

    /// Pushes that ended and were not accepted.
    var errors: UInt64 { status.map { $0.rejected &+ $0.failed &+ $0.notSent } ?? 0 }

    /// Less is worse: those first that are lost or silent, then those that left or have not come, those with a problem, and the slowest
    /// by p99.
    fileprivate var rank: (Int, UInt64, Int) {
        let kind =
            isLost || isSilent ? 0 : status == nil || hasLeft ? 1 : status?.problem.isEmpty == false ? 2 : 3
        return (kind, .max - (row?.p99 ?? status?.p99 ?? 0), index)
    }
}

extension [WatchedWorker] {
    var worstFirst: [WatchedWorker] { sorted { $0.rank < $1.rank } }

    /// The one with the longest p99 among several that run.
    var slowest: Int? {
        let running = filter(\.isRunning)
        guard running.count > 1 else { return nil }
        return running.max { ($0.status?.p99 ?? 0, $1.index) < ($1.status?.p99 ?? 0, $0.index) }
            .flatMap { $0.status?.p99 ?? 0 > 0 ? $0.index : nil }
    }

    /// Counts and rates added, times the longest. What a worker said of the last second counts only while it is heard.
    var sum: WatchedSum {
        var sum = WatchedSum()
        for worker in self {
            if let row = worker.row {
                sum.add(row)
            } else if worker.status != nil {
                sum.add(worker)
            }
        }
        return sum
    }
}

/// Several workers together.
struct WatchedSum: Sendable {
    /// Of the one that is farthest, seconds.
    var elapsed = 0.0
    /// nil where one does not know its part beforehand.
    var planned: UInt64? = 0
    var ended: UInt64 = 0
    var accepted: UInt64 = 0
    var errors: UInt64 = 0
    var perSecond = 0.0
    /// nil in a closed loop.
    var target: Double? = 0
    var inFlight: UInt64 = 0
    var backlog: UInt64 = 0
    /// The longest, ns.
    var p50: UInt64 = 0
    var p99: UInt64 = 0

    fileprivate mutating func add(_ worker: WatchedWorker) {
        guard let status = worker.status else { return }
        elapsed = max(elapsed, status.elapsed)
        planned = planned.flatMap { planned in status.planned.map { planned &+ $0 &+ worker.before } }
        ended &+= status.accepted &+ worker.errors &+ worker.before
        accepted &+= status.accepted
        errors &+= worker.errors
        target = target.flatMap { target in status.targetPerSecond.map { target + $0 } }
        guard worker.isHeard else { return }
        perSecond += status.perSecond.isFinite ? max(0, status.perSecond) : 0
        inFlight &+= UInt64(clamping: status.inFlight)
        backlog &+= status.backlog
        p50 = max(p50, status.p50)
        p99 = max(p99, status.p99)
    }

    fileprivate mutating func add(_ row: ResultDocument.Worker) {
        planned = planned.map { $0 &+ row.pushes }
        accepted &+= row.accepted
        errors &+= row.errors
        perSecond += row.answeredPerSecond.isFinite ? max(0, row.answeredPerSecond) : 0
        p99 = max(p99, row.p99 ?? 0)
    }
}

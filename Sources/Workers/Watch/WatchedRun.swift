/// A run of several workers as its folder shows it at one moment.
struct WatchedRun: Sendable {
    enum Phase: Sendable, Equatable {
        /// What is not there yet.
        case absent(String)
        /// Workers come, and wait for the start.
        case gathering
        case running
        case ended(isComplete: Bool, status: Int32, lost: [Int])
    }

    let path: String
    /// Empty while there is no run.
    var id = ""
    var phase: Phase
    /// All there are to be, by index.
    var workers: [WatchedWorker] = []
    /// What else must be known, a line each: who asked all to stop, who is not waited for, which files cannot be read.
    var remarks: [String] = []

    init(path: String, phase: Phase) {
        self.path = path
        self.phase = phase
    }

    /// The exit status that the run had; nil while it goes on.
    var status: Int32? {
        guard case .ended(_, let status, _) = phase else { return nil }
        return (0...255).contains(status) ? status : 1
    }
}

/// One worker of it.
struct WatchedWorker: Sendable {
    let index: Int
    /// What it said last; nil: nothing yet.
    var status: StatusFile?
    /// For how long it has written nothing, seconds.
    var silence = 0.0

    /// Longer silences are shown: it should write each second.
    private static let noticed = 3.0

    var isSilent: Bool { status.map { $0.state != .done && silence > Self.noticed } ?? false }
    var isRunning: Bool { status?.state == .running }

    /// Pushes that ended and were not accepted.
    var errors: UInt64 { status.map { $0.rejected &+ $0.failed &+ $0.notSent } ?? 0 }

    /// Less is worse: those first that are silent, then those that have not come, those with a problem, and the slowest by p99.
    fileprivate var rank: (Int, UInt64, Int) {
        let kind = isSilent ? 0 : status == nil ? 1 : status?.problem.isEmpty == false ? 2 : 3
        return (kind, .max - (status?.p99 ?? 0), index)
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

    /// Counts and rates added, times the longest.
    var sum: WatchedSum {
        var sum = WatchedSum()
        for worker in self {
            guard let status = worker.status else { continue }
            sum.elapsed = Swift.max(sum.elapsed, status.elapsed)
            sum.planned = sum.planned.flatMap { planned in status.planned.map { planned &+ $0 } }
            sum.ended &+= status.accepted &+ worker.errors
            sum.errors &+= worker.errors
            sum.perSecond += status.perSecond.isFinite ? Swift.max(0, status.perSecond) : 0
            sum.target = sum.target.flatMap { target in status.targetPerSecond.map { target + $0 } }
            sum.inFlight &+= UInt64(clamping: status.inFlight)
            sum.backlog &+= status.backlog
            sum.p50 = Swift.max(sum.p50, status.p50)
            sum.p99 = Swift.max(sum.p99, status.p99)
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
    var errors: UInt64 = 0
    var perSecond = 0.0
    /// nil in a closed loop.
    var target: Double? = 0
    var inFlight: UInt64 = 0
    var backlog: UInt64 = 0
    /// The longest, ns.
    var p50: UInt64 = 0
    var p99: UInt64 = 0
}

import Analysis
import Reports
import Settings

/// A watched run in words: the head, and the cells of its workers; of one that has ended, what they came to.
struct WatchRows {
    let run: WatchedRun
    private let slowest: Int?

    init(_ run: WatchedRun) {
        self.run = run
        slowest = run.workers.slowest
    }

    private static let header = [
        "worker", "host", "state", "elapsed", "rate", "p50", "p99", "errors", "in flight", "backlog",
    ]

    var header: [String] { run.outcome == nil ? Self.header : WorkerSection.shortHeader }
    /// Columns by how soon they are left out where a line is too wide.
    var leastWanted: [Int] { run.outcome == nil ? [9, 5, 3, 8, 1] : [1, 3, 6] }

    var title: String {
        run.id.isEmpty ? "watch" : "run \(TextLines.plain(run.id)), \(Units.counted(run.workers.count, "worker"))"
    }

    /// `running, 12.3 s, 41% of 1,000,000 pushes`.
    var state: String {
        switch run.phase {
        case .absent(let what): return what
        case .gathering:
            let ready = run.workers.count { $0.status != nil && !$0.isSilent }
            return "\(ready) of \(run.workers.count) have come, not begun"
        case .running:
            let sum = run.sum
            let own = run.workers.count(where: \.hasSent)
            let done = own > 0 ? ", \(own) of \(run.workers.count) have sent their part" : ""
            return "running, \(Self.seconds(sum.elapsed)), \(progress(sum))\(done)"
                + Self.named("lost", run.workers.filter(\.isLost).map(\.index))
                + Self.named("left", run.workers.filter { $0.hasLeft && !$0.isLost }.map(\.index))
        case .givenUp: return "given up before it began, exit status \(run.status ?? 1)"
        case .ended(let isComplete, let status, let lost):
            return
                "ended\(isComplete ? "" : ", not complete")\(Self.named("lost", lost))\(outcome), exit status \(status)"
        }
    }

    /// `, lost: workers 3 and 5`.
    private static func named(_ what: String, _ workers: [Int]) -> String {
        workers.isEmpty ? "" : ", \(what): \(WorkerMerge.named(workers))"
    }

    private var outcome: String {
        guard let outcome = run.outcome else { return "" }
        let pushes = outcome.pushes
        return ", \(Self.seconds(outcome.duration)), \(Units.grouped(pushes.accepted)) of "
            + "\(Units.counted(pushes.planned, "push")) accepted"
    }

    private func progress(_ sum: WatchedSum) -> String {
        guard let planned = sum.planned, planned > 0 else { return "\(Units.counted(sum.ended, "push")) ended" }
        let share = (Double(sum.ended) / Double(planned) * 100).rounded(.down)
        return "\(Units.fixed(share, places: 0))% of \(Units.counted(planned, "push"))"
    }

    func cells(_ worker: WatchedWorker) -> [String] {
        if let row = worker.row { return WorkerSection.shortCells(row) }
        guard let status = worker.status, run.outcome == nil else {
            let state = worker.isLost ? "lost" : "not here"
            return ["\(worker.index)", "-", state] + Array(repeating: "-", count: header.count - 3)
        }
        let state = worker.isLost ? "lost" : worker.hasLeft ? "left" : status.state.rawValue
        let attempt = status.attempt > 1 ? ", attempt \(status.attempt)" : ""
        func now(_ text: String) -> String { worker.isHeard ? text : "-" }
        return ["\(worker.index)", TextLines.plain(status.host), state + attempt]
            + [
                Self.seconds(status.elapsed), now(Units.perSecond(status.perSecond.rounded())),
                now(Self.time(status.p50)), now(Self.time(status.p99)), Units.grouped(worker.errors),
                now(Units.grouped(UInt64(clamping: status.inFlight))), now(Units.grouped(status.backlog)),
            ]
    }

    /// - Parameter name: of all of them.
    func cells(_ sum: WatchedSum, name: String) -> [String] {
        guard run.outcome == nil else {
            return [name, "", ""]
                + [sum.planned ?? 0, sum.accepted, sum.errors].map(Units.grouped)
                + [Units.perSecond(sum.perSecond), Self.time(sum.p99)]
        }
        return [name, "", ""]
            + [
                Self.seconds(sum.elapsed), Units.perSecond(sum.perSecond.rounded()), Self.time(sum.p50),
                Self.time(sum.p99), Units.grouped(sum.errors), Units.grouped(sum.inFlight), Units.grouped(sum.backlog),
            ]
    }

    /// What is to be said of a worker beside its figures.
    func remark(_ worker: WatchedWorker) -> String {
        guard run.outcome == nil else { return "" }
        var parts: [String] = []
        if worker.isSilent { parts.append("silent for \(Units.clock(seconds: min(worker.silence, 1e9)))") }
        if worker.index == slowest { parts.append("slowest") }
        if let problem = worker.status?.problem, !problem.isEmpty { parts.append(TextLines.plain(problem)) }
        return parts.joined(separator: ", ")
    }

    private static func seconds(_ seconds: Double) -> String { "\(Units.fixed(max(0, seconds), places: 1)) s" }
    private static func time(_ time: UInt64) -> String { time > 0 ? Units.duration(nanoseconds: Double(time)) : "-" }
}

import Reports
import Settings

/// A watched run in words: the head, and the cells of its workers.
struct WatchRows {
    let run: WatchedRun
    private let slowest: Int?

    init(_ run: WatchedRun) {
        self.run = run
        slowest = run.workers.slowest
    }

    static let header = ["worker", "host", "state", "elapsed", "rate", "p50", "p99", "errors", "in flight", "backlog"]

    var title: String {
        run.id.isEmpty ? "watch" : "run \(TextLines.plain(run.id)), \(Units.counted(run.workers.count, "worker"))"
    }

    /// `running, 12.3 s, 41% of 1,000,000 pushes`.
    var state: String {
        let sum = run.workers.sum
        switch run.phase {
        case .absent(let what): return what
        case .gathering:
            let ready = run.workers.count { $0.status != nil && !$0.isSilent }
            return "\(ready) of \(run.workers.count) have come, not begun"
        case .running:
            let own = run.workers.count { $0.status?.state == .waiting || $0.status?.state == .done }
            let done = own > 0 ? ", \(own) of \(run.workers.count) have sent their part" : ""
            return "running, \(Self.seconds(sum.elapsed)), \(progress(sum))\(done)"
        case .ended(let isComplete, let status, let lost):
            let missing =
                lost.isEmpty
                ? "" : ", lost: \(lost.count > 10 ? "\(lost.count)" : lost.map(String.init).joined(separator: ", "))"
            return "ended\(isComplete ? "" : ", not complete")\(missing), exit status \(status)"
        }
    }

    private func progress(_ sum: WatchedSum) -> String {
        guard let planned = sum.planned, planned > 0 else { return "\(Units.counted(sum.ended, "push")) ended" }
        let share = (Double(sum.ended) / Double(planned) * 100).rounded(.down)
        return "\(Units.fixed(share, places: 0))% of \(Units.counted(planned, "push"))"
    }

    func cells(_ worker: WatchedWorker) -> [String] {
        guard let status = worker.status else {
            return ["\(worker.index)", "-", "not here"] + Array(repeating: "-", count: 7)
        }
        let attempt = status.attempt > 1 ? " #\(status.attempt)" : ""
        return ["\(worker.index)", TextLines.plain(status.host), status.state.rawValue + attempt]
            + [
                Self.seconds(status.elapsed), Units.perSecond(status.perSecond.rounded()), Self.time(status.p50),
                Self.time(status.p99), Units.grouped(worker.errors), Units.grouped(UInt64(clamping: status.inFlight)),
                Units.grouped(status.backlog),
            ]
    }

    /// - Parameter name: of all of them.
    func cells(_ sum: WatchedSum, name: String) -> [String] {
        [name, "", ""]
            + [
                Self.seconds(sum.elapsed), Units.perSecond(sum.perSecond.rounded()), Self.time(sum.p50),
                Self.time(sum.p99), Units.grouped(sum.errors), Units.grouped(sum.inFlight), Units.grouped(sum.backlog),
            ]
    }

    /// What is to be said of a worker beside its figures.
    func remark(_ worker: WatchedWorker) -> String {
        var parts: [String] = []
        if worker.isSilent { parts.append("silent for \(Units.clock(seconds: min(worker.silence, 1e9)))") }
        if worker.index == slowest { parts.append("slowest") }
        if let problem = worker.status?.problem, !problem.isEmpty { parts.append(TextLines.plain(problem)) }
        return parts.joined(separator: ", ")
    }

    private static func seconds(_ seconds: Double) -> String { "\(Units.fixed(max(0, seconds), places: 1)) s" }
    private static func time(_ time: UInt64) -> String { time > 0 ? Units.duration(nanoseconds: Double(time)) : "-" }
}

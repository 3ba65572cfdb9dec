import Results
import Settings

/// Each worker of a run of several: what it did, and how it fared.
package enum WorkerSection {
    /// More workers are folded, and have no picture.
    private static let mostOpen = 32

    static func make(_ run: ReportedRun) -> ReportSection? {
        guard let workers = run.result.workers, !workers.isEmpty else { return nil }
        var table = ReportTable(header + ["clock offset"])
        for worker in workers { table.add(cells(worker) + [clock(worker)]) }
        let states = counted(workers.map(\.state))
        var blocks: [ReportBlock] = [.text("\(Units.counted(workers.count, "worker")): \(states).")]
        if workers.count > mostOpen {
            var worst = ReportTable(table.header)
            for worker in workers.worstFirst.prefix(8) { worst.add(cells(worker) + [clock(worker)]) }
            blocks += [.table(worst), .folded("All workers", [.table(table)])]
        } else {
            if workers.count > 1 { blocks.append(.bars([rates(workers)])) }
            blocks.append(.table(table))
        }
        return ReportSection(title: "Workers", blocks: blocks)
    }

    static let header = [
        "worker", "host", "state", "pushes", "accepted", "rejected", "failed", "not sent", "answered/s", "total p99",
        "attempts", "late",
    ]

    static func cells(_ worker: ResultDocument.Worker) -> [String] {
        [String(worker.index), worker.host, worker.state.rawValue]
            + [worker.pushes, worker.accepted, worker.rejected, worker.failed, worker.notSent].map(Units.grouped)
            + [
                Units.perSecond(worker.answeredPerSecond), worker.p99.map(Written.time) ?? "-", String(worker.attempts),
                worker.lateSeconds.map { Units.duration(nanoseconds: $0 * 1e9) } ?? "-",
            ]
    }

    /// The same on the lines of a terminal.
    package static let shortHeader = [
        "worker", "host", "state", "pushes", "accepted", "errors", "answered/s", "total p99",
    ]

    package static func shortCells(_ worker: ResultDocument.Worker) -> [String] {
        var state = worker.state.rawValue
        if let late = worker.lateSeconds { state += ", \(Units.duration(nanoseconds: late * 1e9)) late" }
        if worker.attempts > 1 { state += ", attempt \(worker.attempts)" }
        return [String(worker.index), TextLines.plain(worker.host), state]
            + [worker.pushes, worker.accepted, worker.errors].map(Units.grouped)
            + [Units.perSecond(worker.answeredPerSecond), worker.p99.map(Written.time) ?? "-"]
    }

    /// `992 done, 1 late`: of each state how many there are.
    static func counted(_ states: [ResultDocument.Worker.State]) -> String {
        ResultDocument.Worker.State.allCases.reversed().compactMap { state in
            let count = states.count { $0 == state }
            return count > 0 ? "\(Units.grouped(UInt64(count))) \(state.rawValue)" : nil
        }.joined(separator: ", ")
    }

    /// `1.20 ms ± 80.0 us`.
    private static func clock(_ worker: ResultDocument.Worker) -> String {
        guard let offset = worker.clockOffset else { return "-" }
        let text = (offset < 0 ? "-" : "") + Units.duration(nanoseconds: Double(offset.magnitude))
        return worker.clockBound.map { "\(text) ± \(Written.time($0))" } ?? text
    }

    private static func rates(_ workers: [ResultDocument.Worker]) -> BarChart {
        BarChart(
            title: "Answered by worker (pushes/s)", parts: ["answered"],
            rows: workers.map {
                .init(
                    name: "worker \($0.index), \($0.host)", value: Units.perSecond($0.answeredPerSecond),
                    lengths: [$0.answeredPerSecond])
            })
    }
}

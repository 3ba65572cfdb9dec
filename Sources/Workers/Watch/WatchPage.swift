import Reports
import Settings

/// A watched run as one self-contained page that a browser reads again by itself.
enum WatchPage {
    /// Seconds between two versions.
    static let pause = 2
    /// Of more workers those that want a look stand first.
    private static let mostInOrder = 32

    /// - Parameter isLast: there will be no other version.
    static func page(_ run: WatchedRun, isLast: Bool) -> String {
        let words = WatchRows(run)
        var sections: [ReportSection] = []
        if !run.workers.isEmpty {
            let sum = run.sum
            let cells = words.cells(sum, name: "all")
            var figures = zip(words.header, cells).dropFirst(3).map { (name: $0, value: $1, remark: "") }
            if run.outcome == nil {
                figures[1].remark =
                    sum.target.map { $0 > 0 ? "asked for: \(Units.perSecond($0.rounded()))" : "" } ?? "closed loop"
                for place in [2, 3] { figures[place].remark = "of the slowest worker" }
            }
            sections.append(ReportSection(title: "All workers", blocks: [.figures(figures)]))
        }
        if !run.remarks.isEmpty { sections.append(ReportSection(title: "Remarks", blocks: [.list(run.remarks)])) }
        if !run.workers.isEmpty {
            var table = ReportTable(words.header + ["remark"])
            let workers = run.workers.count > mostInOrder ? run.workers.worstFirst : run.workers
            for worker in workers { table.add(words.cells(worker) + [words.remark(worker)]) }
            sections.append(ReportSection(title: "By worker", blocks: [.table(table)]))
        }
        return HTMLReport.page(words.title, words.state, sections, refresh: isLast ? nil : pause)
    }
}

import Results
import Settings

/// How pushes ended, in tables.
enum OutcomeSections {
    static func make(_ run: ReportedRun) -> [ReportSection] {
        [outcomes(run.result), breakdown(run.result)].compactMap { $0 }
    }

    private static func outcomes(_ result: ResultDocument) -> ReportSection {
        var blocks: [ReportBlock] = []
        for (name, counts, isCause) in [
            ("status", result.statuses, false), ("reason", result.shownReasons, false),
            ("failure", result.failures, true),
            ("not sent", result.notSent, true),
        ] where !counts.isEmpty {
            var table = ReportTable([name, "pushes", "share of planned"] + (isCause ? ["meaning"] : []))
            for (key, count) in counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                let share = Written.share(count, of: result.pushes.planned)
                table.add([key, Written.count(count), share, CauseWords.of(key, isUnsent: name == "not sent")])
            }
            blocks.append(.table(table))
        }
        if blocks.isEmpty { blocks.append(.text("No push was answered, none failed, and all were sent.")) }
        // What follows only the end can tell.
        if result.isPartial { return ReportSection(title: "Outcomes", blocks: blocks) }
        let connections = result.connections
        var table = ReportTable(["connections", "number"])
        for (name, count) in [
            ("opened", connections.opened), ("lost", connections.lost),
            ("attempts that failed", connections.connectFailures), ("GOAWAYs received", connections.goAways),
            ("reconnects", connections.reconnects),
        ] {
            table.add([name, Written.count(UInt64(count))])
        }
        if let outage = connections.noConnection {
            table.add(["time without one while pushes were due", Units.duration(nanoseconds: outage.seconds * 1e9)])
        }
        blocks.append(.table(table))
        if let targets = result.targets {
            var table = ReportTable(TargetTable.names)
            for target in TargetTable.sorted(targets) { table.add(TargetTable.cells(target, Written.count)) }
            blocks.append(.table(table))
        }
        if !connections.ends.isEmpty {
            var table = ReportTable(["connections ended", "number"])
            for (why, count) in connections.ends.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                table.add([why, Written.count(count)])
            }
            blocks.append(.table(table))
        }
        if result.pushes.retried > 0 {
            blocks.append(
                .text(
                    "Put back to be sent again: \(Units.counted(result.pushes.retried, "attempt")), which the server had not processed."
                ))
        }
        let retries = result.retries
        if retries.attempts > 0 || retries.overBudget > 0 {
            blocks.append(
                .text(
                    "Retries: \(Units.counted(retries.attempts, "attempt")), \(Units.counted(retries.recovered, "push")) "
                        + "recovered, \(Written.count(retries.exhausted)) given up, "
                        + "\(Written.count(retries.overBudget)) beyond the budget."))
        }
        return ReportSection(title: "Outcomes", blocks: blocks)
    }

    private static func breakdown(_ result: ResultDocument) -> ReportSection? {
        guard !result.breakdown.isEmpty else { return nil }
        let tables = result.breakdown.keys.sorted().map { dimension in
            var table = ReportTable(
                ["by \(dimension)", "accepted", "rejected", "failed", "not sent", "total p50", "p99", "max"])
            for (label, part) in Written.parts(dimension, result) {
                let counts = [part.accepted, part.rejected, part.failed, part.notSent]
                table.add(
                    [label] + counts.map(Written.count) + Written.latencies(part.total, [.p50, .p99, .max]))
            }
            return ReportBlock.table(table)
        }
        return ReportSection(title: "Breakdown", blocks: tables)
    }
}

import Results
import Settings

/// Where a push spends its time, and the client its CPU.
enum StageSection {
    static func make(_ run: ReportedRun) -> [ReportSection] {
        [latency(run.result.latency), cpu(run.result.generator.cpu, run.result.cost)].compactMap { $0 }
    }

    private static func latency(_ latency: ResultDocument.Latencies) -> ReportSection {
        let waiting: [(String, ResultDocument.Latency)] =
            latency.late.count > 0
            ? [("late: due to begun", latency.late), ("write: begun to written", latency.write)]
            : [("queue: due to written", latency.queue)]
        let way: [(String, ResultDocument.Latency)] =
            latency.toMock.count > 0
            ? [
                ("to the mock", latency.toMock), ("in the mock", latency.inMock),
                ("back from the mock", latency.fromMock),
            ]
            : [("round trip: written to answered", latency.roundTrip)]
        let total = [("total: due to answered", latency.total)]
        let bars = BarChart(
            title: "Where a push spends its time", parts: ["p50", "p99"],
            rows: (waiting + way + total).filter { $0.1.count > 0 }.map {
                .init(
                    name: $0.0, value: "p50 \(Written.time($0.1.p50)), p99 \(Written.time($0.1.p99))",
                    lengths: [Double($0.1.p50), Double($0.1.p99)])
            })
        var table = ReportTable(["stage", "pushes", "min", "mean", "p50", "p90", "p99", "p99.9", "max"])
        for (name, row) in latency.byName where row.count > 0 {
            table.add(
                [name.replacing("_", with: " "), Written.count(row.count), Written.time(row.min)]
                    + [Units.duration(nanoseconds: row.mean)]
                    + Written.latencies(row, [\.p50, \.p90, \.p99, \.p999, \.max]))
        }
        let blocks: [ReportBlock] =
            table.rows.isEmpty
            ? [.text("No push was answered within the measured time.")] : [.bars(bars), .table(table)]
        return ReportSection(title: "Latency by stage", blocks: blocks)
    }

    private static func cpu(_ parts: ResultDocument.Generator.CPU, _ cost: ResultDocument.Cost) -> ReportSection? {
        // Engine nio cannot tell TLS and the socket from the rest.
        let rest =
            parts.tls + parts.socket > 0
            ? [("TLS", parts.tls), ("socket", parts.socket), ("other: frames, header blocks, epoll", parts.other)]
            : [("TLS, socket and other", parts.other)]
        let shares = [("encode", parts.encode), ("sign", parts.sign)] + rest
        let whole = shares.reduce(0) { $0 + $1.1 }
        guard whole > 0 else { return nil }
        let rows = shares.map { name, value in
            let share = Units.fixed(value / whole * 100, places: 1)
            return BarChart.Row(
                name: name, value: "\(Units.duration(nanoseconds: value)), \(share) %", lengths: [value])
        }
        var table = ReportTable(["part", "CPU a push", "share"])
        for (name, value) in shares {
            table.add([
                name, Units.duration(nanoseconds: value), "\(Units.fixed(value / whole * 100, places: 1)) %",
            ])
        }
        let measuring = Units.duration(nanoseconds: cost.measuring)
        return ReportSection(
            title: "Client CPU a push by part",
            blocks: [
                .bars(BarChart(title: "CPU of the worker threads a push", parts: ["CPU time"], rows: rows)),
                .folded("As a table", [.table(table)]),
                .text("Measuring costs \(measuring) a push, which is in these figures."),
            ])
    }
}

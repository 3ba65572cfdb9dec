import Measurement
import Results
import Settings

/// Where a push spends its time, and the client its CPU.
enum StageSection {
    static func make(_ run: ReportedRun) -> ReportSection {
        let result = run.result
        let parts = parts(result)
        var table = ReportTable(["stage", "pushes", "min", "mean", "p50", "p90", "p99", "p99.9", "max"])
        let apart = result.latency.isWorthTakingApart
        for stage in Stage.allCases where apart || stage != .totalAccepted {
            let row = result.latency[stage]
            guard row.count > 0 else { continue }
            table.add(
                [stage.key.replacing("_", with: " "), Written.count(row.count)]
                    + Written.latencies(row, LatencyFigure.allCases))
        }
        var blocks: [ReportBlock] = [
            .bars(charts(run)),
            table.rows.isEmpty ? .text("No push was answered within the measured time.") : .table(table),
        ]
        if !parts.isEmpty {
            var table = ReportTable(["part", "client CPU a push", "share"])
            for (name, value, share) in parts { table.add([name, Units.duration(nanoseconds: value), share]) }
            let measuring = Units.duration(nanoseconds: result.cost.measuring)
            blocks += [
                .folded("Client CPU as a table", [.table(table)]),
                .text("Measuring costs \(measuring) a push, which is in the client's CPU."),
            ]
        }
        return ReportSection(title: "Where a push spends time and CPU", blocks: blocks)
    }

    /// What there is of latency and CPU time, as bars.
    static func charts(_ run: ReportedRun) -> [BarChart] {
        let (latency, parts) = (run.result.latency, parts(run.result))
        let hasLatency = Stage.allCases.contains { latency[$0].count > 0 }
        return [hasLatency ? latencyBars(latency) : nil, parts.isEmpty ? nil : cpuBars(parts)].compactMap { $0 }
    }

    private static func latencyBars(_ latency: ResultDocument.Latencies) -> BarChart {
        let waiting: [(String, ResultDocument.Latency)] =
            latency[.late].count > 0
            ? [("late: due to begun", latency[.late]), ("write: begun to written", latency[.write])]
            : [("queue: due to written", latency[.queue])]
        let way: [(String, ResultDocument.Latency)] =
            latency[.toMock].count > 0
            ? [
                ("to the mock", latency[.toMock]), ("in the mock", latency[.inMock]),
                ("back from the mock", latency[.fromMock]),
            ]
            : [("round trip: written to answered", latency[.roundTrip])]
        let total = [("total: due to answered", latency[.total])]
        return BarChart(
            title: "Latency by stage", parts: ["p50", "p99"],
            rows: (waiting + way + total).filter { $0.1.count > 0 }.map {
                .init(
                    name: $0.0, value: "p50 \(Written.latency($0.1, .p50)), p99 \(Written.latency($0.1, .p99))",
                    lengths: [Double($0.1.p50), Double($0.1.p99)])
            }, axis: .nanoseconds)
    }

    private static func cpuBars(_ parts: [(name: String, value: Double, share: String)]) -> BarChart {
        BarChart(
            title: "CPU of the client a push", parts: ["CPU time"],
            rows: parts.map {
                .init(
                    name: $0.name, value: "\(Units.duration(nanoseconds: $0.value)), \($0.share)", lengths: [$0.value])
            })
    }

    /// Nanoseconds a push; none when it was not measured.
    private static func parts(_ result: ResultDocument) -> [(name: String, value: Double, share: String)] {
        let parts = Written.cpuParts(result)
        let whole = parts.reduce(0) { $0 + $1.value }
        let words = ["spin": "spin: waiting for pushes to be due", "other": "other: frames, header blocks, epoll"]
        return parts.map {
            (words[$0.name] ?? $0.name, $0.value, "\(Units.fixed($0.value / whole * 100, places: 1)) %")
        }
    }
}

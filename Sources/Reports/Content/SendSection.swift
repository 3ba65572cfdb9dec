import Measurement
import Results
import Settings

/// Each send of a run to registrations: who had it, and when.
enum SendSection {
    static func make(_ run: ReportedRun) -> ReportSection? {
        guard let sends = run.result.sends, !sends.isEmpty else { return nil }
        var table = ReportTable(
            ["send", "audience", "devices"] + countNames + ["first", "50 %", "99 %", "100 %", "last"])
        for send in sends {
            table.add(
                [send.name, send.audience] + ([send.devices] + counts(send)).map(Written.count)
                    + times(send).map { time($0) })
        }
        let lines = sends.compactMap { curve($0, run.result) }
        var blocks: [ReportBlock] = []
        if !lines.isEmpty {
            blocks.append(
                .charts([
                    LineChart(title: "Pushes accepted (from the run's start)", x: .seconds, y: .count, lines: lines)
                ]))
        }
        blocks += [
            .table(table),
            .text(
                "Times are from each send's own start; 50, 99 and 100 % are of the pushes planned for it, and - where it never "
                    + "came so far."),
        ]
        return ReportSection(title: "Fan-out", blocks: blocks)
    }

    /// What became of each push that was planned: the first is the sum of the others.
    static let countNames = ["planned", "accepted", "rejected", "failed", "not sent"]

    static func counts(_ send: ResultDocument.Send) -> [UInt64] {
        [send.pushes, send.accepted, send.rejected, send.failed, send.notSent]
    }

    static func times(_ send: ResultDocument.Send) -> [Double?] {
        [send.fanOut.first, send.fanOut.p50, send.fanOut.p99, send.fanOut.max, send.fanOut.last]
    }

    static func time(_ seconds: Double?) -> String { seconds.map { Units.duration(nanoseconds: $0 * 1e9) } ?? "-" }

    /// How many had been accepted by when.
    private static func curve(_ send: ResultDocument.Send, _ result: ResultDocument) -> ChartLine? {
        guard let text = result.histograms[ResultDocument.fanOutKey(send.name)],
            let times = try? HistogramCodec.decodeFromLog(text), times.count > 0
        else { return nil }
        var points = [ChartPoint(send.start, 0)]
        let steps = 120.0
        for step in 1...Int(steps) {
            let share = Double(step) / steps
            let time = ResultDocument.FanOut.seconds(times.value(atPercentile: share * 100))
            points.append(ChartPoint(send.start + time, (share * Double(times.count)).rounded()))
        }
        return ChartLine(name: send.name, points: points)
    }
}

import Foundation
import Measurement
import Results

/// The percentile curve on HdrHistogram's logarithmic axis. A curve ends where the answers end; the pushes without one are a
/// dashed line from there on.
enum PercentileSection {
    private static let shown = [50, 75, 90, 99, 99.9, 99.99, 99.999]
    private typealias Curve = (name: String, latencies: CensoredHistogram)

    static func make(_ run: ReportedRun) -> ReportSection {
        let curves = [("total", "total"), ("round trip", "round_trip")].compactMap { name, key in
            latencies(run, key).map { (name: name, latencies: $0) }
        }
        return section(
            [chart("By percentile (log scale)", curves), TimeSection.latencyChart(run)].compactMap { $0 }, curves)
    }

    /// One line a result.
    static func compare(_ runs: [ReportedRun]) -> ReportSection {
        func curves(_ key: String) -> [Curve] {
            runs.map { ($0.label, latencies($0, key) ?? CensoredHistogram()) }
        }
        let totals = curves("total")
        let charts = [
            chart("Total, due to answered, by percentile (log scale)", totals),
            chart("Round trip, written to answered, by percentile (log scale)", curves("round_trip")),
        ]
        return section(charts.compactMap { $0 } + TimeSection.latencyCharts(runs), totals)
    }

    /// nil when there is none that can be read, or it is empty.
    private static func latencies(_ run: ReportedRun, _ key: String) -> CensoredHistogram? {
        guard let latencies = try? run.result.censoredHistogram(key), latencies.count > 0 else { return nil }
        return latencies
    }

    /// nil when there is nothing to draw.
    private static func chart(_ title: String, _ curves: [Curve]) -> LineChart? {
        guard curves.contains(where: { $0.latencies.count > 0 }) else { return nil }
        let top = curves.map { $0.latencies.lowerBound.summary.max }.max() ?? 0
        return LineChart(
            title: title, x: .percentile, y: .nanoseconds,
            lines: curves.map { ChartLine(name: $0.name, points: points($0.latencies)) }
                + curves.enumerated().compactMap { unanswered($0.element, top: top, colour: $0.offset) })
    }

    /// From the share that was answered to the last push, at the top of the picture: how long these would have taken is not
    /// known.
    private static func unanswered(_ curve: Curve, top: UInt64, colour: Int) -> ChartLine? {
        let latencies = curve.latencies
        guard latencies.unanswered.count > 0 else { return nil }
        let ends = [answeredEnd(latencies), max(log10(Double(latencies.count)), 1e-9)]
        return ChartLine(
            name: "\(curve.name): no answer (\(Written.count(latencies.unanswered.count)))",
            points: ends.map { ChartPoint($0, Double(top)) }, style: .bound, colour: colour)
    }

    private static func section(_ charts: [LineChart], _ curves: [Curve]) -> ReportSection {
        let most = curves.map(\.latencies.count).max() ?? 0
        guard most > 0 else {
            return ReportSection(
                title: "Latency", blocks: [.charts(charts), .text("There is no histogram that can be read.")])
        }
        let percentiles = shown.filter { $0 <= 99 || (1 - $0 / 100) * Double(most) >= 1 }
        var table = ReportTable(["latency"] + percentiles.map { "p\(text($0))" } + ["max"])
        for (name, latencies) in curves {
            let values = percentiles.map { latencies.value(atPercentile: $0) }.map {
                "\($0.isCensored ? "> " : "")\(Written.time($0.value))"
            }
            let row = values + [Written.latency(.init(latencies), .max)]
            table.add([name] + (latencies.count > 0 ? row : row.map { _ in "-" }))
        }
        let unanswered = curves.compactMap { curve in
            Written.unanswered(curve.latencies.unanswered.count, of: curve.latencies.count).map {
                "\(curve.name): \($0)"
            }
        }
        return ReportSection(
            title: "Latency",
            blocks: [.charts(charts), .table(table)] + (unanswered.isEmpty ? [] : [.list(unanswered)]))
    }

    static func text(_ percentile: Double) -> String {
        percentile == percentile.rounded() ? "\(Int(percentile))" : "\(percentile)"
    }

    /// Where on the axis the answers end: of all pushes, those without one are the slowest.
    private static func answeredEnd(_ latencies: CensoredHistogram) -> Double {
        let whole = Double(latencies.count)
        return max(log10(whole / max(1, Double(latencies.unanswered.count))), 1e-9)
    }

    /// The curve of the answered pushes in about 200 points: x is log10(1 / (1 - share of all)), y nanoseconds; it ends at the
    /// longest answer.
    static func points(_ latencies: CensoredHistogram) -> [ChartPoint] {
        let counters = latencies.answered.counters
        guard let last = counters.last else { return [] }
        let whole = Double(latencies.count)
        let end = answeredEnd(latencies)
        var points: [ChartPoint] = []
        var (place, below) = (0, Double(counters[0].count))
        for step in 0..<200 {
            let x = end * Double(step) / 200
            let wanted = whole * (1 - pow(10, -x))
            while below < wanted, place + 1 < counters.count {
                place += 1
                below += Double(counters[place].count)
            }
            points.append(.init(x, Double(counters[place].value)))
        }
        return points + [.init(end, Double(last.value))]
    }
}

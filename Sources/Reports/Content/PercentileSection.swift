import Foundation
import Measurement
import Results
import Settings

/// The percentile curve on HdrHistogram's logarithmic axis.
enum PercentileSection {
    private static let shown = [50, 75, 90, 99, 99.9, 99.99, 99.999]

    static func make(_ run: ReportedRun) -> ReportSection {
        let curves = [("total", "total"), ("round trip", "round_trip")].compactMap { name, key in
            histogram(run, key).map { (name: name, histogram: $0) }
        }
        return section(
            [chart("By percentile (log scale)", curves), TimeSection.latencyChart(run)].compactMap { $0 }, curves)
    }

    /// One line a result.
    static func compare(_ runs: [ReportedRun]) -> ReportSection {
        func curves(_ key: String) -> [(name: String, histogram: LatencyHistogram)] {
            runs.map { ($0.label, histogram($0, key) ?? LatencyHistogram()) }
        }
        let totals = curves("total")
        let charts = [
            chart("Total, due to answered, by percentile (log scale)", totals),
            chart("Round trip, written to answered, by percentile (log scale)", curves("round_trip")),
        ]
        return section(charts.compactMap { $0 } + TimeSection.latencyCharts(runs), totals)
    }

    /// nil when there is none that can be read, or it is empty.
    private static func histogram(_ run: ReportedRun, _ key: String) -> LatencyHistogram? {
        guard let text = run.result.histograms[key], let histogram = try? HistogramCodec.decodeFromLog(text),
            histogram.count > 0
        else { return nil }
        return histogram
    }

    /// nil when there is nothing to draw.
    private static func chart(_ title: String, _ curves: [(name: String, histogram: LatencyHistogram)]) -> LineChart? {
        guard curves.contains(where: { $0.histogram.count > 0 }) else { return nil }
        return LineChart(
            title: title, x: .percentile, y: .nanoseconds,
            lines: curves.map { ChartLine(name: $0.name, points: points($0.histogram)) })
    }

    private static func section(
        _ charts: [LineChart], _ curves: [(name: String, histogram: LatencyHistogram)]
    ) -> ReportSection {
        let most = curves.map(\.histogram.count).max() ?? 0
        guard most > 0 else {
            return ReportSection(
                title: "Latency", blocks: [.charts(charts), .text("There is no histogram that can be read.")])
        }
        let percentiles = shown.filter { $0 <= 99 || (1 - $0 / 100) * Double(most) >= 1 }
        var table = ReportTable(["latency"] + percentiles.map { "p\(text($0))" } + ["max"])
        for (name, histogram) in curves {
            let values = percentiles.map { histogram.value(atPercentile: $0) } + [histogram.summary.max]
            table.add([name] + values.map { histogram.count > 0 ? Written.time($0) : "-" })
        }
        return ReportSection(title: "Latency", blocks: [.charts(charts), .table(table)])
    }

    static func text(_ percentile: Double) -> String {
        percentile == percentile.rounded() ? "\(Int(percentile))" : "\(percentile)"
    }

    /// The curve in about 200 points: x is log10(1 / (1 - share)), y nanoseconds; it ends at the largest record.
    static func points(_ histogram: LatencyHistogram) -> [ChartPoint] {
        let counters = histogram.counters
        guard let last = counters.last else { return [] }
        let whole = Double(histogram.count)
        let end = max(log10(whole), 1e-9)
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

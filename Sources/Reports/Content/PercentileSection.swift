import Foundation
import Measurement
import Results
import Settings

/// The percentile curve on HdrHistogram's logarithmic axis.
enum PercentileSection {
    private static let shown = [50, 75, 90, 99, 99.9, 99.99, 99.999]

    static func make(_ run: ReportedRun) -> ReportSection {
        section([
            ("total", histogram(run, "total")), ("round trip", histogram(run, "round_trip")),
        ])
    }

    /// The totals of all.
    static func compare(_ runs: [ReportedRun]) -> ReportSection {
        section(runs.map { ($0.label, histogram($0, "total")) })
    }

    private static func histogram(_ run: ReportedRun, _ key: String) -> LatencyHistogram? {
        run.result.histograms[key].flatMap { try? HistogramCodec.decodeFromLog($0) }
    }

    private static func section(_ curves: [(name: String, histogram: LatencyHistogram?)]) -> ReportSection {
        let title = "Latency by percentile"
        let known = curves.compactMap { curve -> (name: String, histogram: LatencyHistogram)? in
            guard let histogram = curve.histogram, histogram.count > 0 else { return nil }
            return (curve.name, histogram)
        }
        guard !known.isEmpty else {
            return ReportSection(title: title, blocks: [.text("There is no histogram that can be read.")])
        }
        let chart = LineChart(
            title: "Latency (log scale) by percentile", x: .percentile, y: .nanoseconds,
            lines: known.map { ChartLine(name: $0.name, points: points($0.histogram)) })
        var table = ReportTable(["percentile"] + known.map(\.name))
        let most = known.map(\.histogram.count).max() ?? 0
        for percentile in shown where (1 - percentile / 100) * Double(most) >= 1 || percentile <= 99 {
            table.add(
                ["p\(text(percentile))"] + known.map { Written.time($0.histogram.value(atPercentile: percentile)) })
        }
        table.add(["max"] + known.map { Written.time($0.histogram.summary.max) })
        return ReportSection(title: title, blocks: [.charts([chart]), .table(table)])
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

import Reports
import Results
import Settings

extension HistoryReport {
    /// The history as a self-contained HTML page: each figure as a line over the runs, with its changes and the median of each
    /// stretch between them.
    static func page(_ history: HistoryDocument) -> String {
        let runs = history.series.reduce(0) { $0 + $1.runs.count }
        let title =
            "\(history.series.count == 1 ? history.series[0].name : "History") over \(Units.counted(runs, "run"))"
        return HTMLReport.page(title, "pushload history · level \(history.level)", sections(history))
    }

    static func sections(_ history: HistoryDocument) -> [ReportSection] {
        var sections = history.series.map(section)
        if !history.leftOut.isEmpty {
            sections.append(
                ReportSection(
                    title: "Left out", blocks: [.list(history.leftOut.map { "\($0.path): \($0.reason)" })]))
        }
        return sections

        func section(_ series: HistoryDocument.Series) -> ReportSection {
            var blocks: [ReportBlock] = facts(series).map { [.text($0)] } ?? []
            if !series.doubts.isEmpty { blocks.append(.verdicts(series.doubts.map { (text: $0, isGood: false) })) }
            blocks.append(.charts(series.metrics.map(chart)))
            for metric in series.metrics {
                blocks.append(.text("\(Written.title(metric.name)): \(finding(metric, history.level))"))
                guard !metric.changes.isEmpty else { continue }
                var table = ReportTable(changeHeader)
                for row in changeRows(metric, series) { table.add(row) }
                blocks.append(.table(table))
            }
            var table = ReportTable(runHeader(series) + ["file"])
            for (row, run) in zip(runRows(series), series.runs) { table.add(row + [run.path]) }
            blocks.append(.folded("Runs (* changed with this run)", [.table(table)]))
            return ReportSection(title: "\(series.name): \(span(series))", blocks: blocks)
        }
    }

    static func chart(_ metric: HistoryDocument.Metric) -> LineChart {
        let values = metric.values.enumerated().compactMap { index, value in
            value.map { ChartPoint(Double(index + 1), $0) }
        }
        // The line of medians steps halfway between the runs before and after a change.
        let medians = metric.segments.enumerated().flatMap { index, segment in
            let isLast = index == metric.segments.count - 1
            return [
                ChartPoint(Double(segment.first) + (index == 0 ? 1 : 0.5), segment.median),
                ChartPoint(
                    isLast ? Double(segment.last + 1) : Double(metric.segments[index + 1].first) + 0.5, segment.median),
            ]
        }
        return LineChart(
            title: Written.title(metric.name) + (metric.unit == .perSecond ? ", pushes/s" : ""), x: .run,
            y: .figure(metric.unit),
            lines: [
                ChartLine(name: "a run", points: values),
                ChartLine(name: "median between changes", points: medians),
            ],
            marks: metric.changes.map { ChartMark(x: Double($0.run) + 0.5, label: verdict($0)) })
    }
}

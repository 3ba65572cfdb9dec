import Reports
import Results
import Settings

/// A history for a person at a terminal: a picture of each figure, its changes, and a table of the runs.
enum HistoryReport {
    static func text(_ history: HistoryDocument, _ picture: TextPicture) -> String {
        var lines: [String] = []
        for series in history.series {
            lines += ["", "\(series.name): \(span(series))"]
            if let facts = facts(series) { lines.append("  \(facts)") }
            lines += series.doubts.map { "  warning: \($0)" }
            for metric in series.metrics {
                lines += ["", "  \(Written.title(metric.name)), \(finding(metric, history.level))"]
                lines.append("  " + picture.sparkline(metric.values, columns: picture.width - 2))
                lines += changes(metric, series, picture.width)
            }
            lines += [""] + runs(series, picture.width)
        }
        if !history.leftOut.isEmpty {
            lines += ["", "left out:"] + history.leftOut.map { "  \($0.path): \($0.reason)" }
        }
        return TextLines.fitted(lines, width: picture.width).joined(separator: "\n") + "\n"
    }

    /// `16 runs, 2026-11-20T10:00:00Z to 2026-11-21T10:00:00Z`.
    static func span(_ series: HistoryDocument.Series) -> String {
        let (first, last) = (series.runs.first?.startedAt ?? "", series.runs.last?.startedAt ?? "")
        return Units.counted(series.runs.count, "run") + ", \(first)" + (series.runs.count == 1 ? "" : " to \(last)")
    }

    /// What sets a series apart from the others of the history; nil when it is the only one.
    static func facts(_ series: HistoryDocument.Series) -> String? {
        guard !series.facts.isEmpty else { return nil }
        return series.facts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    /// What was found in a figure, in words.
    static func finding(_ metric: HistoryDocument.Metric, _ level: Double) -> String {
        if metric.isTooShort {
            return Units.counted(metric.values.count { $0 != nil }, "run") + ": too few to find a change"
        }
        guard metric.changes.isEmpty else { return Units.counted(metric.changes.count, "change") }
        let median = metric.segments.first.map { Written.figure($0.median, metric.unit) } ?? "-"
        return "no change found (median \(median); level \(level))"
    }

    /// `more by 49.2 %`, `more: 3.1 times`.
    static func verdict(_ change: HistoryDocument.Change) -> String {
        guard change.verdict != .noDifference else { return "spread more or less widely" }
        let known = change.isAcknowledged ? ", acknowledged" : ""
        guard let ratio = change.ratio else { return change.verdict.rawValue + known }
        return Units.verdict(change.verdict.rawValue, ratio) + known
    }

    /// `1.410 - 1.620 (95 % or more)`: of few runs it covers less; more where runs do not resemble their neighbours.
    static func interval(_ change: HistoryDocument.Change) -> String {
        guard let low = change.low, let high = change.high, let coverage = change.coverage else { return "-" }
        return
            "\(Units.fixed(low, places: 3)) - \(Units.fixed(high, places: 3)) (\(Units.fixed(coverage * 100, places: 0)) % or more)"
    }

    /// A commit as people write it.
    static func short(_ commit: String?) -> String { commit.map { String($0.prefix(10)) } ?? "-" }

    /// One row a change: the first run after it, and what it did.
    static func changeRows(_ metric: HistoryDocument.Metric, _ series: HistoryDocument.Series) -> [[String]] {
        metric.changes.map { change in
            let run = series.runs[change.run]
            return [
                "\(change.run + 1)", run.startedAt, run.version, short(run.commit),
                Written.figure(change.before, metric.unit), Written.figure(change.after, metric.unit),
                change.ratio.map { Units.fixed($0, places: 3) } ?? "-", interval(change),
                Written.chance(change.p), verdict(change),
            ]
        }
    }

    static let changeHeader = [
        "from run", "started", "version", "commit", "before", "after", "ratio", "interval", "p", "verdict",
    ]

    /// One line for each change for the worse that nobody has acknowledged.
    static func alerts(_ history: HistoryDocument) -> [String] {
        history.alerts.map { place in
            let series = history.series[place.series]
            let metric = series.metrics[place.metric]
            let change = metric.changes[place.change]
            let run = series.runs[change.run]
            return
                "alert: \(series.name): \(Written.title(metric.name)) \(verdict(change)) since \(run.path) (\(run.startedAt))"
        }
    }

    private static func changes(
        _ metric: HistoryDocument.Metric, _ series: HistoryDocument.Series, _ width: Int
    ) -> [String] {
        guard !metric.changes.isEmpty else { return [] }
        var table = TextTable()
        table.add(changeHeader)
        for row in changeRows(metric, series) { table.add(row) }
        return table.lines(width: width)
    }

    static func runHeader(_ series: HistoryDocument.Series) -> [String] {
        ["run", "started", "version", "commit"] + series.metrics.map { Written.title($0.name) }
    }

    /// One row a run; `*` where a figure changed with it.
    static func runRows(_ series: HistoryDocument.Series) -> [[String]] {
        series.runs.enumerated().map { index, run in
            let figures = series.metrics.map { metric -> String in
                guard let value = metric.values[index] else { return "-" }
                let mark = metric.changes.contains { $0.run == index } ? "* " : ""
                return mark + Written.figure(value, metric.unit)
            }
            return ["\(index + 1)", run.startedAt, run.version, short(run.commit)] + figures
        }
    }

    private static func runs(_ series: HistoryDocument.Series, _ width: Int) -> [String] {
        var table = TextTable()
        table.add(runHeader(series))
        for row in runRows(series) { table.add(row) }
        let isMarked = series.metrics.contains { !$0.changes.isEmpty }
        return table.lines(width: width) + (isMarked ? ["  * changed with this run"] : []) + paths(series)
    }

    private static let mostPaths = 20

    /// Which run of the table is which file; of many, where to read it.
    private static func paths(_ series: HistoryDocument.Series) -> [String] {
        guard series.runs.count <= mostPaths else { return ["  (--csv and --json have each run's file)"] }
        return ["  runs, in the order they started:"]
            + series.runs.enumerated().map { "    \($0.offset + 1): \($0.element.path)" }
    }

    /// `series,run,id,path,started_at,version,commit,metric,unit,value,median,changed`, a line a run and figure; the median is
    /// that of the stretch the run lies in.
    static func csv(_ history: HistoryDocument) -> String {
        var text = "series,run,id,path,started_at,version,commit,metric,unit,value,median,changed\n"
        for (number, series) in history.series.enumerated() {
            for metric in series.metrics {
                for (index, run) in series.runs.enumerated() {
                    guard let value = metric.values[index] else { continue }
                    let median = metric.segments.first { ($0.first...$0.last).contains(index) }.map { "\($0.median)" }
                    let cells = [
                        "\(number + 1)", "\(index + 1)", run.id, run.path, run.startedAt, run.version, run.commit ?? "",
                        metric.name, metric.unit.rawValue, "\(value)", median ?? "",
                        metric.changes.contains { $0.run == index } ? "1" : "0",
                    ]
                    text += cells.map(quoted).joined(separator: ",") + "\n"
                }
            }
        }
        return text
    }

    /// RFC 4180.
    private static func quoted(_ cell: String) -> String {
        guard cell.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return cell }
        return "\"" + cell.replacing("\"", with: "\"\"") + "\""
    }
}

import Reports
import Results
import Settings

/// A sweep for a person at a terminal.
enum SweepReport {
    /// Points that are listed; more are in the CSV.
    static let mostPoints = 100

    static func text(_ document: SweepDocument, on picture: TextPicture = .plain) -> String {
        var lines = ["", headline(document), ""]
        var table = TextTable(names: max(1, document.axes.count))
        table.add(SweepTable.header(document))
        for point in document.points.prefix(mostPoints) { table.add(SweepTable.row(point, document)) }
        lines += table.lines(width: picture.width)
        if document.points.count > mostPoints {
            lines.append("  … and \(document.points.count - mostPoints) more points, in points.csv")
        }
        for (index, problem) in SweepTable.problems(document).enumerated() {
            lines.append("  ✗ problem \(index + 1): \(problem)")
        }
        lines += maps(document, picture.width) + [""] + best(document)
        lines.append(
            "Pareto front (rate, p99, client CPU): "
                + (document.front.isEmpty
                    ? "none" : document.front.map { name($0, document) }.joined(separator: "; ")))
        for note in document.notes { lines.append("note: \(note)") }
        return TextLines.fitted(lines, width: picture.width).joined(separator: "\n") + "\n"
    }

    static func headline(_ document: SweepDocument) -> String {
        let axes = document.axes.map(\.name).joined(separator: " × ")
        let runs = Units.counted(document.repeats, "run")
        return
            "\(document.name): \(Units.counted(document.points.count, "point")) of \(axes), \(runs) each, search \(document.method), "
            + "seed \(document.seed)"
    }

    /// The best point with its interval, and those that may be as good.
    static func best(_ document: SweepDocument) -> [String] {
        let goal = goal(document)
        guard let best = document.best, let point = document.point(numbered: best.point),
            let figure = goal.value(point)
        else {
            let point = document.points.contains { $0.rung > 0 } ? "no point of the last rung" : "no point"
            return ["best by \(Written.title(document.goal)): none, \(point) has all its runs without a problem"]
        }
        var line =
            "best by \(Written.title(document.goal)): \(name(best.point, document)), \(goal.written(figure.median))"
        if let low = figure.low, let high = figure.high, let coverage = figure.coverage {
            line +=
                " (\(Units.fixed(coverage * 100, places: 0)) % interval \(goal.written(low)) - \(goal.written(high)))"
        }
        guard !best.alike.isEmpty else {
            let others = document.points.filter {
                $0.number != best.point && $0.isCompared && $0.rung == point.rung && goal.value($0) != nil
            }
            guard others.isEmpty else { return [line + "; every other point that was compared is told from it"] }
            return [line + (document.points.count > 1 ? "; no other point could be compared with it" : "")]
        }
        let names = best.alike.prefix(8).map { name($0, document) }.joined(separator: "; ")
        let more = best.alike.count > 8 ? " and \(best.alike.count - 8) more" : ""
        return [line, "not told from it by these runs: \(names)\(more)"]
    }

    /// `streams 100, rtt 20ms`.
    static func name(_ number: Int, _ document: SweepDocument) -> String {
        guard let point = document.point(numbered: number) else { return "point \(number)" }
        return zip(document.axes, point.labels).map { "\($0.name) \($1)" }.joined(separator: ", ")
    }

    static func goal(_ document: SweepDocument) -> SweepFigure {
        switch document.goal {
        case "p50": .p50
        case "p99": .p99
        case "cpu": .clientCPU
        default: .rate
        }
    }

    /// The goal over the last two axes, with a bar behind each figure.
    private static func maps(_ document: SweepDocument, _ width: Int) -> [String] {
        guard let panels = SweepPanels(document), panels.columns.count <= 12 else { return [] }
        return panels.maps(goal(document)).flatMap { map in
            var table = TextTable()
            table.add(["\(map.rowName) ↓ \(map.columnName) →"] + map.columns)
            for (label, cells) in zip(map.rows, map.cells) { table.add([label] + cells.map(cell)) }
            return ["", map.title] + table.lines(width: width)
        }
    }

    private static func cell(_ cell: HeatMap.Cell) -> String {
        switch cell {
        case .value(let text, let share, let mark):
            let bars = Array("▁▂▃▄▅▆▇█")
            return "\(mark == .best ? "★" : "")\(text) \(bars[min(Int(share * 8), 7)])"
        case .problem: return "✗ "
        case .none: return "· "
        }
    }
}

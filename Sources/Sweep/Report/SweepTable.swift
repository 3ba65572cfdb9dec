import Reports
import Results
import Settings

/// The points of a sweep as rows of text, for the terminal and for pages.
enum SweepTable {
    static func header(_ document: SweepDocument) -> [String] {
        document.axes.map(\.name) + SweepFigure.all.map(\.name) + [
            "spread of the \(Written.title(document.goal))", "remark",
        ]
    }

    static func row(_ point: SweepDocument.Point, _ document: SweepDocument) -> [String] {
        let figures = SweepFigure.all.map { figure in figure.value(point).map { figure.written($0.median) } ?? "-" }
        let spread = SweepReport.goal(document).value(point)?.spread.map { "\(Units.fixed($0 * 100, places: 1)) %" }
        return point.labels + figures + [spread ?? "-", remark(point, document)]
    }

    /// What is wrong with points, each thing once; tables give the number.
    static func problems(_ document: SweepDocument) -> [String] {
        var seen: Set<String> = []
        return document.points.compactMap(\.problem).filter { seen.insert($0).inserted }
    }

    private static func remark(_ point: SweepDocument.Point, _ document: SweepDocument) -> String {
        if let problem = point.problem {
            let number = problems(document).firstIndex(of: problem).map { $0 + 1 } ?? 0
            return "✗ problem \(number)"
        }
        if point.runsMissing > 0 { return "\(point.runsMissing) of \(document.repeats) runs missing" }
        var words: [String] = []
        if document.best?.point == point.number { words.append("★ best") }
        if document.best?.alike.contains(point.number) == true { words.append("not told from the best") }
        if document.front.contains(point.number) { words.append("front") }
        if point.rung < (document.points.map(\.rung).max() ?? 0) {
            words.append("dropped at length ×\(1 << point.rung)")
        }
        return words.joined(separator: ", ")
    }
}

/// The points of a sweep as CSV (RFC 4180), one line a point.
enum SweepCSV {
    static func text(_ document: SweepDocument) -> String {
        let figures: [(String, (SweepDocument.Point) -> SweepDocument.Figure?)] = [
            ("per_second", { $0.rate }), ("p50_ns", { $0.p50 }), ("p99_ns", { $0.p99 }),
            ("client_cpu_ns_per_push", { $0.clientCPU }), ("mock_cpu_ns_per_push", { $0.mockCPU }),
        ]
        let parts = figures.flatMap { [$0.0, $0.0 + "_low", $0.0 + "_high", $0.0 + "_spread"] }
        var lines = [
            ["point"] + document.axes.map(\.name) + ["runs", "missing", "length"] + parts + [
                "best", "alike", "front", "problem",
            ]
        ]
        for point in document.points {
            let values = figures.flatMap { _, value in
                let figure = value(point)
                return [figure?.median, figure?.low, figure?.high, figure?.spread].map { $0.map { "\($0)" } ?? "" }
            }
            let isAlike = document.best?.alike.contains(point.number) == true
            let marks = [document.best?.point == point.number, isAlike, document.front.contains(point.number)]
            lines.append(
                ["\(point.number)"] + point.labels + [
                    "\(point.runs.count)", "\(point.runsMissing)", "\(1 << point.rung)",
                ] + values
                    + marks.map { $0 ? "1" : "0" } + [point.problem ?? ""])
        }
        return lines.map { $0.map(escape).joined(separator: ",") + "\r\n" }.joined()
    }

    /// In quotes when there is a comma, a quote, or a line's end in it.
    static func escape(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { [",", "\"", "\r", "\n"].contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}

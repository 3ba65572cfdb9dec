import Settings

/// A heat map as inline SVG, 480 units wide, which scales with the page. Every cell has its figure in it, so that colour is
/// never the only cue; the best point has a thick frame, points of the Pareto front a dashed one.
enum SVGHeatMap {
    static let width = 480.0
    static let rowHeight = 30.0
    private static let top = 44.0
    /// Of one character on a phone, where text is larger.
    private static let character = 8.6
    /// From here on cells are too narrow for text, which is then shown when they are pointed at.
    static let mostWithText = 9

    static func figure(_ map: HeatMap) -> String {
        let title = HTMLText.escape(map.title)
        guard !map.rows.isEmpty, !map.columns.isEmpty else {
            return "<figure><figcaption>\(title)</figcaption><p>Nothing was recorded.</p></figure>\n"
        }
        let longest = Double(map.rows.map(\.count).max() ?? 0)
        let left = min(max(longest * character + 8, 36), 150)
        let cell = (width - 2 - left) / Double(map.columns.count)
        let height = top + Double(map.rows.count) * rowHeight + 4
        var svg = "<svg viewBox=\"0 0 480 \(number(height))\" role=\"img\" aria-label=\"\(title)\">"
        svg += text(map.rowName + " ↓", x: 2, y: 13, anchor: "start", room: width / 2)
        svg += text(map.columnName + " →", x: width - 2, y: 13, anchor: "end", room: width / 2)
        for (column, label) in map.columns.enumerated() {
            svg += text(label, x: left + (Double(column) + 0.5) * cell, y: 34, anchor: "middle", room: cell)
        }
        for (row, label) in map.rows.enumerated() {
            let y = top + Double(row) * rowHeight
            svg += text(label, x: left - 6, y: y + 19, anchor: "end", room: left)
            for (column, value) in map.cells[row].enumerated() {
                svg += self.cell(
                    value, x: left + Double(column) * cell, y: y, width: cell,
                    hasText: map.columns.count <= mostWithText,
                    name: "\(map.rowName) \(label), \(map.columnName) \(map.columns[column])")
            }
        }
        return "<figure><figcaption>\(title)</figcaption>\(svg)</svg></figure>\n"
    }

    private static func cell(
        _ cell: HeatMap.Cell, x: Double, y: Double, width: Double, hasText: Bool, name: String
    ) -> String {
        var (written, opacity, style, said) = ("", 0.0, "cell", name)
        switch cell {
        case .value(let text, let share, let mark):
            (written, opacity) = (text, 0.06 + 0.54 * min(max(share, 0), 1))
            said += ": \(text)"
            if mark != .none { style += mark == .best ? " best" : " front" }
            if mark == .best { written = "★ " + written }
        case .problem(let problem): (written, said) = ("✗", "\(name): \(problem)")
        case .none: said += ": not run"
        }
        var svg = "<g><title>\(HTMLText.escape(said))</title>"
        svg += "<rect class=\"\(style)\" x=\"\(number(x + 2))\" y=\"\(number(y + 2))\" width=\"\(number(width - 4))\" "
        svg += "height=\"\(number(rowHeight - 4))\" fill-opacity=\"\(Units.fixed(opacity, places: 2))\"/>"
        if hasText { svg += text(written, x: x + width / 2, y: y + 19, anchor: "middle", room: width) }
        return svg + "</g>"
    }

    /// What does not fit into its room is cut.
    private static func text(_ text: String, x: Double, y: Double, anchor: String, room: Double) -> String {
        guard !text.isEmpty else { return "" }
        let most = max(2, Int(room / 7.4))
        let shown = text.count > most ? text.prefix(most - 1) + "…" : Substring(text)
        return
            "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\">\(HTMLText.escape(String(shown)))</text>"
    }

    private static func number(_ value: Double) -> String { Units.fixed(value, places: 1) }
}

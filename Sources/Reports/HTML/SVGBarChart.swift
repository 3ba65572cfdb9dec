import Settings

/// Horizontal bars as inline SVG, 480 units wide: a line of text above each, so that names fit a phone. The first part is
/// filled, the second an outline around it.
enum SVGBarChart {
    static let width = 476.0
    private static let rowHeight = 44.0

    static func figure(_ chart: BarChart) -> String {
        let title = HTMLText.escape(chart.title)
        let longest = chart.rows.flatMap(\.lengths).max() ?? 0
        let height = Units.fixed(Double(chart.rows.count) * rowHeight + 4, places: 0)
        var svg = "<svg viewBox=\"0 0 480 \(height)\" role=\"img\" aria-label=\"\(title)\">"
        for (index, row) in chart.rows.enumerated() {
            let top = Double(index) * rowHeight
            let base = Units.fixed(top + 15, places: 0)
            svg += "<text x=\"2\" y=\"\(base)\">\(HTMLText.escape(row.name))</text>"
            svg += "<text x=\"478\" y=\"\(base)\" text-anchor=\"end\">\(HTMLText.escape(row.value))</text>"
            for (part, length) in row.lengths.enumerated() {
                let size = Units.fixed(longest > 0 ? max(1, length / longest * width) : 1, places: 1)
                svg +=
                    "<rect class=\"\(part == 0 ? "bar" : "outline")\" x=\"2\" y=\"\(Units.fixed(top + 21, places: 0))\" "
                svg += "width=\"\(size)\" height=\"14\"/>"
            }
        }
        svg += "</svg>"
        var legend = ""
        if chart.parts.count > 1 {
            let items = chart.parts.enumerated().map { part, name in
                "<li><svg class=\"key\" viewBox=\"0 0 34 12\" aria-hidden=\"true\">"
                    + "<rect class=\"\(part == 0 ? "bar" : "outline")\" x=\"1\" y=\"1\" width=\"32\" height=\"10\"/></svg>"
                    + "\(HTMLText.escape(name))</li>"
            }
            legend = "<ul class=\"legend\">\(items.joined())</ul>"
        }
        return "<figure><figcaption>\(title)</figcaption>\(svg)\(legend)</figure>\n"
    }
}

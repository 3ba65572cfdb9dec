import Settings

/// Horizontal bars as inline SVG, 480 units wide: a line of text above each, so that names fit a phone. The first part is
/// filled, the second an outline around it. Where a linear scale would hide the shortest, it is logarithmic, with its ticks.
enum SVGBarChart {
    static let width = 476.0
    private static let rowHeight = 44.0
    /// Of one character on a phone, where text is larger.
    private static let widest = 8.6

    static func figure(_ chart: BarChart) -> String {
        let scale = chart.scale
        let title = HTMLText.escape(scale == nil ? chart.title : logarithmic(chart.title))
        let longest = chart.rows.flatMap(\.lengths).max() ?? 0
        let end = Double(chart.rows.count) * rowHeight
        let height = Units.fixed(end + (scale == nil ? 4 : 22), places: 0)
        var svg = "<svg viewBox=\"0 0 480 \(height)\" role=\"img\" aria-label=\"\(title)\">"
        if let scale { svg += ticks(scale, chart.axis ?? .count, end: end) }
        for (index, row) in chart.rows.enumerated() {
            let top = Double(index) * rowHeight
            let base = Units.fixed(top + 15, places: 0)
            svg += "<text x=\"2\" y=\"\(base)\">\(HTMLText.escape(row.name))</text>"
            svg += "<text x=\"478\" y=\"\(base)\" text-anchor=\"end\">\(HTMLText.escape(row.value))</text>"
            for (part, length) in row.lengths.enumerated() {
                let share = scale.map { length > 0 ? $0.place(length) : 0 } ?? (longest > 0 ? length / longest : 0)
                let size = Units.fixed(max(1, share * width), places: 1)
                let colour = row.colour == 0 ? "" : " style=\"fill:\(ChartStyle.colour(row.colour))\""
                svg +=
                    "<rect class=\"\(part == 0 ? "bar" : "outline")\"\(colour) x=\"2\" y=\"\(Units.fixed(top + 21, places: 0))\" "
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

    /// A title that says it.
    private static func logarithmic(_ title: String) -> String {
        title.hasSuffix(")") ? "\(title.dropLast()), log scale)" : "\(title) (log scale)"
    }

    /// Lines behind the bars, with what they mean below; labels that would run into the one before are left out.
    private static func ticks(_ scale: ChartScale, _ axis: ChartAxis, end: Double) -> String {
        var svg = ""
        var taken = 0.0
        for tick in scale.ticks {
            let place = 2 + scale.place(tick) * width
            let label = axis.label(tick)
            let half = Double(label.count) * widest / 2
            let middle = min(max(place, half), 479 - half)
            guard middle - half >= taken else { continue }
            taken = middle + half + 4
            let x = Units.fixed(place, places: 1)
            svg += "<line class=\"grid\" x1=\"\(x)\" x2=\"\(x)\" y1=\"19\" y2=\"\(Units.fixed(end, places: 0))\"/>"
            svg +=
                "<text class=\"tick\" x=\"\(Units.fixed(middle, places: 1))\" y=\"\(Units.fixed(end + 15, places: 0))\" "
            svg += "text-anchor=\"middle\">\(HTMLText.escape(label))</text>"
        }
        return svg
    }
}

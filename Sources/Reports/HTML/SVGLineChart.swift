import Settings

/// A line chart as inline SVG, 480 by 250 units, which scales with the page. The legend is HTML, so that it can wrap.
enum SVGLineChart {
    static let left = 62.0
    static let right = 464.0
    static let top = 14.0
    static let bottom = 216.0
    /// Of one character on a phone, where text is larger.
    private static let widest = 8.6

    static func figure(_ chart: LineChart) -> String {
        let title = HTMLText.escape(chart.title)
        let points = chart.lines.flatMap(\.points)
        guard !points.isEmpty else {
            return "<figure><figcaption>\(title)</figcaption><p>Nothing was recorded.</p></figure>\n"
        }
        let x = ChartScale(chart.x, points.map(\.x))
        let y = ChartScale(chart.y, points.map(\.y))
        var svg = "<svg viewBox=\"0 0 480 250\" role=\"img\" aria-label=\"\(title)\">"
        svg += bands(chart.bands, x)
        for tick in y.ticks {
            let place = number(vertical(tick, y))
            svg +=
                "<line class=\"grid\" x1=\"\(number(left))\" x2=\"\(number(right))\" y1=\"\(place)\" y2=\"\(place)\"/>"
            svg += "<text x=\"\(number(left - 6))\" y=\"\(place)\" dy=\"4\" text-anchor=\"end\">"
            svg += HTMLText.escape(chart.y.label(tick)) + "</text>"
        }
        for tick in x.ticks {
            let place = number(horizontal(tick, x))
            svg +=
                "<line class=\"grid\" x1=\"\(place)\" x2=\"\(place)\" y1=\"\(number(top))\" y2=\"\(number(bottom))\"/>"
        }
        svg += labels(chart.x, x)
        if let name = chart.x == .percentile ? "percentile" : chart.x == .run ? "run" : nil {
            svg += "<text x=\"\(number(right))\" y=\"\(number(bottom + 32))\" text-anchor=\"end\">\(name)</text>"
        }
        for mark in chart.marks {
            let place = number(horizontal(mark.x, x))
            let height = chart.bands.isEmpty ? 0.0 : 17
            svg += "<line class=\"change\" x1=\"\(place)\" x2=\"\(place)\" "
            svg += "y1=\"\(number(top + height))\" y2=\"\(number(bottom))\"/>"
            // Beside the line, on the side where there is room, and below the names of the bands.
            let isRight = x.place(mark.x) < 0.5
            svg +=
                "<text x=\"\(number(horizontal(mark.x, x) + (isRight ? 4 : -4)))\" y=\"\(number(top + height + 9))\" "
            svg += "text-anchor=\"\(isRight ? "start" : "end")\">\(HTMLText.escape(mark.label))</text>"
        }
        for (index, line) in chart.lines.enumerated() where !line.points.isEmpty {
            svg += "<g style=\"color:\(ChartStyle.colour(line.colour ?? index))\">"
            switch line.style {
            case .line:
                for part in line.points.split(whereSeparator: { !$0.y.isFinite }) {
                    svg +=
                        "<polyline class=\"line\"\(ChartStyle.dash(index)) points=\"\(coordinates(Array(part), x, y))\"/>"
                    // Between two gaps it would not be seen.
                    if part.count == 1, let point = part.first { svg += circle(point, x, y) }
                }
            case .bound: svg += "<polyline class=\"bound\" points=\"\(coordinates(line.points, x, y))\"/>"
            case .marks:
                for point in line.points {
                    svg += ChartStyle.mark(line.colour ?? index, horizontal(point.x, x), vertical(point.y, y))
                }
            }
            // Few points are marked, so that one alone is seen; and runs, which are points.
            if line.style == .line, (chart.x == .run ? index == 0 && line.points.count <= 200 : line.points.count <= 12)
            {
                for point in line.points where point.y.isFinite { svg += circle(point, x, y) }
            }
            svg += "</g>"
        }
        svg += ChartPointer.marks(chart, x, y) + "</svg>"
        return "<figure><figcaption>\(title)</figcaption>\(svg)\(legend(chart.lines))</figure>\n"
    }

    private static func circle(_ point: ChartPoint, _ x: ChartScale, _ y: ChartScale) -> String {
        "<circle cx=\"\(number(horizontal(point.x, x)))\" cy=\"\(number(vertical(point.y, y)))\" r=\"3\"/>"
    }

    /// Every second one shaded, its name at the top where there is room for it.
    private static func bands(_ bands: [ChartBand], _ scale: ChartScale) -> String {
        var svg = ""
        var end = 0.0
        for (index, band) in bands.enumerated() {
            let (from, to) = (horizontal(band.from, scale), min(horizontal(band.to, scale), right))
            if to - from < 0.5 {
                svg += "<line class=\"instant\" x1=\"\(number(from))\" x2=\"\(number(from))\" "
                svg += "y1=\"\(number(top))\" y2=\"\(number(bottom))\"/>"
            } else if index % 2 == 0 {
                svg += "<rect class=\"band\" x=\"\(number(from))\" y=\"\(number(top))\" "
                svg += "width=\"\(number(to - from))\" height=\"\(number(bottom - top))\"/>"
            }
            let length = Double(band.label.count) * 7.6
            // What takes no time has its name before it, unless another is there.
            let place = to - from < 0.5 ? from - length - 4 : from + 4
            guard place >= max(end, left), place + length <= (to - from < 0.5 ? from : to) else { continue }
            svg +=
                "<text class=\"stage\" x=\"\(number(place))\" y=\"\(number(top + 12))\">\(HTMLText.escape(band.label))</text>"
            end = place + length
        }
        return svg
    }

    /// `x,y x,y …` in the SVG's units.
    static func coordinates(_ points: [ChartPoint], _ x: ChartScale, _ y: ChartScale) -> String {
        points.map { "\(number(horizontal($0.x, x))),\(number(vertical($0.y, y)))" }.joined(separator: " ")
    }

    /// Under the horizontal axis: what would run into the label before it, or out of the picture, is left out or moved.
    private static func labels(_ axis: ChartAxis, _ scale: ChartScale) -> String {
        var text = ""
        var end = 0.0
        for tick in scale.ticks {
            let label = axis.label(tick)
            let half = Double(label.count) * widest / 2
            let middle = min(horizontal(tick, scale), 479 - half)
            guard middle - half > end else { continue }
            end = middle + half
            text += "<text x=\"\(number(middle))\" y=\"\(number(bottom + 18))\" text-anchor=\"middle\">"
            text += HTMLText.escape(label) + "</text>"
        }
        return text
    }

    static func horizontal(_ value: Double, _ scale: ChartScale) -> Double {
        left + scale.place(value) * (right - left)
    }

    static func vertical(_ value: Double, _ scale: ChartScale) -> Double {
        bottom - scale.place(value) * (bottom - top)
    }

    private static func number(_ value: Double) -> String { Units.fixed(value, places: 1) }

    private static func legend(_ lines: [ChartLine]) -> String {
        let items = lines.enumerated().map { index, line in
            let colour = line.colour ?? index
            let sample =
                switch line.style {
                case .line: "<line class=\"line\" x1=\"0\" x2=\"34\" y1=\"5\" y2=\"5\"\(ChartStyle.dash(index))/>"
                case .bound: "<line class=\"bound\" x1=\"0\" x2=\"34\" y1=\"5\" y2=\"5\"/>"
                case .marks: ChartStyle.mark(colour, 17, 5)
                }
            return
                "<li><svg class=\"key\" viewBox=\"0 0 34 10\" aria-hidden=\"true\" style=\"color:\(ChartStyle.colour(colour))\">"
                + "\(sample)</svg>\(HTMLText.escape(line.name))</li>"
        }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }
}

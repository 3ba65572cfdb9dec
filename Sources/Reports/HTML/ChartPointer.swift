import Settings

/// What a chart shows where it is pointed at: a line across it, and the values there in a box. Styles alone do it, no script:
/// each place is a transparent strip whose neighbour in the markup is shown while the strip is pointed at.
enum ChartPointer {
    /// Places of a chart, at most: they are most of a page's size.
    static let most = 110
    /// Of one character, where text is largest.
    private static let character = 7.5
    private static let lineHeight = 17.0

    private typealias Chart = SVGLineChart

    static func marks(_ chart: LineChart, _ x: ChartScale, _ y: ChartScale) -> String {
        let stops = stops(chart)
        guard stops.count > 1 else { return "" }
        let places = stops.map { Chart.horizontal($0, x) }
        var svg = "<g class=\"pointer\" aria-hidden=\"true\">"
        for (index, stop) in stops.enumerated() {
            let low = index == 0 ? Chart.left : (places[index - 1] + places[index]) / 2
            let high = index == stops.count - 1 ? Chart.right : (places[index] + places[index + 1]) / 2
            let values = values(chart, at: stop, within: tolerance(stops, index))
            guard high > low, !values.isEmpty else { continue }
            svg += "<g><rect x=\"\(number(low))\" y=\"\(number(Chart.top))\" width=\"\(number(high - low))\" "
            svg += "height=\"\(number(Chart.bottom - Chart.top))\"/><g>"
            svg += "<path d=\"M\(number(places[index])) \(number(Chart.top))V\(number(Chart.bottom))\"/>"
            for value in values {
                svg +=
                    "<circle cx=\"\(number(places[index]))\" cy=\"\(number(Chart.vertical(value.y, y)))\" r=\"3.2\"/>"
            }
            svg += box([heading(chart, stop)] + values.map { "\($0.name) \(chart.y.exact($0.y))" }, at: places[index])
            svg += "</g></g>"
        }
        return svg + "</g>"
    }

    /// Where any line has a point; of many each so manieth. Percentiles, which are curves, evenly.
    private static func stops(_ chart: LineChart) -> [Double] {
        let lines = chart.lines.filter { $0.style != .bound }
        if chart.x == .percentile {
            let all = lines.flatMap(\.points).map(\.x)
            guard let low = all.min(), let high = all.max(), high > low else { return [] }
            return (0..<most).map { low + (high - low) * Double($0) / Double(most - 1) }
        }
        let all = Set(lines.flatMap(\.points).map(\.x)).sorted()
        let step = max(1, (all.count + most - 1) / most)
        return stride(from: 0, to: all.count, by: step).map { all[$0] }
    }

    /// Half the way to the nearer neighbour.
    private static func tolerance(_ stops: [Double], _ index: Int) -> Double {
        let before = index > 0 ? stops[index] - stops[index - 1] : .infinity
        let after = index + 1 < stops.count ? stops[index + 1] - stops[index] : .infinity
        return min(before, after) / 2
    }

    /// Of each line that goes through there: of a point that is near, or else what is drawn between two. Marks have but points.
    private static func values(_ chart: LineChart, at x: Double, within tolerance: Double) -> [(
        name: String, y: Double
    )] {
        chart.lines.compactMap { line in
            let nearest = line.points.min { abs($0.x - x) < abs($1.x - x) }
            if let nearest, abs(nearest.x - x) <= tolerance { return nearest.y.isFinite ? (line.name, nearest.y) : nil }
            guard line.style != .marks, let next = line.points.firstIndex(where: { $0.x > x }), next > 0 else {
                return nil
            }
            let (a, b) = (line.points[next - 1], line.points[next])
            let y = a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x)
            return y.isFinite ? (line.name, y) : nil
        }
    }

    /// The place, and the stage that goes on there.
    private static func heading(_ chart: LineChart, _ x: Double) -> String {
        let place = chart.x.exact(x)
        guard let band = chart.bands.last(where: { $0.from < x && x <= $0.to }) else { return place }
        return "\(place), \(band.label)"
    }

    /// Beside the line, on the side where there is more room.
    private static func box(_ lines: [String], at place: Double) -> String {
        let width = min(Double(lines.map(\.count).max() ?? 0) * character + 14, Chart.right - Chart.left)
        let isRight = place < (Chart.left + Chart.right) / 2
        let left = min(max(isRight ? place + 8 : place - 8 - width, Chart.left), Chart.right - width)
        let top = Chart.top + 4
        var svg = "<rect x=\"\(number(left))\" y=\"\(number(top))\" width=\"\(number(width))\" "
        svg += "height=\"\(number(Double(lines.count) * lineHeight + 8))\" rx=\"4\"/>"
        for (index, line) in lines.enumerated() {
            svg += "<text x=\"\(number(left + 7))\" y=\"\(number(top + 17 + Double(index) * lineHeight))\">"
            svg += HTMLText.escape(line) + "</text>"
        }
        return svg
    }

    private static func number(_ value: Double) -> String { Units.fixed(value, places: 1) }
}

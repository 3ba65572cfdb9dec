import Foundation
import Reports
import Results
import Settings

/// Line and bar pictures of a sweep.
enum SweepCharts {
    /// More lines cannot be told apart.
    private static let mostLines = 8

    /// The figure over the last axis, a line for each combination of the others; nil when the axis is not of numbers, or there
    /// would be too many lines.
    static func lines(_ document: SweepDocument, _ figure: SweepFigure) -> LineChart? {
        guard let axis = document.axes.last, let numbers = axis.numbers, numbers.count > 1 else { return nil }
        let groups = Dictionary(grouping: document.points.filter { $0.problem == nil }) { Array($0.place.dropLast()) }
        guard (1...mostLines).contains(groups.count) else { return nil }
        let lines = groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { place, points in
            let name = zip(document.axes, place).map { "\($0.name) \($0.labels[$1])" }.joined(separator: ", ")
            let coordinates = points.compactMap { point -> ChartPoint? in
                guard let value = figure.value(point)?.median, let index = point.place.last else { return nil }
                return ChartPoint(numbers[index], value)
            }
            return ChartLine(name: name.isEmpty ? figure.name : name, points: coordinates.sorted { $0.x < $1.x })
        }
        return LineChart(
            title: "\(figure.title) by \(axis.name)", x: scale(numbers, axis), y: figure.axis, lines: lines)
    }

    /// Settings that are doubled again and again are drawn with equal steps.
    private static func scale(_ numbers: [Double], _ axis: SweepDocument.Axis) -> ChartAxis {
        guard let least = numbers.min(), let most = numbers.max(), least > 0, most / least >= 8 else {
            return axis.isTime ? .milliseconds : .count
        }
        return axis.isTime ? .nanoseconds : .logarithmic
    }

    /// For one axis of texts.
    static func bars(_ document: SweepDocument, _ figure: SweepFigure) -> BarChart? {
        guard document.axes.count == 1, document.axes[0].numbers == nil else { return nil }
        let rows = document.points.compactMap { point -> BarChart.Row? in
            guard point.problem == nil, let value = figure.value(point)?.median else { return nil }
            let star = document.best?.point == point.number ? "★ " : ""
            return .init(
                name: star + point.labels.joined(separator: ", "), value: figure.written(value), lengths: [value])
        }
        return rows.isEmpty ? nil : BarChart(title: figure.title, parts: [figure.name], rows: rows)
    }

    /// Rate over what may be in flight, with the bound of Little's law: in flight / round trip. nil unless both are known and
    /// something is varied that makes a difference.
    static func little(_ document: SweepDocument) -> LineChart? {
        let known = document.points.compactMap { point -> (trip: Double, place: ChartPoint)? in
            guard point.problem == nil, let trip = point.roundTrip, let rate = point.rate?.median, point.inFlight > 0
            else { return nil }
            return (trip, ChartPoint(point.inFlight, rate))
        }
        let groups = Dictionary(grouping: known, by: \.trip).sorted { $0.key < $1.key }
        guard groups.contains(where: { $0.key > 0 }), groups.count <= 6, Set(known.map(\.place.x)).count > 1,
            let most = known.map(\.place.y).max(), let least = known.map(\.place.x).min(),
            let widest = known.map(\.place.x).max()
        else { return nil }
        var lines: [ChartLine] = []
        for (index, group) in groups.enumerated() {
            let name = Units.duration(nanoseconds: group.key)
            let points = group.value.map(\.place).sorted { ($0.x, $0.y) < ($1.x, $1.y) }
            lines.append(
                ChartLine(
                    name: group.key > 0 ? "measured, \(name) round trip" : "measured, no delay", points: points,
                    style: .marks, colour: index))
            guard group.key > 0 else { continue }
            // Not far above what anything reached: the picture is of the measurements.
            let end = min(widest, most * 1.6 * group.key / 1e9)
            guard end > least else { continue }
            lines.append(
                ChartLine(
                    name: "in flight / \(name)",
                    points: [least, end].map { ChartPoint($0, $0 / (group.key / 1e9)) }, style: .bound, colour: index))
        }
        return LineChart(
            title:
                "Rate (answered, pushes/s) by pushes in flight at most (streams × connections), and Little's law beside it",
            x: .logarithmic, y: .logarithmic, lines: lines)
    }
}

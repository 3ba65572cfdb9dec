import Foundation
import Reports
import Results

/// A sweep's points as grids: the last axis across, the one before it down, and a panel for each combination of the others.
struct SweepPanels: Sendable {
    struct Panel: Sendable {
        /// `rtt 20ms`; empty when there is nothing else.
        let name: String
        /// Row by row; nil where no point was chosen.
        let cells: [[SweepDocument.Point?]]
    }

    let rowName: String
    let columnName: String
    let rows: [String]
    let columns: [String]
    let panels: [Panel]
    private let document: SweepDocument
    /// More would be no picture any more.
    static let most = 12
    static let mostRows = 40
    static let mostColumns = 40

    /// nil for fewer than two axes, and for more than can be shown.
    init?(_ document: SweepDocument) {
        guard document.axes.count >= 2 else { return nil }
        let others = document.axes.dropLast(2)
        let (row, column) = (document.axes[document.axes.count - 2], document.axes[document.axes.count - 1])
        let combinations = others.reduce([[]]) { sofar, axis in
            sofar.count > Self.most ? sofar : sofar.flatMap { start in axis.labels.indices.map { start + [$0] } }
        }
        guard combinations.count <= Self.most, row.labels.count <= Self.mostRows,
            column.labels.count <= Self.mostColumns
        else { return nil }
        let byPlace = Dictionary(document.points.map { ($0.place, $0) }, uniquingKeysWith: { first, _ in first })
        self.document = document
        rowName = row.name
        columnName = column.name
        rows = row.labels
        columns = column.labels
        panels = combinations.map { place in
            Panel(
                name: zip(others, place).map { "\($0.name) \($0.labels[$1])" }.joined(separator: ", "),
                cells: row.labels.indices.map { y in column.labels.indices.map { byPlace[place + [y, $0]] } })
        }
    }

    /// One map a panel, all of one scale.
    func maps(_ figure: SweepFigure) -> [HeatMap] {
        let scale = SweepShade(document.points.compactMap { figure.value($0)?.median })
        return panels.map { panel in
            HeatMap(
                title: panel.name.isEmpty ? figure.title : "\(figure.title), \(panel.name)", rowName: rowName,
                columnName: columnName, rows: rows, columns: columns,
                cells: panel.cells.map { row in row.map { cell($0, figure, scale) } })
        }
    }

    private func cell(_ point: SweepDocument.Point?, _ figure: SweepFigure, _ scale: SweepShade) -> HeatMap.Cell {
        guard let point else { return .none }
        if let problem = point.problem { return .problem(problem) }
        guard let value = figure.value(point)?.median else {
            return point.runsMissing > 0 ? .none : .problem("no such figure")
        }
        let mark: HeatMap.Mark =
            document.best?.point == point.number ? .best : document.front.contains(point.number) ? .front : .none
        return .value(text: figure.short(value), share: scale.share(value), mark: mark)
    }
}

/// Where a value lies between the smallest and the largest: by ratio when they are far apart, else by difference.
struct SweepShade: Sendable {
    private let low: Double
    private let high: Double
    private let isLogarithmic: Bool

    init(_ values: [Double]) {
        low = values.min() ?? 0
        high = values.max() ?? 0
        isLogarithmic = low > 0 && high / low > 20
    }

    /// 0…1; 1 when all are equal.
    func share(_ value: Double) -> Double {
        guard high > low else { return 1 }
        let share = isLogarithmic ? log(value / low) / log(high / low) : (value - low) / (high - low)
        return min(max(share, 0), 1)
    }
}

/// Figures over two axes, as a grid of cells that are the darker the larger they are; `SVGHeatMap` draws it.
package struct HeatMap: Sendable {
    package enum Cell: Sendable {
        /// - share: 0 (smallest) … 1 (largest).
        case value(text: String, share: Double, mark: Mark)
        /// There is no figure: why.
        case problem(String)
        /// The point was not chosen.
        case none
    }

    package enum Mark: Sendable {
        case none, best, front
    }

    package var title: String
    package var rowName: String
    package var columnName: String
    package var rows: [String]
    package var columns: [String]
    /// Row by row, as many as `rows`, each with as many as `columns`.
    package var cells: [[Cell]]

    package init(title: String, rowName: String, columnName: String, rows: [String], columns: [String], cells: [[Cell]])
    {
        self.title = title
        self.rowName = rowName
        self.columnName = columnName
        self.rows = rows
        self.columns = columns
        self.cells = cells
    }
}

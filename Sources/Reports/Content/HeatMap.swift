/// Figures over two axes, as a grid of cells that are the darker the larger they are; `SVGHeatMap` draws it.
struct HeatMap: Sendable {
    enum Cell: Sendable {
        /// - share: 0 (smallest) … 1 (largest).
        case value(text: String, share: Double, mark: Mark)
        /// There is no figure: why.
        case problem(String)
        /// The point was not chosen.
        case none
    }

    enum Mark: Sendable {
        case none, best, front
    }

    var title: String
    var rowName: String
    var columnName: String
    var rows: [String]
    var columns: [String]
    /// Row by row, as many as `rows`, each with as many as `columns`.
    var cells: [[Cell]]
}

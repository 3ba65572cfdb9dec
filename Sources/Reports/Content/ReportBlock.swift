/// A titled part of a report, the same for every format.
package struct ReportSection: Sendable {
    package var title: String
    package var blocks: [ReportBlock]

    package init(title: String, blocks: [ReportBlock]) {
        self.title = title
        self.blocks = blocks
    }
}

/// What sections are made of. All texts are plain: each format escapes them.
package indirect enum ReportBlock: Sendable {
    /// Name, value with its unit, and a remark that may be empty.
    case figures([(name: String, value: String, remark: String)])
    case table(ReportTable)
    /// Charts that stand side by side where there is room.
    case charts([LineChart])
    case bars([BarChart])
    /// The same for grids of cells.
    case heatMaps([HeatMap])
    case text(String)
    case list([String])
    /// Each said to be good or not.
    case verdicts([(text: String, isGood: Bool)])
    /// Shown when asked for.
    case folded(String, [ReportBlock])
}

/// A table whose first column names the rows.
package struct ReportTable: Sendable {
    package var header: [String]
    private(set) var rows: [[String]] = []

    package init(_ header: [String]) { self.header = header }

    /// A row as wide as the header: what is missing is empty, what is too much is left out.
    package mutating func add(_ row: [String]) {
        rows.append((0..<header.count).map { $0 < row.count ? row[$0] : "" })
    }
}

import Reports
import Settings

/// A watched run on the lines of a terminal.
enum WatchView {
    /// Columns by how soon they are left out where a line is too wide.
    private static let leastWanted = [9, 5, 3, 8, 1]
    /// What of a remark must be seen, characters.
    private static let remarkWidth = 14

    /// At most `rows` lines, none wider than `picture`. Of more workers than there is room for, those that want a look most, and the
    /// rest as one line.
    static func lines(_ run: WatchedRun, rows: Int, _ picture: TextPicture) -> [String] {
        let words = WatchRows(run)
        let head = fitted("\(words.title): \(words.state)", picture.width)
        let remarks = run.remarks.flatMap { fitted(TextLines.plain($0), picture.width) }
        guard !run.workers.isEmpty else { return Array((head + remarks).prefix(rows)) }
        // The names of the columns, and the sum.
        let room = max(1, rows - head.count - remarks.count - 2)
        var shown = run.workers
        var rest: [WatchedWorker] = []
        if shown.count > room {
            let sorted = shown.worstFirst
            shown = Array(sorted.prefix(max(0, room - 1)))
            rest = Array(sorted.dropFirst(shown.count))
        }
        var table = [(cells: WatchRows.header, remark: "", isSilent: false)]
        table += shown.map { (words.cells($0), words.remark($0), $0.isSilent) }
        if !rest.isEmpty { table.append((words.cells(rest.sum, name: "\(rest.count) more"), "", false)) }
        table.append((words.cells(run.workers.sum, name: "all"), "", false))
        return Array((head + self.table(table, picture) + remarks).prefix(rows))
    }

    private static func fitted(_ text: String, _ width: Int) -> [String] { TextLines.fitted([text], width: width) }

    private static func table(
        _ rows: [(cells: [String], remark: String, isSilent: Bool)], _ picture: TextPicture
    ) -> [String] {
        let widths = WatchRows.header.indices.map { column in rows.map { $0.cells[column].count }.max() ?? 0 }
        var columns = Array(WatchRows.header.indices)
        let remark = min(remarkWidth, rows.map(\.remark.count).max() ?? 0)
        func width() -> Int { columns.reduce(remark) { $0 + widths[$1] + 2 } }
        for column in leastWanted where width() > picture.width { columns.removeAll { $0 == column } }
        return rows.map { row in
            var line = ""
            for column in columns {
                let padding = String(repeating: " ", count: widths[column] - row.cells[column].count)
                // Names to the left, figures to the right.
                line += column == 1 || column == 2 ? row.cells[column] + padding : padding + row.cells[column]
                line += "  "
            }
            let room = max(0, picture.width - line.count)
            let remark = String(row.remark.prefix(room))
            guard remark.isEmpty else { return line + (row.isSilent ? picture.bad(remark) : picture.doubtful(remark)) }
            while line.last == " " { line.removeLast() }
            return String(line.prefix(picture.width))
        }
    }
}

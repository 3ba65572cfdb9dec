import Reports
import Settings

/// A watched run on the lines of a terminal.
enum WatchView {
    /// What of a remark must be seen, characters: `silent for 1m 10s`.
    private static let remarkWidth = 18

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
        var table = [(cells: words.header, remark: "", isSilent: false)]
        table += shown.map { (words.cells($0), words.remark($0), $0.isSilent || $0.isLost) }
        if !rest.isEmpty { table.append((words.cells(rest.sum, name: "\(rest.count) more"), "", false)) }
        table.append((words.cells(run.sum, name: "all"), "", false))
        return Array((head + self.table(table, words.leastWanted, picture) + remarks).prefix(rows))
    }

    private static func fitted(_ text: String, _ width: Int) -> [String] { TextLines.fitted([text], width: width) }

    private static func table(
        _ rows: [(cells: [String], remark: String, isSilent: Bool)], _ leastWanted: [Int], _ picture: TextPicture
    ) -> [String] {
        let header = rows.first?.cells ?? []
        let widths = header.indices.map { column in rows.map { $0.cells[column].count }.max() ?? 0 }
        var columns = Array(header.indices)
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
            let remark = cut(row.remark, max(0, picture.width - line.count))
            guard remark.isEmpty else { return line + (row.isSilent ? picture.bad(remark) : picture.doubtful(remark)) }
            while line.last == " " { line.removeLast() }
            return String(line.prefix(picture.width))
        }
    }

    /// As many words as there is room for; `...` where there were more.
    private static func cut(_ text: String, _ width: Int) -> String {
        guard text.count > width else { return text }
        let mark = "..."
        var kept = ""
        for word in text.split(separator: " ") {
            let longer = kept.isEmpty ? String(word) : "\(kept) \(word)"
            guard longer.count + mark.count <= width else { break }
            kept = longer
        }
        while kept.last == "," { kept.removeLast() }
        return kept.isEmpty ? String(text.prefix(width)) : kept + mark
    }
}

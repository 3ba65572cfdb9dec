/// Columns of text, the first to the left and the others to the right.
package struct TextTable {
    private var rows: [[String]] = []
    /// How many columns at the left say what a row is of: at least 1.
    private let names: Int

    package init(names: Int = 1) { self.names = names }

    package mutating func add(_ cells: [String]) { rows.append(cells) }

    /// One line a row, indented by two spaces. Columns that do not fit come in further tables below, each with the names of
    /// the rows; a cell that does not fit beside its row's name has the next lines to itself.
    package func lines(width: Int) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { column < $0.count ? $0[column].columns : 0 }.max() ?? 0
        }
        let left = Array(0..<min(names, count))
        let room = width - 2 - left.reduce(0) { $0 + widths[$1] + ($1 > 0 ? 2 : 0) }
        let groups = Self.groups(Array(widths.dropFirst(left.count)), room: room)
        return groups.enumerated().flatMap { index, group in
            let columns = group.map { $0 + left.count }
            let isTooWide = group.count == 1 && widths[columns[0]] + 2 > room
            let part = isTooWide ? stacked(left, columns[0], widths, width) : lines(left + columns, widths)
            return (index > 0 ? [""] : []) + part
        }
    }

    private func lines(_ columns: [Int], _ widths: [Int]) -> [String] {
        rows.map { row in
            var line = "  "
            for column in columns where column < row.count {
                let padding = String(repeating: " ", count: widths[column] - row[column].columns)
                if column != columns[0] { line += "  " }
                line += column == 0 ? row[column] + padding : padding + row[column]
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Rows that are one name and one text.
    private func stacked(_ left: [Int], _ column: Int, _ widths: [Int], _ width: Int) -> [String] {
        zip(rows, lines(left, widths)).flatMap { row, name in
            let text = column < row.count ? row[column] : ""
            return [name] + (text.isEmpty ? [] : TextLines.fitted(["    \(text)"], width: width))
        }
    }

    /// Which columns go together, as few tables as possible and of about as many columns each.
    private static func groups(_ widths: [Int], room: Int) -> [[Int]] {
        func split(most: Int) -> [[Int]] {
            var groups: [[Int]] = [[]]
            var used = 0
            for (column, width) in widths.enumerated() {
                if let last = groups.last, !last.isEmpty, used + 2 + width > room || last.count == most {
                    groups.append([])
                    used = 0
                }
                groups[groups.count - 1].append(column)
                used += 2 + width
            }
            return groups
        }
        let fewest = split(most: widths.count).count
        return (1...max(1, widths.count)).lazy.map { split(most: $0) }.first { $0.count <= fewest } ?? [[]]
    }
}

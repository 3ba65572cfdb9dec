import Foundation

/// Pictures of characters: lines of bars one above the other, and bars that lie. Plain ASCII where the terminal has no more.
package struct TextPicture: Sendable {
    /// Columns there are; at least 40.
    package let width: Int
    package let isUnicode: Bool
    /// Whether verdicts have colours.
    package let isColoured: Bool

    /// What is written where no terminal is: 80 columns, no colours.
    package static let plain = TextPicture(width: 80, isUnicode: true)

    package init(width: Int, isUnicode: Bool, isColoured: Bool = false) {
        self.width = max(40, width)
        self.isUnicode = isUnicode
        self.isColoured = isColoured
    }

    /// Lines on as many as they need.
    package func fitted(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return TextLines.fitted(lines, width: width).joined(separator: "\n")
    }

    // MARK: Verdicts

    package func good(_ text: String) -> String { coloured(text, 32) }
    package func bad(_ text: String) -> String { coloured(text, 31) }
    package func doubtful(_ text: String) -> String { coloured(text, 33) }

    /// - Parameter colour: of ECMA-48's SGR, 30 to 37.
    package func coloured(_ text: String, _ colour: Int) -> String {
        isColoured ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
    }

    // MARK: Pictures

    private var levels: [Character] {
        isUnicode ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : [".", ":", "-", "=", "+", "*", "#", "@"]
    }

    /// A bar of its own height for each value; a space where there is none. More values than `columns` are averaged, each
    /// column over as many.
    ///
    /// - Parameter low: what the lowest bar means; nil: the smallest value that is not far from all others, and what is far
    ///   above them is as high as the highest.
    package func sparkline(_ values: [Double?], columns: Int, low: Double? = nil) -> String {
        let shown = Self.averaged(values, columns)
        let known = shown.compactMap { $0 }.sorted()
        let usual = low == nil ? Self.withoutOutliers(known) : known
        guard let most = usual.last, let least = low ?? usual.first else {
            return String(repeating: " ", count: shown.count)
        }
        return String(
            shown.map { value -> Character in
                guard let value else { return " " }
                let share = most > least ? (value - least) / (most - least) : low == nil ? 0.5 : 0
                return levels[Int(min(7, max(0, share * 8)))]
            })
    }

    /// A bar of `share` (0…1) of so many columns; what is not 0 is seen.
    package func bar(_ share: Double, columns: Int) -> String {
        guard share > 0, share.isFinite else { return "" }
        let eighths = max(1, Int((min(share, 1) * Double(columns) * 8).rounded()))
        guard isUnicode else { return String(repeating: "#", count: max(1, (eighths + 4) / 8)) }
        let parts: [String] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
    }

    /// `name  bar  value` in columns, the longest bar as long as there is room; names may be a stranger's.
    package func bars(_ rows: [(name: String, length: Double, value: String)]) -> [String] {
        let rows = rows.map { (name: TextLines.plain($0.name), length: $0.length, value: $0.value) }
        let names = rows.map(\.name.count).max() ?? 0
        let values = rows.map(\.value.count).max() ?? 0
        let columns = max(8, min(60, width - names - values - 6))
        let longest = rows.map(\.length).max() ?? 0
        return rows.map { row in
            let bar = bar(longest > 0 ? row.length / longest : 0, columns: columns)
            func padded(_ text: String, _ count: Int) -> String {
                text + String(repeating: " ", count: max(0, count - text.count))
            }
            let value = String(repeating: " ", count: values - row.value.count) + row.value
            return "  \(padded(row.name, names))  \(value)  \(bar)"
        }
    }

    /// Ascending values within three times the middle half's width of that half.
    private static func withoutOutliers(_ sorted: [Double]) -> [Double] {
        guard !sorted.isEmpty else { return [] }
        let (first, third) = (sorted[(sorted.count - 1) / 4], sorted[(sorted.count - 1) * 3 / 4])
        return sorted.filter { $0 >= first - 3 * (third - first) && $0 <= third + 3 * (third - first) }
    }

    private static func averaged(_ values: [Double?], _ columns: Int) -> [Double?] {
        guard values.count > columns, columns > 0 else { return values }
        return (0..<columns).map { column in
            let part = values[(column * values.count / columns)..<((column + 1) * values.count / columns)]
            let known = part.compactMap { $0 }
            return known.isEmpty ? nil : known.reduce(0, +) / Double(known.count)
        }
    }
}

import Foundation

/// Values over time as columns of characters, with a second curve of single marks over them.
struct TextChart {
    /// One a column; nil: nothing is known.
    var bars: [Double?]
    var marks: [Double?] = []
    /// What the lower and the upper edge mean.
    var low = 0.0
    var high: Double
    var isLogarithmic = false
    /// What a mark is: on a terminal without Unicode the second.
    var mark: (unicode: Character, ascii: Character) = ("•", "o")
    /// Writes the edges.
    var label: (Double) -> String

    /// Columns that the labels and the axis beside a chart take.
    static let margin = 10

    /// `height` lines, the highest values first.
    func lines(height: Int, _ picture: TextPicture) -> [String] {
        (0..<height).map { line in
            let row = height - 1 - line
            let text = (line == 0 ? label(high) : row == 0 ? label(low) : "").prefix(Self.margin - 2)
            let side = String(repeating: " ", count: Self.margin - 2 - text.count) + text
            return side + (picture.isUnicode ? " │" : " |") + cells(row: row, height: height, picture)
        }
    }

    private func cells(row: Int, height: Int, _ picture: TextPicture) -> String {
        let levels = picture.isUnicode ? Array("▁▂▃▄▅▆▇█") : Array("....::##")
        var text = ""
        var run = ""
        var isMarks = false
        func flush() {
            if !run.isEmpty { text += run.allSatisfy { $0 == " " } ? run : picture.coloured(run, isMarks ? 33 : 36) }
            run = ""
        }
        for column in bars.indices {
            let filled = bars[column].map { share($0) * Double(height) - Double(row) } ?? 0
            // What is not at the lower edge is seen.
            let isSeen = row == 0 && (bars[column].map { $0 > low } ?? false)
            let level = max(isSeen ? 1 : 0, Int((min(max(filled, 0), 1) * 8).rounded()))
            var character: Character = level > 0 ? levels[level - 1] : " "
            var isMark = false
            if column < marks.count, let value = marks[column],
                row == min(height - 1, Int(share(value) * Double(height)))
            {
                character = picture.isUnicode ? mark.unicode : mark.ascii
                isMark = true
            }
            if isMark != isMarks {
                flush()
                isMarks = isMark
            }
            run.append(character)
        }
        flush()
        return text
    }

    /// 0…1 of the height.
    private func share(_ value: Double) -> Double {
        guard high > low else { return 0 }
        let share =
            isLogarithmic
            ? (value > 0 && low > 0 ? log(value / low) / log(high / low) : 0) : (value - low) / (high - low)
        return min(max(share, 0), 1)
    }

    /// The next of 1, 1.5, 2, 3, 5, 7.5 and their tenfolds that is no smaller; 1 for 0.
    static func edge(above value: Double) -> Double {
        guard value > 0, value.isFinite else { return 1 }
        let power = pow(10, floor(log10(value)))
        return ([1, 1.5, 2, 3, 5, 7.5, 10].first { $0 * power >= value * 0.999_999 } ?? 10) * power
    }
}

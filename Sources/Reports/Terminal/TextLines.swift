/// Sentences on as many lines as a terminal needs for them.
package enum TextLines {
    /// Lines that are wider than `width` continue on further ones, two columns more to the right.
    package static func fitted(_ lines: [String], width: Int) -> [String] {
        lines.flatMap { $0.columns > width ? filled($0, width: width) : [$0] }
    }

    /// A stranger's text on one line: what moves a cursor, colours or turns the direction of writing becomes `?`.
    package static func plain(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: "?"
                default: Character(scalar)
                }
            })
    }

    /// What stays with the number before it.
    private static let units: Set<Substring> = ["ns", "us", "ms", "s", "%", "B", "kB", "MB", "GB"]

    /// Broken at spaces, not between a number and its unit; after a comma or semicolon where there is one in the last third. A
    /// longer word stays whole.
    private static func filled(_ text: String, width: Int) -> [String] {
        let indent = String(text.prefix { $0 == " " })
        var words: [Substring] = []
        for word in text.split(separator: " ") {
            if let last = words.last, last.last?.isNumber == true, units.contains(word.prefix { !",;)".contains($0) }) {
                words[words.count - 1] = "\(last) \(word)"
            } else {
                words.append(word)
            }
        }
        var lines: [String] = []
        while !words.isEmpty {
            let start = lines.isEmpty ? indent : indent + "  "
            var taken = 0
            var columns = start.columns - 1
            var atComma: (taken: Int, columns: Int)?
            for word in words {
                guard taken == 0 || columns + 1 + word.columns <= width else { break }
                columns += 1 + word.columns
                taken += 1
                if word.hasSuffix(",") || word.hasSuffix(";") { atComma = (taken, columns) }
            }
            if taken < words.count, let atComma, atComma.columns * 3 >= width * 2 { taken = atComma.taken }
            lines.append(start + words.prefix(taken).joined(separator: " "))
            words.removeFirst(taken)
        }
        return lines
    }
}

extension StringProtocol {
    /// How many a terminal shows: its characters without the sequences that colour them.
    package var columns: Int {
        var count = 0
        var isSequence = false
        for character in self {
            if character == "\u{1B}" {
                isSequence = true
            } else if isSequence {
                isSequence = character != "m"
            } else {
                count += 1
            }
        }
        return count
    }
}

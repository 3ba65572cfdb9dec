/// Finds the characters of a YAML text in its file.
enum ScalarPlace {
    private static let blanks: Set<Unicode.Scalar> = [" ", "\t", "\n", "\r"]

    /// - Parameters:
    ///   - line: with `column`, in the text.
    ///   - start: line and column of the text in the file, from 1: of its quote, or of the `|` or `>` of its block.
    /// - Returns: nil when the file has other characters there than the text, blanks aside.
    static func find(
        _ line: Int, _ column: Int, of text: String, from start: (line: Int, column: Int), in source: String
    ) -> (line: Int, column: Int)? {
        let wanted = marks(text, line, column)
        let scalars = Array(source.unicodeScalars)
        var (position, place) = (0, (line: 1, column: 1))
        func step() {
            place = scalars[position] == "\n" ? (place.line + 1, 1) : (place.line, place.column + 1)
            position += 1
        }
        while position < scalars.count, place != start { step() }
        guard position < scalars.count else { return nil }
        switch scalars[position] {
        case "\"", "'": step()
        case "|", ">": while position < scalars.count, scalars[position] != "\n" { step() }
        default: break
        }
        for (number, scalar) in wanted.all.enumerated() {
            while position < scalars.count, blanks.contains(scalars[position]) { step() }
            guard position < scalars.count, scalars[position] == scalar else { return nil }
            if number == wanted.before { return place }
            step()
        }
        return place
    }

    /// The text's characters that are no blanks, and how many of them stand before a place.
    private static func marks(_ text: String, _ line: Int, _ column: Int) -> (all: [Unicode.Scalar], before: Int) {
        var all: [Unicode.Scalar] = []
        var before = 0
        var place = (line: 1, column: 1)
        for scalar in text.unicodeScalars {
            if !blanks.contains(scalar) {
                if place < (line, column) { before += 1 }
                all.append(scalar)
            }
            place = scalar == "\n" ? (place.line + 1, 1) : (place.line, place.column + 1)
        }
        return (all, before)
    }
}

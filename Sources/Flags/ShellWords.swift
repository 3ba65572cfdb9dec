import Harness

/// A line of flags as words: separated by spaces, quotes of either kind keep what is between them together.
package enum ShellWords {
    package static func split(_ text: String) throws(HarnessError) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in text {
            if let open = quote {
                if character == open { quote = nil } else { word?.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == " " || character == "\t" || character == "\n" {
                if let whole = word { words.append(whole) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil else { throw HarnessError("\(text): a quote is not closed") }
        return words + (word.map { [$0] } ?? [])
    }
}

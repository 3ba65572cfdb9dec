import Settings

/// `tag_{1...200}`: a family of names; a name without braces is a family of one.
enum NamePattern {
    /// The names, each a tag.
    ///
    /// - Throws: what is wrong, without its place.
    static func names(_ text: String) throws(SettingsError) -> [String] {
        guard let open = text.firstIndex(of: "{") else { return [try checked(text)] }
        let wrong = SettingsError("\"\(shown(text))\" is no family of tags; expected for example tag_{1...200}")
        guard let close = text.firstIndex(of: "}"), open < close else { throw wrong }
        let ends = text[text.index(after: open)..<close].split(separator: "...", omittingEmptySubsequences: false)
        let after = text[text.index(after: close)...]
        guard ends.count == 2, let low = number(ends[0]), let high = number(ends[1]), !after.contains("{") else {
            throw wrong
        }
        guard low <= high else { throw SettingsError("\"\(shown(text))\": the lower number comes first") }
        guard high - low < SyntheticDescription.mostTags else {
            throw SettingsError(
                "\"\(shown(text))\": \(high - low + 1) tags; expected at most \(SyntheticDescription.mostTags)")
        }
        var names: [String] = []
        for number in low...high { names.append(try checked("\(text[..<open])\(number)\(after)")) }
        return names
    }

    /// The name, if it is a tag.
    static func checked(_ name: String) throws(SettingsError) -> String {
        guard let wrong = name.unicodeScalars.first(where: { !TagExpressionLexer.isTagScalar($0) }) else {
            guard (1...TagExpressionLexer.longestTag).contains(name.utf8.count) else {
                throw SettingsError(
                    "a tag of \(name.utf8.count) characters; expected 1 to \(TagExpressionLexer.longestTag)")
            }
            return name
        }
        let character = wrong.value < 33 || wrong.value == 127 ? "a control character or blank" : "'\(wrong)'"
        throw SettingsError(
            "\"\(shown(name))\": \(character) in a tag; expected letters, digits and _ @ # . : -")
    }

    private static func number(_ text: Substring) -> Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }

    /// As much of a stranger's text as fits a message.
    static func shown(_ text: String) -> String {
        String(text.prefix(80).map { $0.isNewline || $0 == "\t" ? " " : $0 })
    }
}

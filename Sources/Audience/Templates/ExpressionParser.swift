/// Reads the expression that a text of a template is, if it is one.
struct ExpressionParser {
    /// What is wrong, and at which byte of the text.
    private struct Problem: Error {
        let reason: String
        let index: Int
    }

    private let bytes: [UInt8]
    private let string: JSONString
    private var position = 0
    /// Largest n of `$(prop, n)`; texts are shorter.
    private static let longest = 1_000_000

    private init(_ string: JSONString) {
        self.string = string
        bytes = string.bytes
    }

    /// - Returns: nil for a text that stays as it is.
    /// - Throws: `template:line:column: …`
    static func parse(_ string: JSONString, in cursor: JSONCursor) throws(AudienceError) -> TemplateExpression? {
        var parser = ExpressionParser(string)
        do throws(Problem) {
            return try parser.whole()
        } catch {
            throw cursor.error(error.reason, at: string.place(error.index))
        }
    }

    // MARK: Bytes

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }
    private var found: String { JSONCursor.character(in: bytes[min(position, bytes.count)...]) }

    private func problem(_ reason: String, at index: Int? = nil) -> Problem {
        Problem(reason: reason, index: index ?? position)
    }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    /// `$(`, `.(`, `%(` or `#(`.
    private var isAtReference: Bool {
        guard position + 1 < bytes.count, bytes[position + 1] == 0x28 else { return false }
        return [0x24, 0x2E, 0x25, 0x23].contains(bytes[position])
    }

    // MARK: Grammar

    private mutating func whole() throws(Problem) -> TemplateExpression? {
        if current == 0x7B { return try braced() }
        if isAtReference {
            let reference = try reference()
            guard position == bytes.count else { throw notAlone() }
            return TemplateExpression(terms: [.property(reference)], isBraced: false)
        }
        // The hub refuses a template with such a text, whatever follows (react-native-azurenotificationhub, issue 162).
        if current == 0x23 {
            throw problem("a text that begins with # is an expression to the hub: #(property)\(rewritten)")
        }
        while position < bytes.count {
            let start = position
            if isAtReference, (try? reference()) != nil {
                throw problem(
                    "an expression within a text: it stands alone, or in braces with the text in quotes\(rewritten)",
                    at: start)
            }
            position = start + 1
        }
        return nil
    }

    private mutating func notAlone() -> Problem {
        let place = position
        skipSpace()
        return current == 0x2B
            ? problem("a concatenation stands in braces, as in {$(a) + ' ' + $(b)}")
            : problem(
                "text after an expression: it stands alone, or in braces with the text in quotes\(rewritten)", at: place
            )
    }

    private mutating func braced() throws(Problem) -> TemplateExpression {
        position += 1
        var terms: [TemplateExpression.Term] = []
        repeat {
            skipSpace()
            terms.append(try term())
            skipSpace()
        } while take(0x2B)
        guard take(0x7D) else {
            throw problem("expected + and another expression, or the closing '}'; found \(found)")
        }
        guard position == bytes.count else {
            throw problem("expected nothing after the expression's '}'; found \(found); text is added with + 'text'")
        }
        return TemplateExpression(terms: terms, isBraced: true)
    }

    private mutating func term() throws(Problem) -> TemplateExpression.Term {
        if isAtReference { return .property(try reference()) }
        let start = position
        guard let quote = current, quote == 0x27 || quote == 0x22 else {
            throw problem(
                "expected $(property), .(property, n), %(property), #(property) or a text in quotes; found \(found)"
                    + (terms(before: start) ? "\(rewritten)" : ""))
        }
        position += 1
        guard let end = bytes[position...].firstIndex(of: quote) else {
            throw problem("this text has no closing \(quote == 0x27 ? "'" : "\"")", at: start)
        }
        defer { position = end + 1 }
        return .literal(String(decoding: bytes[position..<end], as: UTF8.self))
    }

    /// Is this the expression's first term, so that the whole may have been meant as a text?
    private func terms(before place: Int) -> Bool {
        bytes[1..<place].allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
    }

    /// Stands at `$(` or one of its kind.
    private mutating func reference() throws(Problem) -> PropertyReference {
        let start = position
        let sigil = bytes[start]
        position += 2
        let opening = String(decoding: [sigil, 0x28], as: UTF8.self)
        skipSpace()
        let nameStart = position
        while let byte = current, PropertyBag.isNameByte(byte) { position += 1 }
        let name = String(decoding: bytes[nameStart..<position], as: UTF8.self)
        guard !name.isEmpty else { throw problem("expected a property's name after '\(opening)'; found \(found)") }
        guard name.utf8.count <= PropertyBag.longestName else {
            throw problem(
                "a property's name of \(name.utf8.count) characters; at most \(PropertyBag.longestName)", at: nameStart)
        }
        skipSpace()
        var length: Int?
        if take(0x2C) {
            skipSpace()
            length = try lengthArgument(sigil, opening + name)
            skipSpace()
        }
        guard take(0x29) else {
            let more = sigil == 0x24 || sigil == 0x2E ? ", or ',' and a length" : ""
            throw problem("expected ')' after '\(opening)\(name)'\(length == nil ? more : ""); found \(found)")
        }
        let form: PropertyReference.Form
        switch (sigil, length) {
        case (0x24, let length?): form = .clipped(length)
        case (0x2E, let length?): form = .dotted(length)
        case (0x2E, nil):
            throw problem(".(\(name)) needs the length that it is cut to, as in .(\(name), 20)", at: start)
        case (0x25, _): form = .encoded
        case (0x23, _): form = .number
        default: form = .text
        }
        return PropertyReference(form: form, name: name, place: string.place(start))
    }

    private mutating func lengthArgument(_ sigil: UInt8, _ beginning: String) throws(Problem) -> Int {
        let start = position
        guard sigil == 0x24 || sigil == 0x2E else {
            throw problem("\(beginning)) takes no length; only $(property, n) and .(property, n) do")
        }
        while let byte = current, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else {
            throw problem("expected a whole number of characters after '\(beginning),'; found \(found)")
        }
        let least = sigil == 0x2E ? HubText.dots.utf8.count : 1
        guard let length = Int(String(decoding: bytes[start..<position], as: UTF8.self)),
            (least...Self.longest).contains(length)
        else {
            throw problem(
                "a length of \(String(decoding: bytes[start..<position].prefix(20), as: UTF8.self)) characters; expected "
                    + "\(least) to \(Self.longest)" + (sigil == 0x2E ? ", the three dots among them" : ""), at: start)
        }
        return length
    }

    // MARK: What would be right

    /// `; write {'Hello, ' + $(name)}`, as it is written in JSON; nothing where that is long or not possible.
    private var rewritten: String {
        var parser = self
        parser.position = 0
        var parts: [String] = []
        var literal = parser.position
        func close(_ end: Int) -> Bool {
            guard end > literal else { return true }
            let part = bytes[literal..<end]
            guard !part.contains(where: { $0 < 0x20 || $0 == 0x5C || $0 == 0x22 }) else { return false }
            let text = String(decoding: part, as: UTF8.self)
            parts.append(part.contains(0x27) ? "\\\"\(text)\\\"" : "'\(text)'")
            return true
        }
        guard bytes.count <= 200 else { return "" }
        while parser.position < bytes.count {
            let start = parser.position
            if parser.isAtReference, (try? parser.reference()) != nil {
                let reference = bytes[start..<parser.position]
                // One that is written on two lines would be none of a message's.
                guard close(start), !reference.contains(where: { $0 < 0x20 }) else { return "" }
                parts.append(String(decoding: reference, as: UTF8.self))
                literal = parser.position
            } else {
                parser.position = start + 1
            }
        }
        guard close(bytes.count) else { return "" }
        return "; write {\(parts.joined(separator: " + "))}"
    }
}

/// Checks a template as JSON (RFC 8259) and cuts it into constant text and holes; white space between tokens goes.
struct TemplateParser {
    enum Piece: Equatable {
        case constant([UInt8])
        case hole(TemplateHole)
    }

    private let name: String
    private let text: [UInt8]
    private var position = 0
    private(set) var pieces: [Piece] = []
    private var constant: [UInt8] = []
    private var longest = 0
    private let limit: Int
    private let tokenLength: Int
    /// Where the longest payload first passes the limit.
    private var overflow: Int?
    private static let deepest = 64

    private init(name: String, text: [UInt8], limit: Int, tokenLength: Int) {
        self.name = name
        self.text = text
        self.limit = limit
        self.tokenLength = tokenLength
    }

    /// - Parameters:
    ///   - limit: most bytes of the payload without its trace tag.
    ///   - requiresAPS: false for mdm pushes, which carry `mdm` instead.
    static func parse(
        _ json: String, name: String, limit: Int, tokenLength: Int, requiresAPS: Bool
    ) throws(TemplateError) -> [Piece] {
        var parser = TemplateParser(name: name, text: Array(json.utf8), limit: limit, tokenLength: tokenLength)
        try parser.document(requiresAPS)
        return parser.pieces
    }

    private func error(_ reason: String, at place: Int? = nil) -> TemplateError {
        let place = min(place ?? position, text.count)
        var line = 1
        var column = 1
        for byte in text[..<place] {
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return TemplateError(name: name, line: line, column: column, reason: reason)
    }

    private var current: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func found() -> String {
        guard let byte = current else { return "the end of the text" }
        return (33...126).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : "byte 0x\(String(byte, radix: 16))"
    }

    // MARK: Output

    private mutating func emit(_ byte: UInt8) {
        constant.append(byte)
        grow(1)
    }

    private mutating func grow(_ count: Int) {
        longest += count
        if longest > limit, overflow == nil { overflow = position }
    }

    private mutating func emit(_ hole: TemplateHole, at place: Int) {
        if !constant.isEmpty { pieces.append(.constant(constant)) }
        constant = []
        pieces.append(.hole(hole))
        longest += hole.longest(token: tokenLength)
        if longest > limit, overflow == nil { overflow = place }
    }

    // MARK: Grammar

    private mutating func document(_ requiresAPS: Bool) throws(TemplateError) {
        skipSpace()
        let start = position
        guard current == 0x7B else { throw error("expected '{': a payload is a JSON object; found \(found())") }
        let keys = try object(depth: 1, isTop: true)
        skipSpace()
        guard position == text.count else { throw error("expected nothing after the payload's '}'; found \(found())") }
        if requiresAPS, !keys.contains("aps") { throw error("the key \"aps\" is missing", at: start) }
        if let overflow {
            throw error(
                "the payload can grow to \(longest) bytes; at most \(limit) are left beside its trace tag, "
                    + "and this is where it passes them", at: overflow)
        }
        if !constant.isEmpty { pieces.append(.constant(constant)) }
    }

    private mutating func value(depth: Int) throws(TemplateError) {
        skipSpace()
        guard depth <= Self.deepest else { throw error("nested deeper than \(Self.deepest) levels") }
        switch current {
        case 0x7B:
            if position + 1 < text.count, text[position + 1] == 0x7B {
                let place = position
                let hole = try hole()
                guard hole.isNumber else {
                    throw error("this hole is text and must stand inside quotes", at: place)
                }
                emit(hole, at: place)
            } else {
                _ = try object(depth: depth, isTop: false)
            }
        case 0x5B: try array(depth: depth)
        case 0x22: _ = try string(holes: true)
        case 0x74: try word("true")
        case 0x66: try word("false")
        case 0x6E: try word("null")
        case .some(0x2D), .some(0x30...0x39): try number()
        default: throw error("expected a JSON value; found \(found())")
        }
    }

    private mutating func object(depth: Int, isTop: Bool) throws(TemplateError) -> Set<String> {
        guard depth <= Self.deepest else { throw error("nested deeper than \(Self.deepest) levels") }
        emit(0x7B)
        position += 1
        var keys: Set<String> = []
        skipSpace()
        if current == 0x7D {
            emit(0x7D)
            position += 1
            return keys
        }
        while true {
            skipSpace()
            let place = position
            guard current == 0x22 else { throw error("expected a key in quotes; found \(found())") }
            let key = try string(holes: false)
            if isTop, key == TraceTag.key {
                throw error("the key \"\(key)\" is pushload's own: it is added to every payload", at: place)
            }
            guard keys.insert(key).inserted else { throw error("the key \"\(key)\" stands twice", at: place) }
            skipSpace()
            guard current == 0x3A else { throw error("expected ':' after the key \"\(key)\"; found \(found())") }
            emit(0x3A)
            position += 1
            try value(depth: depth + 1)
            skipSpace()
            if current == 0x2C {
                emit(0x2C)
                position += 1
            } else if current == 0x7D {
                emit(0x7D)
                position += 1
                return keys
            } else {
                throw error("expected ',' or '}'; found \(found())")
            }
        }
    }

    private mutating func array(depth: Int) throws(TemplateError) {
        emit(0x5B)
        position += 1
        skipSpace()
        if current == 0x5D {
            emit(0x5D)
            position += 1
            return
        }
        while true {
            try value(depth: depth + 1)
            skipSpace()
            if current == 0x2C {
                emit(0x2C)
                position += 1
            } else if current == 0x5D {
                emit(0x5D)
                position += 1
                return
            } else {
                throw error("expected ',' or ']'; found \(found())")
            }
        }
    }

    private mutating func word(_ word: String) throws(TemplateError) {
        for byte in word.utf8 {
            guard current == byte else { throw error("expected \(word); found \(found())") }
            emit(byte)
            position += 1
        }
    }

    private mutating func digits() throws(TemplateError) {
        guard let first = current, (0x30...0x39).contains(first) else {
            throw error("expected a digit; found \(found())")
        }
        while let byte = current, (0x30...0x39).contains(byte) {
            emit(byte)
            position += 1
        }
    }

    private mutating func number() throws(TemplateError) {
        if current == 0x2D {
            emit(0x2D)
            position += 1
        }
        if current == 0x30 {
            emit(0x30)
            position += 1
            if let byte = current, (0x30...0x39).contains(byte) { throw error("a number may not begin with 0") }
        } else {
            try digits()
        }
        if current == 0x2E {
            emit(0x2E)
            position += 1
            try digits()
        }
        if current == 0x65 || current == 0x45 {
            emit(text[position])
            position += 1
            if current == 0x2B || current == 0x2D {
                emit(text[position])
                position += 1
            }
            try digits()
        }
    }

    /// Returns the text between the quotes, escapes as written.
    private mutating func string(holes: Bool) throws(TemplateError) -> String {
        let start = position
        emit(0x22)
        position += 1
        let contents = position
        while true {
            guard let byte = current else { throw error("this text has no closing quote", at: start) }
            switch byte {
            case 0x22:
                let raw = String(decoding: text[contents..<position], as: UTF8.self)
                emit(0x22)
                position += 1
                return raw
            case 0x5C: try escape()
            case 0..<0x20:
                throw error("a control character must be escaped in JSON; found byte 0x\(String(byte, radix: 16))")
            case 0x7B where position + 1 < text.count && text[position + 1] == 0x7B:
                let place = position
                guard holes else { throw error("keys take no holes") }
                emit(try hole(), at: place)
            default:
                emit(byte)
                position += 1
            }
        }
    }

    private mutating func escape() throws(TemplateError) {
        let place = position
        emit(0x5C)
        position += 1
        guard let byte = current else { throw error("this text has no closing quote", at: place) }
        switch byte {
        case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74:
            emit(byte)
            position += 1
        case 0x75:
            let unit = try hexUnit(place)
            if (0xDC00...0xDFFF).contains(unit) { throw error("a low surrogate without its high one", at: place) }
            if (0xD800...0xDBFF).contains(unit) {
                guard current == 0x5C, position + 1 < text.count, text[position + 1] == 0x75 else {
                    throw error("a high surrogate without its low one", at: place)
                }
                emit(0x5C)
                position += 1
                guard (0xDC00...0xDFFF).contains(try hexUnit(place)) else {
                    throw error("a high surrogate without its low one", at: place)
                }
            }
        default:
            throw error("unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u0000", at: place)
        }
    }

    /// `u` and four hexadecimal digits.
    private mutating func hexUnit(_ place: Int) throws(TemplateError) -> UInt32 {
        emit(0x75)
        position += 1
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(UnicodeScalar(byte)).hexDigitValue else {
                throw error("\\u takes four hexadecimal digits", at: place)
            }
            unit = unit << 4 | UInt32(digit)
            emit(byte)
            position += 1
        }
        return unit
    }

    private mutating func hole() throws(TemplateError) -> TemplateHole {
        let place = position
        var end = position + 2
        while end + 1 < text.count, !(text[end] == 0x7D && text[end + 1] == 0x7D), text[end] != 0x0A { end += 1 }
        guard end + 1 < text.count, text[end] == 0x7D, !hasQuote(text[(position + 2)..<end]) else {
            throw error("this hole has no closing }}", at: place)
        }
        let inner = String(decoding: text[(position + 2)..<end], as: UTF8.self)
        position = end + 2
        do throws(PayloadError) {
            return try TemplateHole(parsing: inner)
        } catch let problem {
            throw error(problem.description, at: place)
        }
    }

    /// A quote outside parentheses: the braces that come after it close something else than this hole.
    private func hasQuote(_ inner: ArraySlice<UInt8>) -> Bool {
        guard let quote = inner.firstIndex(of: 0x22) else { return false }
        let before = inner[..<quote]
        return !before.contains(UInt8(ascii: "(")) || before.contains(UInt8(ascii: ")"))
    }
}

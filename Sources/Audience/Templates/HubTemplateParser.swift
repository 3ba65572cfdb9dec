import Payloads

/// Checks a template's JSON and cuts it into constant text and expressions; white space between tokens goes, all else is kept in
/// its order. Keys are no expressions.
struct HubTemplateParser {
    enum Piece: Equatable, Sendable {
        case constant([UInt8])
        /// Stands between the quotes of a JSON text.
        case text(TemplateExpression)
        /// Stands in place of a JSON text.
        case number(PropertyReference)
    }

    private var cursor: JSONCursor
    private(set) var pieces: [Piece] = []
    private(set) var topKeys: Set<String> = []
    private var constant: [UInt8] = []

    /// Begins where the cursor stands.
    init(_ cursor: JSONCursor) { self.cursor = cursor }

    /// Reads one object; returns the place after it.
    mutating func template() throws(AudienceError) -> Int {
        cursor.skipSpace()
        guard cursor.current == 0x7B else {
            throw cursor.error("expected '{': a template's body is a JSON object; found \(cursor.found)")
        }
        topKeys = try object(depth: 1)
        flush()
        return cursor.position
    }

    private mutating func flush() {
        if !constant.isEmpty { pieces.append(.constant(constant)) }
        constant = []
    }

    /// Takes a byte of the grammar, if it is here.
    private mutating func take(_ byte: Character) -> Bool {
        guard cursor.take(byte) else { return false }
        constant += byte.utf8
        return true
    }

    private mutating func value(depth: Int) throws(AudienceError) {
        cursor.skipSpace()
        // As deep as Payloads takes it.
        guard depth <= JSONCursor.deepest else { throw tooDeep() }
        let start = cursor.position
        switch cursor.current {
        case 0x7B: _ = try object(depth: depth)
        case 0x5B: try array(depth: depth)
        case 0x22: try text()
        case 0x74: try cursor.word("true")
        case 0x66: try cursor.word("false")
        case 0x6E: try cursor.word("null")
        case .some(0x2D), .some(0x30...0x39): try cursor.number()
        case .some(0x24), .some(0x2E), .some(0x25), .some(0x23):
            throw cursor.error("expected a JSON value; found \(cursor.found): an expression stands in quotes")
        default: throw cursor.error("expected a JSON value; found \(cursor.found)")
        }
        switch cursor.text[start] {
        case 0x7B, 0x5B, 0x22: break
        default: constant += cursor.text[start..<cursor.position]
        }
    }

    private func tooDeep() -> AudienceError { cursor.error("nested deeper than \(JSONCursor.deepest) levels") }

    private mutating func object(depth: Int) throws(AudienceError) -> Set<String> {
        _ = take("{")
        var keys: Set<String> = []
        cursor.skipSpace()
        if take("}") { return keys }
        while true {
            cursor.skipSpace()
            let place = cursor.position
            guard cursor.current == 0x22 else { throw cursor.error("expected a key in quotes; found \(cursor.found)") }
            let key = try cursor.string().value
            if depth == 1, key == TraceTag.key {
                throw cursor.error("the key \"\(key)\" is pushload's own: it is added to every payload", at: place)
            }
            guard keys.insert(key).inserted else {
                throw cursor.error("the key \"\(HubText.short(key))\" stands twice", at: place)
            }
            constant.append(0x22)
            HubText.appendEscaped(key, to: &constant)
            constant.append(0x22)
            cursor.skipSpace()
            guard take(":") else {
                throw cursor.error("expected ':' after the key \"\(HubText.short(key))\"; found \(cursor.found)")
            }
            try value(depth: depth + 1)
            cursor.skipSpace()
            if take("}") { return keys }
            guard take(",") else { throw cursor.error("expected ',' or '}'; found \(cursor.found)") }
        }
    }

    private mutating func array(depth: Int) throws(AudienceError) {
        _ = take("[")
        cursor.skipSpace()
        if take("]") { return }
        while true {
            try value(depth: depth + 1)
            cursor.skipSpace()
            if take("]") { return }
            guard take(",") else { throw cursor.error("expected ',' or ']'; found \(cursor.found)") }
        }
    }

    private mutating func text() throws(AudienceError) {
        let string = try cursor.string()
        let expression = try ExpressionParser.parse(string, in: cursor)
        if let number = expression?.number {
            flush()
            pieces.append(.number(number))
            return
        }
        constant.append(0x22)
        if let expression {
            flush()
            pieces.append(.text(expression))
        } else {
            for byte in cursor.text[string.start..<string.end] { HubText.appendGuarded(byte, to: &constant) }
        }
        constant.append(0x22)
    }
}

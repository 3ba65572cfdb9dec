/// Reads an expression by recursive descent. It goes no deeper than `deepest` parentheses and negations, however long
/// the text; `a && b && c` is one node of three parts and no depth at all.
///
///     expression = conjunction { "||" conjunction }
///     conjunction = operand { "&&" operand }
///     operand = "!" operand | "(" expression ")" | tag
struct TagExpressionParser {
    /// Parentheses and negations that may be open at once.
    static let deepest = 64

    /// A tag and where it is named, in the order of the text.
    struct Mention: Sendable, Equatable {
        let tag: String
        let place: TagExpressionPlace
    }

    private(set) var mentions: [Mention] = []
    /// Which operators there are.
    private(set) var hasAnd = false
    private(set) var hasOr = false
    private(set) var hasNot = false

    private var lexer: TagExpressionLexer
    private var token = TagExpressionToken.end
    private var place = TagExpressionPlace()
    /// The token before; nil at the beginning.
    private var before: TagExpressionToken?
    private var beforePlace = TagExpressionPlace()
    private var depth = 0

    init(_ text: String) throws(AudienceError) { lexer = try TagExpressionLexer(text) }

    /// The whole text.
    mutating func parse() throws(AudienceError) -> TagExpressionNode {
        (token, place) = try lexer.next()
        if token == .end {
            throw place.error("nothing here; expected tags with && || ! and parentheses, or * for everyone")
        }
        if token == .everyone {
            let start = place
            try advance()
            guard token == .end else { throw Self.starIsAlone(start) }
            return .everyone
        }
        let node = try expression()
        switch token {
        case .end: return node
        case .close: throw place.error("\")\" without a \"(\" before it; expected && || or the end")
        default: throw missingOperator()
        }
    }

    private static func starIsAlone(_ place: TagExpressionPlace) -> AudienceError {
        place.error(
            "\"*\" means everyone and stands alone; expected whole tags here (no patterns), "
                + "everyone without a tag is !tag"
        )
    }

    private mutating func advance() throws(AudienceError) {
        before = token
        beforePlace = place
        (token, place) = try lexer.next()
    }

    private mutating func expression() throws(AudienceError) -> TagExpressionNode {
        var parts = [try conjunction()]
        while token == .or {
            hasOr = true
            try advance()
            parts.append(try conjunction())
        }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws(AudienceError) -> TagExpressionNode {
        var parts = [try operand()]
        while token == .and {
            hasAnd = true
            try advance()
            parts.append(try operand())
        }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func operand() throws(AudienceError) -> TagExpressionNode {
        switch token {
        case .tag(let tag):
            mentions.append(Mention(tag: tag, place: place))
            try advance()
            return .tag(tag)
        case .not:
            hasNot = true
            try descend()
            defer { depth -= 1 }
            return .not(try operand())
        case .open:
            let opened = place
            try descend()
            defer { depth -= 1 }
            let inner = try expression()
            guard token == .close else {
                guard token == .end else { throw missingOperator() }
                throw place.error("\")\" is missing; the expression's \"(\" at \(opened.text) is still open")
            }
            try advance()
            return inner
        case .everyone: throw Self.starIsAlone(place)
        case .and, .or, .close, .end:
            let after = before.map { "after \($0.shown)" } ?? "at the beginning"
            throw place.error("\(token.shown) \(after); expected a tag, ! or (")
        }
    }

    /// Past an opening parenthesis or a negation.
    private mutating func descend() throws(AudienceError) {
        depth += 1
        guard depth <= Self.deepest else {
            throw place.error("nested deeper than \(Self.deepest) parentheses and negations; expected fewer")
        }
        try advance()
    }

    /// What stands here follows a tag or a parenthesis, and is no operator.
    private func missingOperator() -> AudienceError {
        guard token != .everyone else { return Self.starIsAlone(place) }
        if case .tag(let word) = token {
            switch word.lowercased() {
            case "and": return place.error("\"\(word)\" as a word; expected && (or another operator before a tag)")
            case "or": return place.error("\"\(word)\" as a word; expected || (or another operator before a tag)")
            default: break
            }
        }
        if case .tag(let word)? = before, word.lowercased() == "not" {
            return beforePlace.error("\"\(word)\" as a word; expected !")
        }
        return place.error("\(token.shown) without an operator before it; expected && or ||")
    }
}

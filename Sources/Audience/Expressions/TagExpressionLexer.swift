/// Where something stands in an expression: line and column count from 1, columns in characters (Unicode scalars).
struct TagExpressionPlace: Sendable, Equatable {
    var line = 1
    var column = 1

    /// `line 1, column 14`.
    var text: String { "line \(line), column \(column)" }

    /// The error that begins with this place.
    func error(_ what: String) -> AudienceError {
        AudienceError(AudienceError.Spot(line: line, column: column, problem: what))
    }
}

/// The smallest parts of an expression.
enum TagExpressionToken: Equatable {
    case tag(String)
    case and, or, not, open, close
    case everyone
    case end

    /// As messages name it.
    var shown: String {
        switch self {
        case .tag(let tag): "\"\(tag)\""
        case .and: "\"&&\""
        case .or: "\"||\""
        case .not: "\"!\""
        case .open: "\"(\""
        case .close: "\")\""
        case .everyone: "\"*\""
        case .end: "the end"
        }
    }
}

/// Takes an expression apart, one token at a time; at most `longestText` bytes are looked at.
struct TagExpressionLexer {
    /// Bytes of the longest expression.
    static let longestText = 64 << 10
    /// Characters of the longest tag (Azure Notification Hubs: "any string, up to 120 characters").
    static let longestTag = 120

    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var place = TagExpressionPlace()

    /// - Throws: when the text is longer than `longestText`.
    init(_ text: String) throws(AudienceError) {
        let size = text.utf8.count
        guard size <= Self.longestText else {
            throw AudienceError("audience: an expression of \(size) bytes; expected at most \(Self.longestText)")
        }
        scalars = Array(text.unicodeScalars)
    }

    /// Letters, digits and `_ @ # . : -`, all of ASCII.
    static func isTagScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "0"..."9", "A"..."Z", "a"..."z", "_", "@", "#", ".", ":", "-": true
        default: false
        }
    }

    private mutating func step() {
        if scalars[position] == "\n" {
            place.line += 1
            place.column = 1
        } else {
            place.column += 1
        }
        position += 1
    }

    /// The next token and where it begins; `.end` for ever after the last one.
    mutating func next() throws(AudienceError) -> (token: TagExpressionToken, place: TagExpressionPlace) {
        while position < scalars.count, [" ", "\t", "\n", "\r"].contains(scalars[position]) { step() }
        let start = place
        guard position < scalars.count else { return (.end, start) }
        let scalar = scalars[position]
        switch scalar {
        case "(", ")", "!", "*":
            step()
            return (scalar == "(" ? .open : scalar == ")" ? .close : scalar == "!" ? .not : .everyone, start)
        case "&", "|":
            step()
            guard position < scalars.count, scalars[position] == scalar else {
                throw start.error(
                    "\"\(scalar)\" alone; expected \"\(scalar)\(scalar)\" (\(scalar == "&" ? "and" : "or"))")
            }
            step()
            return (scalar == "&" ? .and : .or, start)
        default:
            return (.tag(try tag(start)), start)
        }
    }

    private mutating func tag(_ start: TagExpressionPlace) throws(AudienceError) -> String {
        var tag = ""
        while position < scalars.count, Self.isTagScalar(scalars[position]) {
            tag.unicodeScalars.append(scalars[position])
            step()
        }
        guard !tag.isEmpty else {
            throw start.error(
                "character \(Self.shown(scalars[position])) that no tag has; "
                    + "expected && || ! ( ) or a tag of letters, digits and _ @ # . : -")
        }
        guard tag.utf8.count <= Self.longestTag else {
            throw start.error("a tag of \(tag.utf8.count) characters; expected at most \(Self.longestTag)")
        }
        return tag
    }

    /// The character, or its number where a terminal would do something else than show it.
    private static func shown(_ scalar: Unicode.Scalar) -> String {
        if (33...126).contains(scalar.value) || scalar.properties.isAlphabetic { return "'\(scalar)'" }
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

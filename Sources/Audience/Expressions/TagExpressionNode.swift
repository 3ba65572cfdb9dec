/// An expression as it was written: parentheses that change nothing are gone, nothing else is.
indirect enum TagExpressionNode: Sendable, Hashable {
    /// `*`: every registration.
    case everyone
    case tag(String)
    case not(TagExpressionNode)
    /// Two or more.
    case and([TagExpressionNode])
    /// Two or more.
    case or([TagExpressionNode])
}

extension TagExpressionNode: CustomStringConvertible {
    /// The text of it, with the fewest parentheses that read back as the same node.
    var description: String {
        switch self {
        case .everyone: return "*"
        case .tag(let tag): return tag
        case .not(let inner):
            switch inner {
            case .and, .or: return "!(\(inner))"
            case .everyone, .tag, .not: return "!\(inner)"
            }
        case .and(let parts):
            return parts.map { part in
                switch part {
                case .and, .or: "(\(part))"
                case .everyone, .tag, .not: "\(part)"
                }
            }.joined(separator: " && ")
        case .or(let parts):
            return parts.map { if case .or = $0 { "(\($0))" } else { "\($0)" } }.joined(separator: " || ")
        }
    }
}

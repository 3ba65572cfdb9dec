/// An expression made ready for evaluation: negations stand before tags only, a conjunction holds no conjunction, a
/// disjunction no disjunction, nothing stands twice in either, and what is always or never true is seen.
indirect enum PlannedNode: Hashable {
    case everyone
    case nobody
    case tag(String)
    /// All rows without this tag.
    case without(String)
    /// Two or more, no `.all` among them.
    case all([PlannedNode])
    /// Two or more, no `.any` among them.
    case any([PlannedNode])

    init(_ node: TagExpressionNode) { self = Self.planned(node, isNegated: false) }

    private static func planned(_ node: TagExpressionNode, isNegated: Bool) -> PlannedNode {
        switch node {
        case .everyone: isNegated ? .nobody : .everyone
        case .tag(let tag): isNegated ? .without(tag) : .tag(tag)
        case .not(let inner): planned(inner, isNegated: !isNegated)
        // De Morgan: not (a and b) is not a or not b.
        case .and(let parts): joined(parts.map { planned($0, isNegated: isNegated) }, isAll: !isNegated)
        case .or(let parts): joined(parts.map { planned($0, isNegated: isNegated) }, isAll: isNegated)
        }
    }

    /// The conjunction (or disjunction) of `parts`, in their order.
    private static func joined(_ parts: [PlannedNode], isAll: Bool) -> PlannedNode {
        let absorbing = isAll ? PlannedNode.nobody : .everyone
        let neutral = isAll ? PlannedNode.everyone : .nobody
        var seen: Set<PlannedNode> = []
        var kept: [PlannedNode] = []
        func take(_ part: PlannedNode) {
            if part != neutral, seen.insert(part).inserted { kept.append(part) }
        }
        for part in parts {
            switch part {
            case .all(let inner) where isAll: inner.forEach(take)
            case .any(let inner) where !isAll: inner.forEach(take)
            default: take(part)
            }
        }
        let contradicts = kept.contains { if case .tag(let tag) = $0 { seen.contains(.without(tag)) } else { false } }
        if contradicts || seen.contains(absorbing) { return absorbing }
        switch kept.count {
        case 0: return neutral
        case 1: return kept[0]
        default: return isAll ? .all(kept) : .any(kept)
        }
    }

    /// All rows but those of this node.
    var negated: PlannedNode {
        switch self {
        case .everyone: .nobody
        case .nobody: .everyone
        case .tag(let tag): .without(tag)
        case .without(let tag): .tag(tag)
        case .all(let parts): .any(parts.map(\.negated))
        case .any(let parts): .all(parts.map(\.negated))
        }
    }

    /// Whether its rows cannot be put together from the rows of tags alone: something has to be subtracted from
    /// everyone, or from the rows that are left already.
    var isOpen: Bool {
        switch self {
        case .tag, .nobody: false
        case .everyone, .without: true
        case .all(let parts): parts.allSatisfy(\.isOpen)
        case .any(let parts): parts.contains(where: \.isOpen)
        }
    }

    /// The text of it, as expressions are written.
    var text: String { expression.description }

    private var expression: TagExpressionNode {
        switch self {
        case .everyone: .everyone
        case .nobody: .not(.everyone)
        case .tag(let tag): .tag(tag)
        case .without(let tag): .not(.tag(tag))
        case .all(let parts): .and(parts.map(\.expression))
        case .any(let parts): .or(parts.map(\.expression))
        }
    }
}

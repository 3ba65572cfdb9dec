import TestSupport

@testable import Audience

/// Registrations whose tags are held as sets: what is evaluated by brute force.
struct SmallPopulation: TagIndex {
    var tagsOfRow: [Set<String>]
    private var rowsOfTag: [String: RowSet] = [:]

    init(_ tagsOfRow: [Set<String>]) {
        self.tagsOfRow = tagsOfRow
        var lists: [String: [UInt32]] = [:]
        for (row, tags) in tagsOfRow.enumerated() { for tag in tags { lists[tag, default: []].append(UInt32(row)) } }
        rowsOfTag = lists.mapValues { RowSet(rows: $0) }
    }

    var rows: UInt32 { UInt32(tagsOfRow.count) }
    func rows(tagged tag: String) -> RowSet? { rowsOfTag[tag] }
    func nearestTag(to tag: String) -> String? { rowsOfTag.keys.sorted().first { $0.lowercased() == tag.lowercased() } }

    /// Row by row, as the expression is written.
    func rows(of node: TagExpressionNode) -> [UInt32] {
        func holds(_ node: TagExpressionNode, _ tags: Set<String>) -> Bool {
            switch node {
            case .everyone: true
            case .tag(let tag): tags.contains(tag)
            case .not(let inner): !holds(inner, tags)
            case .and(let parts): parts.allSatisfy { holds($0, tags) }
            case .or(let parts): parts.contains { holds($0, tags) }
            }
        }
        return (0..<rows).filter { holds(node, tagsOfRow[Int($0)]) }
    }
}

extension RowSet {
    var list: [UInt32] {
        var found: [UInt32] = []
        forEach { found.append($0) }
        return found
    }
}

extension TagExpressionNode {
    /// A random one of tags t0 to t12, of which a population may lack some.
    static func random(depth: Int, _ random: inout SeededRandom) -> TagExpressionNode {
        if depth == 0 || Int.random(in: 0..<5, using: &random) == 0 {
            return .tag("t\(Int.random(in: 0...12, using: &random))")
        }
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return .not(Self.random(depth: depth - 1, &random))
        case 1, 2:
            return .and((0..<Int.random(in: 2...4, using: &random)).map { _ in Self.random(depth: depth - 1, &random) })
        default:
            return .or((0..<Int.random(in: 2...4, using: &random)).map { _ in Self.random(depth: depth - 1, &random) })
        }
    }
}

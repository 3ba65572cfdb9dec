import Glibc

/// Finds the rows of an expression, and says how if asked.
///
/// A conjunction begins with what has the fewest rows (exactly known of tags, bounds of inner expressions) and goes on
/// with what is left; it ends when nothing is. What is negated is subtracted from what is left, the largest first;
/// only where there is nothing yet, from everyone. A disjunction is one union of all its parts, or, where few rows are
/// left already, the union of what each of them shares with those. One with a negation in it takes away what is in
/// none of its parts.
struct TagExpressionEvaluation<Index: TagIndex> {
    private let index: Index
    private let isExplained: Bool
    private(set) var steps: [TagExpressionStep] = []
    private var depth = 0
    /// Rows of the tags looked up so far.
    private var known: [String: RowSet] = [:]
    private let total: UInt64

    init(_ index: Index, isExplained: Bool) {
        self.index = index
        self.isExplained = isExplained
        total = UInt64(index.rows)
        start = isExplained ? Self.clock() : 0
    }

    /// When the step that is being done began.
    private var start: UInt64

    private static func clock() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Also keeps only the rows that each of the sets has.
    mutating func keep(_ rows: RowSet, _ filters: [(what: String, rows: RowSet)]) -> RowSet {
        var left = rows
        for filter in filters {
            let before = left
            left = before.intersection(filter.rows)
            note(.keep, filter.what, rows: filter.rows.count, before: before.count, after: left.count)
        }
        return left
    }

    /// The rows of `node`.
    mutating func rows(of node: PlannedNode) -> RowSet { rows(of: node, within: nil) }

    private mutating func tagged(_ tag: String) -> RowSet {
        if let rows = known[tag] { return rows }
        let rows = index.rows(tagged: tag) ?? RowSet()
        known[tag] = rows
        return rows
    }

    private mutating func everyone() -> RowSet {
        let rows = RowSet(range: 0..<index.rows)
        let total = total
        note(.take, "*", rows: total, before: nil, after: total)
        return rows
    }

    /// At least as many rows as `node` has.
    private mutating func bound(_ node: PlannedNode) -> UInt64 {
        switch node {
        case .everyone: return total
        case .nobody: return 0
        case .tag(let tag): return tagged(tag).count
        case .without(let tag):
            let count = tagged(tag).count
            return total > count ? total - count : 0
        case .all(let parts):
            var least = total
            for part in parts { least = min(least, bound(part)) }
            return least
        case .any(let parts):
            var sum: UInt64 = 0
            for part in parts { sum = min(total, sum + bound(part)) }
            return sum
        }
    }

    private mutating func note(
        _ operation: TagExpressionStep.Operation, _ what: @autoclosure () -> String, rows: @autoclosure () -> UInt64?,
        before: @autoclosure () -> UInt64?, after: @autoclosure () -> UInt64
    ) {
        guard isExplained else { return }
        let end = Self.clock()
        steps.append(
            TagExpressionStep(
                operation: operation, what: what(), rows: rows(), before: before(), after: after(), depth: depth,
                nanoseconds: end - start))
        start = Self.clock()
    }

    /// The rows of `node`, only those in `left` unless that is nil.
    private mutating func rows(of node: PlannedNode, within left: RowSet?) -> RowSet {
        switch node {
        case .everyone: return left ?? everyone()
        case .nobody:
            note(.take, "nobody", rows: 0, before: left?.count, after: 0)
            return RowSet()
        case .tag(let tag):
            let rows = tagged(tag)
            let kept = left?.intersection(rows) ?? rows
            note(left == nil ? .take : .keep, tag, rows: rows.count, before: left?.count, after: kept.count)
            return kept
        case .without(let tag): return subtract([tag], from: left)
        case .all(let parts): return all(parts, within: left)
        case .any(let parts): return node.isOpen ? openAny(parts, within: left) : any(parts, within: left)
        }
    }

    /// The rows of the tags taken away from `left`, or from everyone.
    private mutating func subtract(_ tags: [String], from left: RowSet?) -> RowSet {
        guard var left else {
            // From everyone: all at once.
            var all = everyone()
            if tags.count == 1 { return subtract(tags, from: all) }
            let sets = tags.map { tagged($0) }
            let union = RowSet.union(sets)
            let before = all.count
            all = all.subtracting(union)
            note(
                .subtract, tags.joined(separator: " || "), rows: union.count, before: before, after: all.count)
            return all
        }
        let ordered = tags.map { (tag: $0, rows: tagged($0)) }.sorted { $0.rows.count > $1.rows.count }
        for (place, (tag, rows)) in ordered.enumerated() {
            if left.isEmpty {
                stop(ordered[place...].map { "!" + $0.tag })
                break
            }
            let before = left
            if !rows.isEmpty { left = left.subtracting(rows) }
            note(.subtract, tag, rows: rows.count, before: before.count, after: left.count)
        }
        return left
    }

    private mutating func stop(_ rest: [String]) {
        note(.stop, rest.joined(separator: " && "), rows: nil, before: nil, after: 0)
    }

    private mutating func all(_ parts: [PlannedNode], within outer: RowSet?) -> RowSet {
        var left = outer
        // Smallest first; stable, so that the same expression is always done in the same order.
        var closed: [(node: PlannedNode, bound: UInt64)] = []
        var negated: [String] = []
        var open: [PlannedNode] = []
        for part in parts {
            if case .without(let tag) = part {
                negated.append(tag)
            } else if part.isOpen {
                open.append(part)
            } else {
                closed.append((part, bound(part)))
            }
        }
        let ordered = closed.enumerated().sorted { ($0.element.bound, $0.offset) < ($1.element.bound, $1.offset) }
        var rest = ordered.map(\.element.node) + negated.map(PlannedNode.without) + open
        func isOver() -> Bool { left?.isEmpty ?? false }
        for (_, part) in ordered {
            if isOver() { break }
            left = rows(of: part.node, within: left)
            rest.removeFirst()
        }
        if !isOver(), !negated.isEmpty {
            left = subtract(negated, from: left)
            rest.removeFirst(negated.count)
        }
        for node in open {
            if isOver() { break }
            left = rows(of: node, within: left)
            rest.removeFirst()
        }
        if isOver(), !rest.isEmpty { stop(rest.map(\.text)) }
        return left ?? RowSet()
    }

    /// A disjunction of what can be put together from tags.
    private mutating func any(_ parts: [PlannedNode], within left: RowSet?) -> RowSet {
        var bounds: UInt64 = 0
        for part in parts { bounds += bound(part) }
        // Each part is cut to the rows left first where that is less to go through than the parts themselves.
        let isCut = left.map { $0.count < bounds / UInt64(parts.count) } ?? false
        let inner = isCut ? left : nil
        var sets: [RowSet] = []
        depth += 1
        for part in parts {
            if inner == nil, case .tag(let tag) = part {
                sets.append(tagged(tag))
            } else {
                sets.append(rows(of: part, within: inner))
            }
        }
        depth -= 1
        let union = RowSet.union(sets)
        guard let left else {
            note(.unite, PlannedNode.any(parts).text, rows: union.count, before: nil, after: union.count)
            return union
        }
        let kept = isCut ? union : left.intersection(union)
        note(
            isCut ? .unite : .keep, PlannedNode.any(parts).text, rows: union.count, before: left.count,
            after: kept.count)
        return kept
    }

    /// A disjunction with a negation in it: what is in none of its parts is taken away.
    private mutating func openAny(_ parts: [PlannedNode], within left: RowSet?) -> RowSet {
        let left = left ?? everyone()
        depth += 1
        let none = PlannedNode.all(parts.map(\.negated))
        let excluded = rows(of: none, within: left)
        depth -= 1
        let kept = left.subtracting(excluded)
        note(.subtract, none.text, rows: excluded.count, before: left.count, after: kept.count)
        return kept
    }
}

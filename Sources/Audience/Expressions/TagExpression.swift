/// A tag expression: who is pushed, by the tags of their registrations, as `(follows_RedSox || follows_Cardinals) &&
/// location_Boston`.
///
/// Of tags (1…120 letters, digits and `_ @ # . : -`), `!`, `&&`, `||` in falling precedence, and parentheses; `*`
/// alone is everyone. Blanks and line ends may stand between. At most 64 KiB, and 64 parentheses and negations in one
/// another.
package struct TagExpression: Sendable, CustomStringConvertible {
    let root: TagExpressionNode
    let mentions: [TagExpressionParser.Mention]

    /// Every registration.
    package static let everyone = TagExpression(root: .everyone, mentions: [])

    private init(root: TagExpressionNode, mentions: [TagExpressionParser.Mention]) {
        self.root = root
        self.mentions = mentions
    }

    /// - Throws: `audience, line 1, column 14: …`, what is wrong and what would be right; also when there are more
    ///   tags than `limits` has room for.
    package init(parsing text: String, limits: TagExpressionLimits = .notificationHubs) throws(AudienceError) {
        var parser = try TagExpressionParser(text)
        root = try parser.parse()
        try limits.check(parser)
        mentions = parser.mentions
    }

    /// The text of it, with the fewest parentheses; reads back as the same expression.
    package var description: String { root.description }

    /// The tags it names, each once, in the order of their first mention.
    package var tags: [String] {
        var seen: Set<String> = []
        return mentions.map(\.tag).filter { seen.insert($0).inserted }
    }

    /// The tags that no registration has, each once, with its first place and the known tag that is nearest. They are
    /// not wrong in themselves: nobody is meant by one.
    package func unknownTags(
        _ index: some TagIndex
    ) -> [(tag: String, line: Int, column: Int, nearest: String?)] {
        var seen: Set<String> = []
        var unknown: [(tag: String, line: Int, column: Int, nearest: String?)] = []
        for mention in mentions where seen.insert(mention.tag).inserted && index.rows(tagged: mention.tag) == nil {
            unknown.append((mention.tag, mention.place.line, mention.place.column, index.nearestTag(to: mention.tag)))
        }
        return unknown
    }

    /// The rows it selects. For ten million rows and `(a || b) && c`, with a tenth of them each, it takes 2 to 3 ms of a core; for 20
    /// tags with `||`, which nearly everybody has one of, about 20 ms.
    package func evaluate(_ index: some TagIndex) -> RowSet {
        var evaluation = TagExpressionEvaluation(index, isExplained: false)
        return evaluation.rows(of: PlannedNode(root))
    }

    /// How `evaluate` finds the rows: each step in the order it was done; the last one's `after` is the number of rows
    /// selected.
    package func explain(_ index: some TagIndex) -> [TagExpressionStep] {
        var evaluation = TagExpressionEvaluation(index, isExplained: true)
        _ = evaluation.rows(of: PlannedNode(root))
        return evaluation.steps
    }

    /// The same, with the rows, of which only those are kept that all of `filters` have.
    package func explained(
        _ index: some TagIndex, keeping filters: [(what: String, rows: RowSet)]
    ) -> (rows: RowSet, steps: [TagExpressionStep]) {
        var evaluation = TagExpressionEvaluation(index, isExplained: true)
        let rows = evaluation.rows(of: PlannedNode(root))
        return (evaluation.keep(rows, filters), evaluation.steps)
    }
}

extension TagExpression: Equatable {
    /// Whether both are the same expression; where its tags stand in the text does not matter.
    package static func == (left: TagExpression, right: TagExpression) -> Bool { left.root == right.root }
}

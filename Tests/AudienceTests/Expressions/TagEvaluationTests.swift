import TestSupport
import Testing

@testable import Audience

@Suite("Tag expressions select what brute force selects") struct TagEvaluationTests {
    private func population(_ random: inout SeededRandom) -> SmallPopulation {
        let count = Int.random(in: 0...60, using: &random)
        let shares = (0...12).map { _ in Double.random(in: 0...1, using: &random) }
        // Some tags that expressions name nobody has.
        let known = Int.random(in: 0...13, using: &random)
        return SmallPopulation(
            (0..<count).map { _ in
                Set((0..<known).filter { Double.random(in: 0..<1, using: &random) < shares[$0] }.map { "t\($0)" })
            })
    }

    @Test("10,000 random expressions select what brute force selects, and read back the same when printed")
    func bruteForce() throws {
        let seed = UInt64.random(in: 1...999_999_999)
        var random = SeededRandom(seed)
        for round in 0..<2_000 {
            let people = population(&random)
            for _ in 0..<5 {
                let node = TagExpressionNode.random(depth: Int.random(in: 0...5, using: &random), &random)
                let expression = try TagExpression(parsing: node.description, limits: .none)
                guard expression.root == node, try TagExpression(parsing: "\(expression)", limits: .none) == expression
                else {
                    Issue.record("seed \(seed), round \(round): \(node) reads back as \(expression)")
                    return
                }
                let expected = people.rows(of: node)
                let found = expression.evaluate(people)
                guard found.list == expected, found.count == expected.count else {
                    Issue.record("seed \(seed), round \(round): \(node): \(found.list), expected \(expected)")
                    return
                }
                let steps = expression.explain(people)
                guard steps.last.map({ $0.after == UInt64(expected.count) && $0.depth == 0 }) == true else {
                    Issue.record("seed \(seed), round \(round): \(node): the last step of \(steps) is not the whole")
                    return
                }
            }
        }
    }

    /// a: 1…9, b: even, c: 0 and 5, of 10 rows.
    private let ten = SmallPopulation(
        (0..<10).map { row in
            Set((row > 0 ? ["a"] : []) + (row % 2 == 0 ? ["b"] : []) + (row % 5 == 0 ? ["c"] : []))
        })

    private func explained(_ text: String) throws -> [String] {
        try TagExpression(parsing: text).explain(ten).map(\.description)
    }

    @Test("A conjunction begins with the fewest rows and subtracts what is negated from what is left")
    func smallestFirst() throws {
        #expect(
            try explained("a && b && !c") == [
                "take b (5): 5 rows", "keep a (9): 5 -> 4 rows", "subtract c (2): 4 -> 4 rows",
            ])
        #expect(
            try explained("a && (b || c)") == [
                "unite b || c (6): 6 rows", "keep a (9): 6 -> 5 rows",
            ])
        #expect(
            try explained("c && (a || b)") == [
                "take c (2): 2 rows", "  keep a (9): 2 -> 1 row", "  keep b (5): 2 -> 1 row",
                "unite a || b (2): 2 -> 2 rows",
            ])
    }

    @Test("It stops where nobody is left, and says what that left out")
    func stops() throws {
        #expect(
            try explained("a && nobody && !b && c") == ["take nobody (0): 0 rows", "stop c && a && !b: 0 rows"])
    }

    @Test("Only a pure negation takes everyone first")
    func pureNegation() throws {
        #expect(try explained("!a") == ["take * (10): 10 rows", "subtract a (9): 10 -> 1 row"])
        #expect(try explained("!(b || c)") == ["take * (10): 10 rows", "subtract b || c (6): 10 -> 4 rows"])
        #expect(try explained("*") == ["take * (10): 10 rows"])
        #expect(
            try explained("c && (!a || b)") == [
                "take c (2): 2 rows", "  keep a (9): 2 -> 1 row", "  subtract b (5): 1 -> 1 row",
                "subtract a && !b (1): 2 -> 1 row",
            ])
    }

    @Test("What is always or never true is seen before any row is looked at")
    func constants() throws {
        #expect(try explained("a && !a") == ["take nobody (0): 0 rows"])
        #expect(try explained("a || !a") == ["take * (10): 10 rows"])
        #expect(try explained("a && a && (a)") == ["take a (9): 9 rows"])
        #expect(try explained("!!a") == ["take a (9): 9 rows"])
    }

    @Test("Unknown tags come with their place and the tag that was probably meant")
    func unknown() throws {
        let unknown = try TagExpression(parsing: "a &&\n (B || nobody || nobody)").unknownTags(ten)
        #expect(unknown.map(\.tag) == ["B", "nobody"])
        #expect(unknown.map(\.line) == [2, 2])
        #expect(unknown.map(\.column) == [3, 8])
        #expect(unknown.map(\.nearest) == ["b", nil])
    }

    @Test("Nobody in the file is nobody in every expression")
    func empty() throws {
        let nobody = SmallPopulation([])
        for text in ["*", "a", "!a", "a || !b"] {
            #expect(try TagExpression(parsing: text).evaluate(nobody).isEmpty)
        }
    }
}

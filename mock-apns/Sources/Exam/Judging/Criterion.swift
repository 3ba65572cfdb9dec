/// One thing that a client is judged by in a situation.
package struct Criterion: Sendable {
    /// `goaway.arrived`: the situation's name and its own.
    package let id: String
    /// What a client has to do, in a sentence.
    package let text: String
    package let weight: Weight
    /// The rule's place: a section of an RFC, a page of Apple's and its words; or that it is the exam's own.
    package let source: String
    private let rule: @Sendable (Journal) -> Finding

    package enum Weight: String, Codable, Sendable {
        case must, should
    }

    /// - Parameter rule: only asked of journals with a push in them; without one nothing is shown.
    init(
        _ id: String, _ weight: Weight, _ text: String, source: String, rule: @escaping @Sendable (Journal) -> Finding
    ) {
        self.init(id: id, weight, text, source: source) { journal in
            journal.pushes.isEmpty ? .notShown("no push came") : rule(journal)
        }
    }

    /// - Parameter rule: asked of every journal.
    init(
        id: String, _ weight: Weight, _ text: String, source: String, rule: @escaping @Sendable (Journal) -> Finding
    ) {
        self.id = id
        self.text = text
        self.weight = weight
        self.source = source
        self.rule = rule
    }

    package func judge(_ journal: Journal) -> Finding { rule(journal) }
}

/// A criterion's outcome, and the counts that prove it.
package struct Finding: Sendable, Equatable {
    package let verdict: Verdict
    package let evidence: String

    static func passed(_ evidence: String) -> Finding { Finding(verdict: .passed, evidence: evidence) }
    static func failed(_ evidence: String) -> Finding { Finding(verdict: .failed, evidence: evidence) }
    static func notShown(_ evidence: String) -> Finding { Finding(verdict: .notShown, evidence: evidence) }
    static func of(_ isHeld: Bool, _ evidence: String) -> Finding {
        Finding(verdict: isHeld ? .passed : .failed, evidence: evidence)
    }
}

package enum Verdict: String, Codable, Sendable {
    case passed, failed
    /// The client never came to it.
    case notShown = "not shown"
}

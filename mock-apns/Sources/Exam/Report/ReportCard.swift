import Foundation
import Settings

/// What an exam found, as it is written down.
package struct ReportCard: Codable, Sendable {
    package static let schema = "mock-apns.exam/1"

    package let schema: String
    /// Of mock-apns.
    package let version: String
    /// What the user calls the client.
    package let client: String
    package let patience: Double
    /// Pushes of a situation.
    package let pushes: Int
    package var situations: [SituationCard] = []

    package init(client: String, patience: Double, pushes: Int) {
        schema = Self.schema
        version = Version.number
        self.client = client
        self.patience = patience
        self.pushes = pushes
    }

    package struct SituationCard: Codable, Sendable {
        package let name: String
        package let title: String
        package let seconds: Double
        /// Connections the client opened.
        package let connections: Int
        /// Requests the client sent, whatever became of them.
        package let requests: Int
        /// Connections that the client broke HTTP/2's rules on, and by what.
        package let violations: [String]
        package let criteria: [CriterionCard]

        package init(_ situation: Situation, _ journal: Journal) {
            name = situation.name
            title = situation.title
            seconds = (Double(journal.duration) / 1e6).rounded() / 1e3
            connections = journal.connections.count + journal.connectionsBeyond
            requests = journal.pushes.count
            violations = journal.connections.compactMap(\.violation)
            criteria = situation.criteria.map { CriterionCard($0, $0.judge(journal)) }
        }

        /// What connections were ended for, each once.
        var endings: [String] {
            let counts = violations.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            var told: Set<String> = []
            return violations.filter { told.insert($0).inserted }.map { violation in
                let count = counts[violation] ?? 0
                return (count == 1 ? "a connection" : Units.counted(count, "connection")) + " ended for \(violation)"
            }
        }

        package func count(_ verdict: Verdict, _ weight: Criterion.Weight? = nil) -> Int {
            criteria.count { $0.verdict == verdict && (weight == nil || $0.weight == weight) }
        }
    }

    package struct CriterionCard: Codable, Sendable {
        package let id: String
        package let text: String
        package let weight: Criterion.Weight
        package let source: String
        package let verdict: Verdict
        package let evidence: String

        init(_ criterion: Criterion, _ finding: Finding) {
            id = criterion.id
            text = criterion.text
            weight = criterion.weight
            source = criterion.source
            verdict = finding.verdict
            evidence = finding.evidence
        }
    }

    package func count(_ verdict: Verdict, _ weight: Criterion.Weight? = nil) -> Int {
        situations.reduce(0) { $0 + $1.count(verdict, weight) }
    }

    /// `19 situations: 70 passed, 3 failed (1 must, 2 should), 5 not shown`.
    package var summary: String {
        let failed = count(.failed)
        let kinds = "(\(count(.failed, .must)) must, \(count(.failed, .should)) should)"
        return
            "\(Units.counted(situations.count, "situation")): \(count(.passed)) passed, \(failed) failed"
            + (failed > 0 ? " " + kinds : "") + ", \(count(.notShown)) not shown"
    }
}

/// The forms of a report card, by the ending of the file's name.
package enum CardFormat: String, CaseIterable, Sendable {
    case json, xml, html

    package init?(path: String) {
        guard let format = Self.allCases.first(where: { path.lowercased().hasSuffix("." + $0.rawValue) }) else {
            return nil
        }
        self = format
    }

    /// - Parameter failing: weights of what fails the exam.
    package func text(_ card: ReportCard, failing: Set<Criterion.Weight>) throws(ExamError) -> String {
        switch self {
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            do { return String(decoding: try encoder.encode(card), as: UTF8.self) + "\n" } catch {
                throw ExamError("cannot write the report card as JSON: \(error)")
            }
        case .xml: return JUnitCard.text(card, failing)
        case .html: return HTMLCard.text(card)
        }
    }
}

import Settings

/// A report card as JUnit's XML: a suite a situation, a test case a criterion. What failed without failing the exam is skipped, and says
/// so: a report is as red as the exit status.
enum JUnitCard {
    /// - Parameter failing: weights of what fails the exam.
    static func text(_ card: ReportCard, _ failing: Set<Criterion.Weight>) -> String {
        let total = card.situations.reduce(0) { $0 + $1.seconds }
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
        lines.append(
            "<testsuites name=\"mock-apns exam\" "
                + counts(card.situations.flatMap(\.criteria), failing) + " time=\"\(Units.fixed(total, places: 3))\">")
        for situation in card.situations { lines += suite(situation, of: card, failing) }
        lines.append("</testsuites>")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func counts(_ criteria: [ReportCard.CriterionCard], _ failing: Set<Criterion.Weight>) -> String {
        let failures = criteria.count { $0.verdict == .failed && failing.contains($0.weight) }
        let skipped = criteria.count { $0.verdict != .passed } - failures
        return "tests=\"\(criteria.count)\" failures=\"\(failures)\" errors=\"0\" skipped=\"\(skipped)\""
    }

    private static func suite(
        _ situation: ReportCard.SituationCard, of card: ReportCard, _ failing: Set<Criterion.Weight>
    ) -> [String] {
        let time = Units.fixed(situation.seconds, places: 3)
        let classname = HTMLText.escape("\(card.client).\(situation.name)")
        let name = HTMLText.escape(situation.name)
        var lines = ["  <testsuite name=\"\(name)\" \(counts(situation.criteria, failing)) time=\"\(time)\">"]
        for criterion in situation.criteria {
            let start = "    <testcase classname=\"\(classname)\" name=\"\(HTMLText.escape(criterion.id))\""
            let found = HTMLText.escape("\(criterion.text): \(criterion.evidence)")
            let source = HTMLText.escape(criterion.source)
            switch criterion.verdict {
            case .passed: lines.append(start + "/>")
            case .failed where failing.contains(criterion.weight):
                lines += [
                    start + ">",
                    "      <failure type=\"\(criterion.weight.rawValue)\" message=\"\(found)\">\(source)</failure>",
                    "    </testcase>",
                ]
            case .failed, .notShown:
                let verdict = criterion.verdict == .failed ? "failed (\(criterion.weight.rawValue))" : "not shown"
                lines += [
                    start + ">", "      <skipped message=\"\(verdict): \(found)\">\(source)</skipped>",
                    "    </testcase>",
                ]
            }
        }
        return lines + ["  </testsuite>"]
    }
}

import Settings

/// A report card as JUnit's XML: a suite a situation, a test case a criterion. A "should" that failed is a failure too, of its type.
enum JUnitCard {
    static func text(_ card: ReportCard) -> String {
        let total = card.situations.reduce(0) { $0 + $1.seconds }
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
        lines.append(
            "<testsuites name=\"mock-apns exam\" "
                + counts(card.situations.flatMap(\.criteria)) + " time=\"\(Units.fixed(total, places: 3))\">")
        for situation in card.situations { lines += suite(situation, of: card) }
        lines.append("</testsuites>")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func counts(_ criteria: [ReportCard.CriterionCard]) -> String {
        let failures = criteria.count { $0.verdict == .failed }
        let skipped = criteria.count { $0.verdict == .notShown }
        return "tests=\"\(criteria.count)\" failures=\"\(failures)\" errors=\"0\" skipped=\"\(skipped)\""
    }

    private static func suite(_ situation: ReportCard.SituationCard, of card: ReportCard) -> [String] {
        let time = Units.fixed(situation.seconds, places: 3)
        let classname = HTMLText.escape("\(card.client).\(situation.name)")
        var lines = [
            "  <testsuite name=\"\(HTMLText.escape(situation.name))\" \(counts(situation.criteria)) time=\"\(time)\">"
        ]
        for criterion in situation.criteria {
            let start = "    <testcase classname=\"\(classname)\" name=\"\(HTMLText.escape(criterion.id))\""
            let message = "message=\"\(HTMLText.escape("\(criterion.text): \(criterion.evidence)"))\""
            let source = HTMLText.escape(criterion.source)
            switch criterion.verdict {
            case .passed: lines.append(start + "/>")
            case .failed:
                lines += [
                    start + ">", "      <failure type=\"\(criterion.weight.rawValue)\" \(message)>\(source)</failure>",
                    "    </testcase>",
                ]
            case .notShown: lines += [start + ">", "      <skipped \(message)>\(source)</skipped>", "    </testcase>"]
            }
        }
        return lines + ["  </testsuite>"]
    }
}

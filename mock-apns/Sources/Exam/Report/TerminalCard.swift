import Settings

/// A report card as plain text.
package enum TerminalCard {
    package static func text(_ card: ReportCard) -> String {
        (card.situations.map(text) + [card.client + ": " + card.summary]).joined(separator: "\n") + "\n"
    }

    private static func text(_ situation: ReportCard.SituationCard) -> String {
        var lines = ["\(situation.name): \(situation.title)"]
        for criterion in situation.criteria {
            let verdict = criterion.verdict == .failed ? "FAILED" : criterion.verdict.rawValue
            let start = "  " + padded(verdict, 10) + padded(criterion.weight.rawValue, 7)
            lines.append("\(start)\(criterion.text): \(criterion.evidence)")
            lines.append(String(repeating: " ", count: 19) + criterion.source)
        }
        lines += situation.endings.map { "  " + $0 }
        return lines.joined(separator: "\n") + "\n"
    }

    /// What there is to examine.
    package static func list(_ situations: [Situation]) -> String {
        situations.map { situation in
            let lines = situation.criteria.map { criterion in
                "  \(padded(criterion.id, 30)) \(padded(criterion.weight.rawValue, 7))\(criterion.text)\n"
                    + String(repeating: " ", count: 40) + criterion.source
            }
            return (["\(situation.name): \(situation.title)"] + lines).joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

import Settings

/// A report card as a page of its own: no script, nothing loaded.
enum HTMLCard {
    static func text(_ card: ReportCard) -> String {
        let client = HTMLText.escape(card.client)
        let sections = card.situations.map(section).joined(separator: "\n")
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>APNs exam: \(client)</title>
            <style>
            \(style)
            </style>
            </head>
            <body>
            <h1>APNs exam: \(client)</h1>
            <p>\(HTMLText.escape(card.summary)). \(card.pushes) pushes a situation, mock-apns \(HTMLText.escape(card.version)).</p>
            \(sections)
            </body>
            </html>

            """
    }

    private static func section(_ situation: ReportCard.SituationCard) -> String {
        let rows = situation.criteria.map { criterion in
            let kind = criterion.verdict == .notShown ? "unshown" : criterion.verdict.rawValue
            return "<tr class=\"\(kind)\"><td>\(criterion.verdict.rawValue)</td><td>\(criterion.weight.rawValue)</td>"
                + "<td>\(HTMLText.escape(criterion.text))<br><small>\(HTMLText.escape(criterion.source))</small></td>"
                + "<td>\(HTMLText.escape(criterion.evidence))</td></tr>"
        }
        let violations = situation.endings.map { "<p>\(HTMLText.escape($0))</p>\n" }.joined()
        return """
            <h2>\(HTMLText.escape(situation.name))</h2>
            <p>\(HTMLText.escape(situation.title)). \(Units.fixed(situation.seconds, places: 1)) s, \
            \(Units.counted(situation.connections, "connection")), \(Units.counted(situation.requests, "request")).</p>
            \(violations)<table>
            <tr><th>Verdict</th><th>Weight</th><th>Criterion</th><th>What was seen</th></tr>
            \(rows.joined(separator: "\n"))
            </table>
            """
    }

    private static let style = """
        :root { color-scheme: light dark }
        body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
        table { border-collapse: collapse; width: 100% }
        th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8884 }
        small { opacity: .7 }
        .passed td:first-child { color: #1a7f37 }
        .failed td:first-child { color: #d1242f; font-weight: bold }
        .unshown { opacity: .7 }
        """
}

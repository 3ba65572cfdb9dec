/// The same report as Markdown (tables of GitHub's kind); charts are left to HTML, their figures are in the tables.
package enum MarkdownReport {
    /// - Parameters:
    ///   - runs: at least one.
    ///   - beside: sections of these runs, after those they share.
    package static func text(_ runs: [ReportedRun], beside: [ReportSection] = []) -> String {
        text(ReportContent.title(runs), ReportContent.subtitle(runs), ReportContent.sections(runs, beside))
    }

    package static func text(_ title: String, _ subtitle: String, _ sections: [ReportSection]) -> String {
        var parts = ["# \(escape(title))", escape(subtitle)]
        for section in sections {
            let blocks = section.blocks.compactMap(block)
            guard !blocks.isEmpty else { continue }
            parts.append("## \(escape(section.title))")
            parts += blocks
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Text as text: nothing in it is markup, a table's cell or a line's end.
    package static func escape(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\\", "`", "*", "_", "[", "]", "|", "#", "~", "!":
                result += "\\"
                result.unicodeScalars.append(scalar)
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}": result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// nil for what Markdown cannot show.
    private static func block(_ block: ReportBlock) -> String? {
        switch block {
        case .figures(let figures):
            var table = ReportTable(["figure", "value", "remark"])
            for figure in figures { table.add([figure.name, figure.value, figure.remark]) }
            return self.table(table)
        case .table(let table): return self.table(table)
        case .charts, .bars, .heatMaps: return nil
        case .text(let text): return escape(text)
        case .list(let lines): return lines.map { "- \(escape($0))" }.joined(separator: "\n")
        case .verdicts(let verdicts):
            return verdicts.map { "- \($0.isGood ? "✓" : "✗") \(escape($0.text))" }.joined(separator: "\n")
        case .folded(let title, let blocks):
            let inside = blocks.compactMap(self.block).joined(separator: "\n\n")
            return "<details><summary>\(escape(title))</summary>\n\n\(inside)\n\n</details>"
        }
    }

    private static func table(_ table: ReportTable) -> String {
        func line(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }
        let rule = ["---"] + [String](repeating: "---:", count: max(0, table.header.count - 1))
        return ([line(table.header.map(escape)), line(rule)] + table.rows.map { line($0.map(escape)) })
            .joined(separator: "\n")
    }
}

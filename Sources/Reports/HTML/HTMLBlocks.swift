/// Blocks of a report as HTML.
enum HTMLBlocks {
    static func section(_ section: ReportSection) -> String {
        "<section>\n<h2>\(HTMLText.escape(section.title))</h2>\n"
            + section.blocks.map(block).joined() + "</section>\n"
    }

    private static func block(_ block: ReportBlock) -> String {
        switch block {
        case .figures(let figures): self.figures(figures)
        case .table(let table): self.table(table)
        case .charts(let charts): "<div class=\"charts\">\n\(charts.map(SVGLineChart.figure).joined())</div>\n"
        case .bars(let charts): "<div class=\"charts\">\n\(charts.map(SVGBarChart.figure).joined())</div>\n"
        case .heatMaps(let maps): "<div class=\"charts\">\n\(maps.map(SVGHeatMap.figure).joined())</div>\n"
        case .text(let text): "<p>\(HTMLText.escape(text))</p>\n"
        case .list(let lines): "<ul>\(lines.map { "<li>\(HTMLText.escape($0))</li>" }.joined(separator: "\n"))</ul>\n"
        case .verdicts(let verdicts):
            "<ul class=\"verdicts\">"
                + verdicts.map { "<li class=\"\($0.isGood ? "good" : "bad")\">\(HTMLText.escape($0.text))</li>" }
                .joined(separator: "\n") + "</ul>\n"
        case .folded(let title, let blocks):
            "<details><summary>\(HTMLText.escape(title))</summary>\n\(blocks.map(self.block).joined())</details>\n"
        }
    }

    private static func figures(_ figures: [(name: String, value: String, remark: String)]) -> String {
        let cards = figures.map { figure in
            let remark = figure.remark.isEmpty ? "" : "<small>\(HTMLText.escape(figure.remark))</small>"
            return
                "<div><dt>\(HTMLText.escape(figure.name))</dt><dd>\(HTMLText.escape(figure.value))\(remark)</dd></div>\n"
        }
        return "<dl class=\"figures\">\n\(cards.joined())</dl>\n"
    }

    private static func table(_ table: ReportTable) -> String {
        let header = table.header.map { "<th scope=\"col\">\(HTMLText.escape($0))</th>" }.joined()
        let rows = table.rows.map { row in
            let cells = row.dropFirst().map { "<td>\(HTMLText.escape($0))</td>" }.joined()
            return "<tr><th scope=\"row\">\(HTMLText.escape(row.first ?? ""))</th>\(cells)</tr>\n"
        }
        return
            "<div class=\"wide\"><table><thead><tr>\(header)</tr></thead>\n<tbody>\n\(rows.joined())</tbody></table></div>\n"
    }
}

import Settings

/// Blocks of a report as HTML.
enum HTMLBlocks {
    static func section(_ section: ReportSection) -> String {
        "<section>\n<h2>\(HTMLText.escape(section.title))</h2>\n\(all(section.blocks))</section>\n"
    }

    /// Pictures that follow each other stand in one grid.
    private static func all(_ blocks: [ReportBlock]) -> String {
        var (html, pictures) = ("", "")
        func end() {
            if !pictures.isEmpty { html += "<div class=\"charts\">\n\(pictures)</div>\n" }
            pictures = ""
        }
        for block in blocks {
            if let figures = figures(of: block) {
                pictures += figures
            } else {
                end()
                html += self.block(block)
            }
        }
        end()
        return html
    }

    /// nil for what is no picture.
    private static func figures(of block: ReportBlock) -> String? {
        switch block {
        case .charts(let charts): charts.map(SVGLineChart.figure).joined()
        case .bars(let charts): charts.map(SVGBarChart.figure).joined()
        case .heatMaps(let maps): maps.map(SVGHeatMap.figure).joined()
        default: nil
        }
    }

    private static func block(_ block: ReportBlock) -> String {
        switch block {
        case .figures(let figures): self.figures(figures)
        case .table(let table): self.table(table)
        case .charts, .bars, .heatMaps: figures(of: block) ?? ""
        case .text(let text): "<p>\(HTMLText.escape(text))</p>\n"
        case .list(let lines): "<ul>\(lines.map { "<li>\(HTMLText.escape($0))</li>" }.joined(separator: "\n"))</ul>\n"
        case .verdicts(let verdicts):
            "<ul class=\"verdicts \(verdicts.allSatisfy(\.isGood) ? "right" : "wrong")\">"
                + verdicts.map { "<li class=\"\($0.isGood ? "good" : "bad")\">\(HTMLText.escape($0.text))</li>" }
                .joined(separator: "\n") + "</ul>\n"
        case .folded(let title, let blocks):
            "<details><summary>\(HTMLText.escape(title))</summary>\n\(all(blocks))</details>\n"
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
        let width = width(table)
        let style = width > page ? "wide scrolls far" : width > phone ? "wide scrolls" : "wide"
        return
            "<div class=\"\(style)\"><table><thead><tr>\(header)</tr></thead>\n<tbody>\n\(rows.joined())</tbody></table></div>\n"
    }

    /// Characters that a phone, and a page at its widest, show of a table.
    private static let phone = 44
    private static let page = 140

    /// About how wide a table is, in characters.
    private static func width(_ table: ReportTable) -> Int {
        table.header.indices.reduce(0) { sum, column in
            sum + 2 + ([table.header] + table.rows).reduce(0) { max($0, $1[column].count) }
        }
    }
}

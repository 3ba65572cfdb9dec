import Reports
import Results

/// A sweep as one self-contained page, or as Markdown.
enum SweepPage {
    static func html(_ document: SweepDocument) -> String {
        HTMLReport.page("Sweep \(document.name)", subtitle(document), sections(document))
    }

    static func markdown(_ document: SweepDocument) -> String {
        MarkdownReport.text("Sweep \(document.name)", subtitle(document), sections(document))
    }

    private static func subtitle(_ document: SweepDocument) -> String {
        ["pushload \(document.version)", document.startedAt, document.machine].filter { !$0.isEmpty }
            .joined(separator: " · ")
    }

    static func sections(_ document: SweepDocument) -> [ReportSection] {
        var table = ReportTable(SweepTable.header(document))
        for point in document.points { table.add(SweepTable.row(point, document)) }
        var sections = [
            ReportSection(
                title: "Best", blocks: [.text(SweepReport.headline(document)), .list(SweepReport.best(document))])
        ]
        let pictures = pictures(document)
        if !pictures.isEmpty { sections.append(ReportSection(title: "Pictures", blocks: pictures)) }
        sections += [
            ReportSection(title: "Pareto front", blocks: [.text(frontText), .table(front(document))]),
            ReportSection(title: "Points", blocks: [.text("Medians over the runs of each point."), .table(table)]),
        ]
        let problems = SweepTable.problems(document)
        if !problems.isEmpty {
            let list = problems.enumerated().map { "problem \($0.offset + 1): \($0.element)" }
            sections.append(ReportSection(title: "Problems", blocks: [.list(list)]))
        }
        if !document.notes.isEmpty { sections.append(ReportSection(title: "Notes", blocks: [.list(document.notes)])) }
        return sections
    }

    private static let frontText =
        "No other point is at least as good in rate, p99 and client CPU at once, and better in one of them; by medians."

    private static func front(_ document: SweepDocument) -> ReportTable {
        var table = ReportTable(["point"] + SweepFigure.drawn.map(\.name))
        for number in document.front {
            guard let point = document.point(numbered: number) else { continue }
            table.add(
                [SweepReport.name(number, document)]
                    + SweepFigure.drawn.map { figure in figure.value(point).map { figure.written($0.median) } ?? "-" })
        }
        return table
    }

    private static func pictures(_ document: SweepDocument) -> [ReportBlock] {
        var blocks: [ReportBlock] = []
        if let little = SweepCharts.little(document) { blocks.append(.charts([little])) }
        if let panels = SweepPanels(document) {
            for figure in SweepFigure.drawn { blocks.append(.heatMaps(panels.maps(figure))) }
            blocks.append(
                .text(
                    "The darker, the more. ★ and a thick frame: the best point; a dashed frame: the Pareto front; ✗: a problem."
                ))
        }
        let lines = SweepFigure.drawn.compactMap { SweepCharts.lines(document, $0) }
        if !lines.isEmpty { blocks.append(.charts(lines)) }
        let bars = SweepFigure.drawn.compactMap { SweepCharts.bars(document, $0) }
        if !bars.isEmpty { blocks.append(.bars(bars)) }
        return blocks
    }
}

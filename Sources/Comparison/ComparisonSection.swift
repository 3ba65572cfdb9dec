import Reports
import Results

/// Two groups of runs held against each other, as a part of a report.
enum ComparisonSection {
    static func make(_ comparison: ComparisonDocument) -> ReportSection {
        var table = ReportTable(ComparisonReport.header(comparison.a.name, comparison.b.name, comparison))
        for row in ComparisonReport.rows(comparison) { table.add(row) }
        var blocks: [ReportBlock] = [.table(table)]
        if !comparison.distributions.isEmpty {
            blocks.append(.list(comparison.distributions.map(ComparisonReport.line)))
        }
        if !comparison.warnings.isEmpty { blocks.append(.list(comparison.warnings.map { "warning: \($0)" })) }
        return ReportSection(title: "\(comparison.b.name) against \(comparison.a.name)", blocks: blocks)
    }
}

import Reports
import Results

/// The outcome of a gate as a table for a pull request.
enum GateMarkdown {
    static func text(_ gate: GateDocument) -> String {
        var lines = [
            "### pushload gate: \(word(gate.verdict))", "", MarkdownReport.escape(GateReport.sentence(gate)), "",
        ]
        lines.append("| median | \(GateReport.base(gate)) | now | ratio | interval | verdict |")
        lines.append("| --- | ---: | ---: | ---: | ---: | --- |")
        for metric in gate.metrics {
            let cells = GateReport.cells(metric).map(MarkdownReport.escape)
            lines.append("| \(mark(metric.verdict))\(cells.joined(separator: " | ")) |")
        }
        let notes = GateReport.notes(gate)
        if !notes.isEmpty || !gate.warnings.isEmpty { lines.append("") }
        lines += notes.map { "- \(MarkdownReport.escape($0))" }
        lines += gate.warnings.map { "- \(MarkdownReport.escape($0))" }
        if let reason = gate.reason, let updatedAt = gate.baselineUpdatedAt {
            lines += ["", MarkdownReport.escape("Baseline \(gate.base) of \(updatedAt): \(reason)")]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func word(_ verdict: GateDocument.Verdict) -> String {
        switch verdict {
        case .pass, .information: "pass"
        case .improved: "improved"
        case .regression: "regression"
        case .cannotTell: "cannot tell"
        }
    }

    private static func mark(_ verdict: GateDocument.Verdict) -> String {
        switch verdict {
        case .pass, .improved: "✅ "
        case .regression: "❌ "
        case .cannotTell: "❔ "
        case .information: ""
        }
    }
}

import Results

/// The outcome of a gate as workflow commands of GitHub Actions ("Workflow commands for GitHub Actions", setting an error
/// message): one annotation a metric that does not pass, or one that all do.
enum GitHubAnnotations {
    static func text(_ gate: GateDocument, failsWhenUnsure: Bool) -> String {
        var lines: [String] = []
        for metric in gate.metrics {
            let cells = GateReport.cells(metric)
            let message =
                "\(cells[0]): \(cells[5]) (\(GateReport.base(gate)) \(cells[1]), now \(cells[2]), interval \(cells[4]))"
            switch metric.verdict {
            case .regression: lines.append(command("error", message))
            case .cannotTell: lines.append(command(failsWhenUnsure ? "error" : "warning", message))
            case .improved: lines.append(command("notice", message))
            case .pass, .information: break
            }
        }
        if lines.isEmpty { lines.append(command("notice", GateReport.sentence(gate))) }
        lines += gate.warnings.map { command("warning", $0) }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func command(_ level: String, _ message: String) -> String {
        "::\(level) title=pushload gate::\(escape(message))"
    }

    /// As @actions/core escapes the data of a command.
    static func escape(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "%": result += "%25"
            case "\r": result += "%0D"
            case "\n": result += "%0A"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

import Results
import Settings

/// The outcome of a gate as JUnit's XML: one test case a judged metric, which is what Jenkins, GitLab and GitHub's reporters read.
enum GateJUnit {
    /// - Parameter failsWhenUnsure: "cannot tell" is a failure; else the case counts as skipped.
    static func text(_ gate: GateDocument, failsWhenUnsure: Bool) -> String {
        let judged = gate.metrics.filter { $0.verdict != .information }
        let unsure = judged.count { $0.verdict == .cannotTell }
        let failures = judged.count { $0.verdict == .regression } + (failsWhenUnsure ? unsure : 0)
        let seconds = Units.fixed(gate.seconds, places: 3)
        let counts =
            "tests=\"\(judged.count)\" failures=\"\(failures)\" errors=\"0\" skipped=\"\(failsWhenUnsure ? 0 : unsure)\""
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
        lines.append("<testsuites name=\"pushload gate\" \(counts) time=\"\(seconds)\">")
        lines.append("  <testsuite name=\"\(escape("gate " + gate.base))\" \(counts) time=\"\(seconds)\">")
        for metric in judged { lines += testCase(metric, gate, failsWhenUnsure: failsWhenUnsure) }
        lines += ["  </testsuite>", "</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func testCase(
        _ metric: GateDocument.Metric, _ gate: GateDocument, failsWhenUnsure: Bool
    ) -> [String] {
        let name =
            "    <testcase classname=\"\(escape("pushload.gate." + gate.base))\" name=\"\(escape(metric.name))\""
        let cells = GateReport.cells(metric)
        let details = "\(GateReport.base(gate)) \(cells[1]), now \(cells[2]), ratio \(cells[3]), interval \(cells[4])"
        let element: String
        switch metric.verdict {
        case .pass, .improved, .information: return [name + "/>"]
        case .regression: element = "failure type=\"regression\""
        case .cannotTell: element = failsWhenUnsure ? "failure type=\"cannot tell\"" : "skipped"
        }
        let tag = element.prefix { $0 != " " }
        let message = "\(cells[0]): \(cells[5])"
        return [
            name + ">", "      <\(element) message=\"\(escape(message))\">\(escape(details))</\(tag)>",
            "    </testcase>",
        ]
    }

    /// Text as an attribute or between tags; what XML 1.0 does not allow (section 2.2) becomes U+FFFD.
    static func escape(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            case "\0"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

import Foundation
import Measurement
import Results
import Settings

/// A report for a terminal: what went through over time, how long it took, where the time went, and how it ended.
package enum TerminalReport {
    /// - Parameters:
    ///   - runs: at least one; of several, the curves one below the other and the figures side by side.
    ///   - beside: lines of these runs, after their own.
    package static func text(
        _ runs: [ReportedRun], beside: String = "", _ picture: TextPicture
    ) -> String {
        var lines = ["", TextLines.plain(ReportContent.title(runs))]
        lines += wrapped(TextLines.plain(ReportContent.subtitle(runs)), picture.width)
        if runs.count == 1 {
            lines += verdicts(runs[0], picture) + overTime(runs[0], picture) + percentiles(runs[0], picture)
            lines += fanOut(runs[0].result, picture)
            lines += bars(StageSection.charts(runs[0]), picture) + outcomes(runs[0].result, picture)
            if !runs[0].result.isPartial { lines += ["", cost(runs[0].result)] }
        } else {
            for run in runs {
                lines +=
                    ["", TextLines.plain(run.named)] + verdicts(run, picture) + overTime(run, picture)
                    + percentiles(run, picture)
            }
            lines += ["", "side by side"] + side(runs, picture.width)
            lines += beside.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        }
        let text = TextLines.fitted(lines, width: picture.width).joined(separator: "\n") + "\n"
        return picture.isUnicode ? text : String(text.map { $0.isASCII ? $0 : $0 == "·" ? "-" : "?" })
    }

    /// Parts that `·` separates, on as many lines as they take.
    private static func wrapped(_ text: String, _ width: Int) -> [String] {
        var lines: [String] = []
        for part in text.components(separatedBy: " · ") {
            if let last = lines.last, last.count + 3 + part.count <= width {
                lines[lines.count - 1] = "\(last) · \(part)"
            } else {
                lines.append(part)
            }
        }
        return lines
    }

    private static func verdicts(_ run: ReportedRun, _ picture: TextPicture) -> [String] {
        let (good, bad) =
            picture.isUnicode
            ? (picture.good("✓"), picture.bad("✗")) : (picture.good("ok"), picture.bad("FAILED"))
        let problems =
            run.problems.isEmpty
            ? ["\(good) \(run.result.allRight)"] : run.problems.map { "\(bad) \(TextLines.plain($0))" }
        return problems
            + run.thresholds.map { "\($0.isHeld ? good : bad) \($0.isHeld ? "held" : "crossed"): \($0.text)" }
            + (run.result.trust?.until.map { ["\($0.reached ? good : bad) \($0.verdict(.plain))"] } ?? [])
            + run.result.generator.reasons.map {
                "\(picture.doubtful("!")) the generator was a limit: \(TextLines.plain($0))"
            }
            + TrustSection.lines(run.result).dropFirst()
    }

    /// A line of bars for each, with its highest value.
    private static func overTime(_ run: ReportedRun, _ picture: TextPicture) -> [String] {
        let points = run.result.shownSeries()
        guard !points.isEmpty else { return [] }
        let rates = TimeSection.rate(points) { $0.accepted &+ $0.rejected }.map(\.y)
        var rows: [(name: String, values: [Double?], highest: String)] = [
            ("answered/s", rates, Written.rate(rates.max() ?? 0))
        ]
        // Looked at ten times a second: a shorter run has no figure.
        if let most = points.map(\.inFlight).max(), most > 0 {
            rows.append(("in flight", points.map { Double($0.inFlight) }, Written.count(UInt64(most))))
        }
        for (name, path) in [("p50", \SeriesPoint.p50), ("p99", \SeriesPoint.p99)] {
            let values = points.map { $0[keyPath: path] > 0 ? Double($0[keyPath: path]) : nil }
            rows.append((name, values, Written.time(points.map { $0[keyPath: path] }.max() ?? 0)))
        }
        let names = rows.map(\.name.count).max() ?? 0
        let columns = picture.width - names - 26
        let seconds = Units.fixed(run.result.run.durationSeconds, places: 2)
        let step = run.result.seriesStep
        let remark = step.isEmpty ? [] : ["  (p50 and p99\(step) of each point)"]
        return ["", "over \(seconds) s"] + remark
            + rows.map { row in
                let name = row.name + String(repeating: " ", count: names - row.name.count)
                return "  \(name)  \(picture.sparkline(row.values, columns: columns, low: 0))  at most \(row.highest)"
            }
    }

    private static func percentiles(_ run: ReportedRun, _ picture: TextPicture) -> [String] {
        let total = run.result.latency[.total]
        guard total.count > 0 else { return ["", "no push was answered within the measured time"] }
        let rows: [(String, LatencyFigure)] = [
            ("p50", .p50), ("p90", .p90), ("p99", .p99), ("p99.9", .p999), ("max", .max),
        ]
        return ["", "latency, due to answered"]
            + picture.bars(
                rows.map { (name: $0.0, length: total.value($0.1), value: Written.latency(total, $0.1)) })
            + (Written.unanswered(total.unanswered, of: total.count).map { ["  \($0)"] } ?? [])
    }

    /// How long each send took to reach its audience.
    private static func fanOut(_ result: ResultDocument, _ picture: TextPicture) -> [String] {
        guard let sends = result.sends, !sends.isEmpty else { return [] }
        let rows = sends.map { send -> (name: String, length: Double, value: String) in
            let reached = zip(["50 %", "99 %", "100 %"], SendSection.times(send).dropFirst()).map { share, time in
                "\(share) \(SendSection.time(time))"
            }
            return (send.name, send.fanOut.p99 ?? 0, reached.joined(separator: ", "))
        }
        return ["", "Fan-out: from a send's start until so much of it was accepted (bars: 99 %)"] + picture.bars(rows)
    }

    private static func bars(_ charts: [BarChart], _ picture: TextPicture) -> [String] {
        charts.flatMap { chart in
            ["", chart.parts.count > 1 ? "\(chart.title) (bars: \(chart.parts[0]))" : chart.title]
                + picture.bars(chart.rows.map { (name: $0.name, length: $0.lengths.first ?? 0, value: $0.value) })
        }
    }

    private static func outcomes(_ result: ResultDocument, _ picture: TextPicture) -> [String] {
        let planned = result.pushes.planned
        return [
            ("statuses", result.statuses, planned), ("reasons", result.shownReasons, planned),
            ("failures", result.failures, planned), ("not sent", result.notSent, planned),
            ("connections ended", result.connections.ends, nil),
        ].flatMap { (name: String, counts: [String: UInt64], whole: UInt64?) in
            counts.isEmpty
                ? []
                : ["", name]
                    + picture.bars(
                        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { label, count in
                            let share = whole.map { "  \(Written.share(count, of: $0))" } ?? ""
                            return (name: label, length: Double(count), value: Written.count(count) + share)
                        })
        }
    }

    private static func cost(_ result: ResultDocument) -> String {
        let cost = result.cost
        func side(_ name: String, _ cpu: Double?, _ memory: UInt64?) -> String? {
            // By no answered push at all.
            let cpu = result.hasAnswers ? cpu.map { "\(Units.duration(nanoseconds: $0)) CPU a push" } : nil
            let figures = [cpu, memory.map(Units.bytes)].compactMap { $0 }
            return figures.isEmpty ? nil : name + " " + figures.joined(separator: ", ")
        }
        return [side("client", cost.clientCPU, cost.clientMemory), side("mock", cost.mockCPU, cost.mockMemory)]
            .compactMap { $0 }.joined(separator: "; ")
    }

    private static func side(_ runs: [ReportedRun], _ width: Int) -> [String] {
        var table = TextTable()
        for block in HeadlineSection.compare(runs).blocks {
            guard case .table(let content) = block else { continue }
            for row in [content.header] + content.rows { table.add(row.map(TextLines.plain)) }
        }
        return table.lines(width: width)
    }
}

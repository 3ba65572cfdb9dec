import Foundation
import Measurement
import Results
import SampleRuns
import Testing

@testable import Reports

/// How reports show pushes without an answer, and those that were never sent.
@Suite struct UnansweredReportTests {
    private let run = ReportedDocument.run(ReportedDocument.unanswered())

    @Test("The curve ends where the answers end; a dashed line at the top says how many got none")
    func curve() throws {
        let section = PercentileSection.make(run)
        guard case .charts(let charts)? = section.blocks.first else {
            Issue.record("no charts")
            return
        }
        let lines = try #require(charts.first).lines
        #expect(lines.map(\.name) == ["total", "round trip", "total: no answer (3)"])
        // 99.7 % of 1,000 were answered.
        let end = log10(1000 / 3.0)
        let last = try #require(lines[0].points.last)
        #expect(abs(last.x - end) < 1e-9 && abs(last.y / 9_970_000 - 1) < 0.001)
        for point in lines[0].points.dropLast() {
            let rank = max(1, (1000 * (1 - pow(10, -point.x))).rounded(.up))
            #expect(abs(point.y / (rank * 10_000) - 1) < 0.002 || abs(point.y - rank * 10_000) <= 10_000, "\(point)")
        }
        #expect(lines[2].points.map(\.x) == [end, 3] && lines[2].points.allSatisfy { $0.y >= 2e10 })
        #expect(lines[2].style == .bound && lines[2].colour == 0)
    }

    @Test("A run without an answer is a dashed line from end to end")
    func nothing() throws {
        var document = ReportedDocument.unanswered()
        document.histograms["total"] = nil
        document.histograms["round_trip"] = nil
        document.latency[.total] = .init(try document.censoredHistogram("total"))
        let text = HTMLReport.page([ReportedDocument.run(document)])
        #expect(text.contains("total: no answer (3)") && text.contains("&gt; 20.0 s") && !text.contains("nan"))
        #expect(MarkupChecker.problem(text) == nil)
    }

    @Test("Every format writes a bound as one and says how many pushes got no answer, or were not sent and why")
    func words() {
        let several = [run, ReportedDocument.run(ReportedDocument.make(name: "m"))]
        let sentence = "3 of 1,000 pushes got no answer and count as longer than every answer"
        let picture = TextPicture(width: 100, isUnicode: true)
        for (name, text) in [
            ("HTML", HTMLReport.page([run])), ("Markdown", MarkdownReport.text([run])),
            ("terminal", TerminalReport.text([run], picture)), ("HTML of two", HTMLReport.page(several)),
            ("Markdown of two", MarkdownReport.text(several)),
            ("terminal of two", TerminalReport.text(several, picture)),
        ] {
            #expect(text.contains(sentence), "\(name)")
            #expect(text.contains("&gt; 20.0 s") || text.contains("> 20.0 s"), "\(name)")
            #expect(text.contains("not sent"), "\(name)")
            #expect(name.hasSuffix("two") || text.contains("overflowed"), "\(name)")
        }
        let page = HTMLReport.page([run])
        for part in ["no answer within --timeout", "came due while --backlog pushes were waiting", "total accepted"] {
            #expect(page.contains(part), "\(part)")
        }
        // Where all pushes were accepted, that row would say what total says.
        #expect(!HTMLReport.page([ReportedDocument.run(ReportedDocument.make())]).contains("total accepted"))
    }

    @Test("Throughput draws what was not sent beside what failed, and the series has a column for it")
    func series() throws {
        guard case .charts(let charts)? = TimeSection.make(run).blocks.first else {
            Issue.record("no charts")
            return
        }
        #expect(
            charts[0].lines.map(\.name) == ["answered", "rejected", "failed", "not sent", "offered, on average"])
        #expect(charts[0].lines[3].points.map(\.y) == [0, 5])
        let lines = SeriesReport.csv(run.result).split(separator: "\n")
        #expect(lines[0] == "seconds,sent,accepted,rejected,failed,not_sent,in_flight,p50_ns,p99_ns")
        #expect(lines[2] == "2.000,500123,499990,77,56,5,0,3000000,5000000")
    }
}

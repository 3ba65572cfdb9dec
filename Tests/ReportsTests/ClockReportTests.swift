import Results
import SampleRuns
import Testing

@testable import Reports

@Suite struct ClockReportTests {
    private func clock(_ worker: Int, _ mock: String, _ offset: Int64, drift: Double? = nil) -> ResultDocument.Clock {
        .init(worker: worker, mock: mock, offset: offset, bound: 80_000, samples: 1234, drift: drift)
    }

    @Test("Every format says how clocks agree, those furthest apart first, and nothing where there are none")
    func clocks() {
        var document = ReportedDocument.make()
        #expect(!SummaryReport.text(document, path: nil, problems: []).contains("clock of"))
        document.clocks = [
            clock(0, "a.times", 12), clock(1, "a.times", -2_000_000_000, drift: -49.994),
            clock(0, "b.times", 3_000_000),
        ]
        let summary = SummaryReport.text(document, path: nil, problems: [])
        #expect(
            summary.contains(
                """
                  clock of  beside    ahead by  give or take  pushes      drift
                  a.times   worker 1   -2.00 s       80.0 µs   1,234  -49.99 ppm
                  b.times   worker 0   3.00 ms       80.0 µs   1,234          -
                  a.times   worker 0   12.0 ns       80.0 µs   1,234          -
                """), "\(summary)")
        let run = ReportedDocument.run(document)
        #expect(MarkdownReport.text([run]).contains("| a.times | worker 1 | -2.00 s | 80.0 µs | 1,234 | -49.99 ppm |"))
        let page = HTMLReport.page([run])
        #expect(page.contains("Clocks") && MarkupChecker.problem(page) == nil)
        #expect(
            TerminalReport.text([run], TextPicture(width: 80, isUnicode: false)).split(separator: "\n")
                .allSatisfy { $0.count <= 80 })
    }

    @Test("Of many pairs the eight furthest apart are shown, and how many are left out")
    func many() {
        var document = ReportedDocument.make()
        document.clocks = (1...20).map { clock($0, "m", Int64($0) * 1_000_000) }
        let summary = SummaryReport.text(document, path: nil, problems: [])
        #expect(summary.contains("worker 20") && summary.contains("worker 13") && !summary.contains("worker 12"))
        #expect(summary.contains("and 12 pairs that are less apart, in the result"), "\(summary)")
    }
}

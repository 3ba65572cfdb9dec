import Results
import SampleRuns
import Testing

@testable import Reports

@Suite struct WorkerReportTests {
    private func workers(_ count: Int) -> [ResultDocument.Worker] {
        (0..<count).map { index in
            var pushes = ResultDocument.Pushes()
            (pushes.planned, pushes.accepted, pushes.rejected) = (1000, 990, 10)
            return .init(
                index: index, host: "n\(index)", state: .done, pushes: pushes, answeredPerSecond: 100,
                p99: UInt64(1_000_000 + index * 1000))
        }
    }

    private func summary(_ workers: [ResultDocument.Worker]?) -> [String] {
        var document = ReportedDocument.make()
        document.workers = workers
        return SummaryReport.text(document, path: nil, problems: [], on: TextPicture(width: 100, isUnicode: true))
            .split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    }

    @Test("The summary shows the workers that want a look, and counts the others by their states")
    func summary() throws {
        var all = workers(1000)
        all[500].state = .lost
        (all[600].state, all[600].lateSeconds) = (.late, 1.5)
        (all[700].state, all[700].attempts) = (.saturated, 2)
        all[10].p99 = 9_000_000
        let lines = summary(all)
        let table = try #require(lines.firstIndex { $0.hasPrefix("worker host state") })
        #expect(lines[table] == "worker host state pushes accepted errors answered/s total p99")
        #expect(lines[table + 1] == "500 n500 lost 1,000 990 10 100/s 1.50 ms")
        #expect(lines[table + 2].hasPrefix("600 n600 late, 1.50 s late 1,000"))
        #expect(lines[table + 3].hasPrefix("700 n700 saturated, attempt 2 1,000"))
        #expect(lines[table + 4].hasPrefix("10 n10 done") && lines[table + 5].hasPrefix("999 n999 done"))
        #expect(lines[table + 9] == "(and 992 more: 992 done)", "\(lines)")
        #expect(!summary(workers(8)).contains { $0.contains("more:") })
        #expect(!summary(nil).contains { $0.hasPrefix("worker host") })
    }

    @Test("Of a lost worker's pushes it is said which may have been sent and which were not")
    func lost() {
        var document = ReportedDocument.make()
        (document.failures, document.notSent) = (["worker_lost": 2], ["worker_lost": 3])
        let failed = "nobody knows whether it was answered"
        let unsent = "its worker was lost before it was sent"
        let lines = SummaryReport.text(
            document, path: nil, problems: [], on: TextPicture(width: 200, isUnicode: true)
        ).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("failures: worker_lost 2") && $0.contains(failed) }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("not sent: worker_lost 3") && $0.contains(unsent) }, "\(lines)")
        let page = MarkdownReport.text([ReportedDocument.run(document)])
        #expect(page.contains(failed) && page.contains(unsent))
    }

    @Test("Reports have every worker, many of them folded; hosts are text")
    func reports() {
        var document = ReportedDocument.make()
        var all = workers(3)
        all[1].host = "<script>\u{1B}[2J"
        (all[2].clockOffset, all[2].clockBound) = (-1_200_000, 80_000)
        document.workers = all
        let run = ReportedDocument.run(document)
        let page = HTMLReport.page([run])
        #expect(MarkupChecker.problem(page) == nil && !page.contains("<script") && page.contains("&lt;script&gt;"))
        #expect(page.contains("Answered by worker (pushes/s)") && page.contains("-1.20 ms ± 80.0 us"))
        let text = MarkdownReport.text([run])
        #expect(text.contains("## Workers") && text.contains("| 2 | n2 | done | 1,000 | 990 | 10 |"))
        document.workers = workers(40)
        let many = HTMLReport.page([ReportedDocument.run(document)])
        #expect(many.contains("<summary>All workers</summary>") && !many.contains("Answered by worker"))
        #expect(many.contains("40 workers: 40 done.") && MarkupChecker.problem(many) == nil)
        document.workers = nil
        #expect(!HTMLReport.page([ReportedDocument.run(document)]).contains("<h2>Workers</h2>"))
    }
}

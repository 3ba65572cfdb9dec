import Measurement
import SampleRuns
import Testing

@testable import Reports

@Suite struct ConnectionEndsReportTests {
    @Test("Every format says why connections ended, the commonest first, and nothing when none did")
    func ends() {
        var document = ReportedDocument.make()
        let none = SummaryReport.text(document, path: nil, problems: [])
        #expect(!none.contains("connections ended"))
        document.connections.ends = ["connection_reset": 2, "goaway NO_ERROR Shutdown": 1234]
        let run = ReportedDocument.run(document)
        let summary = SummaryReport.text(document, path: nil, problems: [])
        #expect(
            summary.contains(
                "(TLSv1.3 X)\nconnections ended: goaway NO_ERROR Shutdown 1,234, connection_reset 2\nclient: "),
            "\(summary)")
        let markdown = MarkdownReport.text([run])
        #expect(
            markdown.contains(
                "| connections ended | number |\n| --- | ---: |\n| goaway NO\\_ERROR Shutdown | 1,234 |\n"
                    + "| connection\\_reset | 2 |\n"), "\(markdown)")
        let page = HTMLReport.page([run])
        #expect(page.contains("goaway NO_ERROR Shutdown") && MarkupChecker.problem(page) == nil)
        let terminal = TerminalReport.text([run], TextPicture(width: 80, isUnicode: false))
        #expect(terminal.contains("\nconnections ended\n  goaway NO_ERROR Shutdown  1,234  ###"), "\(terminal)")
        #expect(terminal.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test("Where no connection could be made the summary says why instead of TLS, in the words of the other lines")
    func unreached() {
        var document = ReportedDocument.make()
        document.run.tls = nil
        (document.connections.opened, document.connections.lost, document.connections.reconnects) = (0, 0, 0)
        (document.connections.connectFailures, document.connections.ends) = (1, ["connection_refused": 1])
        (document.failures, document.notSent) = ([:], ["connection_refused": 10])
        let summary = SummaryReport.text(document, path: nil, problems: [])
        #expect(summary.contains("\nconnections: 0 opened, 1 attempt failed: connection refused\n"), "\(summary)")
        #expect(summary.contains("\nnot sent: connection_refused 10\n") && !summary.contains("connections ended"))
        (document.connections.connectFailures, document.connections.ends) = (
            1003, ["goaway ENHANCE_YOUR_CALM busy": 1000, "connection_refused": 3]
        )
        document.connections.reconnects = 9
        let mixed = SummaryReport.text(document, path: nil, problems: [])
        #expect(
            mixed.replacing("\n  ", with: " ").contains(
                "\nconnections: 0 opened, 1,003 attempts failed, 9 reconnects: goaway ENHANCE_YOUR_CALM busy 1,000, "
                    + "connection refused 3\n"), "\(mixed)")
    }

    @Test("Every format names a rejection without a reason by its status")
    func withoutReason() {
        var document = ReportedDocument.make()
        document.setRejections([Rejection(status: 503, reason: ""): 100, Rejection(status: 400, reason: "BadTopic"): 7])
        #expect(document.reasons == ["(none)": 100, "BadTopic": 7])
        let run = ReportedDocument.run(document)
        #expect(
            SummaryReport.text(document, path: nil, problems: []).contains(
                "\nreasons: 503 without a reason 100, BadTopic 7\n"))
        for text in [
            MarkdownReport.text([run]), HTMLReport.page([run]),
            TerminalReport.text([run], TextPicture(width: 80, isUnicode: false)),
        ] { #expect(text.contains("503 without a reason") && !text.contains("(none)"), "\(text)") }
    }
}

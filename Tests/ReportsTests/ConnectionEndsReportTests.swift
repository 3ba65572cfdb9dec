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
}

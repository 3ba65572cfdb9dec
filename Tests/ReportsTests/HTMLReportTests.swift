import Foundation
import Results
import SampleRuns
import Testing

@testable import Reports

@Suite struct HTMLReportTests {
    private func page(_ documents: ResultDocument...) -> String {
        HTMLReport.page(documents.map(ReportedDocument.run))
    }

    @Test("The page holds every headline figure with its unit, and all other sections")
    func figures() {
        let page = page(ReportedDocument.make(target: 500_111))
        let others = [
            "500,111 pushes/s", "BadTopic", "push_timeout", "by profile", "alert", "it was busy", "a note",
            "held: p99 &lt; 50ms: 4.33 ms", "CROSSED: rss &lt; 1MB: 40.1 MB", "it broke", "com.example.app",
            "a processor", "130 ns", "round trip", "offered, on average", "backlog", "in flight", "99.9",
        ]
        for part in ReportedDocument.headlines + others { #expect(page.contains(part), "\(part) is not in the page") }
        #expect(MarkupChecker.problem(page) == nil)
    }

    @Test("The page asks for nothing from a network and runs no script")
    func selfContained() {
        let page = page(ReportedDocument.make())
        for part in ["<script", "http://", "https://", "src=", "href=", "url(", "@import"] {
            #expect(!page.contains(part), "\(part)")
        }
        #expect(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""))
        #expect(page.contains("prefers-color-scheme:dark") && page.contains("@media print"))
    }

    @Test("Failed, rejected and unsent pushes are in the pictures, with their causes")
    func notAccepted() {
        let page = page(ReportedDocument.unanswered())
        for part in [
            "Not accepted (pushes within", ">rejected: BadTopic<", ">failed: push_timeout<", ">not sent: overflowed<",
            "failed 56", "not sent 5",
        ] { #expect(page.contains(part), "\(part)") }
    }

    @Test("Settings have their units: no time is a bare number of nanoseconds")
    func settings() {
        var document = ReportedDocument.make()
        document.scenario = [
            "push_timeout": .integer(30_000_000_000), "warmup": .integer(1_500_000_000), "send_batch": .integer(65_536),
            "huffman": .bool(false), "rate": .number(500), "duration": .integer(2_000_000_000),
        ]
        for text in [page(document), MarkdownReport.text([ReportedDocument.run(document)])] {
            for part in ["30s", "1500ms", "64KiB"] { #expect(text.contains(part), "\(part)") }
            for part in ["30000000000", "1500000000", "65536"] { #expect(!text.contains(part), "\(part)") }
        }
        #expect(page(document).contains("asked for") && !page(document).contains("offered, on average"))
    }

    @Test(
        "A warm-up is one row of the settings, by what is in force",
        arguments: [
            ("0s", 0, false, 0), ("5s", 5_000_000_000, false, 0), ("auto", 0, true, 0),
            ("1,000 pushes", 0, false, 1000),
        ] as [(String, Int64, Bool, Int64)])
    func warmup(_ row: String, _ time: Int64, _ isAuto: Bool, _ pushes: Int64) {
        var document = ReportedDocument.make()
        document.scenario = [
            "warmup": .integer(time), "warmup_auto": .bool(isAuto), "warmup_pushes": .integer(pushes),
        ]
        let text = MarkdownReport.text([ReportedDocument.run(document)])
        #expect(text.components(separatedBy: "| warmup |").count == 2, "\(text)")
        #expect(text.contains("| warmup | \(row) |"), "\(text)")
    }

    @Test("Tables too wide for a phone say that they scroll, others do not; a single chart keeps its size")
    func tables() {
        var (wide, narrow) = (ReportTable(["stage"] + (1...9).map { "column \($0)" }), ReportTable(["a", "b"]))
        wide.add(["x"])
        narrow.add(["1", "2"])
        let blocks = HTMLBlocks.section(ReportSection(title: "t", blocks: [.table(wide), .table(narrow)]))
        #expect(
            blocks.contains("<div class=\"wide scrolls\"><table>") && blocks.contains("<div class=\"wide\"><table>"))
        #expect(
            HTMLStyle.text.contains("scroll sideways")
                && HTMLStyle.text.contains("repeat(auto-fill,minmax(min(100%,440px)"))
    }

    @Test("Texts of a result are text wherever they stand, never markup")
    func escaped() {
        let evil = "\"><script>alert('x')</script>&\u{1}"
        var document = ReportedDocument.make(name: evil)
        document.run.target = evil
        document.run.tls = evil
        document.environment.host = evil
        document.environment.versions = [evil: evil]
        document.scenario = [evil: .string(evil)]
        document.reasons = [evil: 1]
        document.failures = [evil: 1]
        document.statuses = [evil: 1]
        document.breakdown = [evil: [evil: .init(accepted: 1, rejected: 0, failed: 0, total: ReportedDocument.total)]]
        document.notes = [evil]
        document.generator.reasons = [evil]
        var run = ReportedDocument.run(document)
        run.problems = [evil]
        run.thresholds = [(text: evil, isHeld: false)]
        for page in [HTMLReport.page([run]), HTMLReport.page([run, run])] {
            #expect(!page.contains("<script") && !page.contains("\u{1}"))
            #expect(page.contains("&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;\u{FFFD}"))
            #expect(MarkupChecker.problem(page) == nil)
        }
        let text = MarkdownReport.text([run])
        #expect(!text.contains("<script") && !text.contains("\u{1}"))
    }

    @Test("A result without series, histograms or answers still gives a page")
    func empty() {
        var document = ReportedDocument.make()
        document.series = []
        document.histograms = ["total": "not a histogram"]
        document.latency[.total] = .init()
        document.latency[.roundTrip] = .init()
        document.statuses = [:]
        document.reasons = [:]
        document.failures = [:]
        document.breakdown = [:]
        document.generator.cpu = .init()
        document.pushes = .init()
        for page in [page(document), page(document, document)] {
            #expect(MarkupChecker.problem(page) == nil)
            #expect(page.contains("There is no histogram that can be read."))
            #expect(page.contains("No push was answered within the measured time."))
            #expect(!page.contains("nan") && !page.contains("inf\""))
        }
    }

    @Test("Several results have a column and a line each, told apart by number when their names are the same")
    func several() {
        var second = ReportedDocument.make()
        second.throughput.answered = 123_456
        let runs = ReportedRun.told(apart: [ReportedDocument.make(), second].map(ReportedDocument.run))
        #expect(runs.map(\.label) == ["n #1", "n #2"])
        #expect(ReportedRun.told(apart: [runs[0], runs[1]]).map(\.label) == ["n #1", "n #2"])
        let page = HTMLReport.page(runs)
        #expect(page.contains("<th scope=\"col\">n #1</th><th scope=\"col\">n #2</th>"))
        #expect(page.contains("<th scope=\"row\">rate answered</th><td>499,999 pushes/s</td><td>123,456 pushes/s</td>"))
        #expect(page.components(separatedBy: "<polyline").count - 1 == 2 * 6)
        #expect(MarkupChecker.problem(page) == nil)
    }

    @Test("Sections of others stand beside those that runs share, in HTML and Markdown, as text")
    func beside() {
        var table = ReportTable(["median", "B/A"])
        table.add(["total p99", "2.000"])
        let section = ReportSection(
            title: "<two> against one", blocks: [.table(table), .list(["A and B differ in streams: 1 and 2"])])
        let runs = [ReportedDocument.make(name: "one"), ReportedDocument.make(name: "<two>")].map(ReportedDocument.run)
        let page = HTMLReport.page(runs, beside: [section])
        #expect(MarkupChecker.problem(page) == nil && page.contains("<h2>&lt;two&gt; against one</h2>"))
        for text in [page, MarkdownReport.text(runs, beside: [section])] {
            for part in ["total p99", "2.000", "A and B differ in streams: 1 and 2"] {
                #expect(text.contains(part), "\(part)")
            }
        }
    }

    @Test("The checker of these tests sees what is not closed, crossed or not escaped")
    func checker() {
        #expect(MarkupChecker.problem("<p><b>x</b><br></p><line x=\"1\"/>") == nil)
        for page in ["<p>", "<p><b></p></b>", "</p>", "<p class=\"x>y</p>", "<p", "<p <b></b></p>"] {
            #expect(MarkupChecker.problem(page) != nil, "\(page)")
        }
    }
}

import Results
import Testing

@testable import Reports

@Suite struct TerminalReportTests {
    private let unicode = TextPicture(width: 90, isUnicode: true)

    @Test("One run: verdicts, lines over time, percentiles, stages and outcomes as bars, within the width")
    func one() {
        let text = TerminalReport.text([ReportedDocument.run(ReportedDocument.make())], unicode)
        for part in [
            "\nn\n", "engine wire", "✗ it broke\n", "✓ held: p99 < 50ms: 4.33 ms\n", "✗ crossed: rss < 1MB: 40.1 MB\n",
            "over 2.25 s\n", "  answered/s  ██  at most 500,067 pushes/s\n", "  in flight   █▁  at most 500\n",
            "  p99         ▇█  at most 5.00 ms\n", "2.11 ms", "5.44 ms", "Latency by stage (bars: p50)",
            "round trip: written to answered", "encode", "\nstatuses\n  200  999,990  99.99 %  ███", "BadTopic",
            "push_timeout", "client 2.35 us CPU a push, 40.1 MB; mock 3.46 us CPU a push, 50.2 MB\n",
        ] { #expect(text.contains(part), "\(part) is not in\n\(text)") }
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 90 })
    }

    @Test("What a stranger wrote into a result neither colours the terminal nor moves its cursor")
    func strangers() {
        var result = ReportedDocument.make()
        let evil = "\u{1B}[31m\u{1B}]0;a\u{7}"
        (result.run.name, result.run.engine) = (evil, evil)
        result.connections.ends = [evil: 3]
        result.reasons = [evil: 4]
        result.generator.limited = true
        result.generator.reasons = [evil]
        var run = ReportedDocument.run(result)
        run.label = evil
        run.problems = [evil]
        for runs in [[run], [run, run]] {
            let text = TerminalReport.text(runs, unicode)
            #expect(!text.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{7}" }, "\(text)")
        }
    }

    @Test("A run too short to be looked at while it went on says nothing of what was in flight")
    func short() {
        var result = ReportedDocument.make()
        for index in result.series.indices { (result.series[index].inFlight, result.series[index].backlog) = (0, 0) }
        let run = ReportedDocument.run(result)
        #expect(!TerminalReport.text([run], unicode).contains("in flight"))
        #expect(!HTMLReport.page([run]).contains("Waiting (pushes)"))
    }

    @Test("Several runs: which file each is, in the order given")
    func files() throws {
        let runs = ["b", "a"].map { path in
            var run = ReportedDocument.run(ReportedDocument.make())
            run.path = "runs/\(path)/result.json"
            return run
        }
        let told = ReportedRun.told(apart: runs)
        for text in [TerminalReport.text(told, unicode), MarkdownReport.text(told), HTMLReport.page(told)] {
            // Markdown has a backslash before the number sign.
            let first = try #require(text.range(of: "#1: runs/b/result.json"))
            let second = try #require(text.range(of: "#2: runs/a/result.json"))
            #expect(first.upperBound < second.lowerBound)
        }
    }

    @Test("Without Unicode there is nothing but ASCII, whatever the result says")
    func ascii() {
        let run = ReportedDocument.run(ReportedDocument.make(name: "Größe"))
        let text = TerminalReport.text([run], TextPicture(width: 80, isUnicode: false))
        #expect(
            text.allSatisfy(\.isASCII) && text.contains("Gr??e") && text.contains("###")
                && text.contains("FAILED it broke"))
    }

    @Test("Several runs: a column for each, their lines one below the other, and the comparison")
    func several() {
        var second = ReportedDocument.make(name: "m")
        second.throughput.answered = 123_456
        let text = TerminalReport.text(
            [ReportedDocument.make(), second].map(ReportedDocument.run),
            beside: "\nA and B\nwarning: A and B differ in name: n and m\n", unicode)
        let rows = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            rows.contains("figure n m") && rows.contains("rate answered 499,999 pushes/s 123,456 pushes/s"), "\(text)")
        #expect(text.contains("warning: A and B differ in name: n and m\n"))
        #expect(text.components(separatedBy: "at most 5.00 ms").count == 3)
    }

    @Test("A result without series or answers still gives a view")
    func empty() {
        var document = ReportedDocument.make()
        document.series = []
        document.latency[.total] = .init()
        document.latency[.roundTrip] = .init()
        document.statuses = [:]
        document.generator.cpu = .init()
        let text = TerminalReport.text([ReportedDocument.run(document)], unicode)
        #expect(text.contains("no push was answered within the measured time") && !text.contains("over 2.25"))
    }
}

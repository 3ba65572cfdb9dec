import Measurement
import Results
import Testing

@testable import Reports

/// What reports say of a run to several audiences.
@Suite struct SendReportTests {
    private func document(longName: Bool = false) -> ResultDocument {
        var document = ReportedDocument.make()
        var times = LatencyHistogram()
        for step in 1...1000 as ClosedRange<UInt64> { times.record(step * 3000) }
        var breaking = ResultDocument.Send(
            name: longName ? "breaking news of the evening for those who are in Boston" : "breaking",
            audience: "follows_RedSox && !(location_NYC || <b>)", devices: 990, pushes: 1000, start: 2)
        breaking.accepted = 1000
        breaking.fanOut = .init(times, of: 1000)
        document.histograms[ResultDocument.fanOutKey(breaking.name)] = HistogramCodec.encodeForLog(times)
        var digest = ResultDocument.Send(name: "digest", audience: "*", devices: 4321, pushes: 4444, start: 0)
        (digest.accepted, digest.rejected, digest.failed, digest.notSent) = (0, 12, 345, 4087)
        document.sends = [breaking, digest]
        return document
    }

    @Test("The summary has a line for each send, - where it never came so far, within any width")
    func summary() {
        for longName in [false, true] {
            for width in [40, 60, 72, 80, 120] {
                let text = SummaryReport.text(
                    document(longName: longName), path: nil, problems: [],
                    on: TextPicture(width: width, isUnicode: false))
                let words = text.split(whereSeparator: { " \n".contains($0) }).joined(separator: " ")
                for part in [
                    "1.50 s", "2.97 s", "3.00 s", "4,321", "4,444", "345", "4,087", "rejected", "not sent", "fan-out:",
                ] {
                    #expect(words.contains(part), "\(width): \(part) is not in\n\(text)")
                }
                #expect(text.split(separator: "\n").allSatisfy { $0.count <= width }, "\(width):\n\(text)")
            }
        }
        let text = SummaryReport.text(
            document(), path: nil, problems: [], on: TextPicture(width: 120, isUnicode: false))
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            lines.contains("send devices planned accepted rejected failed not sent first 50 % 99 % 100 %"), "\(text)")
        #expect(lines.contains("breaking 990 1,000 1,000 0 0 0 3.00 ms 1.50 s 2.97 s 3.00 s"), "\(text)")
        #expect(lines.contains("digest 4,321 4,444 0 12 345 4,087 - - - -"), "\(text)")
        #expect(
            !SummaryReport.text(
                ReportedDocument.make(), path: nil, problems: [], on: TextPicture(width: 80, isUnicode: false)
            )
            .contains("fan-out"))
    }

    @Test("Rates of less than a millisecond are none, in the summary and in reports")
    func tooShort() {
        var document = ReportedDocument.make()
        document.throughput = .init(windowSeconds: 0, offered: 0, answered: 0)
        let text = SummaryReport.text(document, path: nil, problems: [], on: TextPicture(width: 120, isUnicode: false))
        #expect(text.contains("no rates: less than 1 ms was measured") && !text.contains(" 0/s"), "\(text)")
        let markdown = MarkdownReport.text([ReportedDocument.run(document)])
        #expect(markdown.contains("less than 1 ms was measured") && !markdown.contains("0.0 pushes/s"), "\(markdown)")
    }

    @Test("The rates of a merged result are sums, and said to be")
    func merged() {
        var document = ReportedDocument.make()
        document.run.id = "a+b"
        let text = SummaryReport.text(document, path: nil, problems: [], on: TextPicture(width: 160, isUnicode: false))
        #expect(
            text.contains("/s accepted, the sum of the parts' rates\n") && !text.contains("/s accepted over"), "\(text)"
        )
        let markdown = MarkdownReport.text([ReportedDocument.run(document)])
        #expect(markdown.contains("the sum of the parts' rates") && !markdown.contains(" s, warm-up left out"))
    }

    @Test("Page, Markdown and terminal have a table of the sends and, but for Markdown, their curves")
    func formats() {
        let run = ReportedDocument.run(document())
        let page = HTMLReport.page([run])
        for part in ["Fan-out", "breaking", "digest", "Pushes accepted", "4,444", "4,087", "1.50 s", "&lt;b&gt;"] {
            #expect(page.contains(part), "\(part)")
        }
        #expect(!page.contains("<b>)"))
        let markdown = MarkdownReport.text([run])
        #expect(markdown.contains("Fan-out") && markdown.contains("4,444 | 0 | 12 | 345 | 4,087"), "\(markdown)")
        for width in [60, 90, 140] {
            let text = TerminalReport.text([run], TextPicture(width: width, isUnicode: true))
            #expect(text.contains("Fan-out") && text.split(separator: "\n").allSatisfy { $0.count <= width }, "\(text)")
        }
        #expect(!HTMLReport.page([ReportedDocument.run(ReportedDocument.make())]).contains("Fan-out"))
    }
}

import Results
import SampleRuns
import Testing

@testable import Reports

/// How reports show what speaks for and against a run's figures.
@Suite struct TrustReportTests {
    private func document(_ change: (inout ResultDocument.Trust) -> Void) -> ResultDocument {
        var trust = ResultDocument.Trust()
        for (name, low, high) in [
            ("p50", 2_080_000, 2_140_000), ("p90", 3_100_000, 3_300_000), ("p99", 4_210_000, 4_470_000),
        ] as [(String, UInt64, UInt64)] {
            var figure = ResultDocument.TrustedFigure(blocks: 24, blockSeconds: 0.25)
            (figure.low, figure.high, figure.steady, figure.independent) = (low, high, true, true)
            trust.figures[name] = figure
        }
        var rare = ResultDocument.TrustedFigure(blocks: 24, blockSeconds: 0.25)
        (rare.without, rare.needed, rare.steady, rare.independent) = ("few_pushes", 100_000, true, true)
        trust.figures["p99_9"] = rare
        change(&trust)
        var document = ReportedDocument.make()
        document.trust = trust
        return document
    }

    private func summary(_ document: ResultDocument) -> [String] {
        SummaryReport.text(document, path: nil, problems: []).split(separator: "\n").map(String.init)
    }

    @Test("The interval stands beside its figure; what has none says why; what holds is one line")
    func intervals() {
        let lines = summary(document { _ in })
        #expect(
            lines.contains(
                "trust: p50 2.11 ms, 95 % interval 2.08 - 2.14 ms; p99 4.33 ms, 4.21 - 4.47 ms"), "\(lines)")
        #expect(lines.contains("trust: no interval of p99.9: too few pushes, 100,000 are enough"), "\(lines)")
        let steady = "no trend and no step, and blocks of 250 ms do not resemble the ones before"
        #expect(lines.joined().replacing("  ", with: " ").contains("trust: p50, p90 and p99: \(steady)"), "\(lines)")
        let swinging = summary(document { $0.figures["p50"]?.swing = .init(fast: 20, slow: 40) }).joined()
            .replacing("  ", with: " ")
        #expect(swinging.contains("trust: p90 and p99: \(steady)"), "\(swinging)")
        #expect(!lines.contains { $0.hasPrefix("doubt:") })
        for (needed, written) in [
            (801_456, "802,000"), (12_345_678, "12,400,000"), (999_001, "1,000,000"), (1001, "1,010"), (999, "999"),
            (999_999_999_999, "1,000,000,000,000"),
        ] as [(UInt64, String)] {
            let rounded = summary(document { $0.figures["p99_9"]?.needed = needed })
            #expect(
                rounded.contains("trust: no interval of p99.9: too few pushes, \(written) are enough"), "\(rounded)")
        }
        let short = document { trust in
            for name in trust.figures.keys {
                trust.figures[name]?.without = "few_blocks"
                trust.figures[name]?.low = nil
                trust.figures[name]?.high = nil
            }
        }
        // Ten blocks, and as long as the slowest figure, 5 ms, in which nothing of it has ended.
        let tooShort = "trust: no intervals, the measured time is too short for them (2.51 s is enough)"
        #expect(summary(short).filter { $0.hasPrefix("trust:") } == [tooShort])
        #expect(!summary(ReportedDocument.make()).contains { $0.hasPrefix("trust:") })
    }

    @Test("Doubts, arrivals and what was not reached are in every format")
    func doubts() {
        let document = document { trust in
            trust.doubts = ["not steady: p99 went from 4.10 ms to 8.30 ms 12.3 s after the start"]
            trust.figures["p99"]?.without = "not_steady"
            trust.figures["p99"]?.low = nil
            trust.figures["p99"]?.high = nil
            trust.figures["p99"]?.steady = false
            trust.arrivals = .init(process: "poisson", kept: true, gaps: 200, gapPushes: 20, gapSeconds: 0.001)
            trust.until = .init(asked: "p99 +- 2 %", reached: false, seconds: 60)
            trust.until?.obstacle = "not_steady"
        }
        let missed = "NOT REACHED: p99 +- 2 %: no interval after 60.0 s: the target is not steady"
        let run = ReportedDocument.run(document)
        let picture = TextPicture(width: 200, isUnicode: true)
        for (name, written) in [
            ("HTML", HTMLReport.page([run])), ("terminal", TerminalReport.text([run], picture)),
            ("summary", summary(document).joined(separator: "\n")),
            ("Markdown", MarkdownReport.text([run]).replacing("\\", with: "")),
        ] {
            // Lines are folded.
            let text = written.split { $0.isWhitespace }.joined(separator: " ")
            #expect(text.contains("not steady: p99 went from 4.10 ms to 8.30 ms 12.3 s after the start"), "\(name)")
            #expect(text.contains(missed), "\(name)")
            #expect(text.contains("Poisson arrivals, looked at over 1.00 ms"), "\(name)")
            #expect(text.contains("2.08 - 2.14 ms"), "\(name)")
        }
        let lines = summary(document)
        #expect(!lines.contains { $0.hasPrefix("OK") } && !run.isGood)
        #expect(MarkupChecker.problem(HTMLReport.page([run])) == nil)
        #expect(HTMLReport.page([run]).contains(TrustSection.title))
    }

    @Test("A precision that was reached says so, one that wants more time how much")
    func until() {
        var until = ResultDocument.TrustedUntil(asked: "p99 +- 2 %", reached: true, seconds: 12.34)
        until.halfWidth = 0.0181
        #expect(until.words == "p99 +- 2 %: +- 1.81 % after 12.3 s")
        (until.reached, until.obstacle, until.neededSeconds) = (false, "time", 300)
        #expect(until.words == "p99 +- 2 %: +- 1.81 % after 12.3 s: about 5m 00s would be enough")
    }
}

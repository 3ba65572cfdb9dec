import Reports
import Results
import Testing

@testable import Comparison

@Suite struct ComparisonReportTests {
    private func metric(
        _ verdict: FigureVerdict, _ a: [Double], _ b: [Double], ratio: Double?, detectable: Double? = nil,
        sameWithin: Double? = nil
    ) -> ComparisonDocument.Metric {
        .init(
            name: "total p99", unit: .nanoseconds, a: a, b: b, medianA: a[0], medianB: b[0], ratio: ratio, low: nil,
            high: nil, coverage: nil, sameWithin: sameWithin, p: nil, adjusted: nil, delta: nil, detectable: detectable,
            verdict: verdict)
    }

    private func comparison(
        _ analysis: ComparisonDocument.Analysis, stretch: Double = 1, margin: Double = 0.02,
        _ metrics: [ComparisonDocument.Metric] = []
    ) -> ComparisonDocument {
        .init(
            a: .init(name: "one", runs: ["1", "2"]), b: .init(name: "two", runs: ["3", "4"]), analysis: analysis,
            stretch: stretch, margin: margin, judged: metrics.count, fewestRuns: 6, metrics: metrics, distributions: [],
            warnings: [])
    }

    private func verdict(_ metric: ComparisonDocument.Metric, margin: Double = 0.02) -> String {
        ComparisonReport.verdict(metric, comparison(.groups, margin: margin))
    }

    @Test("The noise floor is the end of an interval that is further from 1, and not known without one")
    func noise() {
        #expect(ComparisonReport.noise(comparison(.rounds)).contains("noise floor: not known"))
        var wide = metric(.same, [1], [1], ratio: 1)
        (wide.low, wide.high) = (0.5, 2)
        let text = ComparisonReport.noise(comparison(.rounds, [wide, metric(.same, [1], [1], ratio: 1)]))
        #expect(text.contains("total p99    100.0 %") && text.split(separator: "\n").count == 2, "\(text)")
        // One that does not hold 1.
        (wide.low, wide.high) = (0.5, 0.8)
        #expect(ComparisonReport.noise(comparison(.rounds, [wide])).contains("100.0 %"))
    }

    @Test("Each verdict in words, with the size of what was seen or could have been")
    func verdicts() {
        #expect(verdict(metric(.slower, [1e6], [1.081e6], ratio: 1.081)) == "slower by 8.1 %")
        #expect(verdict(metric(.less, [1e6], [0.9e6], ratio: 0.9)) == "less by 10.0 %")
        // A factor says more than hundreds of percent.
        #expect(verdict(metric(.slower, [1e6], [13.58e6], ratio: 13.58)) == "slower: 14 times")
        #expect(verdict(metric(.faster, [1e6], [3.48e6], ratio: 3.48)) == "faster: 3.5 times")
        #expect(verdict(metric(.more, [1e6], [2e6], ratio: 2)) == "more by 100.0 %")
        #expect(
            verdict(metric(.noDifference, [1], [1], ratio: 1, detectable: 1.034))
                == "no difference seen (could have seen 3.4 %)")
        #expect(
            verdict(metric(.noDifference, [1], [1], ratio: 1, detectable: 9.94))
                == "no difference seen (could have seen 9.9 times)")
        #expect(
            verdict(metric(.noDifference, [1], [1], ratio: 1, detectable: 1_897.4))
                == "no difference seen (could have seen 1,897 times)")
        for ratio in [0.021, 48] {
            #expect(
                verdict(metric(.noDifference, [1], [1], ratio: ratio, detectable: 18))
                    == "no difference seen: runs of a side differ too much from each other")
        }
        #expect(verdict(metric(.oneRun, [1], [2], ratio: 2)) == "one run a side: no interval")
        #expect(verdict(metric(.oneRun, [1, 1], [2], ratio: 2)) == "only one run of B: no interval")
        #expect(
            verdict(metric(.tooFewRuns, [1, 1], [2, 2], ratio: 2))
                == "too few runs to call a difference (6 a side can)")
        #expect(
            ComparisonReport.verdict(metric(.tooFewRuns, [1, 1], [2, 2], ratio: 2), comparison(.rounds))
                == "too few runs to call a difference (6 rounds can)")
        #expect(verdict(metric(.same, [1, 1], [1, 1], ratio: 1.01, sameWithin: 0.015)) == "the same within 2 %")
        #expect(verdict(metric(.same, [1], [1], ratio: 1, sameWithin: 0), margin: 0.0025) == "the same within 0.25 %")
        #expect(
            verdict(metric(.faster, [1e6], [0.995e6], ratio: 0.995, sameWithin: 0.008))
                == "faster by 0.5 %, the same within 2 %")
        #expect(verdict(metric(.faster, [1e6], [0.9e6], ratio: 0.9, sameWithin: 0.12)) == "faster by 10.0 %")
        #expect(verdict(metric(.noRatio, [0], [0], ratio: nil)) == "both 0")
        #expect(verdict(metric(.noRatio, [0], [2], ratio: nil)) == "no ratio to 0")
        #expect(verdict(metric(.noRatio, [1, 2, 3], [2, 0, 3], ratio: nil)) == "no ratio: 0 in some runs")
        #expect(verdict(metric(.slower, [1, 2, 3], [0, 0, 0], ratio: nil)) == "slower")
    }

    @Test("The header says what the intervals cover; of rounds a line says that runs are held against their round's")
    func header() {
        var few = metric(.tooFewRuns, [1, 1], [2, 2], ratio: 2)
        (few.low, few.high, few.coverage) = (1.5, 2.5, 0.875)
        let groups = ComparisonReport.text(comparison(.groups, [few]), on: TextPicture(width: 200, isUnicode: true))
        #expect(groups.contains("88 % interval") && !groups.contains("round"), "\(groups)")
        let rounds = ComparisonReport.text(comparison(.rounds, [few]), on: TextPicture(width: 200, isUnicode: true))
        #expect(
            rounds.contains("B: two (2 runs)\n2 rounds: each run of B against the run of A in its round\n"), "\(rounds)"
        )
        let apart = ComparisonReport.text(
            comparison(.groups, stretch: 1.2826, [few]), on: TextPicture(width: 200, isUnicode: true))
        #expect(
            apart.contains(
                "B: two (2 runs)\nruns of a side were made together, and may resemble their neighbours: intervals are 1.28 "
                    + "times as wide for it, and p larger (where they do not, they cover 95 %)\n"), "\(apart)")
    }

    @Test("Why nothing can be called of so few runs is said once, and that sides share runs before anything else")
    func once() {
        let few = metric(.tooFewRuns, [1, 1], [2, 2], ratio: 2)
        let one = metric(.oneRun, [1], [2], ratio: 2)
        let none = metric(.noRatio, [0], [0], ratio: nil)
        let rows = ComparisonReport.rows(comparison(.groups, [few, few, one, none, none, one]))
        #expect(
            rows.map(\.last) == [
                "too few runs to call a difference (6 a side can)", "too few runs", "one run a side: no interval",
                "both 0", "both 0", "no interval",
            ])
        var same = comparison(.groups, [few])
        same.b = same.a
        same.warnings = ["another thing", "A and B share runs: they are the same, and cannot differ"]
        let lines = ComparisonReport.text(same, on: TextPicture(width: 200, isUnicode: true)).split(separator: "\n")
        #expect(lines.prefix(2) == ["A: one (2 runs)", "B: one (2 runs)"], "\(lines)")
        #expect(lines[2] == "warning: A and B share runs: they are the same, and cannot differ", "\(lines)")
        #expect(lines.last == "warning: another thing" && lines.count { $0.contains("share runs") } == 1, "\(lines)")
    }

    @Test("Shapes that differ are shown where they differ most; warnings are printed")
    func shapes() {
        func distribution(_ differs: Bool?, _ runs: Double?) -> ComparisonDocument.Distribution {
            .init(
                name: "round_trip", d: 0.07, p: runs, place: 2_300_000, belowA: 0.91, belowB: 0.84,
                differs: differs)
        }
        let text = ComparisonReport.text(
            ComparisonDocument(
                a: .init(name: "before", runs: ["x"]), b: .init(name: "after", runs: ["y", "z"]), analysis: .groups,
                stretch: 1,
                margin: 0.02, judged: 0, fewestRuns: 4, metrics: [],
                distributions: [distribution(true, 0.002), distribution(nil, nil), distribution(false, 0.3)],
                warnings: ["something differs"]), on: TextPicture(width: 200, isUnicode: true))
        #expect(text.contains("A: before (1 run)\nB: after (2 runs)\n"))
        let place = "most at 2.30 ms: 91 % of A below, 84 % of B"
        #expect(text.contains("round trip: the shapes differ \(place) (D 0.070, p 0.002)\n"))
        #expect(text.contains("too few runs to tell whether the shapes differ, apart \(place) (D 0.070)\n"))
        #expect(text.contains("round trip: no difference of shapes seen, apart \(place) (D 0.070, p 0.300)\n"))
        #expect(text.hasSuffix("warning: something differs\n"))
    }

    @Test("As a section: a row a figure, with its interval and verdict, the shapes and the warnings")
    func section() {
        let metric = ComparisonDocument.Metric(
            name: "total p99", unit: .nanoseconds, a: [1e6], b: [2e6], medianA: 1e6, medianB: 2e6, ratio: 2, low: 1.9,
            high: 2.1, coverage: 0.957, sameWithin: 1.2, p: 0.002, adjusted: 0.02, delta: 1, detectable: nil,
            verdict: .slower)
        let section = ComparisonSection.make(
            ComparisonDocument(
                a: .init(name: "one", runs: ["1"]), b: .init(name: "two", runs: ["2"]), analysis: .groups, stretch: 1,
                margin: 0.02,
                judged: 1, fewestRuns: 4, metrics: [metric],
                distributions: [
                    .init(
                        name: "total", d: 0.5, p: 0.01, place: 1000, belowA: 1, belowB: 0.5, differs: true)
                ], warnings: ["A and B differ in streams: 1 and 2"]))
        let text = MarkdownReport.text("t", "s", [section])
        for part in [
            "two against one", "96 % interval", "| 2.000 | 1.900 - 2.100 | 0.002 | 0.020 |", "slower by 100.0 %",
            "the shapes differ",
            "A and B differ in streams: 1 and 2",
        ] { #expect(text.contains(part), "\(part): \(text)") }
    }
}

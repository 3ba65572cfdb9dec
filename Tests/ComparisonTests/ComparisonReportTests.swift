import Reports
import Results
import Testing

@testable import Comparison

@Suite struct ComparisonReportTests {
    private func metric(
        _ verdict: FigureVerdict, _ a: [Double], _ b: [Double], ratio: Double?, detectable: Double? = nil
    ) -> ComparisonDocument.Metric {
        .init(
            name: "total p99", unit: .nanoseconds, a: a, b: b, medianA: a[0], medianB: b[0], ratio: ratio, low: nil,
            high: nil, p: nil, adjusted: nil, delta: nil, detectable: detectable, verdict: verdict)
    }

    private func verdict(_ metric: ComparisonDocument.Metric) -> String { ComparisonReport.verdict(metric, fewest: 6) }

    @Test("Each verdict in words, with the size of what was seen or could have been")
    func verdicts() {
        #expect(verdict(metric(.slower, [1e6], [1.081e6], ratio: 1.081)) == "slower by 8.1 %")
        #expect(verdict(metric(.less, [1e6], [0.9e6], ratio: 0.9)) == "less by 10.0 %")
        #expect(
            verdict(metric(.noDifference, [1], [1], ratio: 1, detectable: 1.034))
                == "no difference seen (could have seen 3.4 %)")
        #expect(verdict(metric(.oneRun, [1], [2], ratio: 2)) == "one run a side: no interval")
        #expect(verdict(metric(.oneRun, [1, 1], [2], ratio: 2)) == "only one run of B: no interval")
        #expect(
            verdict(metric(.tooFewRuns, [1, 1], [2, 2], ratio: 2))
                == "too few runs to call a difference (6 a side can)")
        #expect(verdict(metric(.noRatio, [0], [0], ratio: nil)) == "both 0")
        #expect(verdict(metric(.noRatio, [0], [2], ratio: nil)) == "no ratio to 0")
    }

    @Test("Shapes that differ are shown where they differ most; warnings are printed")
    func shapes() {
        func distribution(_ differs: Bool?, _ runs: Double?) -> ComparisonDocument.Distribution {
            .init(
                name: "round_trip", d: 0.07, p: 0, betweenRuns: runs, place: 2_300_000, belowA: 0.91, belowB: 0.84,
                differs: differs)
        }
        let text = ComparisonReport.text(
            ComparisonDocument(
                a: .init(name: "before", runs: ["x"]), b: .init(name: "after", runs: ["y", "z"]), judged: 0,
                fewestRuns: 4, metrics: [],
                distributions: [distribution(true, 0.002), distribution(nil, nil), distribution(false, 0.3)],
                warnings: ["something differs"]), on: TextPicture(width: 200, isUnicode: true))
        #expect(text.contains("A: before (1 run)\nB: after (2 runs)\n"))
        let place = "most at 2.30 ms: 91 % of A below, 84 % of B"
        #expect(text.contains("round trip: the shapes differ \(place) (D 0.070, p 0.002)\n"))
        #expect(
            text.contains(
                "too few runs to tell whether the shapes differ, apart \(place) (D 0.070, p < 0.001; so few runs may differ as much by themselves)\n"
            ))
        #expect(text.contains("round trip: shapes alike, apart \(place) (D 0.070, p 0.300)\n"))
        #expect(text.hasSuffix("warning: something differs\n"))
    }

    @Test("As a section: a row a figure, with its interval and verdict, the shapes and the warnings")
    func section() {
        let metric = ComparisonDocument.Metric(
            name: "total p99", unit: .nanoseconds, a: [1e6], b: [2e6], medianA: 1e6, medianB: 2e6, ratio: 2, low: 1.9,
            high: 2.1, p: 0.002, adjusted: 0.02, delta: 1, detectable: nil, verdict: .slower)
        let section = ComparisonSection.make(
            ComparisonDocument(
                a: .init(name: "one", runs: ["1"]), b: .init(name: "two", runs: ["2"]), judged: 1, fewestRuns: 4,
                metrics: [metric],
                distributions: [
                    .init(
                        name: "total", d: 0.5, p: 0, betweenRuns: nil, place: 1000, belowA: 1, belowB: 0.5,
                        differs: true)
                ], warnings: ["A and B differ in streams: 1 and 2"]))
        let text = MarkdownReport.text("t", "s", [section])
        for part in [
            "two against one", "| 2.000 | 1.900 - 2.100 | 0.002 | 0.020 |", "slower by 100.0 %", "the shapes differ",
            "A and B differ in streams: 1 and 2",
        ] { #expect(text.contains(part), "\(part): \(text)") }
    }
}

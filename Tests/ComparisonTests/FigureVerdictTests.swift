import Analysis
import Results
import SampleRuns
import Statistics
import Testing

@testable import Comparison

/// What is called a difference, of one figure and of several.
@Suite struct FigureVerdictTests {
    private func figure(_ a: [Double], _ b: [Double]) -> ComparisonDocument.Metric {
        let test = MannWhitney(a, b)
        return .init(
            name: "rate", unit: .perSecond, a: a, b: b, medianA: 1, medianB: 2, ratio: 2, low: 1.5, high: 3, p: test?.p,
            adjusted: nil, delta: test?.delta, detectable: nil, verdict: .noRatio)
    }

    @Test("Of runs of the same thing, any figure is called different in at most 5 of 100 comparisons")
    func familyWise() {
        let seed: UInt64 = 20_261_121
        var random = SplitMix(seed: seed)
        let (size, number, trials) = (6, ComparedMetric.all.count, 400)
        func isCalled(_ metric: ComparisonDocument.Metric) -> Bool { metric.verdict != .noDifference }
        var (apart, together, uncorrected) = (0, 0, 0)
        for _ in 0..<trials {
            // Figures that know nothing of each other: the worst case.
            let a = (0..<number).map { _ in SampleValues.make(size, 0, &random) }
            let b = (0..<number).map { _ in SampleValues.make(size, 0, &random) }
            let judged = ComparedMetric.judged(zip(a, b).map(figure))
            if judged.contains(where: isCalled) { apart += 1 }
            if judged.contains(where: { ($0.p ?? 1) <= 0.05 }) { uncorrected += 1 }
            // Figures that all say the same.
            let one = ComparedMetric.judged(.init(repeating: figure(a[0], b[0]), count: number))
            if one.contains(where: isCalled) { together += 1 }
        }
        // Binomial(400, 0.05): more than 35 once in 1,500 times. Without the correction about 150.
        #expect(apart <= 35 && together <= 35, "seed \(seed): \(apart), \(together) of \(trials)")
        #expect(apart > 4 && uncorrected > 100, "seed \(seed): \(apart), \(uncorrected) of \(trials)")
    }

    @Test("Judged at once, figures need six runs a side; a figure alone needs four")
    func fewest() {
        #expect(ComparedMetric.fewestRuns(11) == 6 && ComparedMetric.fewestRuns(1) == 4)
        #expect(ComparedMetric.fewestRuns(6) == 5 && ComparedMetric.fewestRuns(0) == 4)
        let five = ([1.0, 2, 3, 4, 5], [6.0, 7, 8, 9, 10])
        let all = ComparedMetric.judged(.init(repeating: figure(five.0, five.1), count: 11))
        #expect(all.allSatisfy { $0.verdict == .tooFewRuns })
        #expect(ComparedMetric.judged([figure(five.0, five.1)]).map(\.verdict) == [.faster])
    }

    @Test("A comparison sees the difference it says it could see, be the figure one or one of eleven")
    func power() throws {
        let metric = try #require(ComparedMetric.all.first)
        let size = 6
        for others in [0, 10] {
            // Of a known spread of 0.05 and ten degrees of freedom.
            let level = 0.05 / Double(others + 1)
            let factor =
                StudentDistribution.quantile(1 - level / 2, degrees: 10)
                + StudentDistribution.quantile(0.8, degrees: 10)
            let shift = (Double.pi / 2).squareRoot() * factor * 0.05 * (2 / Double(size)).squareRoot()
            let seed: UInt64 = 5
            var random = SplitMix(seed: seed)
            var seen = 0
            let same = figure([1, 4, 2, 3, 6, 5], [1.5, 3.5, 2.5, 4.5, 5.5, 2.2])
            for _ in 0..<100 {
                let changed = metric.compare(
                    SampleValues.make(size, 0, &random), SampleValues.make(size, shift, &random))
                let judged = ComparedMetric.judged([changed] + .init(repeating: same, count: others))
                #expect(judged[0].detectable.map { abs($0 - 1) < 1 } == true)
                if judged[0].verdict == .faster { seen += 1 }
            }
            // 89 and 91 of 100 in 1,500 trials.
            #expect(seen >= 78, "seed \(seed), \(others) others: \(seen) of 100")
        }
    }
}

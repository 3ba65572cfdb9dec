import Foundation
import Measurement
import SampleRuns
import Testing

@testable import Statistics

/// Expected values are SciPy's (1.17.1); the call stands beside each.
@Suite struct StatisticsTests {
    private func isClose(_ one: Double?, _ other: Double, _ within: Double = 1e-9) -> Bool {
        one.map { abs($0 - other) <= within * max(1, abs(other)) } ?? false
    }

    @Test("The exact Mann–Whitney test gives SciPy's p-values")
    func exact() {
        // mannwhitneyu([19, 22, 16, 29, 24], [20, 11, 17, 12], method="exact")
        let textbook = MannWhitney([19, 22, 16, 29, 24], [20, 11, 17, 12])
        #expect(textbook?.u == 17 && textbook?.isExact == true && isClose(textbook?.p, 0.1111111111111111))
        #expect(isClose(textbook?.delta, 1 - 2 * 17 / 20.0))
        // mannwhitneyu([1, …, 6], [7, …, 12], method="exact")
        let apart = MannWhitney([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12])
        #expect(apart?.u == 0 && apart?.delta == 1 && isClose(apart?.p, 0.0021645021645021645))
        #expect(isClose(MannWhitney.smallestP(6, 6), 0.0021645021645021645))
        // mannwhitneyu(a, b, method="exact")
        let a = [1.1, 2.3, 3.2, 4.8, 5.5, 6.1, 7.7, 8.2, 9.4, 10.9, 11.3, 12.6]
        let b = [2.2, 4.1, 5.9, 7.1, 8.8, 9.9, 11.1, 12.2, 13.3, 14.4, 15.5, 16.6]
        let dozen = MannWhitney(a, b)
        #expect(dozen?.u == 43 && dozen?.isExact == true && isClose(dozen?.p, 0.10053044277031356))
        #expect(isClose(MannWhitney(b, a)?.p, 0.10053044277031356) && MannWhitney([], a) == nil)
    }

    @Test("Kolmogorov–Smirnov on histograms: SciPy's distance and place")
    func distributions() {
        func histogram(_ values: [UInt64], times: UInt64) -> LatencyHistogram {
            var histogram = LatencyHistogram()
            for value in values { histogram.record(value, count: times) }
            return histogram
        }
        // ks_2samp([1, 2, 2, 3, 3, 4, 5, 6, 7, 8]*10, [2, 3, 3, 4, 5, 5, 6, 7, 9, 10]*8): D 0.2 at 3
        let test = KolmogorovSmirnov(
            histogram([1, 2, 2, 3, 3, 4, 5, 6, 7, 8], times: 10), histogram([2, 3, 3, 4, 5, 5, 6, 7, 9, 10], times: 8))
        #expect(isClose(test?.d, 0.2) && test?.place == 3)
        #expect(isClose(test?.below.a, 0.5) && isClose(test?.below.b, 0.3))
        let one = histogram([7, 9], times: 3)
        #expect(KolmogorovSmirnov(one, one)?.d == 0)
        #expect(KolmogorovSmirnov(one, LatencyHistogram()) == nil)
        // Nothing in common: all of A lies below, at A's highest value.
        let apart = KolmogorovSmirnov(one, histogram([100, 101], times: 5))
        #expect(apart?.d == 1 && apart?.place == 9)
    }

    @Test("Student's quantiles are SciPy's; the smallest ratio that could be seen follows from them")
    func detectable() throws {
        // t.ppf(0.975, degrees), t.ppf(0.8, degrees)
        for (degrees, high, middle) in [
            (1, 12.706204736174694, 1.3763819204711738), (2, 4.302652729749462, 1.0606601717798214),
            (3, 3.1824463052837078, 0.9784723123633042), (4, 2.7764451051977934, 0.9409645772351816),
            (10, 2.228138851986274, 0.8790578285505889), (22, 2.0738730679040254, 0.8582660516582046),
            (40, 2.021075390306273, 0.8506997957904545),
        ] {
            #expect(isClose(StudentDistribution.quantile(0.975, degrees: degrees), high))
            #expect(isClose(StudentDistribution.quantile(0.8, degrees: degrees), middle))
        }
        // Logarithms -0.1, 0, 0.1 on both sides: s = 0.1, 4 degrees of freedom.
        let side = [-0.1, 0, 0.1].map { exp($0) }
        // Three a side have p-values of 0.1 and more, a tenth of which is on each side: t.ppf(0.95, 4).
        let expected = exp(
            (Double.pi / 3).squareRoot() * (2.13184678632665 + 0.9409645772351816) * 0.1 * (2 / 3.0).squareRoot())
        #expect(isClose(DetectableRatio.of(side, side.map { $0 * 7 }, level: 0.1), expected))
        #expect(DetectableRatio.of(side, side, level: 0.05) == nil)
        // Of rounds the spread of their ratios: 0.2 with two degrees of freedom, and p = 0.25. t.ppf(0.875, 2), t.ppf(0.8, 2)
        let rounds = exp(
            (Double.pi / 3).squareRoot() * (1.6035674514745464 + 1.0606601717798214) * 0.2 / 3.0.squareRoot())
        #expect(isClose(DetectableRatio.of(rounds: side, side.reversed().map { $0 * 7 }, level: 0.3), rounds))
        #expect(DetectableRatio.of([1, 2], side) == nil && DetectableRatio.of([0, 1, 2], side) == nil)
    }

    @Test("Of 1,000 pairs of samples from one distribution about 5 % are called different", arguments: [6, 10, 20])
    func falseAlarms(_ size: Int) {
        var random = SplitMix(seed: 11)
        var alarms = 0
        for _ in 0..<1000 {
            if let test = MannWhitney(SampleValues.make(size, 0, &random), SampleValues.make(size, 0, &random)),
                test.p < 0.05
            {
                alarms += 1
            }
        }
        // Five deviations of a binomial around 5 %; exact tests of few values stay below.
        #expect((15...85).contains(alarms), "\(alarms)")
    }

    @Test("Holm's correction gives statsmodels' adjusted p-values")
    func corrected() {
        let p = [
            0.0021645, 0.0411255, 0.008658, 0.0151515, 0.0021645, 0.3095238, 0.6991342, 0.0649351, 1, 0.025974,
            0.004329,
        ]
        // statsmodels 0.14, multipletests(p, method="holm")
        let expected = [
            0.0238095, 0.2056275, 0.069264, 0.1060605, 0.0238095, 0.9285714, 1, 0.2597404, 1, 0.155844, 0.038961,
        ]
        #expect(zip(Holm.adjusted(p), expected).allSatisfy { abs($0 - $1) < 1e-9 })
        #expect(Holm.adjusted([]).isEmpty && Holm.adjusted([0.03]) == [0.03])
    }

}

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

    @Test("With ties or many values, the normal approximation gives SciPy's p-values")
    func approximate() {
        // mannwhitneyu([1, 2, 2, 3, 4, 5, 5, 6], [2, 3, 5, 6, 6, 7, 8, 9, 9], method="asymptotic")
        let tied = MannWhitney([1, 2, 2, 3, 4, 5, 5, 6], [2, 3, 5, 6, 6, 7, 8, 9, 9])
        #expect(tied?.u == 13.5 && tied?.isExact == false && isClose(tied?.p, 0.03273258049602695))
        // mannwhitneyu([((i*37)%101)/7 for i in range(20)], [((i*53)%97)/6 for i in range(15)], method="asymptotic")
        let large = MannWhitney((0..<20).map { Double($0 * 37 % 101) / 7 }, (0..<15).map { Double($0 * 53 % 97) / 6 })
        #expect(large?.u == 152.5 && isClose(large?.p, 0.9468433543266095))
        // mannwhitneyu([5, 5, 5], [5, 5, 5], method="asymptotic")
        let same = MannWhitney([5, 5, 5], [5, 5, 5])
        #expect(same?.p == 1 && same?.delta == 0)
    }

    @Test("Kolmogorov–Smirnov on histograms: SciPy's distance and place, and its distribution's tail")
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
        // kstwobign.sf(sqrt(100 * 80 / 180) * 0.2)
        #expect(isClose(test?.p, KolmogorovSmirnov.survival((8000.0 / 180).squareRoot() * 0.2)))
        // kstwobign.sf(x)
        for (x, tail) in [
            (0.3, 0.9999906941986655), (0.5, 0.9639452436648751), (0.8, 0.5441424115741981),
            (1, 0.26999967167735456), (1.18, 0.1234538094297657), (1.36, 0.049485876755377876),
            (1.63, 0.009846364888486529), (2.5, 7.453306344157342e-06),
        ] { #expect(abs(KolmogorovSmirnov.survival(x) - tail) < 1e-12, "\(x)") }
        let one = histogram([7, 9], times: 3)
        #expect(KolmogorovSmirnov(one, one)?.d == 0 && KolmogorovSmirnov(one, one)?.p == 1)
        #expect(KolmogorovSmirnov(one, LatencyHistogram()) == nil)
        // Nothing in common: all of A lies below, at A's highest value.
        let apart = KolmogorovSmirnov(one, histogram([100, 101], times: 5))
        #expect(apart?.d == 1 && apart?.place == 9)
    }

    @Test("The bootstrap interval of a ratio of medians is SciPy's, within what resampling leaves open")
    func interval() throws {
        let a = [100, 102, 98, 101, 99, 103, 97, 100.5]
        let b = [110, 108, 111, 109, 112, 107, 113, 110.5]
        let interval = try #require(BootstrapRatio(a, b))
        // bootstrap((a, b), median of b / median of a, n_resamples=200000, method="percentile")
        #expect(isClose(interval.low, 1.0738916, 0.002) && isClose(interval.high, 1.1269035, 0.002), "\(interval)")
        #expect(isClose(interval.ratio, 110.25 / 100.25))
        #expect(interval == BootstrapRatio(a, b) && interval != BootstrapRatio(a, b, resamples: 2000, seed: 2))
        #expect(BootstrapRatio([1], b) == nil && BootstrapRatio([0, 1], b) == nil)
        #expect(BootstrapRatio(a, b, resamples: 100) == nil)
        // Whatever the numbers: the same values have a ratio of 1, and a multiple moves all three.
        let doubled = try #require(BootstrapRatio(a, b.map { $0 * 2 }))
        #expect(isClose(doubled.low, 2 * interval.low) && isClose(doubled.high, 2 * interval.high))
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
        let expected = exp(
            (Double.pi / 2).squareRoot() * (2.7764451051977934 + 0.9409645772351816) * 0.1 * (2 / 3.0).squareRoot())
        #expect(isClose(DetectableRatio.of(side, side.map { $0 * 7 }), expected))
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

    @Test("Runs that differ among themselves are not called different; runs of another shape are")
    func exchange() throws {
        var random = SplitMix(seed: 3)
        /// A run whose latencies all lie higher or lower than another run's; now and then, twice as high.
        func run(outliers: UInt64) -> LatencyHistogram {
            var histogram = LatencyHistogram()
            let base = SampleValues.make(1, 0, &random)[0] * 1e6
            for value in SampleValues.make(200, 0, &random) { histogram.record(UInt64(base * value), count: 10) }
            histogram.record(UInt64(2 * base), count: outliers)
            return histogram
        }
        var (alarms, naive, seen) = (0, 0, 0)
        for _ in 0..<20 {
            let a = (0..<5).map { _ in run(outliers: 0) }
            let same = (0..<5).map { _ in run(outliers: 0) }
            let other = (0..<5).map { _ in run(outliers: 2000) }
            if try #require(RunExchange.p(a, same)) < 0.05 { alarms += 1 }
            if try #require(RunExchange.p(a, other)) < 0.05 { seen += 1 }
            func added(_ runs: [LatencyHistogram]) -> LatencyHistogram {
                runs.reduce(into: LatencyHistogram()) { $0.add($1) }
            }
            if try #require(KolmogorovSmirnov(added(a), added(same))).p < 0.01 { naive += 1 }
        }
        #expect(alarms <= 5 && seen == 20 && naive > 12, "\(alarms) \(seen) \(naive)")
        let one = run(outliers: 0)
        #expect(RunExchange.p([one, one, one], [one, one, one]) == nil)
        #expect(RunExchange.p([one, one, one, one], [one, one, one, one]) == 1)
        let empty = LatencyHistogram()
        #expect(RunExchange.p([empty, empty, empty, empty], [empty, empty, empty, empty]) == nil)
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

    /// A figure of two sides, with an interval that excludes 1: what is called depends on the tests alone.
}

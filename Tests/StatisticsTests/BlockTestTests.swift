import Foundation
import Testing

@testable import Statistics

/// The tests that blocks of a run are judged by, against SciPy and tables.
@Suite struct BlockTestTests {
    @Test("Mann and Kendall's test is SciPy's rank correlation with time, ties and all")
    func mannKendall() throws {
        // scipy.stats.kendalltau(range(len(x)), x, method="asymptotic").pvalue; S by counting pairs.
        for (values, s, p) in [
            ([1.0, 3, 2, 5, 4, 6, 8, 7], 22, 0.006492857745083887),
            ([5, 5, 3, 4, 4, 2, 2, 1, 1, 1], -35, 0.0012932658784938701),
            ([2, 1, 2, 1, 2, 1, 2, 1], -4, 0.5637028616507731),
        ] {
            let test = try #require(MannKendall(values))
            #expect(test.s == s && abs(test.p - p) < 1e-9, "\(values): \(test)")
        }
        #expect(MannKendall([1, 2, 3]) == nil && MannKendall([1, 2, 3, 4, 5, 6, 7, .nan]) == nil)
        #expect(MannKendall([Double](repeating: 1, count: 9))?.p == 1)
    }

    @Test("The correlation of neighbours is NumPy's of ranks, and its chance that of all orders")
    func neighbours() throws {
        // r = ranks - mean; (r[1:] * r[:-1]).sum() / (r * r).sum(); p of all 40,320 orders.
        let rising = try #require(NeighbourCorrelation([1, 2, 3, 5, 4, 6, 7, 8]))
        #expect(abs(rising.r - 0.5535714285714286) < 1e-12 && abs(rising.p - 0.0102678571) < 0.013, "\(rising)")
        let middling = try #require(NeighbourCorrelation([3, 1, 2, 5, 4, 8, 6, 7]))
        // The standard errors of 999 shuffles are 0.003 and 0.005.
        #expect(abs(middling.r - 0.47023809523809523) < 1e-12 && abs(middling.p - 0.0252976) < 0.02, "\(middling)")
        let swinging = try #require(NeighbourCorrelation([1, 8, 2, 7, 3, 6, 4, 5]))
        #expect(swinging.r < -0.5 && swinging.p > 0.95, "\(swinging)")
        #expect(NeighbourCorrelation([4, 4, 4, 4, 4])?.p == 1 && NeighbourCorrelation([1, 2, 3]) == nil)
    }

    @Test("The gamma distribution is SciPy's")
    func gamma() {
        // scipy.stats.gamma.cdf(x, shape)
        for (x, shape, share) in [
            (0.5, 1, 0.3934693402873665), (3, 1, 0.950212931632136), (2, 3, 0.32332358381693654),
            (10, 12, 0.3032238536968938), (25, 20, 0.8664251659143496), (400, 380, 0.8474454979356753),
            (9000, 9100, 0.14716915468789016), (20100, 20000, 0.7606167055614176),
            (50000, 50500, 0.012844801214799726),
        ] as [(Double, Double, Double)] {
            let found = GammaDistribution.cumulative(x, shape: shape)
            #expect(abs(found - share) < (shape > 1e4 ? 1e-6 : 1e-10), "\(x) \(shape): \(found)")
        }
        #expect(
            GammaDistribution.cumulative(0, shape: 3) == 0 && GammaDistribution.cumulative(.infinity, shape: 3) == 1)
        #expect(GammaDistribution.cumulative(-1, shape: 3) == 0)
    }

    @Test("Anderson and Darling's statistic is the definition's, its distribution the tables'")
    func andersonDarling() throws {
        // NumPy: u = sorted; i = arange(1, n + 1); -n - sum((2 * i - 1) * (log(u) + log(1 - u[::-1]))) / n
        let test = try #require(AndersonDarling([0.9, 0.1, 0.25, 0.5, 0.77, 0.33, 0.6, 0.05]))
        #expect(abs(test.statistic - 0.3105172283796165) < 1e-12, "\(test)")
        // D'Agostino and Stephens, Goodness-of-Fit Techniques, 1986, table 4.2, case 0, for ever more values.
        for (statistic, share) in [(1.933, 0.90), (2.492, 0.95), (3.070, 0.975), (3.857, 0.99)] {
            #expect(abs(AndersonDarling.cumulative(statistic, count: 1_000_000) - share) < 5e-4, "\(statistic)")
        }
        // A million samples of ten by NumPy: the share at or below.
        for (statistic, share) in [
            (0.3, 0.0629), (0.5, 0.2566), (0.774, 0.5030), (1.25, 0.7516), (2.5, 0.9496), (3.9, 0.9898),
        ] as [(Double, Double)] {
            #expect(abs(AndersonDarling.cumulative(statistic, count: 10) - share) < 2e-3, "\(statistic)")
        }
        #expect(AndersonDarling([0.5]) == nil && AndersonDarling([0.5, 1.5]) == nil)
        #expect((AndersonDarling([0, 0, 0, 1])?.p ?? 1) < 0.001)
    }

    @Test("Of even shares one in twenty is called uneven at 5 %, of squeezed ones nearly all")
    func chances() {
        let seed: UInt64 = 20_261_125
        var random = SplitMix(seed: seed)
        func share() -> Double { Double(random.next() >> 11) * 0x1p-53 }
        let false5 = (0..<1000).count { _ in (AndersonDarling((0..<20).map { _ in share() })?.p ?? 1) < 0.05 }
        // Binomial(1000, 0.05): beyond these less than once in 10,000 times.
        #expect((26...80).contains(false5), "seed \(seed): \(false5)")
        let found = (0..<100).count { _ in (AndersonDarling((0..<200).map { _ in sqrt(share()) })?.p ?? 1) < 0.05 }
        #expect(found > 98, "seed \(seed): \(found)")
    }
}

import Foundation
import Testing

@testable import Statistics
@testable import coverage

@Suite struct RunOrderTests {
    private func order(_ runs: String) -> RunOrder { RunOrder(isB: runs.map { $0 == "B" }) }

    private func isClose(_ one: Double, _ other: Double) -> Bool { abs(one - other) <= 1e-9 * max(1e-30, other) }

    @Test(
        "How much further sides move apart: NumPy's variance of their distance by what their values' is expected to be seen as"
    )
    func stretch() {
        // R = 0.3 ** abs(subtract.outer(arange(n), arange(n))); w = where(isB, 1/b, -1/a); wa, wb: a side's alone
        // sqrt((w @ R @ w / (1/a + 1/b)) / ((a * (1 - wa @ R @ wa) + b * (1 - wb @ R @ wb)) / (a + b - 2)))
        #expect(
            isClose(order("AAABBB").stretch, 1.2826464119864904) && order("AAABBB") == RunOrder(before: 3, after: 3))
        #expect(isClose(RunOrder(before: 10, after: 5).stretch, 1.32431837758839))
        #expect(isClose(RunOrder(before: 30, after: 30).stretch, 1.3593881999117754))
        #expect(isClose(order("AAABABBB").stretch, 1.1338721529049263))
        #expect(isClose(RunOrder(before: 2000, after: 2000).stretch, 1.3627252786095545))
        // In alternation chance moves them less: not made use of.
        #expect(order("ABBAABBA") == .independent && order("ABABABAB") == .independent)
        #expect(order("ABBB") == .independent && order("").stretch == 1)
    }

    @Test("p-values allow for it: SciPy's erfc(erfcinv(p) / stretch), and back")
    func chances() {
        let order = RunOrder(before: 6, after: 6)
        for (p, larger) in [
            (1.0, 1.0), (0.5, 0.613613633262961), (0.05, 0.1423145848081945), (1e-20, 2.769536073363893e-12),
        ] {
            #expect(abs(order.p(p) / larger - 1) < 1e-9, "\(p): \(order.p(p))")
            #expect(abs(order.independentP(larger) / p - 1) < 1e-8, "\(p): \(order.independentP(larger))")
        }
        #expect(abs(order.independentP(0.05) / 0.008840068383120804 - 1) < 1e-9)
        #expect(order.p(0) < 1e-100 && order.independentP(0) >= 0)
        #expect(RunOrder.independent.p(0.3) == 0.3 && RunOrder.independent.independentP(0.3) == 0.3)
    }

    @Test(
        "Of runs that resemble their neighbours the interval holds the true ratio as often as it says; without the order, it does not"
    )
    func coverage() throws {
        let seed: UInt64 = 20_261_126
        var random = SplitMix(seed: seed)
        let (draws, runs) = (2000, 8)
        var (held, heldWithout) = (0, 0)
        for _ in 0..<draws {
            let values = Noise.correlated.factors(2 * runs, spread: 0.05, &random)
            let (a, b) = (Array(values[..<runs]), values[runs...].map { 2 * $0 })
            let interval = try #require(RatioInterval(a, b, in: RunOrder(before: runs, after: runs)))
            let without = try #require(RatioInterval(a, b))
            #expect(interval.ratio == without.ratio && interval.coverage == without.coverage)
            if interval.low <= 2, interval.high >= 2 { held += 1 }
            if without.low <= 2, without.high >= 2 { heldWithout += 1 }
        }
        // Says 95.0 %. Binomial(2000, 0.95) is below 1,866 (93.3 %) once in 3,000 times.
        #expect(held >= 1866, "seed \(seed): \(held) of \(draws)")
        #expect(heldWithout < 1780, "seed \(seed): \(heldWithout) of \(draws)")
    }

    @Test(
        "What a wider interval covers of independent runs is what the normal distribution has within so many deviations"
    )
    func independentCoverage() {
        // SciPy: 2 norm.cdf(k norm.ppf((1 + c) / 2)) - 1.
        #expect(isClose(RunOrder.independentCoverage(0.95, stretch: 1), 0.95))
        #expect(abs(RunOrder.independentCoverage(0.95, stretch: 1.3627252786095545) - 0.9924339) < 1e-5)
        #expect(abs(RunOrder.independentCoverage(0.875, stretch: 1.2826) - 0.9508845) < 1e-4)
        #expect(RunOrder.independentCoverage(1, stretch: 1.3) == 1)
    }
}

import Foundation
import Testing

@testable import Statistics

@Suite struct HodgesLehmannTests {
    private func isClose(_ one: Double?, _ other: Double) -> Bool {
        one.map { abs($0 - other) <= 1e-12 * other } ?? false
    }

    @Test("Ranks are those of the exact distribution of U, as SciPy has it")
    func ranks() {
        // The highest k with scipy.stats._mannwhitneyu._MWU(n, m).cdf(k) <= error.
        for (n, m, error, rank) in [
            (8, 32, 0.01 / 24, 34), (5, 5, 0.025, 2), (12, 10, 0.005, 21), (64, 32, 0.01 / 24, 600), (8, 8, 0.001, 4),
        ] { #expect(HodgesLehmann.rank(n, m, error: error) == rank, "\(n) \(m) \(error)") }
        #expect(HodgesLehmann.rank(3, 3, error: 0.01) == nil)
    }

    @Test("Ratio and interval are the median and the ends NumPy finds among all pairs")
    func interval() throws {
        // r = sort(divide.outer(b, a)); median(r), r[21], r[-22]
        let a = [1.1, 2.3, 3.2, 4.8, 5.5, 6.1, 7.7, 8.2, 9.4, 10.9, 11.3, 12.6]
        let b = [2.2, 4.1, 5.9, 7.1, 8.8, 9.9, 11.1, 12.2, 13.3, 14.4]
        let wide = try #require(HodgesLehmann(a, b, error: 0.005))
        #expect(
            isClose(wide.ratio, 1.2834821428571428) && isClose(wide.low, 0.6513761467889908) && isClose(wide.high, 3))
        let close = HodgesLehmann([100, 102, 98, 101, 99], [110, 108, 111, 109, 112], error: 0.025)
        #expect(isClose(close?.ratio, 1.1) && isClose(close?.low, 1.0693069306930694))
        #expect(isClose(close?.high, 1.1313131313131313))
        #expect(HodgesLehmann([0, 1, 2], [1, 2, 3], error: 0.1) == nil && HodgesLehmann([], [1], error: 0.1) == nil)
        #expect(HodgesLehmann([1], [2], error: 0.01) == nil)
    }

    @Test("Values far out move it little; the interval holds the true ratio as often as it says")
    func coverage() throws {
        var random = SplitMix(seed: 9)
        /// Around 100, one in ten half as large again.
        func sample(_ count: Int, _ factor: Double) -> [Double] {
            (0..<count).map { _ in
                factor * Double.random(in: 98..<102, using: &random) * (random.below(10) == 0 ? 1.5 : 1)
            }
        }
        var (missed, far) = (0, 0)
        for _ in 0..<400 {
            let interval = try #require(HodgesLehmann(sample(16, 1), sample(8, 1.05), error: 0.025))
            if interval.low > 1.05 || interval.high < 1.05 { missed += 1 }
            if abs(interval.ratio / 1.05 - 1) > 0.03 { far += 1 }
        }
        // Two-sided 5 %: 20 of 400, less five deviations and more.
        #expect((3...42).contains(missed) && far <= 4, "\(missed) \(far)")
    }
}

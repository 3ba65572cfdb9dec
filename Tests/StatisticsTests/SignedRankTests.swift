import Foundation
import Testing

@testable import Statistics

@Suite struct SignedRankTests {
    private func isClose(_ one: Double?, _ other: Double) -> Bool {
        one.map { abs($0 - other) <= 1e-12 * other } ?? false
    }

    @Test("Ranks are those of the exact distribution of W, counted over all choices of signs")
    func ranks() {
        for n in 1...10 {
            var counted = [Double](repeating: 0, count: n * (n + 1) / 2 + 1)
            for signs in 0..<(1 << n) { counted[(0..<n).reduce(0) { $0 + (signs >> $1 & 1) * ($1 + 1) }] += 1 }
            #expect(SignedRank.ways(n) == counted, "\(n)")
        }
        // The highest k with scipy.stats._wilcoxon.WilcoxonDistribution(n).cdf(k) <= error.
        for (n, error, rank) in [
            (8, 0.0125, 2), (16, 0.01 / 9, 12), (32, 0.01 / 9, 104), (64, 0.0125, 705), (128, 0.01 / 12, 2816),
        ] { #expect(SignedRank.rank(n, error: error) == rank, "\(n) \(error)") }
        #expect(SignedRank.rank(8, error: 0.001) == nil)
    }

    @Test("Ratio and interval of pairs are the median and the ends NumPy finds among all geometric means")
    func interval() throws {
        // m = sort(sqrt(r[i] r[j]), i <= j); median(m), m[3], m[-11]
        let ratios = [1.01, 1.05, 0.98, 1.12, 1.07, 1.03, 1.09, 0.995, 1.06, 1.02]
        let interval = try #require(HodgesLehmann(ratios: ratios, lowError: 0.005, highError: 0.05))
        #expect(isClose(interval.ratio, 1.0399519219656264) && isClose(interval.low, 0.995))
        #expect(isClose(interval.high, 1.0698130677833395))
        let few = try #require(HodgesLehmann(ratios: [1.1, 1.2], lowError: 0.01, highError: 0.3))
        #expect(few.low == 0 && few.high == 1.2)
        #expect(HodgesLehmann(ratios: [0, 1], lowError: 0.1, highError: 0.1) == nil)
        #expect(HodgesLehmann(ratios: [], lowError: 0.1, highError: 0.1) == nil)
    }

    @Test("Either end of an interval has a chance of its own, and a stretched one lies further out")
    func ends() throws {
        let a = [100.0, 102, 98, 101, 99, 103], b = [110.0, 108, 111, 109, 112, 107]
        let even = try #require(HodgesLehmann(a, b, error: 0.025))
        let wide = try #require(HodgesLehmann(a, b, lowError: 0.002, highError: 0.025))
        #expect(wide.high == even.high && wide.low < even.low && wide.ratio == even.ratio)
        let stretched = try #require(HodgesLehmann(a, b, lowError: 0.025, highError: 0.025, stretch: 1.2))
        #expect(stretched.low < even.low && stretched.high > even.high && stretched.ratio == even.ratio)
        // 1.2 times as far, of logarithms.
        #expect(abs(log(stretched.low / even.ratio) / log(even.low / even.ratio) - 1.2) < 1e-9)
        #expect(abs(log(stretched.high / even.ratio) / log(even.high / even.ratio) - 1.2) < 1e-9)
        let open = try #require(HodgesLehmann([100, 101], [103, 104], lowError: 0.025, highError: 0.4))
        #expect(open.low == 0 && open.high == 1.03)
    }
}

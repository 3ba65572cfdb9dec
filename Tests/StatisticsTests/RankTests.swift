import Foundation
import Testing

@testable import Statistics

/// Expected values are SciPy's (1.17.1) and NumPy's; the call stands beside each.
@Suite struct RankTests {
    private func isClose(_ one: Double?, _ other: Double, _ within: Double = 1e-9) -> Bool {
        one.map { abs($0 - other) <= within * max(1, abs(other)) } ?? false
    }

    /// d in what stands below.
    private let differences = [0.3, -0.1, 0.5, 0.7, -0.2, 0.9, 1.1, 0.4, -0.6, 1.3]

    @Test("Equal values are taken as they are: all ways to divide them between the sides")
    func tied() {
        // permutation_test((a, b), lambda x, y: mannwhitneyu(x, y).statistic, permutation_type="independent", vectorized=False,
        //                  n_resamples=100_000).pvalue, of all 24,310 ways
        let tied = MannWhitney([1, 2, 2, 3, 4, 5, 5, 6], [2, 3, 5, 6, 6, 7, 8, 9, 9])
        #expect(
            tied?.u == 13.5 && tied?.isExact == true && isClose(tied?.p, 0.02895927601809955),
            "\(String(describing: tied))")
        let few = MannWhitney([1, 1, 2], [1, 2, 2, 3])
        #expect(
            isClose(few?.p, 0.5714285714285714) && few == MannWhitney([1, 1, 2], [1, 2, 2, 3]),
            "\(String(describing: few))")
        #expect(isClose(MannWhitney([1, 2, 2, 3], [1, 1, 2])?.p, 0.5714285714285714))
        let same = MannWhitney([5, 5, 5], [5, 5, 5])
        #expect(same?.p == 1 && same?.delta == 0)
        // Without ties both ways of counting must agree: a tie far from the others changes nothing.
        #expect(isClose(MannWhitney([1, 2, 3, 9, 9], [4, 5, 6, 7, 8])?.p, 0.6349206349206349))
    }

    @Test("Few values beside many are counted: all below, or above, is the smallest p there can be")
    func unbalanced() {
        // mannwhitneyu([1, 2, 3], range(4, 62), method="exact")
        for (few, many) in [(3, 58), (3, 300), (2, 61), (3, 334), (501, 2), (4, 400)] {
            let test = MannWhitney((1...few).map(Double.init), (few + 9..<few + 9 + many).map(Double.init))
            #expect(test?.isExact == true && isClose(test?.p, MannWhitney.smallestP(few, many)), "\(few), \(many)")
            // Intervals are held against the same distribution.
            let tail = MannWhitney.Tails(few, many).atMost(0)
            #expect(isClose(2 * tail, MannWhitney.smallestP(few, many)), "\(few), \(many): \(tail)")
        }
        #expect(isClose(MannWhitney.smallestP(3, 58), 2 / 35_990.0))
    }

    @Test("With many values, the normal approximation gives SciPy's p-values")
    func approximate() {
        // a = [((i * 37) % 101) / 7 for i in range(40)], b = [((i * 53) % 97) / 6 + 2 for i in range(35)]
        // mannwhitneyu(a, b, method="asymptotic")
        let large = MannWhitney(
            (0..<40).map { Double($0 * 37 % 101) / 7 }, (0..<35).map { Double($0 * 53 % 97) / 6 + 2 })
        #expect(large?.isExact == false && isClose(large?.u, 508.0) && isClose(large?.p, 0.04197813117833031))
        // b = [((i * 53) % 97) / 6 + 2.03 for i in range(15)]: mannwhitneyu(a[:20], b, method="exact")
        let exact = MannWhitney(
            (0..<20).map { Double($0 * 37 % 101) / 7 }, (0..<15).map { Double($0 * 53 % 97) / 6 + 2.03 })
        #expect(exact?.isExact == true && isClose(exact?.p, 0.2401145597634165))
    }

    @Test("The signed-rank test gives SciPy's p-values, with ties and differences of 0 those of all signs")
    func signed() {
        // wilcoxon(d, method="exact")
        let exact = SignedRank(differences)
        #expect(isClose(exact?.w, 46.0) && isClose(exact?.p, 0.064453125))
        #expect(isClose(SignedRank(differences.map { -$0 })?.p, 0.064453125))
        // permutation_test((d,), w, permutation_type="samples", n_resamples=100_000), all 1,024 signs; d as below, and
        // w = lambda d: rankdata(abs(d))[d > 0].sum()
        let tied = SignedRank([0.3, -0.1, 0.3, 0, -0.3, 0.9, 0.9, 0.4, -0.1, 0])
        #expect(isClose(tied?.w, 39.0) && isClose(tied?.p, 0.21875))
        #expect(SignedRank([0, 0])?.p == 1 && SignedRank([]) == nil && SignedRank([.nan]) == nil)
        #expect(isClose(SignedRank([1, 2, 3, 4, 5, 6])?.p, 2 / 64.0) && SignedRank.smallestP(6) == 2 / 64.0)
        // wilcoxon([((i * 37) % 251 - 110) / 7 for i in range(120)], method="asymptotic", correction=True)
        let large = SignedRank((0..<120).map { (Double($0 * 37 % 251) - 110) / 7 })
        #expect(isClose(large?.p, 0.07864662618220641), "\(String(describing: large))")
    }

    @Test(
        "Intervals of a ratio end where NumPy finds them among all ratios, and cover what the tests' distributions say")
    func ratios() throws {
        let a = [100, 102, 98, 101, 99, 103, 97, 100.5]
        let b = [110, 108, 111, 109, 112, 107, 113, 110.5]
        // r = sort(divide.outer(b, a), axis=None): median(r), r[13], r[-14]; 1 - 2 * _MWU(8, 8).cdf(13)
        let groups = try #require(RatioInterval(a, b))
        #expect(
            isClose(groups.ratio, 1.0997512437810946) && isClose(groups.low, 1.0776699029126213)
                && isClose(groups.high, 1.1237113402061856))
        #expect(isClose(groups.coverage, 0.9501165501165502))
        // x = log(b) - log(a); w = exp(sort([(x[i] + x[j]) / 2 for i in range(8) for j in range(i, 8)])): median(w), w[3], w[-4];
        // 1 - 2 * P(W <= 3) = 1 - 2 * 5 / 256
        let rounds = try #require(RatioInterval(rounds: a, b))
        #expect(
            isClose(rounds.ratio, 1.0998756078238077) && isClose(rounds.low, 1.0588290268061715)
                && isClose(rounds.high, 1.1326530612244892))
        #expect(isClose(rounds.coverage, 1 - 10 / 256.0))
        // What the test tells apart, the interval excludes, and the other way round.
        for ratio in [groups.low * 0.9999, groups.low * 1.0001, groups.high * 0.9999, groups.high * 1.0001] {
            let p = try #require(MannWhitney(a, b.map { $0 / ratio })).p
            #expect((p <= 0.05) == (ratio < groups.low || ratio > groups.high), "\(ratio) \(p)")
        }
        for ratio in [rounds.low * 0.9999, rounds.low * 1.0001, rounds.high * 0.9999, rounds.high * 1.0001] {
            let p = try #require(SignedRank(zip(a, b).map { log($1 / ratio) - log($0) })).p
            #expect((p <= 0.05) == (ratio < rounds.low || ratio > rounds.high), "\(ratio) \(p)")
        }
        let doubled = try #require(RatioInterval(a, b.map { $0 * 2 }))
        #expect(isClose(doubled.low, 2 * groups.low) && isClose(doubled.high, 2 * groups.high))
    }

    @Test(
        "Of few values an interval is as wide as it can be, and says what that covers; of one, or of 0, there is none")
    func few() throws {
        let three = try #require(RatioInterval([1, 2, 4], [3, 5, 6]))
        #expect(isClose(three.low, 0.75) && isClose(three.high, 6) && isClose(three.coverage, 0.9))
        #expect(three.sameWithin.map { isClose($0, 5) } == true)
        let two = try #require(RatioInterval([1, 2], [3, 5]))
        #expect(isClose(two.coverage, 1 - 2 / 6.0) && two.sameWithin == nil)
        for (rounds, coverage) in [(2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375)] {
            let values = (1...rounds).map(Double.init)
            let interval = try #require(RatioInterval(rounds: values, values.map { $0 * $0 }))
            #expect(isClose(interval.coverage, coverage) && (interval.sameWithin != nil) == (rounds > 4))
            #expect(isClose(interval.low, 1) && isClose(interval.high, Double(rounds)))
        }
        #expect(RatioInterval([1], [1, 2]) == nil && RatioInterval([1, 0], [1, 2]) == nil)
        #expect(RatioInterval(rounds: [1, 2], [1, 2, 3]) == nil && RatioInterval([1, .infinity], [1, 2]) == nil)
        // A ratio beyond all numbers is none.
        #expect(RatioInterval([1e-300, 1], [1e300, 1]) == nil)
        let same = try #require(RatioInterval([2, 2, 2], [2, 2, 2], confidence: 0.9))
        #expect(same.sameWithin == 0)
    }

    @Test("Beyond what is counted, intervals end where the normal approximation has them, as near as a place")
    func many() throws {
        // norm.ppf(0.025): of 40 and 30 values k is floor(600 - 1.959964 * sqrt(1200 * 71 / 12) - 0.5) = 434
        let tails = MannWhitney.Tails(40, 30)
        #expect(tails.atMost(434) <= 0.025 && tails.atMost(435) > 0.025)
        // _MWU(40, 30).cdf(434)
        #expect(abs(tails.atMost(434) - 0.024535127494576123) < 3e-4)
        // What was counted and the approximation, a pair apart, at two deviations below their means of 2525 and 2575.5.
        #expect(abs(SignedRank.Tails(101).atMost(1990) - SignedRank.Tails(100).atMost(1943)) < 2e-3)
        let values = (0..<150).map { 1 + Double($0 * 37 % 151) / 151 }
        let interval = try #require(RatioInterval(values, values.map { $0 * 3 }))
        #expect(interval.low < 3 && interval.high > 3 && abs(interval.coverage - 0.95) < 1e-3)
    }

    @Test("The interval of a median is the binomial one that SciPy finds, or the span of fewer than six values")
    func medians() throws {
        // quantile_test(x, q=0.5, p=0.5).confidence_interval(0.95), of x = [(i * 37 % 101) / 7 for i in range(n)]
        for (count, low, high) in [
            (6, 0.0, 12.0), (8, 0.0, 12.0), (12, 1.4285714285714286, 10.571428571428571),
            (30, 4.285714285714286, 9.571428571428571), (50, 5.142857142857143, 9.428571428571429),
        ] {
            let interval = try #require(MedianInterval((0..<count).map { Double($0 * 37 % 101) / 7 }))
            #expect(isClose(interval.low, low) && isClose(interval.high, high), "\(count): \(interval)")
        }
        // 1 - 2 * binom.cdf(k - 1, n, 0.5)
        for (count, coverage) in [
            (2, 0.5), (3, 0.75), (5, 0.9375), (6, 0.96875), (8, 0.9921875), (12, 0.96142578125),
            (30, 0.9572260547429323), (101, 0.9539559330706572),
        ] {
            let interval = try #require(MedianInterval((0..<count).map(Double.init)))
            #expect(isClose(interval.coverage, coverage), "\(count): \(interval)")
        }
        let few = try #require(MedianInterval([3, 1, 2]))
        #expect(few.low == 1 && few.high == 3 && few.median == 2)
        #expect(MedianInterval([1]) == nil && MedianInterval([1, .nan]) == nil)
        #expect(try #require(MedianInterval((0..<5000).map(Double.init))).coverage > 0.95)
    }
}

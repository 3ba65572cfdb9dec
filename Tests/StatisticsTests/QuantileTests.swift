import Testing

@testable import Statistics

@Suite struct QuantileTests {
    @Test("Limits lie where Hyndman and Fan's type 6 puts them, as NumPy's weibull method does")
    func limits() throws {
        // numpy.quantile(range(n), [0.025, 0.975], method="weibull")
        for (count, low, high) in [(999, 24.0, 974.0), (1000, 24.025, 974.975), (99, 1.5, 96.5), (45, 0.15, 43.85)] {
            let limits = try #require(Quantile.limits((0..<count).map(Double.init), holding: 0.95))
            #expect(abs(limits.lowerBound - low) < 1e-9)
            #expect(abs(limits.upperBound - high) < 1e-9)
        }
        // Too few to leave any out.
        #expect(Quantile.limits((0..<38).map(Double.init), holding: 0.95) == 0...37)
        #expect(Quantile.limits([3, 5], holding: 0.95) == 3...5)
        #expect(Quantile.limits([3], holding: 0.95) == 3...3)
        #expect(Quantile.limits([-1.7e308, 1.7e308, 1.7e308], holding: 0.95) == -1.7e308...1.7e308)
        #expect(Quantile.limits([], holding: 0.95) == nil)
        #expect(Quantile.limits([1, 2, 3, 4, 5], holding: 0) == 3...3)
    }

    @Test("Limits of few draws hold one more of them as often as they say")
    func coverage() throws {
        var random = SplitMix(seed: 11)
        var held = 0
        for _ in 0..<4000 {
            let drawn = (0..<59).map { _ in Double.random(in: 0..<1, using: &random) }.sorted()
            let limits = try #require(Quantile.limits(drawn, holding: 0.95))
            if limits.contains(Double.random(in: 0..<1, using: &random)) { held += 1 }
        }
        // Binomial(4000, 0.95): ±4.2 standard errors; type 7 would hold 92.5 %.
        #expect(abs(Double(held) / 4000 - 0.95) < 0.0145, "\(held) of 4000")
    }
}

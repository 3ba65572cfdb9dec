import Measurement
import Settings
import Statistics
import Testing

@testable import Plan

@Suite struct TimeDistributionTests {
    static let all: [TimeDistribution] = [
        .constant(3), .uniform(low: 2, high: 5), .exponential(mean: 4), .lognormal(median: 2, sigma: 0.8),
        .measured(TimeDistribution.shares.map { 1 + 9 * $0 * $0 }),
    ]

    @Test(
        "The excess over a time is the integral of the share that takes longer, and over none it is the mean",
        arguments: all)
    func excess(_ times: TimeDistribution) {
        #expect(abs(times.excess(over: 0) - times.mean) < 1e-9)
        for time in [0.5, 2, 2.5, 3, 4, 6, 20] {
            let step = 0.005
            let sum = stride(from: time + step / 2, to: time + 400, by: step).reduce(0) {
                $0 + step * times.share(over: $1)
            }
            #expect(abs(times.excess(over: time) - sum) < 0.003, "\(time): \(times.excess(over: time)), \(sum)")
        }
    }

    @Test("Draws are longer than a time as often as the distribution says", arguments: all)
    func shares(_ times: TimeDistribution) {
        var random = SplitMix(seed: 7)
        let draws = (0..<20_000).map { _ in times.draw(&random) }
        for time in [1.0, 2.5, 4, 8] {
            let share = Double(draws.count { $0 > time }) / Double(draws.count)
            // Four standard errors.
            #expect(abs(share - times.share(over: time)) < 0.0142, "\(time): \(share), \(times.share(over: time))")
        }
    }

    private static let series: [(count: Int, span: Double)] = [(1, 0), (50, 0), (50, 20), (3, 100), (500, 30)]

    @Test(
        "The last of many that begin over a time is through by then in as many of 1,500 draws as was asked for",
        arguments: [
            TimeDistribution.uniform(low: 2, high: 5), .exponential(mean: 4), .lognormal(median: 2, sigma: 0.8),
        ],
        series)
    func last(_ times: TimeDistribution, _ series: (count: Int, span: Double)) {
        for chance in [0.025, 0.5, 0.95] {
            let end = series.span + times.last(of: Double(series.count), over: series.span, chance: chance)
            var random = SplitMix(seed: 11)
            let rounds = 1500
            let held = (0..<rounds).count { _ in
                (0..<series.count).allSatisfy { number in
                    let begun = series.count > 1 ? series.span * Double(number) / Double(series.count - 1) : series.span
                    return begun + times.draw(&random) <= end
                }
            }
            let share = Double(held) / Double(rounds)
            // Four standard errors.
            #expect(
                abs(share - chance) < 4 * (chance * (1 - chance) / 1500).squareRoot(), "\(series), \(chance): \(share)")
        }
    }

    @Test("What is left of what is under way takes E[X²] / 2 E[X] on average", arguments: all)
    func rest(_ times: TimeDistribution) {
        var random = SplitMix(seed: 13)
        let count = 20_000
        let rests = (0..<count).map { _ in times.rest(&random) }
        let mean = rests.reduce(0, +) / Double(count)
        // E[X²] is twice the integral of the time times the share that takes longer.
        let step = 0.01
        let square = stride(from: step / 2, to: 400, by: step).reduce(0) { $0 + 2 * step * $1 * times.share(over: $1) }
        let expected = square / 2 / times.mean
        let variance = rests.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(count)
        #expect(abs(mean - expected) < 4 * (variance / Double(count)).squareRoot(), "\(mean), \(expected)")
    }

    @Test("A constant is as long as it is, of however many")
    func constant() {
        #expect(TimeDistribution.constant(5).last(of: 1e9, over: 0, chance: 0.95) == 5)
        #expect(TimeDistribution.lognormal(median: 5, sigma: 0).last(of: 10, over: 3, chance: 0.5) == 5)
    }
}

import Measurement
import SampleRuns
import Testing

@testable import Statistics

@Suite struct RunExchangeTests {
    /// A run whose latencies all lie higher or lower than another run's; now and then, twice as high.
    private func run(_ random: inout SplitMix, outliers: UInt64 = 0) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        let base = SampleValues.make(1, 0, &random)[0] * 1e6
        for value in SampleValues.make(200, 0, &random) { histogram.record(UInt64(base * value), count: 10) }
        histogram.record(UInt64(2 * base), count: outliers)
        return histogram
    }

    private func histogram(_ values: [UInt64]) -> LatencyHistogram {
        values.reduce(into: LatencyHistogram()) { $0.record($1, count: 10) }
    }

    @Test("Of few runs all exchanges are tried: the p-value is the share of them with as large a distance")
    func exact() throws {
        // Each run has one value of its own; apart are only the two ways that leave all of A below all of B.
        let low = (1...5).map { histogram([UInt64($0)]) }
        let high = (6...10).map { histogram([UInt64($0)]) }
        #expect(RunExchange.p(low, high) == 2 / 252.0)
        // permutation_test(([10, 20, 30, 40, 50], [35, 60, 70, 80, 90]), lambda x, y: ks_2samp(x, y).statistic, vectorized=False,
        //                  alternative="greater", n_resamples=1000).pvalue
        let mixed: ([UInt64], [UInt64]) = ([10, 20, 30, 40, 50], [35, 60, 70, 80, 90])
        #expect(
            abs(
                try #require(RunExchange.p(mixed.0.map { histogram([$0]) }, mixed.1.map { histogram([$0]) }))
                    - 0.07936507936507936)
                < 1e-12)
        // Of rounds, each run changes places with its own partner only: 2 of 128.
        let (a, b) = ((1...7).map { histogram([UInt64($0)]) }, (11...17).map { histogram([UInt64($0)]) })
        #expect(RunExchange.p(a, b, inRounds: true, level: 0.025) == 2 / 128.0)
        #expect(RunExchange.p(Array(a[..<6]), Array(b[..<6]), inRounds: true, level: 0.025) == nil)
        #expect(RunExchange.p(a, Array(b[..<6]), inRounds: true) == nil)
    }

    @Test("All choices of some of a few things, each once", arguments: [(1, 1), (5, 2), (10, 5), (12, 6), (45, 2)])
    func subsets(_ count: Int, _ chosen: Int) {
        let masks = Array(Subsets(of: count, choosing: chosen))
        let number = (0..<chosen).reduce(1) { $0 * (count - $1) / ($1 + 1) }
        #expect(masks.count == number && Set(masks).count == number)
        #expect(masks.allSatisfy { $0.nonzeroBitCount == chosen && $0 < 1 << UInt64(count) })
    }

    @Test("Runs that differ among themselves are not called different; runs of another shape are", arguments: [5, 8])
    func exchange(_ size: Int) throws {
        let seed: UInt64 = 3
        var random = SplitMix(seed: seed)
        var (alarms, seen) = (0, 0)
        for _ in 0..<20 {
            let a = (0..<size).map { _ in run(&random) }
            let same = (0..<size).map { _ in run(&random) }
            let other = (0..<size).map { _ in run(&random, outliers: 2000) }
            if try #require(RunExchange.p(a, same)) <= 0.05 { alarms += 1 }
            if try #require(RunExchange.p(a, other)) <= 0.05 { seen += 1 }
        }
        // Binomial(20, 0.05): more than 6 three times in 100,000.
        #expect(alarms <= 6 && seen == 20, "seed \(seed): \(alarms) \(seen)")
    }

    @Test("Of rounds that drift, a changed shape is seen, and equal ones are seldom called different")
    func rounds() throws {
        let seed: UInt64 = 4
        var random = SplitMix(seed: seed)
        func drifting(_ round: Int, _ outliers: UInt64) -> LatencyHistogram {
            var histogram = LatencyHistogram()
            let base = 1e6 * (1 + 0.03 * Double(round))
            for value in SampleValues.make(100, 0, &random) { histogram.record(UInt64(base * value), count: 10) }
            histogram.record(UInt64(2 * base), count: outliers)
            return histogram
        }
        var alarms = 0
        for _ in 0..<20 {
            let a = (0..<8).map { drifting($0, 0) }
            let (same, other) = ((0..<8).map { drifting($0, 0) }, (0..<8).map { drifting($0, 300) })
            #expect(try #require(RunExchange.p(a, other, inRounds: true)) == 2 / 256.0)
            if try #require(RunExchange.p(a, same, inRounds: true)) <= 0.05 { alarms += 1 }
        }
        // Binomial(20, 0.05): more than 6 three times in 100,000.
        #expect(alarms <= 6, "seed \(seed): \(alarms)")
    }

    @Test("Of too few runs, or of none with a record, nothing can be told")
    func none() {
        var random = SplitMix(seed: 5)
        let one = run(&random)
        #expect(RunExchange.p([one, one, one], [one, one, one]) == nil)
        #expect(RunExchange.p([one, one, one, one], [one, one, one, one]) == 1)
        let empty = LatencyHistogram()
        #expect(RunExchange.p([empty, empty, empty, empty], [empty, empty, empty, empty]) == nil)
        #expect(RunExchange.p([], [one]) == nil)
    }
}

import Testing

@testable import Measurement

@Suite struct CensoredHistogramTests {
    private func histogram(_ values: [UInt64]) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for value in values { histogram.record(value) }
        return histogram
    }

    /// Within the width of a counter, which says its highest value.
    private func isNear(_ measured: UInt64, _ exact: UInt64) -> Bool {
        measured >= exact && Double(measured - exact) <= Double(exact) * 0.001 + 1
    }

    @Test("Of 1,197 answers after 5 ms and 3 pushes given up after 20 s, p99 is known, p99.9, mean and max are bounds")
    func known() {
        let latencies = CensoredHistogram(
            answered: histogram(Array(repeating: 5_000_000, count: 1197)),
            unanswered: histogram(Array(repeating: 20_000_000_000, count: 3)))
        let summary = latencies.summary
        #expect(summary.figures.count == 1200 && summary.unanswered == 3)
        #expect(summary.censored == ["mean", "p99_9", "max"])
        for value in [summary.figures.p50, summary.figures.p90, summary.figures.p99] {
            #expect(isNear(value, 5_000_000), "\(summary)")
        }
        #expect(summary.figures.min <= 5_000_000 && summary.figures.min >= 4_995_000)
        for value in [summary.figures.p999, summary.figures.max] {
            #expect(isNear(value, 20_000_000_000), "\(summary)")
        }
        #expect(abs(summary.figures.mean - (1197 * 5e6 + 3 * 2e10) / 1200) < 1)
        // 99.75 % were answered, and not one push more.
        #expect(!latencies.value(atPercentile: 99.75).isCensored && latencies.value(atPercentile: 99.76).isCensored)
    }

    @Test("A push that was given up soon counts as longer than every answer too")
    func refused() {
        let latencies = CensoredHistogram(
            answered: histogram(Array(repeating: 5_000_000, count: 60)),
            unanswered: histogram(Array(repeating: 1000, count: 40)))
        let summary = latencies.summary
        #expect(summary.censored == ["mean", "p90", "p99", "p99_9", "max"])
        #expect(isNear(summary.figures.p50, 5_000_000) && isNear(summary.figures.p90, 5_000_000))
        #expect(summary.figures.min >= 4_995_000)
        // What is not known is no less than what is.
        for value in [summary.figures.p99, summary.figures.p999, summary.figures.max] {
            #expect(isNear(value, 5_000_000), "\(summary)")
        }
        #expect(abs(summary.figures.mean - 5e6) <= 5e3)
    }

    @Test("With every push answered it says what the histogram says, with none answered all is a bound, of nothing 0")
    func ends() {
        let values = histogram([3, 7, 9000])
        let answered = CensoredHistogram(answered: values).summary
        #expect(answered == CensoredSummary(figures: values.summary))
        let none = CensoredHistogram(unanswered: values).summary
        #expect(none.figures == values.summary && none.unanswered == 3)
        #expect(none.censored == ["min", "mean", "p50", "p90", "p99", "p99_9", "max"])
        #expect(CensoredHistogram().summary == CensoredSummary(figures: LatencySummary()))
        #expect(CensoredHistogram().value(atPercentile: 99) == .init(value: 0, isCensored: false))
    }

    @Test("Figures are those of a sorted array in which the unanswered come last; the parts added up make the whole")
    func model() {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func random() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 11
        }
        for round in 0..<60 {
            let answers = (0..<Int(random() % 3000)).map { _ in 1 + random() % (1 << (4 + random() % 36)) }
            let waits = (0..<Int(random() % (round % 3 == 0 ? 3 : 2000))).map { _ in
                1 + random() % (1 << (4 + random() % 36))
            }
            guard !answers.isEmpty || !waits.isEmpty else { continue }
            var latencies = CensoredHistogram()
            for part in 0..<3 {
                func own(_ values: [UInt64]) -> LatencyHistogram {
                    histogram(values.enumerated().filter { $0.offset % 3 == part }.map(\.element))
                }
                latencies.add(CensoredHistogram(answered: own(answers), unanswered: own(waits)))
            }
            let ordered = answers.sorted()
            let all = ordered + waits.map { max($0, ordered.last ?? 0) }.sorted()
            #expect(latencies.count == UInt64(all.count))
            for percentile in [0.001, 1, 25, 50, 75, 90, 99, 99.9, 99.99, 100] {
                let rank = max(1, Int((percentile / 100 * Double(all.count) - 1e-9).rounded(.up)))
                let figure = latencies.value(atPercentile: percentile)
                let isCensored = rank > ordered.count
                #expect(figure.isCensored == isCensored, "seed \(seed), round \(round): p\(percentile)")
                let exact = isCensored ? all[rank - 1] : ordered[rank - 1]
                #expect(
                    isNear(figure.value, exact),
                    "seed \(seed), round \(round): p\(percentile) is \(figure.value), not \(exact)")
            }
            let summary = latencies.summary
            let mean = Double(all.reduce(0, +)) / Double(all.count)
            #expect(
                abs(summary.figures.mean - mean) <= mean * (waits.isEmpty ? 1e-9 : 1e-3), "seed \(seed), round \(round)"
            )
            #expect(isNear(summary.figures.max, all[all.count - 1]), "seed \(seed), round \(round)")
            #expect(summary.unanswered == UInt64(waits.count))
            for (name, percentile) in [("p50", 50.0), ("p90", 90), ("p99", 99), ("p99_9", 99.9)] {
                #expect(
                    summary.censored.contains(name) == latencies.value(atPercentile: percentile).isCensored,
                    "seed \(seed), round \(round): \(name)")
            }
            #expect(summary.censored.contains("mean") == !waits.isEmpty)
            #expect(summary.censored.contains("min") == answers.isEmpty)
        }
    }
}

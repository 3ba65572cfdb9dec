import Testing

@testable import Measurement

@Suite struct SteadyStateTests {
    /// Feeds looks every 50 ms; `rate`, `latency` (ns) and `unanswered` by the time in seconds. Returns when it was steady.
    private func find(
        until end: Double = 20, rate: (Double) -> Double, latency: (Double) -> Double,
        unanswered: (Double) -> Double = { _ in 0 }
    ) -> Double? {
        var steady = SteadyState()
        var total = LatencyHistogram()
        var due = 0.0
        for look in 1...Int(end * 20) {
            let time = Double(look) / 20
            due += rate(time) / 20
            total.record(UInt64(latency(time)), count: UInt64(due) - total.count)
            if steady.look(at: UInt64(look) * 50_000_000, total: total, unanswered: UInt64(unanswered(time))) {
                return time
            }
        }
        return nil
    }

    @Test("A ramp ends where it ends, not before")
    func ramp() throws {
        let found = try #require(find(rate: { min(10_000, 1000 + $0 * 3000) }, latency: { _ in 2e6 }))
        #expect(found > 3.5 && found < 6, "\(found)")
        let cooled = try #require(find(rate: { _ in 10_000 }, latency: { 2e6 + 20e6 * max(0, 1 - $0 / 4) }))
        #expect(cooled > 4.5 && cooled < 7, "\(cooled)")
    }

    @Test("What is steady from the start is found after two seconds", arguments: [50.0, 200, 5000, 1_000_000])
    func atOnce(rate: Double) throws {
        let found = try #require(find(rate: { _ in rate }, latency: { _ in 80e6 }, unanswered: { _ in rate * 0.08 }))
        #expect(found >= 2 && found < 2.5, "\(found)")
    }

    @Test("Few answers are waited for")
    func slow() throws {
        let found = try #require(find(rate: { _ in 10 }, latency: { _ in 300e6 }, unanswered: { _ in 3 }))
        #expect(found >= 10 && found < 12, "\(found)")
    }

    @Test("A growing queue is never steady: not by its latency alone, nor by its length alone", arguments: [0.02, 0.1])
    func growing(share: Double) {
        let grown = { 5e6 + share * 1e9 * $0 }
        let length = { 10_000 * share * $0 }
        #expect(find(until: 12, rate: { _ in 10_000 }, latency: grown, unanswered: length) == nil)
        #expect(find(until: 12, rate: { _ in 10_000 }, latency: grown) == nil)
        #expect(find(until: 12, rate: { _ in 10_000 }, latency: { _ in 5e6 }, unanswered: length) == nil)
    }

    @Test("Where nothing is answered nothing is steady, whatever the clock does")
    func nothing() {
        #expect(find(rate: { _ in 0 }, latency: { _ in 1e6 }) == nil)
        #expect(find(rate: { $0 < 1 ? 5000 : 0 }, latency: { _ in 1e6 }) == nil)
        var steady = SteadyState()
        var total = LatencyHistogram()
        total.record(1_000_000, count: 100)
        for time in [UInt64.max, 0, 5, .max, 1 << 63] {
            let isSteady = steady.look(at: time, total: total, unanswered: .max)
            #expect(!isSteady)
        }
    }

    @Test("Pauses now and then do not hide it")
    func pauses() throws {
        // Every second 100 ms are ten times as slow.
        let found = try #require(
            find(rate: { _ in 5000 }, latency: { $0.truncatingRemainder(dividingBy: 1) < 0.1 ? 50e6 : 5e6 }))
        #expect(found < 6, "\(found)")
    }

    @Test("Answers that come in bursts are as steady as others", arguments: [0.08, 0.3])
    func bursts(period: Double) throws {
        // All streams are answered at once, each time round.
        var steady = SteadyState()
        var total = LatencyHistogram()
        let found = (1...400).first { look in
            let bursts = UInt64(Double(look) * 0.05 / period)
            total.record(UInt64(period * 1e9), count: bursts * 500 - total.count)
            return steady.look(at: UInt64(look) * 50_000_000, total: total, unanswered: 500)
        }
        #expect(try #require(found) < 200)
    }

    @Test("An interval holds what was answered in it")
    func interval() {
        var total = LatencyHistogram()
        total.record(7_000_000, count: 1000)
        let before = total
        total.record(1_000_000, count: 89)
        total.record(9_000_000, count: 11)
        let interval = AnswerInterval(seconds: 0.1, total: total, since: before, unanswered: 3)
        #expect(interval.answers == 100 && interval.unanswered == 3)
        // Two values: mean and variance of a coin of 11 %.
        let distance = 2.197
        #expect(abs(interval.level - (13.8155 + 0.11 * distance)) < 0.002)
        #expect(abs(interval.variance - 0.11 * 0.89 * distance * distance) < 0.005)
        #expect(abs(interval.high - 16.0127) < 0.002)
    }

    @Test("A trend is that of a line, whatever a few values do, and its error that of the scatter")
    func trend() {
        var values = (0..<20).map { 3 * Double($0) }
        #expect(Trend(values).change == 57 && Trend(values).error == 0)
        values[4] = 1000
        values[11] = -1000
        #expect(abs(Trend(values).change - 57) < 1)
        var random = Noise(state: 1)
        var within = 0
        for _ in 0..<400 {
            let trend = Trend((0..<20).map { _ in random.normal() })
            if abs(trend.change) <= 2 * trend.error { within += 1 }
            #expect(trend.cautiousError >= trend.error)
        }
        // 95 % of a normal distribution; less because the error is estimated.
        #expect(within >= 350 && within <= 395, "seed 1: \(within) of 400")
    }
}

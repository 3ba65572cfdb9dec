import Testing

@testable import Measurement

@Suite struct SteadyStateTests {
    /// Feeds looks every 100 ms; `rate` and `latency` by the time in seconds. Returns when it was steady.
    private func find(
        until end: Double = 20, rate: (Double) -> Double, latency: (Double) -> Double
    ) -> Double? {
        var steady = SteadyState()
        var total = LatencyHistogram()
        var ended = 0.0
        var time = 0.0
        while time < end {
            time += 0.1
            let pushes = rate(time) * 0.1
            ended += pushes
            total.record(UInt64(latency(time)), count: UInt64(pushes))
            if steady.look(at: UInt64(time * 1e9), ended: UInt64(ended), total: total) { return time }
        }
        return nil
    }

    @Test("A ramp ends where it ends, not before")
    func ramp() throws {
        let found = try #require(find(rate: { min(10_000, 1000 + $0 * 3000) }, latency: { _ in 2e6 }))
        // The ramp ends at 3 s; two windows of half a second lie behind it, at most 5 % apart.
        #expect(found > 2.7 && found < 4.6, "\(found)")
        let cooled = try #require(find(rate: { _ in 10_000 }, latency: { 2e6 + 20e6 * max(0, 1 - $0 / 4) }))
        #expect(cooled > 3.5 && cooled < 5.6, "\(cooled)")
    }

    @Test("What is steady from the start is found after its two windows")
    func atOnce() throws {
        let found = try #require(find(rate: { _ in 5000 }, latency: { _ in 1e6 }))
        #expect(found >= 1.0 && found < 1.6, "\(found)")
    }

    @Test("A growing queue is never steady, nor is nothing at all")
    func never() {
        #expect(find(until: 10, rate: { _ in 10_000 }, latency: { 1e6 * pow($0, 3) }) == nil)
        #expect(find(rate: { _ in 0 }, latency: { _ in 1e6 }) == nil)
    }

    @Test("Noise below the tolerances does not hide it", arguments: UInt64(1)...5)
    func noise(_ seed: UInt64) throws {
        var state = seed
        func random() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 33) / Double(1 << 31)
        }
        let found = try #require(
            find(rate: { _ in 10_000 * (0.96 + 0.08 * random()) }, latency: { _ in 2e6 * (0.97 + 0.06 * random()) }),
            "seed \(seed)")
        #expect(found < 5, "seed \(seed)")
    }

    private func pow(_ base: Double, _ exponent: Int) -> Double {
        (0..<exponent).reduce(1) { value, _ in value * base }
    }
}

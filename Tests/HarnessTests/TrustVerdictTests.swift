import Foundation
import Measurement
import Results
import Scenarios
import Statistics
import Testing

@testable import Harness

@Suite struct TrustVerdictTests {
    private static let second: UInt64 = 1_000_000_000

    /// Blocks of a second and 2,000 pushes, of which 10, 30, 10, 30, … took 9 ms and more and the others up to 3 ms.
    private func blocks(_ count: Int = 10) -> [LatencyBlock] {
        (0..<count).map { block in
            var latencies = LatencyHistogram()
            let slow: UInt64 = block % 2 == 0 ? 10 : 30
            for place in 0..<slow { latencies.record(9_000_000 + 100_000 * place) }
            for place in 0..<(2000 - slow) { latencies.record(1_000_000 + 1000 * place) }
            return LatencyBlock(from: Double(block), to: Double(block + 1), latencies)
        }
    }

    /// - Parameter until: what the run goes on for; nil: for ten seconds.
    private func trust(until: String?, blocks: [LatencyBlock]? = nil) throws -> ResultDocument.Trust {
        var scenario = Scenario()
        scenario.rate = 2000
        if let until { scenario.until = until } else { scenario.duration = 10 * Self.second }
        var outcome = LoadOutcome()
        outcome.blocks = blocks ?? self.blocks()
        return TrustVerdict(outcome, inputs: try RunInputs(scenario), generator: .init(), start: 1).section
    }

    @Test("Blocks that are slow and fast by turns are no steady target: how far apart they are is said")
    func swings() throws {
        let trust = try trust(until: nil, blocks: blocks(20))
        let swing = try #require(trust.figures["p99"]?.swing)
        #expect(swing.fast < 3_100_000 && swing.slow > 9_000_000, "\(swing)")
        #expect(
            trust.doubts.contains {
                $0.hasPrefix("p99 swings: blocks of 1.00 s are slow and fast by turns (2.98 ms in")
            }, "\(trust.doubts)")
        #expect(trust.figures["p50"]?.swing == nil)
    }

    @Test("Where pushes leave together, a change by less than the pacing makes is none")
    func pacing() throws {
        func trust(_ rate: Double, to after: UInt64, stages: String? = nil) throws -> ResultDocument.Trust {
            var scenario = Scenario()
            (scenario.rate, scenario.duration, scenario.pacing) = (rate, 10 * Self.second, "sleep")
            if let stages {
                (scenario.rate, scenario.duration, scenario.stages) = (nil, nil, try LoadStage.parse(stages))
            }
            var outcome = LoadOutcome()
            outcome.throughput.sent = rate
            outcome.blocks = blocks(20) { $0 < 5 ? 366_000 : after }
            return TrustVerdict(outcome, inputs: try RunInputs(scenario), generator: .init(), start: 1).section
        }
        let small = try trust(66_000, to: 328_000)
        #expect(small.doubts.isEmpty && small.figures["p50"]?.steady == true, "\(small.doubts)")
        #expect(try trust(66_000, to: 666_000).doubts.count == 1)
        // A burst is of any rate, and the pacing of the rest is that of the rest.
        #expect(try trust(2000, to: 328_000, stages: "hold 2000 9.9s, burst 10, pause 100ms").doubts.count == 1)
        #expect(try trust(2000, to: 328_000).doubts.count == 1)
    }

    /// Blocks of half a second of 1,000 pushes around a latency of their own, ns.
    private func blocks(_ count: Int, _ latency: (Double) -> UInt64) -> [LatencyBlock] {
        (0..<count).map { block in
            var latencies = LatencyHistogram()
            for place in 0..<1000 { latencies.record(latency(Double(block) / 2) * (900 + UInt64(place) / 5) / 1000) }
            return LatencyBlock(from: Double(block) / 2, to: Double(block + 1) / 2, latencies)
        }
    }

    /// - Parameters:
    ///   - change: of a run of 2,000 pushes a second for ten seconds.
    private func doubts(_ blocks: [LatencyBlock], _ change: (inout Scenario) -> Void = { _ in }) throws -> [String] {
        var scenario = Scenario()
        (scenario.rate, scenario.duration) = (2000, 10 * Self.second)
        change(&scenario)
        var outcome = LoadOutcome()
        outcome.blocks = blocks
        return TrustVerdict(outcome, inputs: try RunInputs(scenario), generator: .init(), start: 1).section.doubts
    }

    @Test("A change by some microseconds is no doubt, nor one by some percent; one beyond what a threshold allows is")
    func smallChanges() throws {
        let step = blocks(20) { $0 < 5 ? 38_500 : 33_500 }
        let few = blocks(20) { $0 < 5 ? 10_000_000 : 10_300_000 }
        let swing = blocks(40) { Int($0 * 2) % 2 == 0 ? 20_000 : 30_000 }
        let trend = blocks(20) { 30_000 + UInt64($0 * 1000) }
        let wandering = blocks(40) { UInt64(30_000 + 5000 * sin($0 / 3)) }
        for (name, blocks) in [
            ("step", step), ("few", few), ("swing", swing), ("trend", trend), ("wandering", wandering),
        ] {
            let found = try doubts(blocks)
            #expect(found.isEmpty, "\(name): \(found)")
        }
        let allowed = try doubts(step) { $0.thresholds = ["p50 < 35us"] }
        #expect(
            allowed.count == 1 && allowed[0].hasPrefix("not steady: 5.0 s after the start p50 went from 3"),
            "\(allowed)")
        #expect(try doubts(step) { $0.thresholds = ["p50 < 50us"] }.isEmpty)
        // The same ten times as long.
        #expect(try doubts(blocks(20) { $0 < 5 ? 385_000 : 335_000 }).count == 1)
        #expect(try !doubts(blocks(40) { UInt64(300_000 + 100_000 * sin($0 / 3)) }).isEmpty)
    }

    @Test("All figures that change at one time are one doubt")
    func oneChange() throws {
        let step = try doubts(blocks(20) { $0 < 5 ? 1_000_000 : 3_000_000 })
        #expect(
            step.count == 1 && step[0].hasPrefix("not steady: 5.0 s after the start p50 went from 999 us to 3.00 ms, ")
                && step[0].contains(", p90 from 1.08 ms to "), "\(step)")
        let trend = try doubts(blocks(20) { 1_000_000 + UInt64($0 * 200_000) })
        #expect(
            trend.count == 1 && trend[0].hasPrefix("not steady: ") && trend[0].contains(", p90 from "), "\(trend)")
    }

    @Test(
        "A change that the generator's own lateness may have made is told with that, and is no doubt about the target")
    func ownChange() throws {
        func doubts(_ excess: UInt64) throws -> [String] {
            var scenario = Scenario()
            (scenario.rate, scenario.duration) = (2000, 10 * Self.second)
            var outcome = LoadOutcome()
            outcome.blocks = blocks(20) { $0 < 5 ? 3_000_000 : 1_000_000 }
            var (lag, totals) = (LatencyHistogram(), CensoredHistogram())
            lag.record(20_000, count: 50_000)
            lag.record(excess, count: 50_000)
            totals.answered.record(1_000_000, count: 50_000)
            totals.answered.record(1_000_000 + excess, count: 50_000)
            let lateness = try #require(GeneratorEffect(lag: lag, totals: totals, blocks: [], thresholds: []))
            #expect(lateness.excess > excess * 9 / 10)
            return TrustVerdict(
                outcome, inputs: try RunInputs(scenario), generator: .init(), lateness: lateness, start: 1
            ).section.doubts
        }
        #expect(try doubts(5_000_000).isEmpty && doubts(1_500_000).count == 1)
    }

    @Test("A step where the stages ask for another rate is no doubt; one in the middle of a stage is")
    func stages() throws {
        func doubts(_ stages: String, _ latency: (Double) -> UInt64) throws -> [String] {
            try self.doubts(blocks(60, latency)) {
                ($0.rate, $0.duration) = (nil, nil)
                $0.stages = (try? LoadStage.parse(stages)) ?? []
            }
        }
        let step: (Double) -> UInt64 = { $0 < 15 ? 1_000_000 : 3_000_000 }
        #expect(try doubts("hold 1k 15s, hold 2k 15s", step).isEmpty)
        #expect(try doubts("ramp 1k 2k 30s", step).isEmpty)
        #expect(try doubts("hold 1k 5s, hold 2k 25s", step).count == 1)
        // Another change besides.
        let both = try doubts("hold 1k 10s, hold 2k 20s") { $0 < 10 ? 1_000_000 : $0 < 20 ? 3_000_000 : 6_000_000 }
        #expect(both.count == 1 && both[0].contains("20.0 s after the start"), "\(both)")
    }

    @Test("A trend is asked for only if the stages ask for another rate within the measured span")
    func trendAfterWarmup() throws {
        var random = SplitMix(seed: 8)
        let noise = (0..<60).map { _ in Double.random(in: -600_000...600_000, using: &random) }
        let trend = blocks(60) { UInt64(3_000_000 + 45_000 * $0 + noise[Int($0 * 2)]) }
        func doubts(_ stages: String) throws -> [String] {
            // Measured from 10 s to 30 s.
            try self.doubts(Array(trend.dropFirst(20))) {
                ($0.rate, $0.duration) = (nil, nil)
                $0.stages = (try? LoadStage.parse(stages)) ?? []
            }
        }
        #expect(try doubts("hold 1k 20s, hold 2k 10s").isEmpty)
        for stages in ["hold 1k 30s", "hold 1k 5s, hold 2k 25s", "ramp 1k 2k 10s, hold 2k 20s, hold 3k 9s"] {
            let found = try doubts(stages)
            #expect(found.count == 1 && found[0].hasPrefix("not steady: little by little"), "\(stages): \(found)")
        }
    }

    @Test("A change that is far larger than the generator was late is the target's, however busy the machine was")
    func culprits() throws {
        func obstacle(late: UInt64, busy: Double) throws -> String? {
            var scenario = Scenario()
            (scenario.rate, scenario.until) = (2000, "p50 +- 5 %")
            var outcome = LoadOutcome()
            outcome.blocks = (0..<20).map { block in
                var latencies = LatencyHistogram()
                for place in 0..<1000 {
                    latencies.record((block < 10 ? 20_000_000 : 100_000_000) + 1000 * UInt64(place))
                }
                return LatencyBlock(from: Double(block), to: Double(block + 1), latencies)
            }
            var generator = ResultDocument.Generator()
            generator.loopLag.count = 40_000
            generator.loopLag.p99 = late
            generator.runQueueDelay = busy
            return TrustVerdict(outcome, inputs: try RunInputs(scenario), generator: generator, start: 1).section.until?
                .obstacle
        }
        #expect(try obstacle(late: 982_000, busy: 0) == "not_steady")
        #expect(try obstacle(late: 982_000, busy: 0.5) == "not_steady")
        #expect(try obstacle(late: 20_000_000, busy: 0) == "generator")
        #expect(try obstacle(late: 20_000_000, busy: 0.5) == "machine")
    }

    @Test("Of a figure between a fast and a slow path nobody says how much longer would be enough")
    func gap() throws {
        var random = SplitMix(seed: 5)
        let blocks = (0..<40).map { block in
            var latencies = LatencyHistogram()
            let slow = Int.random(in: 480...524, using: &random)
            for place in 0..<1000 { latencies.record((place < slow ? 60_000_000 : 20_000_000) + 1000 * UInt64(place)) }
            return LatencyBlock(from: Double(block), to: Double(block + 1), latencies)
        }
        let figure = try #require(BlockFigure(50, blocks))
        #expect(figure.isLopsided, "\(figure)")
        var scenario = Scenario()
        (scenario.rate, scenario.until) = (1000, "p50 +- 5 %")
        var outcome = LoadOutcome()
        outcome.blocks = blocks
        let until = TrustVerdict(outcome, inputs: try RunInputs(scenario), generator: .init(), start: 1).section.until
        #expect(until?.obstacle == "time" && until?.neededSeconds == nil, "\(String(describing: until))")
    }

    @Test("The figure that a run went on for has the wider interval of one that is sought, and the others their own")
    func sought() throws {
        let plain = try #require(BlockFigure(99, blocks()))
        let wider = try #require(BlockFigure(99, blocks(), isSought: true))
        let (low, high) = (try #require(plain.low), try #require(plain.high))
        let (lower, higher) = (try #require(wider.low), try #require(wider.high))
        #expect(lower < low && high < higher, "\(lower) \(low) \(high) \(higher)")
        for asked in [nil, "p50 +- 5 %", "p99.9 +- 5 %"] {
            let figure = try #require(try trust(until: asked).figures["p99"])
            #expect(figure.low == low && figure.high == high, "\(asked ?? "nothing"): \(figure)")
        }
        let asked = try trust(until: "p99 +- 5 %")
        let figure = try #require(asked.figures["p99"])
        #expect(figure.low == lower && figure.high == higher, "\(figure)")
        let half = try #require(wider.halfWidth)
        #expect(asked.until?.halfWidth == (half * 1e6).rounded() / 1e6, "\(String(describing: asked.until))")
    }
}

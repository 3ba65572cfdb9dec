import Foundation
import Measurement
import Testing

@testable import Statistics

@Suite struct BlockFigureTests {
    private static let seed: UInt64 = 20_261_125

    private func normal(_ random: inout SplitMix) -> Double {
        (-2 * log(1 - Double(random.next() >> 11) * 0x1p-53)).squareRoot()
            * cos(2 * .pi * Double(random.next() >> 11) * 0x1p-53)
    }

    /// Blocks of a tenth of a second, of log-normal latencies around a millisecond, sigma 0.5.
    private func blocks(
        _ count: Int, each: Int, _ random: inout SplitMix, unanswered: UInt64 = 0, after start: Double = 0,
        level: (Int) -> Double = { _ in 1 }
    ) -> [LatencyBlock] {
        (0..<count).map { block in
            var latencies = LatencyHistogram()
            for _ in 0..<each { latencies.record(UInt64(1e6 * level(block) * exp(0.5 * normal(&random)))) }
            return LatencyBlock(
                from: start + Double(block) / 10, to: start + Double(block + 1) / 10, latencies,
                unanswered: unanswered)
        }
    }

    @Test("The interval is the one that the formulas give by hand")
    func byHand() throws {
        // Ten blocks of 2,000 pushes, of which 10, 30, 10, 30, … took 9 ms and the others 1 ms: 1 % in all.
        let blocks = (0..<10).map { block in
            var latencies = LatencyHistogram()
            let slow: UInt64 = block % 2 == 0 ? 10 : 30
            for place in 0..<slow { latencies.record(9_000_000 + 100_000 * place) }
            for place in 0..<(2000 - slow) { latencies.record(1_000_000 + 1000 * place) }
            return LatencyBlock(from: Double(block), to: Double(block + 1), latencies)
        }
        let figure = try #require(BlockFigure(99, blocks))
        // 19,800 of 20,000 are fast ones: the slowest of them is the figure. Deviations of the blocks: 10 below and above 20, their
        // squares 1,000 together, times 10/9 1,111.1 pushes²; the products of neighbours would make less than nothing of it, so that
        // a quarter counts: error √277.8 = 16.67 pushes; t with 3 degrees of freedom 3.182446: 53.04 pushes.
        #expect(figure.blocks == 10 && figure.without == nil && figure.shift == nil && figure.isIndependent == true)
        let all = blocks.dropFirst().reduce(into: blocks[0]) { $0.merge($1) }
        var whole = LatencyHistogram()
        all.add(to: &whole)
        // The 19,747th of the fast ones (53 before the last), and the 55th of the slow ones, to a counter of the histogram or so.
        var (fast, slow): ([Double], [Double]) = ([], [])
        for block in 0..<10 {
            let count = block % 2 == 0 ? 10 : 30
            for place in 0..<(2000 - count) { fast.append(1e6 + 1e3 * Double(place)) }
            for place in 0..<count { slow.append(9e6 + 1e5 * Double(place)) }
        }
        fast.sort()
        slow.sort()
        let (low, high) = (Double(try #require(figure.low)), Double(try #require(figure.high)))
        #expect(abs(low / fast[19_746] - 1) < 0.0015 && abs(high / slow[54] - 1) < 0.012, "\(low) \(high)")
        #expect(figure.value == whole.value(atPercentile: 99))
    }

    @Test(
        "Of independent latencies the interval holds the truth in 95 of 100 runs, one in fifty is called unsteady at most"
    )
    func coverage() {
        var random = SplitMix(seed: Self.seed)
        let quantiles = [(50.0, 1e6), (99.0, 1e6 * exp(0.5 * 2.326_347_874))]
        var (held, intervals, unsteady, swinging) = ([0, 0], [0, 0], 0, 0)
        let runs = 200
        for _ in 0..<runs {
            let blocks = blocks(40, each: 300, &random)
            for (place, (percentile, truth)) in quantiles.enumerated() {
                guard let figure = BlockFigure(percentile, blocks) else { continue }
                if figure.shift != nil { unsteady += 1 }
                if figure.swing != nil { swinging += 1 }
                guard let low = figure.low, let high = figure.high else { continue }
                intervals[place] += 1
                if Double(low) <= truth, truth <= Double(high) { held[place] += 1 }
            }
        }
        for place in 0...1 {
            // Binomial(200, 0.95) is below less than once in 10,000 times, and hardly ever at 200.
            #expect((177...199).contains(held[place] * runs / max(1, intervals[place])), "seed \(Self.seed): \(held)")
            #expect(intervals[place] >= runs * 95 / 100, "seed \(Self.seed): \(intervals)")
        }
        // Both figures, 2 % of each at most (a trend, a change), and changes of less than 5 % are none.
        #expect(unsteady <= 16, "seed \(Self.seed): \(unsteady)")
        // One in 200 of each.
        #expect(swinging <= 10, "seed \(Self.seed): \(swinging)")
    }

    @Test("A figure that hangs together within blocks has the wider interval that holds the truth")
    func within() {
        var random = SplitMix(seed: Self.seed)
        var (held, intervals) = (0, 0)
        let runs = 300
        for _ in 0..<runs {
            // Each block has a level of its own, of 20 %: 8,000 pushes are worth 40 such levels.
            let levels = (0..<40).map { _ in exp(0.2 * normal(&random)) }
            let blocks = blocks(40, each: 200, &random) { levels[$0] }
            guard let figure = BlockFigure(50, blocks), let low = figure.low, let high = figure.high else { continue }
            intervals += 1
            if low <= 1_000_000, high >= 1_000_000 { held += 1 }
        }
        #expect(intervals >= 270 && held >= intervals * 90 / 100, "seed \(Self.seed): \(held) of \(intervals)")
    }

    @Test("A step, a slow rise and a bulge are not steady, and when and by how much is said")
    func shifts() throws {
        var random = SplitMix(seed: Self.seed)
        let step = blocks(40, each: 500, &random) { $0 < 24 ? 1 : 2 }
        for percentile in [50.0, 99] {
            let figure = try #require(BlockFigure(percentile, step))
            let shift = try #require(figure.shift, "p\(percentile)")
            let ratio = Double(shift.after) / Double(shift.before)
            #expect(abs(try #require(shift.at) - 2.4) <= 0.21 && (1.6...2.4).contains(ratio), "\(shift)")
            #expect(figure.without == .notSteady && figure.low == nil && figure.halfWidth == nil)
        }
        let rising = blocks(40, each: 500, &random) { 1 + Double($0) / 40 }
        let rise = try #require(BlockFigure(50, rising)?.shift)
        #expect(Double(rise.after) / Double(rise.before) > 1.3, "\(rise)")
        let bulge = blocks(60, each: 500, &random) { (20..<35).contains($0) ? 1.5 : 1 }
        #expect(BlockFigure(50, bulge)?.without == .notSteady)
    }

    @Test(
        "A target that is slow and fast by turns swings, and by how much is said; its interval holds all it goes through"
    )
    func swings() throws {
        var random = SplitMix(seed: Self.seed)
        // Half a period is as long as four of the blocks, which are merged until neighbours are not alike.
        let turns = blocks(40, each: 500, &random) { $0 / 4 % 2 == 0 ? 1 : 2 }
        let figure = try #require(BlockFigure(50, turns))
        let swing = try #require(figure.swing, "\(figure)")
        let ratio = Double(swing.slow) / Double(swing.fast)
        #expect((1.6...2.4).contains(ratio) && figure.shift == nil && figure.isIndependent == true, "\(figure)")
        let (low, high) = (try #require(figure.low), try #require(figure.high))
        #expect(low < 1_100_000 && high > 1_800_000, "\(low) \(high)")
    }

    @Test(
        "A hiccup or two are no turns: most blocks have nothing above the figure, and are alike", arguments: [1, 2, 3])
    func hiccups(_ count: Int) {
        var random = SplitMix(seed: Self.seed)
        for _ in 0..<50 {
            let places = (0..<count).map { _ in Int.random(in: 0..<40, using: &random) }
            let blocks = blocks(40, each: 500, &random) { places.contains($0) ? 20 : 1 }
            for percentile in [50, 99, 99.9] {
                #expect(BlockFigure(percentile, blocks)?.swing == nil, "seed \(Self.seed): p\(percentile), \(places)")
            }
        }
    }

    @Test(
        "Where every second block has so many pushes without an answer that it has no such figure, there is no interval"
    )
    func silentByTurns() throws {
        var random = SplitMix(seed: Self.seed)
        let blocks = blocks(50, each: 2000, &random).enumerated().map { place, block in
            var latencies = LatencyHistogram()
            block.add(to: &latencies)
            return LatencyBlock(
                from: block.from, to: block.from + block.length, latencies, unanswered: place % 2 == 0 ? 0 : 30)
        }
        let figure = try #require(BlockFigure(99, blocks))
        #expect(figure.without == .unanswered && figure.swing == nil && figure.low == nil, "\(figure)")
        #expect(BlockFigure(50, blocks)?.without == nil)
    }

    @Test("A step near one end of the run is not merged away, be it large or small", arguments: [1.5, 75])
    func earlyStep(_ factor: Double) {
        var random = SplitMix(seed: Self.seed)
        var missed: [Int] = []
        for place in [4, 7, 10, 29, 32] {
            for _ in 0..<10 {
                let step = blocks(36, each: 120, &random) { $0 < place ? 1 : factor }
                guard let figure = BlockFigure(50, step), figure.without == .notSteady, let at = figure.shift?.at,
                    abs(at * 10 - Double(place)) <= 3.1
                else {
                    missed.append(place)
                    continue
                }
            }
        }
        #expect(missed.isEmpty, "seed \(Self.seed): \(missed)")
    }

    @Test("A change that is sure and small is none")
    func smallChange() throws {
        var random = SplitMix(seed: Self.seed)
        let blocks = blocks(40, each: 20_000, &random) { $0 < 20 ? 1 : 1.03 }
        let figure = try #require(BlockFigure(50, blocks))
        #expect(figure.shift == nil && figure.without == .notIndependent, "\(figure)")
    }

    @Test("Why there is no interval is said: few blocks, few pushes, unanswered ones, nothing at all")
    func without() throws {
        var random = SplitMix(seed: Self.seed)
        let (few, small) = (blocks(9, each: 5000, &random), blocks(20, each: 1000, &random))
        #expect(BlockFigure(99, few)?.without == .fewBlocks)
        // 100 beyond p99.9, of which the 20,000 have about 20.
        guard case .fewPushes(let needed?)? = BlockFigure(99.9, small)?.without else {
            Issue.record("\(String(describing: BlockFigure(99.9, small)))")
            return
        }
        #expect((90_000...120_000).contains(needed), "\(needed)")
        #expect(BlockFigure(99, []) == nil)
        let empty = (0..<20).map { LatencyBlock(from: Double($0), to: Double($0 + 1), LatencyHistogram()) }
        #expect(BlockFigure(99, empty) == nil)
        let silent = blocks(20, each: 1000, &random, unanswered: 12)
        #expect(BlockFigure(99, silent)?.without == .unanswered)
        // p50 does not mind.
        let half = try #require(BlockFigure(50, silent))
        #expect(half.without == nil && half.low != nil)
        // All the same: an interval of one counter, and no trap.
        let same = (0..<20).map { block in
            var latencies = LatencyHistogram()
            latencies.record(1_000_000, count: 10_000)
            return LatencyBlock(from: Double(block), to: Double(block + 1), latencies)
        }
        let flat = try #require(BlockFigure(50, same))
        #expect(flat.without == nil && flat.high == flat.value && (flat.halfWidth ?? 1) < 0.001, "\(flat)")
    }

    @Test("A figure that most pushes share is known, though hardly any take longer")
    func shared() throws {
        // 10 blocks, of each push 80 in 100 at 300 ms, and few beyond.
        func figure(_ percentile: Double, each: UInt64, beyond: UInt64) throws -> BlockFigure {
            try #require(
                BlockFigure(
                    percentile,
                    (0..<10).map { block in
                        var latencies = LatencyHistogram()
                        latencies.record(290_000_000, count: each / 5 - beyond)
                        latencies.record(300_000_000, count: each * 4 / 5)
                        latencies.record(310_000_000, count: beyond)
                        return LatencyBlock(from: Double(block), to: Double(block + 1), latencies)
                    }))
        }
        let known = try figure(50, each: 100, beyond: 5)
        #expect(known.without == nil && known.high == known.value, "\(known)")
        #expect((299_000_000...300_000_000).contains(known.low ?? 0), "\(known)")
        // Of 200, 90 could move up and 70 down before it moved: 35 in 100.
        #expect(try figure(50, each: 20, beyond: 1).without == .fewPushes(needed: 286))
        // p95 is where the counter ends.
        #expect(try figure(95, each: 100, beyond: 5).without == .fewPushes(needed: 2000))
    }

    @Test(
        "That a figure is one that many share is said where it is: of runs in which just more than half take less, at most 5 in 100 say it"
    )
    func hardlyShared() throws {
        var random = SplitMix(seed: Self.seed)
        // 50.01 % take 290 ms, nearly all others 300, one or two in 10,000 more: p50 is 290 ms, by 20 pushes of 200,000, of which chance makes 224.
        let wrong = (0..<300).count { _ in
            let blocks = (0..<20).map { block in
                // Of 10,000, as good as normal: 5,001, give or take 50.
                let less = UInt64((5001 + 50 * normal(&random)).rounded())
                var latencies = LatencyHistogram()
                latencies.record(290_000_000, count: less)
                latencies.record(300_000_000, count: 10_000 - less - 1)
                latencies.record(310_000_000, count: UInt64(block % 2 + 1))
                return LatencyBlock(from: Double(block), to: Double(block + 1), latencies)
            }
            return (BlockFigure(50, blocks)?.low).map { $0 > 295_000_000 } ?? false
        }
        // Binomial(300, 0.05): more than 28 once in 1,000 times. With 100 more on that side as enough it was 88.
        #expect(wrong <= 28, "seed \(Self.seed): \(wrong) of 300")
    }

    @Test("Pushes without an answer are the reason, however short the run")
    func shortAndUnanswered() throws {
        let blocks = (0..<4).map { block in
            var latencies = LatencyHistogram()
            latencies.record(1_000_000, count: 10)
            return LatencyBlock(from: Double(block), to: Double(block + 1), latencies, unanswered: 50)
        }
        #expect(BlockFigure(50, blocks)?.without == .unanswered)
    }

    @Test("A target that stops to answer has not become fast: the figure is unanswered")
    func died() throws {
        var random = SplitMix(seed: Self.seed)
        var all = blocks(24, each: 1000, &random)
        all += (24..<40).map {
            LatencyBlock(from: Double($0) / 10, to: Double($0 + 1) / 10, LatencyHistogram(), unanswered: 500)
        }
        let figure = try #require(BlockFigure(50, all))
        #expect(figure.without == .unanswered && figure.shift == nil && figure.low == nil, "\(figure)")
    }

    @Test("Blocks in which slow pushes cannot have ended yet are no change of the target")
    func underWay() throws {
        var random = SplitMix(seed: Self.seed)
        var steady = 0
        for _ in 0..<10 {
            // 10,000 pushes a second for 10 s, each takes 200 ms on average (exponential), and is in the block in which it ends.
            var ended = [LatencyHistogram](repeating: LatencyHistogram(), count: 50)
            for push in 0..<100_000 {
                let time = -200e6 * log(1 - Double(random.next() >> 11) * 0x1p-53)
                let end = (Double(push) * 1e5 + time) / 200e6
                ended[min(49, Int(end))].record(UInt64(max(1, time)))
            }
            let blocks = ended.enumerated().map { LatencyBlock(from: Double($0) / 5, to: Double($0 + 1) / 5, $1) }
            if try #require(BlockFigure(99, blocks)).shift == nil { steady += 1 }
        }
        #expect(steady >= 9, "\(steady) of 10, seed \(Self.seed)")
    }

    @Test("A goal looks seldom, and is reached when the interval is narrower than was asked for twice")
    func goal() {
        var random = SplitMix(seed: Self.seed)
        let all = blocks(60, each: 1000, &random)
        var goal = PrecisionGoal(50, within: 0.02)
        // Not within the first second, nor of fewer than 20 blocks; not soon after the last look, nor where nothing has come since.
        let looks = [(60, 0.9), (19, 1.9), (58, 6), (60, 7), (58, 7.3), (60, 7.4)].map { count, seconds in
            goal.isReached(Array(all[..<count]), at: UInt64(seconds * 1e9))
        }
        #expect(looks == [false, false, false, false, false, true])
        // After a warm-up as without one: the second look is a fifth later than the first one, of what was measured.
        let late = blocks(60, each: 1000, &random, after: 50)
        var afterWarmUp = PrecisionGoal(50, within: 0.02)
        let second = [(20, 50.9), (20, 51.0), (58, 51.19), (60, 51.21)].map { count, seconds in
            afterWarmUp.isReached(Array(late[..<count]), at: UInt64(seconds * 1e9))
        }
        #expect(second == [false, false, false, true])
        var narrow = PrecisionGoal(50, within: 0.001)
        let isNarrow = narrow.isReached(all, at: 6_000_000_000)
        #expect(!isNarrow)
    }
}

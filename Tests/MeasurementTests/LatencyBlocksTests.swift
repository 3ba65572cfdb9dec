import Testing

@testable import Measurement

@Suite struct LatencyBlocksTests {
    private static let pause: UInt64 = 50_000_000

    private func totals(_ accepted: [UInt64], rejected: [UInt64] = [], unanswered: UInt64 = 0, warmup: [UInt64] = [])
        -> TotalLatencies
    {
        var totals = TotalLatencies()
        accepted.withUnsafeBufferPointer { totals.accepted($0) }
        for time in rejected { totals.rejected(time) }
        for time in warmup { totals.warmup(time) }
        if unanswered > 0 { totals.unanswered(1, count: unanswered) }
        return totals
    }

    private func whole(_ blocks: [LatencyBlock]) -> LatencyHistogram {
        var all = LatencyHistogram()
        for block in blocks { block.add(to: &all) }
        return all
    }

    @Test("Every measured push is in one block, however long the run: at most 64 blocks, of one length")
    func bounded() {
        var blocks = LatencyBlocks()
        var expected = LatencyHistogram()
        var time: UInt64 = 0
        for look in 0..<1000 as Range<UInt64> {
            time += Self.pause
            let values = (0..<(1 + look % 7)).map { 1000 * look + 37 * $0 * $0 + 1 }
            for value in values { expected.record(value) }
            blocks.add(
                totals(values, rejected: look % 5 == 0 ? [77] : [], unanswered: look % 10 == 0 ? 2 : 0, warmup: [5]))
            if look % 5 == 0 { expected.record(77) }
            blocks.look(at: time, begin: 0)
            #expect(blocks.blocks.count < LatencyBlocks.most)
        }
        blocks.finish(at: time, begin: 0, end: time)
        #expect(blocks.blocks.count >= LatencyBlocks.most / 2 && blocks.width == 16 * Self.pause)
        #expect(whole(blocks.blocks).counters.map(\.value) == expected.counters.map(\.value))
        #expect(whole(blocks.blocks).counters.map(\.count) == expected.counters.map(\.count))
        #expect(blocks.blocks.reduce(0) { $0 + $1.unanswered } == 200)
        #expect(blocks.blocks[0].from == 0 && blocks.blocks.last?.to == Double(time) / 1e9)
        for (block, next) in zip(blocks.blocks, blocks.blocks.dropFirst()) { #expect(block.to == next.from) }
        for block in blocks.blocks.dropLast() { #expect(abs(block.length - 0.8) < 1e-9, "\(block.length)") }
    }

    @Test("Blocks begin with the measured span; a late look makes one block longer, not those that follow")
    func lateLook() {
        var blocks = LatencyBlocks()
        blocks.add(totals([], warmup: [10, 20]))
        blocks.look(at: 100_000_000, begin: 0)
        #expect(blocks.blocks.isEmpty)
        for time in [160, 320, 330, 410] as [UInt64] {
            blocks.add(totals([1000]))
            blocks.look(at: time * 1_000_000, begin: 130_000_000)
        }
        blocks.finish(at: 415_000_000, begin: 130_000_000, end: 400_000_000)
        #expect(blocks.blocks.map(\.from) == [0.13, 0.32, 0.33], "\(blocks.blocks.map(\.from))")
        #expect(blocks.blocks.map(\.answered) == [2, 1, 1])
    }

    @Test(
        "What is waited for after the span belongs to the last block in it, and the rest of less than half a block too")
    func end() {
        var blocks = LatencyBlocks()
        for look in 1...10 as ClosedRange<UInt64> {
            blocks.add(totals([1000]))
            blocks.look(at: look * Self.pause, begin: 0)
        }
        // The span ends with the tenth block; answers come for another second.
        for look in 11...30 as ClosedRange<UInt64> {
            blocks.add(totals([900_000_000]))
            blocks.look(at: look * Self.pause, begin: 0)
        }
        blocks.finish(at: 30 * Self.pause + 1, begin: 0, end: 10 * Self.pause + 10_000_000)
        #expect(blocks.blocks.count == 10 && blocks.blocks.last?.answered == 21, "\(blocks.blocks.map(\.answered))")
        var short = LatencyBlocks()
        short.add(totals([1, 2, 3]))
        short.finish(at: 10_000_000, begin: 0, end: .max)
        #expect(short.blocks.map(\.answered) == [3])
        var empty = LatencyBlocks()
        empty.finish(at: 0, begin: 0, end: 0)
        #expect(empty.blocks.isEmpty)
    }

    @Test("What took longer is counted by counters, with the pushes that got no answer")
    func above() {
        var latencies = LatencyHistogram()
        for value in [1000, 2000, 3000, 3001, 500_000] as [UInt64] { latencies.record(value) }
        let block = LatencyBlock(from: 0, to: 1, latencies, unanswered: 2)
        #expect(block.above(3000) == 3 && block.above(500_000) == 2 && block.above(0) == 7 && block.above(.max) == 2)
        #expect(block.count == 7 && block.answered == 5)
    }

    @Test("Neighbours are paired; the last three of an odd number are one")
    func paired() {
        let blocks = (0..<7).map { place in
            var latencies = LatencyHistogram()
            latencies.record(UInt64(1000 * (place + 1)), count: UInt64(place + 1))
            latencies.record(5_000_000)
            return LatencyBlock(from: Double(place), to: Double(place + 1), latencies, unanswered: 1)
        }
        let pairs = LatencyBlock.paired(blocks)
        #expect(pairs.map(\.from) == [0, 2, 4] && pairs.map(\.to) == [2, 4, 7])
        #expect(pairs.map(\.answered) == [5, 9, 21] && pairs.map(\.unanswered) == [2, 2, 3])
        #expect(whole(pairs).counters.map(\.count) == whole(blocks).counters.map(\.count))
        #expect(LatencyBlock.paired([]).isEmpty && LatencyBlock.paired([blocks[0]]) == [blocks[0]])
    }
}

import Testing

@testable import Harness
@testable import Measurement

@Suite struct SnapshotBoxTests {
    /// Where a histogram's counters lie: the word in which two that hold the same differ.
    private func storage(_ histogram: LatencyHistogram) -> UInt {
        func words(_ histogram: LatencyHistogram) -> [UInt] {
            withUnsafeBytes(of: histogram) { Array($0.bindMemory(to: UInt.self)) }
        }
        let (one, other) = (LatencyHistogram(), LatencyHistogram())
        let place = zip(words(one), words(other)).enumerated().first { $1.0 != $1.1 }!.offset
        return words(histogram)[place]
    }

    /// As a run's watcher does with what it was handed.
    private func watch(_ spare: inout TotalLatencies, _ sums: inout [TotalLatencies]) {
        for place in sums.indices { sums[place].add(spare) }
        spare.removeAll()
    }

    @Test("After handing over a worker records where the histograms it got lie: nothing is copied on its time")
    func unique() {
        let recorder = Recorder(causes: 1)
        let nobody = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        func work(_ round: UInt64) {
            for number in 1...600 as ClosedRange<UInt64> {
                recorder.accepted(total: number * round, isMeasured: number > 9)
                recorder.rejected(status: 500, reason: nobody, total: number, isMeasured: true)
                recorder.unanswered(after: number)
            }
        }
        let box = SnapshotBox()
        var spare = TotalLatencies()
        var sums = [TotalLatencies(), TotalLatencies(), TotalLatencies()]
        func places(_ totals: TotalLatencies) -> [UInt] {
            [totals.accepted, totals.rejected, totals.unanswered, totals.warmup].map { $0.map(storage) ?? 0 }
        }
        var given: [[UInt]] = []
        _ = box.take(&spare)
        for round in 1...12 as ClosedRange<UInt64> {
            work(round)
            box.offer(recorder, window: RateWindow(), inFlight: 1, backlog: 0, position: 0, time: round)
            _ = box.take(&spare)
            #expect(spare.accepted.count == 591 && spare.rejected?.count == 600 && spare.warmup?.count == 9)
            // Three sets go round: the worker makes the first ones, and from then on uses what the watcher gave back.
            if round > 3 { #expect(given.contains(places(spare)), "round \(round)") }
            watch(&spare, &sums)
            given.append(places(spare))
        }
        #expect(sums.allSatisfy { $0.accepted.count == 12 * 591 && $0.unanswered?.count == 12 * 600 })
    }

    @Test("What a worker ends with is seen, whether somebody has asked or not, and whether the last was taken or not")
    func last() {
        let (recorder, box) = (Recorder(causes: 1), SnapshotBox())
        var spare = TotalLatencies()
        func answer(_ count: Int) { for _ in 0..<count { recorder.accepted(total: 5, isMeasured: true) } }
        _ = box.take(&spare)
        answer(2)
        box.offer(recorder, window: RateWindow(), inFlight: 3, backlog: 0, position: 0, time: 1)
        answer(3)
        box.offer(recorder, window: RateWindow(), inFlight: 0, backlog: 0, position: 0, time: 2, isLast: true)
        let seen = box.take(&spare)
        #expect(seen.time == 2 && seen.inFlight == 0 && seen.counts.accepted == 5 && spare.accepted.count == 5)
        answer(1)
        box.offer(recorder, window: RateWindow(), inFlight: 0, backlog: 0, position: 0, time: 3)
        box.offer(recorder, window: RateWindow(), inFlight: 0, backlog: 0, position: 0, time: 4, isLast: true)
        spare.removeAll()
        #expect(box.take(&spare).counts.accepted == 6 && spare.accepted.count == 1)
    }
}

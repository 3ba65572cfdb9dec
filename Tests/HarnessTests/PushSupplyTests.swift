import Scenarios
import Testing
import Transport

@testable import Harness

/// The supply of one worker, asked at irregular times, against a queue that is kept push by push.
@Suite struct PushSupplyTests {
    private struct Random {
        var state: UInt64
        mutating func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
    }

    private func inputs(_ rate: Double, _ pushes: UInt64, backlog: UInt64, threads: Int) throws -> RunInputs {
        var scenario = Scenario()
        scenario.pushes = pushes
        scenario.rate = rate
        scenario.backlog = backlog
        scenario.threads = threads
        scenario.connections = threads
        return try RunInputs(scenario)
    }

    @Test(
        "After stalls and drains of any length each push is taken or overflows once, and ends on the run's end",
        arguments: 0..<200 as Range<UInt64>)
    func stallsAndDrains(_ seed: UInt64) throws {
        var random = Random(state: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        let threads = 1 + random.below(3)
        let bound = UInt64(threads * (1 + random.below(40)))
        let rate = 10_000.0
        let inputs = try inputs(rate, UInt64(200 + random.below(3000)), backlog: bound, threads: threads)
        let worker = random.below(threads)
        let share = WorkerShare(worker: worker, workers: threads)
        var supply = PushSupply(inputs, thread: worker)
        let start: UInt64 = 1_000_000_000
        supply.begin(start)
        let planned = share.count(of: try #require(inputs.planned))
        var cursor = try #require(inputs.schedule).cursor()
        let dues = (0..<planned).map { start + cursor.due(share.sequence($0)) }
        var now = start
        var (taken, lost): ([UInt64], [UInt64]) = ([], [])
        let stop = random.below(4) == 0 ? start + UInt64(random.below(200_000_000)) : UInt64.max
        rounds: while now < stop {
            // A look by the clock's tick may come at any time.
            if random.below(3) == 0 { supply.noteOverflow(now, free: { 0 }) { sequence, _ in lost.append(sequence) } }
            var push: (sequence: UInt64, due: UInt64) = (0, 0)
            for _ in 0..<random.below(60) {
                if supply.mayHaveOverflowed(now) {
                    supply.noteOverflow(now, free: { 0 }) { sequence, _ in lost.append(sequence) }
                }
                switch supply.take(now, &push) {
                case .push:
                    #expect(push.due <= now && dues[Int(push.sequence) / threads] == push.due, "seed \(seed)")
                    taken.append(push.sequence)
                case .notBefore(let due):
                    #expect(due > now, "seed \(seed)")
                case .finished: break rounds
                }
                #expect(supply.waiting <= bound / UInt64(threads), "seed \(seed)")
            }
            // Mostly short steps; a stall now and then, after which everything is taken at once.
            now += UInt64(random.below(20) == 0 ? random.below(60_000_000) : random.below(1_000_000))
        }
        var waiting: [UInt64] = []
        var later: UInt64 = 0
        if stop != .max, !supply.isUsedUp {
            supply.noteOverflow(now, free: { 0 }) { sequence, _ in lost.append(sequence) }
            let end = now + UInt64(random.below(200_000_000))
            let rest = supply.close(now, end: end) { sequence, due in
                #expect(due <= now, "seed \(seed)")
                waiting.append(sequence)
            }
            later = rest.later
            #expect(rest.measured == UInt64(dues.count { $0 > now && $0 < end }), "seed \(seed)")
        }
        let all = (taken + lost + waiting).sorted()
        #expect(Set(all).count == all.count, "seed \(seed): a push ended twice")
        #expect(UInt64(all.count) + later == planned, "seed \(seed): \(all.count) + \(later) of \(planned)")
        #expect(taken == taken.sorted() && waiting.count <= Int(bound), "seed \(seed)")
    }
}

import Scenarios
import Testing
import Transport

@testable import Harness

/// Whose turn it is, against a model that looks through all sends each time.
@Suite struct SendOrderTests {
    typealias Order = [(start: UInt64, priority: Int, first: UInt64, count: UInt64)]

    private struct Random {
        var state: UInt64
        init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }
        mutating func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
    }

    private func sends(_ random: inout Random) -> Order {
        var (sends, first): (Order, UInt64) = ([], 0)
        for _ in 0...random.below(8) {
            let count = UInt64(1 + random.below(300))
            let start = random.below(3) == 0 ? 0 : UInt64(random.below(2_000_000_000))
            sends.append((start, [1, 5, 10][random.below(3)], first, count))
            first += count
        }
        return sends
    }

    /// What is left of each, and who goes next.
    private struct Model {
        var left: [(start: UInt64, priority: Int, next: UInt64, end: UInt64)]

        init(_ sends: Order) { left = sends.map { ($0.start, $0.priority, $0.first, $0.first + $0.count) } }

        var isUsedUp: Bool { left.allSatisfy { $0.next == $0.end } }

        mutating func next(_ elapsed: UInt64) -> UInt64? {
            var best: Int?
            for (place, send) in left.enumerated() where send.next < send.end && send.start <= elapsed {
                guard let other = best.map({ left[$0] }) else {
                    best = place
                    continue
                }
                if send.priority > other.priority || send.priority == other.priority && send.start < other.start {
                    best = place
                }
            }
            guard let best else { return nil }
            left[best].next += 1
            return left[best].next - 1
        }
    }

    @Test(
        "Open loop: every push has one due time, none before its send's start, and the highest priority goes first",
        arguments: 0..<300 as Range<UInt64>)
    func turns(_ seed: UInt64) throws {
        var random = Random(seed)
        let sends = sends(&random)
        let total = sends.reduce(0) { $0 + $1.count }
        let arrivals = try Arrivals(parsing: ["constant", "jitter", "poisson"][random.below(3)])
        let rate = Double(50 + random.below(2000))
        // In half of them stages, the last of which is long enough for whoever is left.
        var stages: [LoadStage] = []
        for _ in 0..<[0, 1 + random.below(4)][random.below(2)] {
            let duration = UInt64(1 + random.below(700)) * 1_000_000
            stages.append(
                [
                    LoadStage(name: "hold", shape: .hold(rate: rate), duration: duration),
                    LoadStage(name: "ramp", shape: .ramp(from: 0, to: rate), duration: duration),
                    LoadStage(name: "burst", shape: .burst(pushes: UInt64(1 + random.below(300))), duration: duration),
                    LoadStage(name: "pause", shape: .pause, duration: duration),
                ][random.below(4)])
        }
        stages.append(LoadStage(name: "last", shape: .hold(rate: rate), duration: 60_000_000_000))
        func schedule(_ limit: UInt64?) -> LoadSchedule {
            LoadSchedule(stages: stages, arrivals: arrivals, seed: seed, limit: limit, length: nil)
        }
        let whole = schedule(nil)
        let turns = try #require(SendTurns(whole, sends), "seed \(seed)")
        var model = Model(sends)
        var cursor = whole.cursor()
        var (slot, expected): (UInt64, [(sequence: UInt64, slot: UInt64, due: UInt64)]) = (0, [])
        while !model.isUsedUp {
            let due = cursor.due(slot)
            if let sequence = model.next(due) { expected.append((sequence, slot, due)) }
            slot += 1
        }
        #expect(turns.slots == slot, "seed \(seed)")
        #expect(Set(expected.map(\.sequence)).count == Int(total), "seed \(seed)")
        let cut = schedule(turns.slots).leavingOut(turns.gaps, count: total)
        #expect(cut.count == total, "seed \(seed)")
        var walk = cut.cursor()
        for (turn, push) in expected.enumerated() {
            let own = (turns.sequence(UInt64(turn)), turns.slot(push.sequence), walk.due(UInt64(turn)))
            guard own == push else {
                Issue.record("seed \(seed): turn \(turn): \(own) instead of \(push)")
                return
            }
            let send = try #require(sends.last { $0.first <= push.sequence })
            #expect(push.due >= send.start, "seed \(seed)")
        }
        // Each of several workers, which pass gaps over pushes that are others', has the same due times.
        let workers = 2 + random.below(3)
        for worker in 0..<workers {
            var own = cut.cursor()
            for turn in stride(from: worker, to: expected.count, by: workers) {
                #expect(own.due(UInt64(turn)) == expected[turn].due, "seed \(seed), worker \(worker)")
            }
        }
        for gap in turns.gaps {
            let (before, after) = (gap.push == 0 ? nil : expected[Int(gap.push) - 1], expected[Int(gap.push)])
            #expect(gap.until == after.due && gap.from >= before?.due ?? 0, "seed \(seed)")
            #expect(gap.slots == after.slot - gap.push, "seed \(seed)")
        }
    }

    @Test("A gap of hours is laid down from one begin to the next, and passed in one step")
    func longGap() throws {
        let hour: UInt64 = 3_600_000_000_000
        let sends: Order = [(0, 5, 0, 1000), (1000 * hour, 10, 1000, 500)]
        for arrivals in [Arrivals.constant, .jitter(share: 1)] {
            let whole = LoadSchedule(rate: 1e6, arrivals: arrivals, limit: nil, length: nil)
            let turns = try #require(SendTurns(whole, sends))
            let slot: UInt64 = 1000 * 3600 * 1_000_000
            // The jittered push that should be due a moment before the send begins may be due after it.
            let late = slot - turns.slot(1000)
            #expect(late <= 1 && turns.slots == slot - late + 500, "\(arrivals)")
            #expect(turns.stretches.map(\.count) == [1000, 500] && turns.gaps.map(\.push) == [1000])
        }
        // As far away as no process could be walked through.
        let gap = LoadSchedule.Gap(push: 10, slots: 1 << 45, position: 0x1p45, from: 10_000, until: 1000 << 45)
        let poisson = LoadSchedule(rate: 1e6, arrivals: .poisson, limit: nil, length: nil)
        var (before, after) = (poisson.cursor(), poisson.leavingOut([gap], count: 20).cursor())
        for push in 0..<10 as Range<UInt64> { #expect(after.due(push) == before.due(push)) }
        #expect(after.due(10) == 1000 << 45 && after.due(12) > 1000 << 45)
        var other = poisson.leavingOut([gap], count: 20).cursor()
        #expect(other.due(11) > 1000 << 45 && other.due(12) == after.due(12))
    }

    @Test("While nobody has anything left nothing is asked for, and expected are the pushes of those who have")
    func askedRate() throws {
        let sends: Order = [(1_000_000_000, 5, 0, 100), (4_000_000_000, 10, 100, 50)]
        let turns = try #require(SendTurns(LoadSchedule(rate: 100, limit: nil, length: nil), sends))
        let schedule = LoadSchedule(rate: 100, limit: turns.slots, length: nil).leavingOut(turns.gaps, count: 150)
        for (time, rate) in [(0.5, 0.0), (1, 100), (1.99, 100), (2.01, 0), (3.99, 0), (4, 100), (4.49, 100), (4.6, 0)] {
            #expect(schedule.rate(at: time) == rate, "\(time) s")
        }
        for (time, count) in [(0.5, 0.0), (1, 0), (1.5, 50), (2, 100), (3, 100), (4, 100), (4.2, 120), (9, 150)] {
            #expect(abs(schedule.expected(by: time) - count) < 0.001, "\(time) s: \(schedule.expected(by: time))")
        }
    }

    @Test(
        "Closed loop: each worker has its share of each send in the same order, and together they have all once",
        arguments: 0..<200 as Range<UInt64>)
    func queues(_ seed: UInt64) {
        var random = Random(seed)
        let sends = sends(&random)
        let workers = 1 + random.below(4)
        var all: [UInt64] = []
        for worker in 0..<workers {
            let share = WorkerShare(worker: worker, workers: workers)
            var queue = SendQueue(sends, share: share)
            var model = Model(sends.map { ($0.start, $0.priority, $0.first, share.count(of: $0.count)) })
            var own: [UInt64] = []
            var elapsed: UInt64 = 0
            while !queue.isUsedUp {
                let next = queue.next(elapsed)
                // The model's numbers are those of the worker's share.
                let place = sends.lastIndex { next ?? 0 >= $0.first } ?? 0
                let wanted = model.next(elapsed).map { number -> UInt64 in
                    let send = sends[sends.lastIndex { number >= $0.first } ?? 0]
                    return send.first + share.sequence(number - send.first)
                }
                #expect(next == wanted, "seed \(seed)")
                guard let next else {
                    let begins = queue.begins(after: elapsed)
                    #expect(begins == model.left.filter { $0.next < $0.end }.map(\.start).min(), "seed \(seed)")
                    elapsed = begins ?? .max
                    continue
                }
                #expect(sends[place].start <= elapsed, "seed \(seed)")
                own.append(next)
                if random.below(10) == 0 { elapsed += UInt64(random.below(200_000_000)) }
            }
            #expect(UInt64(own.count) == queue.count && model.isUsedUp, "seed \(seed)")
            all += own
        }
        let total = sends.reduce(0) { $0 + $1.count }
        #expect(all.sorted() == Array(0..<total), "seed \(seed)")
    }

    @Test("A schedule that ends before all sends have had their turn is refused")
    func short() {
        let sends: Order = [(0, 5, 0, 100), (1_000_000_000, 10, 100, 50)]
        let enough = LoadSchedule(rate: 100, limit: nil, length: 1_500_000_000)
        #expect(SendTurns(enough, sends)?.slots == 150)
        #expect(SendTurns(LoadSchedule(rate: 100, limit: nil, length: 1_490_000_000), sends) == nil)
        // Due times at which nobody has anything left are nobody's.
        let gap: Order = [(0, 5, 0, 10), (1_000_000_000, 10, 10, 5)]
        let turns = SendTurns(enough, gap)
        #expect(turns?.slots == 105 && turns?.gaps.map(\.push) == [10] && turns?.gaps.map(\.slots) == [90])
    }
}

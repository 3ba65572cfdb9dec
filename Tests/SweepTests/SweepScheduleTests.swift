import Scenarios
import Testing

@testable import Sweep

@Suite struct SweepScheduleTests {
    static func plan(
        _ vary: [String], seed: UInt64 = 1, _ change: (inout SweepSearch) -> Void = { _ in }
    ) throws -> SweepPlan {
        try plan(vary.map { try SweepAxis(parsing: $0) }, seed: seed, change)
    }

    static func plan(
        _ axes: [SweepAxis], seed: UInt64 = 1, _ change: (inout SweepSearch) -> Void = { _ in }
    ) throws -> SweepPlan {
        var scenario = Scenario()
        scenario.pushes = 10
        scenario.seed = seed
        var search = SweepSearch()
        change(&search)
        return try SweepPlan(
            version: "1", startedAt: "", scenario: scenario, axes: axes, search: search)
    }

    @Test("Each repetition has every point once, in an order of its own that the seed alone decides")
    func grid() throws {
        let schedule = SweepSchedule(try Self.plan(["streams=1..10+1", "connections=1,2"]))
        #expect(schedule.points == Array(0..<20) && schedule.sizes == [20] && schedule.runCount == 60)
        let jobs = schedule.jobs(rung: 0, points: schedule.points)
        var orders: [[Int]] = []
        for repetition in 1...3 {
            let part = jobs[(repetition - 1) * 20..<repetition * 20]
            #expect(part.allSatisfy { $0.repetition == repetition } && Set(part.map(\.point)) == Set(0..<20))
            orders.append(part.map(\.point))
        }
        #expect(Set(orders).count == 3 && !orders.contains(Array(0..<20)))
        #expect(
            SweepSchedule(try Self.plan(["streams=1..10+1", "connections=1,2"])).jobs(rung: 0, points: schedule.points)
                == jobs)
        let other = SweepSchedule(try Self.plan(["streams=1..10+1", "connections=1,2"], seed: 2))
        #expect(other.jobs(rung: 0, points: schedule.points) != jobs)
    }

    @Test("A random search has as many different points of the grid as asked for, and other ones with another seed")
    func random() throws {
        let axes = try ["streams", "connections", "threads"].map { try SweepAxis(parsing: $0 + "=1..1000+1") }
        let drawn = try (0..<20 as Range<UInt64>).map { seed in
            let plan = try Self.plan(axes, seed: seed) { ($0.method, $0.points) = (.random, 40) }
            let points = SweepSchedule(plan).points
            #expect(points.count == 40 && Set(points).count == 40 && points == points.sorted())
            #expect(points.allSatisfy { (0..<1_000_000_000).contains($0) })
            return points
        }
        #expect(Set(drawn).count == 20)
        let all = try Self.plan(["streams=1,2"]) { ($0.method, $0.points) = (.random, 40) }
        #expect(SweepSchedule(all).points == [0, 1])
    }

    @Test("Every number is drawn about equally often")
    func evenly() {
        var counts = [Int](repeating: 0, count: 10)
        for seed in 0..<2000 as Range<UInt64> {
            for number in SweepSchedule.draw(3, of: 10, seed: seed) { counts[number] += 1 }
        }
        // 600 expected, deviation 20.5.
        #expect(counts.allSatisfy { abs($0 - 600) < 110 }, "\(counts)")
    }

    @Test("Halving goes on with the better half until two are left, each time for twice as long")
    func halving() throws {
        #expect(SweepSchedule.halvings(9) == [9, 5, 3, 2])
        #expect(SweepSchedule.halvings(8) == [8, 4, 2])
        #expect(SweepSchedule.halvings(2) == [2] && SweepSchedule.halvings(1) == [1])
        let plan = try Self.plan(["streams=1..5+1"]) { ($0.method, $0.repeats, $0.goal) = (.halving, 2, .p99) }
        let schedule = SweepSchedule(plan)
        #expect(schedule.sizes == [5, 3, 2] && schedule.runCount == 20 && schedule.length == 10 + 12 + 16)
        let values: [(point: Int, value: Double?)] = [(0, 5), (1, 1), (2, nil), (3, 4), (4, 3)]
        #expect(schedule.survivors(of: 0, values) == [1, 3, 4])
        #expect(schedule.survivors(of: 1, [(1, 2), (3, 1), (4, 3)]) == [1, 3])
        #expect(schedule.survivors(of: 2, [(1, 2), (3, 1)]) == [])
        #expect(schedule.survivors(of: 0, [(0, nil), (1, 3)]) == [1])
        let byRate = SweepSchedule(try Self.plan(["streams=1..5+1"]) { $0.method = .halving })
        #expect(byRate.survivors(of: 0, values) == [0, 3, 4])
        #expect(Set(schedule.jobs(rung: 1, points: [1, 3, 4]).map(\.folder)).count == 6)
        #expect(SweepJob(point: 3, repetition: 2, rung: 1).folder == "point-0003-length-2-run-02")
        #expect(SweepJob(point: 12345, repetition: 10).folder == "point-12345-run-10")
    }
}

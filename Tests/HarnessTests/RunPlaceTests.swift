import Foundation
import Scenarios
import TestSupport
import Testing

@testable import Harness

@Suite struct RunPlaceTests {
    /// Everything one process's threads take, and when.
    private func taken(_ inputs: RunInputs) -> [(sequence: UInt64, due: UInt64)] {
        var taken: [(sequence: UInt64, due: UInt64)] = []
        for thread in 0..<inputs.scenario.threads {
            var supply = PushSupply(inputs, thread: thread)
            var now: UInt64 = 1_000_000_000
            supply.begin(now)
            var push: (sequence: UInt64, due: UInt64) = (0, 0)
            rounds: while true {
                switch supply.take(now, &push) {
                case .push: taken.append(push)
                case .notBefore(let time): now = time
                case .finished: break rounds
                }
            }
        }
        return taken
    }

    private func scenario(_ random: inout SeededRandom) -> Scenario {
        var scenario = Scenario()
        scenario.threads = 1 + random.below(3)
        scenario.connections = 60
        scenario.pushes = UInt64(random.below(3000))
        scenario.backlog = 1_000_000
        scenario.seed = UInt64(random.below(1000))
        if random.below(3) > 0 {
            scenario.rate = 1000 + Double(random.below(5000))
            scenario.arrivals = ["constant", "jitter", "poisson"][random.below(3)]
        }
        return scenario
    }

    @Test(
        "Workers of any number, with any threads each, take together what one process takes, each push once and when it is due",
        arguments: 1...60 as ClosedRange<UInt64>)
    func together(_ seed: UInt64) throws {
        var random = SeededRandom(seed)
        let scenario = scenario(&random)
        let alone = taken(try RunInputs(scenario)).sorted { $0.sequence < $1.sequence }
        let workers = 1 + random.below(7)
        var all: [(sequence: UInt64, due: UInt64)] = []
        var connections: [Int] = []
        var planned: UInt64 = 0
        for index in 0..<workers {
            var own = scenario
            own.threads = 1 + random.below(3)
            let inputs = try RunInputs(own, place: RunPlace(index: index, workers: workers))
            let pushes = taken(inputs)
            #expect(pushes.allSatisfy { $0.sequence % UInt64(workers) == UInt64(index) }, "seed \(seed)")
            #expect(inputs.ownPlanned == UInt64(pushes.count), "seed \(seed)")
            planned += inputs.ownPlanned ?? 0
            all += pushes
            for thread in 0..<own.threads {
                let options = inputs.transportOptions(thread, cores: 2)
                connections += options.firstConnection..<(options.firstConnection + options.connections)
            }
        }
        all.sort { $0.sequence < $1.sequence }
        #expect(all.map(\.sequence) == Array(0..<(scenario.pushes ?? 0)), "seed \(seed)")
        #expect(planned == scenario.pushes, "seed \(seed)")
        if scenario.rate != nil { #expect(all.map(\.due) == alone.map(\.due), "seed \(seed)") }
        #expect(connections == Array(0..<60), "seed \(seed)")
    }

    @Test(
        "One that is taken up again takes the rest of its pushes, the first of them at once, and as far apart as before",
        arguments: 1...40 as ClosedRange<UInt64>)
    func takenUp(_ seed: UInt64) throws {
        var random = SeededRandom(seed &+ 1000)
        let scenario = scenario(&random)
        let whole = try RunInputs(scenario, place: RunPlace(index: 1, workers: 2))
        let positions = (0..<scenario.threads).map { thread in
            UInt64(random.below(Int(whole.count(whole.share(thread)) ?? 0) + 2))
        }
        let place = RunPlace(index: 1, workers: 2, resumed: .init(positions: positions, elapsed: 5))
        let inputs = try RunInputs(scenario, place: place)
        let rest = taken(inputs)
        #expect(inputs.ownPlanned == UInt64(rest.count), "seed \(seed)")
        var expected: [(sequence: UInt64, due: UInt64)] = []
        for thread in 0..<scenario.threads {
            let share = whole.share(thread)
            var index = positions[thread]
            while index < whole.count(share) ?? 0 {
                var cursor = whole.schedule?.cursor()
                expected.append((share.sequence(index), cursor?.due(share.sequence(index)) ?? 0))
                index += 1
            }
        }
        #expect(rest.map(\.sequence) == expected.map(\.sequence), "seed \(seed)")
        if scenario.rate != nil, let first = expected.map(\.due).min() {
            #expect(rest.map { $0.due - 1_000_000_000 } == expected.map { $0.due - first }, "seed \(seed)")
        }
    }

    @Test("Connections and threads that do not go round are refused with the numbers that would do")
    func refusals() throws {
        func problem(_ change: (inout Scenario) -> Void, _ place: RunPlace) -> String {
            var scenario = Scenario()
            (scenario.pushes, scenario.connections, scenario.target) = (100, 8, .init(["http://127.0.0.1:2197"]))
            change(&scenario)
            do {
                try RunInputs(scenario, place: place).checkPlace()
                return ""
            } catch { return "\(error)" }
        }
        let place = RunPlace(index: 2, workers: 4)
        #expect(problem({ _ in }, place).isEmpty)
        #expect(problem({ $0.connections = 3 }, place).hasSuffix("expected at least 4, one a thread"))
        #expect(problem({ $0.threads = 3 }, place).hasSuffix("expected at least 12, one a thread"))
        #expect(problem({ $0.target = nil }, place).contains("the bundled mock belongs to one process"))
        var resumed = place
        resumed.resumed = .init(positions: [3, 4], elapsed: 1)
        #expect(problem({ _ in }, resumed).contains("threads 1: this worker had 2"))
    }

    @Test("What is the same in all workers differs with what pushes are made of, and with their number")
    func content() throws {
        func content(_ change: (inout Scenario) -> Void = { _ in }, _ place: RunPlace = .alone) throws -> RunContent {
            var scenario = Scenario()
            (scenario.pushes, scenario.connections) = (1000, 4)
            change(&scenario)
            return RunContent(try RunInputs(scenario, place: place))
        }
        let common = try #require(RunPlace.Common(id: "00000000000000aa", created: 1))
        let first = RunPlace(index: 0, workers: 2, common: common)
        let second = RunPlace(index: 1, workers: 2, common: common)
        let one = try content({ _ in }, first)
        #expect(try content({ $0.threads = 2 }, second) == one)
        for profile in ["alert", "silent", "rich", "rich-push", "encrypted"] {
            guard let own = try? content({ $0.profile = profile }, first) else { continue }
            #expect(try content({ $0.profile = profile }, second) == own, "\(profile)")
        }
        #expect(try content({ $0.profile = "silent" }, second) != one)
        #expect(try content({ $0.seed = 7 }, second) != one)
        #expect(try content({ $0.pushes = 1001 }, second) != one)
        #expect((0..<2).compactMap { one.planned(worker: $0, of: 2) } == [500, 500])
    }
}

import Foundation
import Results
import SampleRuns
import Settings
import Statistics
import Testing

@testable import Gate

/// Rounds with invented costs, on a machine whose speed is invented too.
private struct Machine {
    var random: SplitMix
    var speed = 1.0
    var spread = 0.01

    mutating func round(client: Double = 650, mock: Double = 900, allocations: Double = 0.1) -> GateDocument.Round {
        func noise() -> Double { Double.random(in: 1 - 2 * spread..<1 + 2 * spread, using: &random) }
        return GateDocument.Round(
            values: [
                "client_cpu": client * speed * noise(), "mock_cpu": mock * speed * noise(), "allocations": allocations,
                "rate": 1e6 / speed, "total_p50": 9e5 * speed, "total_p99": 1e6 * speed,
            ], kernelBefore: 16_000 * speed, kernelAfter: 16_000 * speed)
    }

    mutating func baseline() -> BaselineDocument {
        let rounds = (0..<32).map { _ in round() }
        return BaselineDocument(
            name: "b", reason: "r", updatedAt: "2026-01-01T00:00:00Z", version: "0", commit: nil, scenario: [:],
            machine: .init(host: "h", cpu: "c", cores: 2, kernel: "k", system: "s"), kernel: "record/1",
            oneCore: true, metrics: GateMetric.baseline(rounds))
    }
}

@Suite struct GateJudgeTests {
    private let rules = GateRules(metrics: GateMetric.judgedByDefault, tolerance: 0.03, mostRounds: 64)

    /// Runs a gate to its end; gives the verdict, how many rounds it took, and how often it paused.
    private func gate(
        _ baseline: BaselineDocument?, _ rules: GateRules, _ round: (Int) -> GateDocument.Round
    ) -> (progress: GateProgress, pauses: Int) {
        var progress = GateProgress(baseline, rules)
        var pauses = 0
        while true {
            let step = progress.add(round(progress.rounds.count), isLast: false)
            if step == .pause { pauses += 1 }
            if step == .decided { return (progress, pauses) }
        }
    }

    @Test("Where no metric is judged nothing has passed")
    func nothingJudged() {
        var machine = Machine(random: SplitMix(seed: 1))
        let rules = GateRules(metrics: ["allocations"], tolerance: 0.03, mostRounds: 16)
        let progress = gate(machine.baseline(), rules) { _ in
            var round = machine.round()
            round.values["allocations"] = nil
            return round
        }.progress
        #expect(progress.verdict == .cannotTell, "\(progress.metrics)")
    }

    @Test("The same costs pass, on a machine half as fast as well")
    func same() {
        var machine = Machine(random: SplitMix(seed: 1))
        let baseline = machine.baseline()
        for speed in [1, 2.0] {
            machine.speed = speed
            let progress = gate(baseline, rules) { _ in machine.round() }.progress
            #expect(progress.verdict == .pass && progress.rounds.count <= 16, "\(progress.metrics)")
            let names = progress.metrics.filter { $0.verdict == .information }.map(\.name)
            #expect(names == ["rate", "total_p50", "total_p99"])
        }
    }

    @Test("A cost that grew is a regression after a pause and as many rounds again; one that fell is an improvement")
    func changed() throws {
        var machine = Machine(random: SplitMix(seed: 2))
        let baseline = machine.baseline()
        let (slower, pauses) = gate(baseline, rules) { _ in machine.round(client: 715) }
        #expect(slower.verdict == .regression && slower.rounds.count == 16 && pauses == 1)
        let client = try #require(slower.metrics.first { $0.name == "client_cpu" })
        #expect(client.verdict == .regression && client.tolerated == 1.03)
        #expect(try abs(#require(client.ratio) - 1.1) < 0.01)
        #expect(try #require(client.correlation).magnitude < 0.5 && #require(client.stretch) >= 1)
        let (faster, _) = gate(baseline, rules) { _ in machine.round(mock: 800) }
        #expect(faster.verdict == .improved && faster.metrics.first { $0.name == "mock_cpu" }?.verdict == .improved)
    }

    @Test(
        "Allocations that grew by more than the tolerance and 0.05 pass no more often than other costs; fewer are the same"
    )
    func moreAllocations() {
        let rules = GateRules(metrics: ["allocations"], tolerance: 0.03, mostRounds: 64)
        var machine = Machine(random: SplitMix(seed: 5))
        machine.spread = 0.03
        func passes(_ before: Double, _ after: Double, of gates: Int) -> Int {
            (0..<gates).count { _ in
                func round(_ value: Double) -> GateDocument.Round {
                    let noise = Double.random(in: 0.94..<1.06, using: &machine.random)
                    return machine.round(allocations: value * noise)
                }
                var progress = GateProgress(nil, rules)
                while true {
                    var pair = round(after)
                    pair.base = round(before).values
                    if progress.add(pair, isLast: false) == .decided { break }
                }
                return progress.verdict != .regression && progress.verdict != .cannotTell
            }
        }
        // Binomial(200, 0.05): more than 22 less than once in 1,000 times. By the medians alone 70 passed.
        let wrong = passes(1.6, 1.66, of: 200)
        #expect(wrong <= 22, "\(wrong) of 200")
        // Less than 0.05 more, and nearly none.
        #expect(passes(0.5, 0.52, of: 20) == 20 && passes(0.01, 0.05, of: 20) == 20)
    }

    @Test("What disturbs either half of the rounds and not the other is not a regression", arguments: [0..<8, 8..<16])
    func disturbed(rounds: Range<Int>) {
        var machine = Machine(random: SplitMix(seed: 3))
        let baseline = machine.baseline()
        let rules = GateRules(metrics: ["client_cpu"], tolerance: 0.03, mostRounds: 16)
        let (progress, _) = gate(baseline, rules) { machine.round(client: rounds.contains($0) ? 900 : 650) }
        #expect(progress.verdict != .regression, "\(progress.verdict) \(progress.rounds.count)")
    }

    @Test("A cost at the tolerance, or a machine too noisy, cannot be told; the last round's time is kept to")
    func unsure() {
        var machine = Machine(random: SplitMix(seed: 4))
        let baseline = machine.baseline()
        let (edge, _) = gate(baseline, rules) { _ in machine.round(client: 650 * 1.03) }
        #expect(edge.verdict == .cannotTell && edge.rounds.count == 64)
        var progress = GateProgress(baseline, rules)
        #expect(progress.add(machine.round(client: 900), isLast: true) == .decided)
        #expect(progress.verdict == .cannotTell)
    }

    @Test("It looks after 8 rounds, twice as many, and the last; all chances together are those that are promised")
    func looks() {
        #expect(rules.looks == [8, 16, 32, 64])
        #expect(abs(rules.lowError * 3 * 3 - 0.01) < 1e-12 && abs(rules.highError * 4 - 0.05) < 1e-12)
        for most in [8, 9, 16, 20, 128] {
            let rules = GateRules(metrics: ["client_cpu"], tolerance: 0.03, mostRounds: most)
            let looks = rules.looks
            #expect(looks.last == most && Set(looks).count == looks.count && looks.first == 8)
            #expect(rules.lowError <= 0.01 && rules.highError <= 0.05)
        }
        #expect(GateRules(metrics: ["rate"], tolerance: 0.03, mostRounds: 20).looks == [8, 16, 20])
    }

    @Test("Rounds that resemble the round before widen the interval, and what is far above is seen all the same")
    func correlated() throws {
        let rules = GateRules(metrics: ["client_cpu"], tolerance: 0.03, mostRounds: 64)
        // Both alike, but for the order.
        let values = (0..<32).map { 100 + Double($0 % 16) }
        let sorted = try #require(GateInterval(values.sorted(), values.sorted(), rules))
        var order = SplitMix(seed: 5)
        let mixed = try #require(
            GateInterval(values.shuffled(using: &order), values.shuffled(using: &order), rules))
        #expect(sorted.ratio == mixed.ratio && sorted.low < mixed.low && sorted.high > mixed.high)
        #expect(try #require(sorted.correlation).stretch > 3 && #require(mixed.correlation).stretch < 2)
        #expect(sorted.verdict == .cannotTell)
        let far = try #require(GateInterval(values.sorted(), values.sorted().map { 3 * $0 }, rules))
        #expect(far.verdict == .regression)
    }

    @Test("Pairs are judged by their ratios: what moves both rounds of a pair does not count")
    func pairs() throws {
        var machine = Machine(random: SplitMix(seed: 8))
        func pair(_ index: Int, client: Double) -> GateDocument.Round {
            machine.speed = 1 + 0.1 * Double(index % 7)
            var round = machine.round(client: client)
            round.base = machine.round().values
            round.isBaseFirst = index % 2 == 0
            return round
        }
        let same = gate(nil, rules) { pair($0, client: 650) }.progress
        #expect(same.verdict == .pass && same.metrics.allSatisfy { $0.correlation == nil })
        let slower = gate(nil, rules) { pair($0, client: 715) }.progress
        let client = try #require(slower.metrics.first { $0.name == "client_cpu" })
        #expect(try slower.verdict == .regression && (1.08..<1.12).contains(#require(client.ratio)))
        let faster = gate(nil, rules) { pair($0, client: 590) }.progress
        #expect(faster.verdict == .improved)
        // What one of both does not know is not there.
        let partial = gate(nil, rules) { index in
            var round = pair(index, client: 650)
            round.base?["mock_cpu"] = nil
            return round
        }.progress
        #expect(!partial.metrics.contains { $0.name == "mock_cpu" })
    }

    @Test("An allocation more is a regression; a twentieth of one is not, however many per cent that is")
    func allocations() {
        var machine = Machine(random: SplitMix(seed: 5))
        let baseline = machine.baseline()
        #expect(gate(baseline, rules) { _ in machine.round(allocations: 0.14) }.progress.verdict == .pass)
        #expect(gate(baseline, rules) { _ in machine.round(allocations: 1.1) }.progress.verdict == .regression)
        var none = baseline
        for index in none.metrics.indices where none.metrics[index].name == "allocations" {
            none.metrics[index].raw = none.metrics[index].raw.map { _ in 0 }
        }
        let first = gate(none, rules) { _ in machine.round(allocations: 1) }.progress
        #expect(first.verdict == .regression, "the first allocation where there was none")
    }

    @Test("A rate that is judged regresses when it falls, and a metric that no round has is left out")
    func gains() {
        var machine = Machine(random: SplitMix(seed: 6))
        let baseline = machine.baseline()
        let rules = GateRules(metrics: ["rate"], tolerance: 0.05, mostRounds: 64)
        machine.speed = 1.2
        #expect(gate(baseline, rules) { _ in machine.round() }.progress.verdict == .regression)
        machine.speed = 0.8
        let (progress, _) = gate(baseline, rules) { _ in
            var round = machine.round()
            round.values["mock_cpu"] = nil
            return round
        }
        #expect(progress.verdict == .improved && !progress.metrics.contains { $0.name == "mock_cpu" })
    }

    @Test("A round takes no latency that is only known from below")
    func censored() {
        let values = GateMetric.values(UnansweredRun.make(unanswered: 30))
        #expect(values["total_p50"] != nil && values["total_p99"] == nil && values["rate"] == 199.5)
    }
}

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
        _ baseline: BaselineDocument, _ rules: GateRules, _ round: (Int) -> GateDocument.Round
    ) -> (progress: GateProgress, pauses: Int) {
        var progress = GateProgress(baseline, rules)
        var pauses = 0
        while true {
            let step = progress.add(round(progress.rounds.count), isLast: false)
            if step == .pause { pauses += 1 }
            if step == .decided { return (progress, pauses) }
        }
    }

    @Test("The same costs pass at the first look, on a machine half as fast as well")
    func same() {
        var machine = Machine(random: SplitMix(seed: 1))
        let baseline = machine.baseline()
        for speed in [1, 2.0] {
            machine.speed = speed
            let (progress, pauses) = gate(baseline, rules) { _ in machine.round() }
            #expect(progress.verdict == .pass && progress.rounds.count == 8 && pauses == 0, "\(progress.metrics)")
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
        let (faster, _) = gate(baseline, rules) { _ in machine.round(mock: 800) }
        #expect(faster.verdict == .improved && faster.metrics.first { $0.name == "mock_cpu" }?.verdict == .improved)
    }

    @Test("What disturbs the first rounds and is gone after the pause is not a regression")
    func disturbed() {
        var machine = Machine(random: SplitMix(seed: 3))
        let baseline = machine.baseline()
        let (progress, pauses) = gate(baseline, rules) { machine.round(client: $0 < 8 ? 800 : 650) }
        #expect(progress.verdict == .pass && pauses >= 1, "\(progress.verdict) \(progress.rounds.count)")
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

    @Test("An allocation more is a regression; a twentieth of one is not, however many per cent that is")
    func allocations() {
        var machine = Machine(random: SplitMix(seed: 5))
        let baseline = machine.baseline()
        #expect(gate(baseline, rules) { _ in machine.round(allocations: 0.14) }.progress.verdict == .pass)
        #expect(gate(baseline, rules) { _ in machine.round(allocations: 1.1) }.progress.verdict == .regression)
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

    @Test("Of 100 gates at exactly the tolerance hardly one alarms; of 100 at the same costs none does")
    func falseAlarms() {
        var machine = Machine(random: SplitMix(seed: 7))
        var (edge, same) = (0, 0)
        for _ in 0..<100 {
            let baseline = machine.baseline()
            if gate(baseline, rules, { _ in machine.round(client: 650 * 1.03) }).progress.verdict == .regression {
                edge += 1
            }
            if gate(baseline, rules, { _ in machine.round() }).progress.verdict == .regression { same += 1 }
        }
        // One of 100, and five deviations.
        #expect(edge <= 6 && same == 0, "\(edge) \(same)")
    }

    @Test("A round takes no latency that is only known from below")
    func censored() {
        let round = GateMetric.round(UnansweredRun.make(unanswered: 30), kernelBefore: 1, kernelAfter: 1)
        #expect(round.values["total_p50"] != nil && round.values["total_p99"] == nil && round.values["rate"] == 199.5)
    }
}

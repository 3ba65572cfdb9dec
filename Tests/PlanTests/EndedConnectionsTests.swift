import Foundation
import Results
import Scenarios
import Testing

@testable import Plan

/// Connections that the server ends (GOAWAY): what a plan's formulas and its simulation make of them.
@Suite struct EndedConnectionsTests: MeasuredCosts {
    @Test("Connections that end after a burst are simulated for several lives, each with a window of its own")
    func lives() throws {
        var question = question
        (question.goAwayEvery, question.window) = (1000, 1_048_576)
        (question.connections, question.machines, question.pushes, question.within) = (100, 1, nil, nil)
        question.simulated = 700_000
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(abs(plan.simulation.difference ?? 1) < 0.03, "\(plan.simulation)")
    }

    @Test("Latencies at the planned rate have what waits for connections that are made anew in them")
    func endedConnections() throws {
        var question = question
        (question.pushes, question.within) = (50_000, 6e9)
        (question.goAwayEvery, question.utilisation, question.simulated) = (1000, 0.8, 700_000)
        (question.connections, question.machines, question.cores) = (16, 1, 1)
        let goals = try Threshold.list(parsing: "p50 < 110ms && p99 < 110ms")
        let plan = try Planner.plan(question, goals: goals, samples: samples, origin: "x")
        let latency = try #require(plan.simulation.latency)
        // All 50,000: connections that began together go away together, for half a second and more.
        #expect(latency.count == 250_000 && plan.simulation.latencyReplications == 5, "\(plan.simulation)")
        #expect(latency.p50 < 110_000_000 && latency.p99 > 200_000_000, "\(latency)")
        #expect(plan.goals.map(\.held) == [true, false])
        #expect(plan.warnings.contains { $0.hasPrefix("goal p99 < 110ms is not reached: ") }, "\(plan.warnings)")
        // With 3,125 pushes each none is ended.
        question.goAwayEvery = 10_000
        let whole = try Planner.plan(question, samples: samples, origin: "x").simulation
        question.goAwayEvery = nil
        let plain = try Planner.plan(question, samples: samples, origin: "x").simulation
        #expect(whole == plain)
        (question.connections, question.machines, question.goAwayEvery) = (nil, nil, 50_000)
        let free = try Planner.plan(question, samples: samples, origin: "x")
        #expect(free.assumptions.contains { $0.hasPrefix("no connection gets so many pushes (50,000, ") })
        question.goAwayEvery = nil
        #expect(free.needed == (try Planner.plan(question, samples: samples, origin: "x")).needed)
    }

    @Test("Where the simulation does less than is needed, more is planned, or it is said to be missed")
    func simulatedShort() throws {
        var question = question
        let samples = [sample("a", cpu: 1500), sample("b", cpu: 1500)]
        // Each worker's connections send for a third of the time, and then keep it busy: by the formula a core does it all.
        (question.pushes, question.within, question.simulated) = (50_000_000, 100e9, 150_000)
        (question.goAwayEvery, question.utilisation, question.cores) = (3000, 0.95, 16)
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        let rate = try #require(plan.needed).perSecond
        let model = PlanModel(question, try #require(CostModel(samples)))
        let base = model.configuration(model.needs(rate))
        #expect(Double(plan.configuration.connections) > 1.2 * base.connections, "\(plan.configuration), \(base)")
        #expect(plan.isReached && (plan.simulation.finish?.value ?? .infinity) < 105e9, "\(plan.simulation)")
        (question.connections, question.machines, question.cores) = (Int(base.connections), 1, 1)
        let goals = try Threshold.list(parsing: "p99 < 10s && rate > 1")
        let given = try Planner.plan(question, goals: goals, samples: samples, origin: "x")
        #expect(given.needed?.inTime == false && !given.isReached && given.simulation.latency == nil)
        #expect(given.goals[0].value == nil && (given.goals[1].value ?? .infinity) < 0.95 * rate && given.goals[1].held)
        #expect(given.warnings.contains { $0.hasPrefix("simulated, it does ") }, "\(given.warnings)")
        let text = PlanReport.text(given).replacing("\n", with: " ")
        #expect(text.contains("missed, the devices take 1"), "\(text)")
    }

    @Test(
        "Of connections that last long some are simulated with their part of a worker; of those that last too long none"
    )
    func longLives() throws {
        var question = question
        (question.pushes, question.within, question.simulated) = (100_000_000, 1000e9, 250_000)
        question.goAwayEvery = 5000
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(plan.simulation.isPart && plan.simulation.connections == 8 && plan.configuration.connections > 10)
        #expect(abs(plan.simulation.difference ?? 1) < 0.02, "\(plan.simulation)")
        #expect(plan.simulation.latency != nil)
        let text = PlanReport.text(plan).replacing("\n", with: " ").split(separator: " ").joined(separator: " ")
        #expect(text.contains("1 worker with 8 connections, and their part of its time, "), "\(text)")
        question.goAwayEvery = 100_000
        let goals = try Threshold.list(parsing: "p99 < 1s && rate > 1")
        let long = try Planner.plan(question, goals: goals, samples: samples, origin: "x")
        #expect(long.simulation.simulated == nil && long.simulation.latency == nil && !long.isReached)
        #expect(long.goals.map(\.held) == [false, true])
        for start in [
            "full use was not simulated: its connections last 800,000 pushes",
            "there are no latencies at the planned rate: its connections last 800,000 pushes",
            "goal p99 < 1s is not known to be reached: latencies were not simulated",
        ] {
            #expect(long.warnings.contains { $0.hasPrefix(start) }, "\(long.warnings)")
        }
        #expect(try JSONDecoder().decode(PlanDocument.self, from: Data(PlanFile.encode(long))) == long)
    }

    @Test(
        "Connections of a slow link are ended when it has carried their pushes; two lives are answered at once, and no third"
    )
    func endedSlowly() throws {
        var question = question
        (question.connections, question.machines, question.pushes, question.within) = (4, 1, nil, nil)
        (question.goAwayEvery, question.linkRate, question.simulated) = (1000, 1_250_000, 300_000)
        let slow = try Planner.plan(question, samples: samples, origin: "x")
        #expect(
            slow.bounds[0].name == .connectionRate && abs(slow.simulation.difference ?? 1) < 0.03, "\(slow.simulation)")
        (question.linkRate, question.serverTime) = (nil, .constant(2e9))
        let long = try Planner.plan(question, samples: samples, origin: "x")
        // Of each two a round trip and two seconds, four round trips and slow start.
        let rate = 4 * 2000 / (2.1 + 0.4 + Self.slowStart)
        #expect(isClose(long.bounds[0].perSecond.value, rate, 1e-6), "\(long.bounds), \(rate)")
        #expect(abs(long.simulation.difference ?? 1) < 0.02, "\(long.simulation)")
    }
}

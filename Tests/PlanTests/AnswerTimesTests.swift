import Foundation
import Results
import Scenarios
import Testing

@testable import Plan

/// Servers whose answers take times of their own, and what of a plan cannot be simulated.
@Suite struct AnswerTimesTests: MeasuredCosts {
    /// 20,000 devices over 20 ms, answers of a second and more.
    private var tail: PlanQuestion {
        var question = question
        (question.pushes, question.within, question.roundTrip) = (20_000, 60e9, 20e6)
        question.serverTime = .lognormal(median: 1e9, sigma: 0.8)
        question.simulated = 60_000
        return question
    }

    @Test("A plan leaves the last answer its time: the pushes' answers are in it 19 times of 20")
    func last() throws {
        let plan = try Planner.plan(tail, samples: samples, origin: "x")
        let needed = try #require(plan.needed)
        let span = 20_000 / needed.perSecond * 1e9
        #expect(abs(span + needed.edges - 60e9) < 1e6, "\(span), \(needed.edges)")
        let late =
            tail.serverTime.excess(over: needed.edges - 0.1e9)
            - tail.serverTime.excess(over: needed.edges - 0.1e9 + span)
        // exp (−0.05) is 0.95.
        #expect(abs(late * 20_000 / span - 0.051) < 0.003, "\(late * 20_000 / span)")
        let finish = try #require(plan.simulation.finish)
        let (low, high) = (try #require(finish.low), try #require(finish.high))
        #expect(low < finish.value && finish.value < needed.shortest.value && needed.shortest.value < high)
        #expect(plan.assumptions.contains { $0.contains("the last one comes in time in 95 % of fan-outs") })
        // The largest of 20,000 takes a quarter of a minute in half of all fan-outs.
        var short = tail
        short.within = 6e9
        #expect {
            try Planner.plan(short, samples: samples, origin: "x")
        } throws: {
            "\($0)".hasPrefix("within 6.00 s: connecting and the last answers alone take 38.")
        }
        short.serverTime = .lognormal(median: 86_400e9, sigma: 5)
        #expect {
            try Planner.plan(short, samples: samples, origin: "x")
        } throws: {
            "\($0)".hasSuffix("alone take more than thirty years; expected more")
        }
        short.serverTime = .constant(1e9)
        #expect(try Planner.plan(short, samples: samples, origin: "x").simulation.finish?.low == nil)
    }

    @Test(
        "Latencies of a simulation that is shorter than its answers take are those of all pushes, not of the fast ones")
    func unbiased() throws {
        var question = tail
        question.serverTime = .exponential(mean: 10e9)
        (question.pushes, question.within) = (2_000_000, 400e9)
        let latency = try #require(try Planner.plan(question, samples: samples, origin: "x").simulation.latency)
        // 10 s and 20 ms, of 45,000 pushes.
        #expect(abs(latency.mean - 10.02e9) < 0.02 * 10e9, "\(latency.mean)")
        #expect(abs(Double(latency.p99) - 46.1e9) < 0.04 * 46e9, "\(latency.p99)")
    }

    @Test("Full use is simulated where a link is slower than its streams: some of them suffice")
    func slowLink() throws {
        var question = question
        question.linkRate = 125_000
        question.simulated = 60_000
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(plan.bounds[0].name == .connectionRate && plan.configuration.connections > 60)
        #expect(abs(plan.simulation.difference ?? 1) < 0.03, "\(plan.simulation)")
    }

    @Test("Full use of which no answer would be seen is not simulated, which is said")
    func unseen() throws {
        var question = question
        question.serverTime = .constant(3600e9)
        (question.pushes, question.within) = (100_000_000, 7200e9)
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(plan.simulation.simulated == nil && plan.simulation.difference == nil && plan.simulation.finish == nil)
        #expect(plan.warnings.contains { $0.hasPrefix("full use was not simulated: ") }, "\(plan.warnings)")
        #expect(!plan.warnings.contains { $0.hasPrefix("formula and simulation") })
        #expect(PlanReport.text(plan).contains("the formula says ") && !PlanReport.text(plan).contains(" 0/s"))
        #expect(try JSONDecoder().decode(PlanDocument.self, from: Data(PlanFile.encode(plan))) == plan)
    }

    @Test("A burst is as large as the window lets it be that is opened again meanwhile")
    func burstOfWindow() throws {
        let fewer = FewerStreams(streams: 10, time: 2e9, every: 2.5e9)
        // 100 at once, and 400 in half a second; in the rest of each period ten a second.
        let rate = fewer.rate(usual: 1000, cycle: 1e9, most: .infinity, burst: (100, 800, .infinity))
        #expect(isClose(rate, (500 + 10 * 1.5) / 2.5), "\(rate)")
        let wide = fewer.rate(usual: 1000, cycle: 1e9, most: .infinity, burst: (100, 8000, .infinity))
        #expect(isClose(wide, (1000 + 10 * 1.5) / 2.5), "\(wide)")
        var question = question
        (question.fewerStreams, question.serverTime) = (fewer, .constant(1e9))
        (question.roundTrip, question.window, question.simulated) = (10e6, 65_536, 400_000)
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(abs(plan.simulation.difference ?? 1) < 0.06, "\(plan.simulation)")
    }

    @Test("What answers wait besides the link, a window that is opened again waits too")
    func windowWaits() throws {
        var question = question
        (question.roundTrip, question.window, question.simulated) = (5e6, 65_536, 100_000)
        let idle = sample("idle", rtt: 10_000_000, service: 11_000_000)
        let plan = try Planner.plan(question, samples: samples + [idle], origin: "x")
        #expect(plan.bounds[0].name == .window && isClose(plan.measured.overhead.value, 1e6))
        #expect(abs(plan.simulation.difference ?? 1) < 0.04, "\(plan.simulation)")
    }

    @Test("More streams for less than a round trip are those of a burst")
    func burst() throws {
        var question = question
        question.fewerStreams = FewerStreams(streams: 1, time: 1e9, every: 1.001e9)
        question.simulated = 400_000
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        // 1,000 of each period, and one a round trip.
        let each = (1000 + 0.901 / 0.1) / 1.001
        #expect(isClose(plan.bounds[0].perSecond.value, each * Double(plan.configuration.connections)))
        #expect(abs(plan.simulation.difference ?? 1) < 0.05, "\(plan.simulation)")
    }

    @Test(
        "At a rate, answers that take times of their own cost what runs with such answers say, where they come of gathered pushes"
    )
    func spread() throws {
        var runs = [sample("closed")]
        for (rate, cpu) in [(10_000.0, 40_000.0), (50_000, 3000)] {
            runs.append(sample("together \(rate)", cpu: cpu, pace: rate))
        }
        var spread = sample("spread", cpu: 9000, pace: 50_000)
        spread.spreadsAnswers = true
        var question = tail
        (question.pushes, question.within) = (50_000 * 100, 200e9)
        question.serverTime = .constant(100e9 - 0.12e9 - 1)
        func cost(_ samples: [CostSample]) throws -> Double {
            let plan = try Planner.plan(question, samples: samples, origin: "x")
            return try #require(plan.measured.pacedCPU).value
        }
        let constant = try cost(runs + [spread])
        #expect(try constant == cost(runs) && constant < 3100, "\(constant)")
        question.serverTime = .uniform(low: 90e9, high: 110e9)
        let own = try cost(runs + [spread])
        #expect(own > 7500 && own < 9500, "\(own)")
        func warns(_ samples: [CostSample], _ start: String) throws -> Bool {
            try Planner.plan(question, samples: samples, origin: "x").warnings.contains { $0.hasPrefix(start) }
        }
        let (unknown, others) = ("no run at a rate with answers that", "no run at a rate but with answers that")
        // Of a server that answers one by one, they say nothing of one that does not.
        var single = spread
        single.answers = .single
        #expect(try warns(runs, unknown) && warns(runs + [single], unknown) && !warns(runs + [spread], unknown))
        let times = question.serverTime
        question.serverTime = .constant(99e9)
        #expect(try warns([runs[0], spread], others) && !warns(runs + [spread], others) && !warns(runs, others))
        question.serverTime = times
        // Of nothing but such runs, these.
        let only = CostModel([runs[0], spread])!
        #expect(isClose(only.pace(.batched, hasLink: true).cost(at: 50_000, closed: 1000), 9000))
        let plan = try Planner.plan(question, samples: runs, origin: "x")
        #expect(plan.warnings.contains { $0.hasPrefix("no run at a rate with answers that take times of their own") })
        #expect(
            isClose(
                CostModel(runs + [spread])!.pace(.batched, hasLink: true, isSpread: true).cost(
                    at: 10_000, closed: 1000), 40_000))
    }

    @Test("Near the rate at which the client begins to gather pushes a plan says what they cost on both sides")
    func border() throws {
        let runs =
            [sample("closed")]
            + [(10_000.0, 40_000.0), (50_000, 3000)].map { sample("\($0.0)", cpu: $0.1, pace: $0.0) }
        var question = question
        for (rate, isNear) in [(20_000.0, false), (29_500, true), (30_500, true), (35_000, false)] {
            question.pushes = UInt64(rate * Self.left)
            let plan = try Planner.plan(question, samples: runs, origin: "x")
            let warning = plan.warnings.first { $0.hasPrefix("about 30,000/s a worker") }
            #expect((warning != nil) == isNear, "\(rate): \(plan.warnings)")
            // From 0.4 s of CPU time at 10,000/s on as steeply, but a core at most; and 2 us beyond the busy push's at 50,000/s.
            if let warning {
                #expect(
                    warning.hasSuffix("costs it 33.3 us where it does not yet, and 4.33 us where it does"), "\(warning)"
                )
            }
        }
    }

    @Test("Of runs answered one by one the plan is one of such a server")
    func single() throws {
        let runs = [sample("a", cpu: 5000, answers: .single), sample("b", cpu: 5000, answers: .single)]
        let plan = try Planner.plan(question, samples: runs, origin: "x")
        #expect(plan.assumptions.contains("the server answers each push by itself, as that of the runs"))
        #expect(plan.needed?.coresIfSingle == nil && isClose(plan.measured.clientCPU.value, 5000))
        var batched = question
        batched.answers = .batched
        let other = try Planner.plan(batched, samples: runs, origin: "x")
        #expect(other.warnings.contains { $0.hasPrefix("no run against a server that answers together") })
    }

    @Test("Machines that are there have as many workers as the work takes, and at least a connection each")
    func spareMachines() throws {
        var question = question
        (question.machines, question.cores) = (50, 16)
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(plan.configuration == .init(machines: 50, workers: 1, connections: 50, streams: 1000))
    }

    @Test("What memory moves with is what plans of more and of less say", arguments: [nil, 7])
    func memory(_ machines: Int?) throws {
        var question = question
        (question.pushes, question.cores, question.machines) = (1_000_000_000, 4, machines)
        question.within = 400e9
        let all = [1, 8, 64].map { sample("\($0)", connections: $0, memory: UInt64(40_000_000 + 20_000 * $0)) }
        func memory(_ factor: Double) throws -> Double {
            var changed = question
            changed.pushes = UInt64(1e9 * factor)
            return try #require(try Planner.plan(changed, samples: all, origin: "x").needed).memory.value
        }
        let plan = try Planner.plan(question, samples: all, origin: "x")
        let said = try #require(plan.sensitivities.first { $0.input == "devices" }).memory
        let seen = try log(memory(1.1) / memory(0.9)) / log(1.1 / 0.9)
        #expect(abs(said - seen) < 0.01, "\(said), \(seen)")
    }

    @Test(
        "Runs of a server that answers one by one, and no other, say what is waited for besides the link, and what workers do to each other"
    )
    func onlySingle() throws {
        func run(_ name: String, threads: Int = 1, rtt: UInt64 = 0, service: Double = 0, rate: Double = 100_000)
            -> CostSample
        {
            var run = sample(
                name, threads: threads, connections: 4 * threads, cpu: 5000, rtt: rtt, service: service, rate: rate,
                mockThreads: 2 * threads,
                cores: 16, answers: .single)
            run.isShaped = true
            return run
        }
        let runs = [
            run("one"), run("two", threads: 2, rate: 190_000), run("far", rtt: 10_000_000, service: 11_000_000),
        ]
        let plan = try Planner.plan(question, samples: runs, origin: "x")
        #expect(isClose(plan.measured.overhead.value, 1e6) && plan.measured.workerCounts == 2, "\(plan.measured)")
        #expect(!plan.warnings.contains { $0.hasPrefix("no run with a round-trip time") }, "\(plan.warnings)")
    }

    @Test("Runs that filled the machine's cores do not say what is waited for besides the link")
    func fullCores() throws {
        func far(_ name: String, cpu: Double) -> CostSample {
            sample(name, cpu: cpu, mock: 1000, rtt: 10_000_000, service: 22_000_000, rate: 600_000, cores: 2)
        }
        let plan = try Planner.plan(question, samples: samples + [far("full", cpu: 870)], origin: "x")
        #expect(plan.measured.overhead.value == 0)
        #expect(plan.warnings.contains { $0.hasPrefix("no run with a round-trip time") }, "\(plan.warnings)")
        var idle = far("idle", cpu: 870)
        idle.perSecond = 100_000
        let known = try Planner.plan(question, samples: samples + [idle], origin: "x")
        #expect(isClose(known.measured.overhead.value, 12e6))
    }
}

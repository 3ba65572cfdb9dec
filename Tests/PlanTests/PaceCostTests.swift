import Results
import Testing

@testable import Plan
@testable import Transport

@Suite struct PaceCostTests: MeasuredCosts {
    @Test("At a rate over a link, runs over a link say what pacing costs, and how long pushes wait besides it")
    func linkedPace() throws {
        func paced(_ run: String, cpu: Double, rtt: UInt64, wait: Double) -> CostSample {
            var sample = sample(run, connections: 4, cpu: cpu, rtt: rtt, rate: 10_000)
            sample.pace = 10_000
            sample.totals = TimeDistribution.shares.map { _ in Double(rtt) + wait }
            return sample
        }
        let closed = sample("c", connections: 4, cpu: 600)
        let own = paced("a", cpu: 5000, rtt: 0, wait: 100_000)
        let linked = paced("b", cpu: 9000, rtt: 10_000_000, wait: 300_000)
        let both = try #require(CostModel([closed, own, linked]))
        func cost(_ model: CostModel, hasLink: Bool) -> Double {
            model.pace(.batched, hasLink: hasLink).cost(at: 10_000, closed: 600)
        }
        #expect(cost(both, hasLink: false) == 5000 && cost(both, hasLink: true) == 9000)
        #expect(isClose(both.pace(.batched, hasLink: true).totals(at: 10_000)?.mean, 300_000))
        #expect(isClose(both.pace(.single, hasLink: true).totals(at: 10_000)?.mean, 300_000))
        // Without such runs, those without a link.
        let one = try #require(CostModel([closed, own]))
        #expect(cost(one, hasLink: true) == 5000)
        #expect(isClose(one.pace(.batched, hasLink: true).totals(at: 10_000)?.mean, 100_000))
    }

    @Test("Thin pushes wake a worker each, dense ones together: each kind says what its own rates cost")
    func thinAndDense() throws {
        #expect(PaceCost.denseFrom == Double(Pace.denseFrom) / Double(Pace.quantum) * 1e9)
        func paced(_ rate: Double, cores: Double, wait: Double) -> CostSample {
            var sample = sample("\(rate)", connections: 4, cpu: cores / rate * 1e9, rate: rate)
            (sample.pace, sample.totals) = (rate, TimeDistribution.shares.map { _ in wait })
            return sample
        }
        let closed = sample("c", connections: 4, cpu: 1000)
        let thin = [paced(10_000, cores: 0.4, wait: 50_000), paced(20_000, cores: 0.7, wait: 50_000)]
        let dense = [paced(50_000, cores: 0.25, wait: 300_000), paced(100_000, cores: 0.32, wait: 300_000)]
        func pace(_ runs: [CostSample]) throws -> PaceCost {
            try #require(CostModel([closed] + runs)).pace(.batched, hasLink: false)
        }
        func cores(_ pace: PaceCost, _ rate: Double) -> Double { rate * pace.cost(at: rate, closed: 1000) / 1e9 }
        let both = try pace(thin + dense)
        for (rate, use) in [
            (5000, 0.2), (15_000, 0.55), (25_000, 0.85), (29_999, 0.99997), (30_000, 0.23), (50_000, 0.25),
            (75_000, 0.285), (1e6, 1), (2e6, 2),
        ] {
            #expect(isClose(cores(both, rate), use, 1e-4), "\(rate): \(cores(both, rate))")
        }
        #expect(isClose(both.totals(at: 29_999)?.mean, 50_000) && isClose(both.totals(at: 30_000)?.mean, 300_000))
        // As many as take no more than that, though fewer may take more.
        #expect(isClose(both.rate(using: 0.285, closed: 1000), 75_000) && both.rate(using: 1, closed: 1000) == 1e6)
        #expect(isClose(both.rate(using: 0.2, closed: 1000), 5000))
        // Of one kind only, all is one line.
        let (onlyThin, onlyDense) = (try pace(thin), try pace(dense))
        #expect(isClose(cores(onlyThin, 510_000), 0.85) && isClose(onlyThin.rate(using: 0.85, closed: 1000), 510_000))
        #expect(isClose(cores(onlyDense, 10_000), 0.05) && isClose(onlyDense.totals(at: 10_000)?.mean, 300_000))
        // What chance makes cheaper than a busy loop costs something still.
        let cheap = try pace([paced(10_000, cores: 0.4, wait: 1), paced(200_000, cores: 0.1, wait: 1)])
        #expect(cores(cheap, 30_000) > 0.002 && cores(cheap, 30_000) < 0.1)
        // A cost of closed loops that were not busy takes no dense rate away.
        let idle = try #require(CostModel([thin[0], dense[0]]))
        #expect(isClose(idle.client(connectionsPerWorker: 4, streams: 1000, hasLink: false), 5000))
        #expect(isClose(50_000 * idle.pace(.batched, hasLink: false).cost(at: 50_000, closed: 5000) / 1e9, 0.25))
        // A twentieth apart is the same rate, and no slope.
        let near = try pace([paced(24_900, cores: 0.7, wait: 1), paced(24_980, cores: 0.74, wait: 1)] + dense)
        #expect(isClose(cores(near, 29_999), 0.72 / 24_940 * 29_999, 1e-3))
    }

    @Test("One worker that is awake all the time for few pushes is enough, and more of them take less")
    func thinNeeds() throws {
        func paced(_ rate: Double, cores: Double) -> CostSample {
            var sample = sample("\(rate)", connections: 4, cpu: cores / rate * 1e9, rate: rate)
            sample.pace = rate
            return sample
        }
        let runs = [sample("c", connections: 4, cpu: 1000), paced(10_000, cores: 0.4), paced(50_000, cores: 0.25)]
        func cores(_ rate: Double) throws -> Double {
            var question = PlanQuestion()
            (question.roundTrip, question.pushes, question.within, question.utilisation) = (
                0, UInt64(rate * 10), 10e9, 0.5
            )
            let plan = try Planner.plan(question, samples: runs, origin: "x")
            return try #require(plan.needed?.cores.value)
        }
        #expect(isClose(try cores(10_000), 0.8, 1e-3))
        #expect(isClose(try cores(29_000), 1, 1e-6))
        #expect(isClose(try cores(50_000), 0.5, 1e-3))
        // Half of a worker is 366,667/s.
        #expect(isClose(try cores(733_333), 2, 1e-3))
    }

    @Test(
        "At a rate workers sleep and wake: cores follow from what that costs, and the wait from what pushes took there")
    func paced() throws {
        let totals = TimeDistribution.shares.map { 100_000 + 900_000 * $0 }
        let rates: [(Double, Double)] = [(10_000, 21_000), (100_000, 4000)]
        let runs = rates.flatMap { rate, cpu in
            [
                sample("\(rate)", cpu: cpu, pace: rate, totals: totals),
                sample("\(rate)b", cpu: cpu, pace: rate, totals: totals),
            ]
        }
        let plan = try Planner.plan(question, samples: samples + runs, origin: "x")
        // 10,974/s: as much each as at 10,000/s; half of a worker is used.
        let rate = 1e5 / Self.left
        let use = 21e-6 * rate
        #expect(isClose(plan.needed?.cores.value, use / 0.5, 1e-6), "\(String(describing: plan.needed?.cores))")
        #expect(isClose(plan.measured.pacedCPU?.value, use / rate * 1e9, 1e-6) && plan.measured.clientCPU.value == 1000)
        // Twenty million: on a line from 0.4 core at 100,000/s to all of it at a million.
        var many = question
        many.pushes = 20_000_000
        let large = try Planner.plan(many, samples: samples + runs, origin: "x")
        let each = 100_000 + 0.1 / 0.6 * 900_000
        #expect(
            isClose(large.needed?.cores.value, 2e7 / Self.left / each, 1e-6),
            "\(String(describing: large.needed?.cores))")
        // Uniform between 0.1 and 1 ms, and the 100 ms of the link.
        let latency = try #require(plan.simulation.latency)
        #expect(
            isClose(Double(latency.p50), 100.55e6, 0.001) && isClose(Double(latency.p99), 100.99e6, 0.001), "\(latency)"
        )
        #expect(plan.simulation.latencyReplications == 5 && plan.simulation.p99?.low != nil)
        #expect(!plan.warnings.contains { $0.hasPrefix("no run at a rate") })
        #expect(
            try Planner.plan(question, samples: samples, origin: "x").warnings.contains {
                $0.hasPrefix("no run at a rate")
            })
    }
}

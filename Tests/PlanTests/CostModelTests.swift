import Results
import SampleRuns
import Testing

@testable import Plan

@Suite struct CostModelTests: MeasuredCosts {
    @Test("Counts that add up to more than there are numbers are no reason to stop")
    func largeCounts() {
        var result = SampleRun.make("a", 1)
        result.pushes.accepted = .max
        result.pushes.rejected = .max
        result.pushes.failed = 5
        #expect(CostSample.problem(result)?.contains(" pushes were accepted; a cost takes at least 99 %") == true)
    }

    @Test("A sample of costs takes the mean of the answered pushes, however long others were waited for")
    func meanCost() {
        var result = SampleRun.make("a", 1)
        result.latency[.service] = .init()
        result.latency[.total].mean = 5e9
        result.latency[.total].unanswered = 1
        result.latency[.totalAccepted].count = 30
        result.latency[.totalAccepted].mean = 100
        result.latency[.totalRejected].count = 10
        result.latency[.totalRejected].mean = 20
        #expect(CostSample(result, roundTrip: 0).service == 80)
        result.latency[.total].unanswered = 0
        #expect(CostSample(result, roundTrip: 0).service == 5e9)
    }

    @Test("A run too short, too cheap or with rejections says nothing of what a push costs, and why")
    func fitness() {
        func problem(accepted: UInt64, rejected: UInt64 = 0, failed: UInt64 = 0, notSent: UInt64 = 0, cpu: Double)
            -> String?
        {
            var result = SampleRun.make("a", 1)
            result.pushes.planned = accepted + rejected + failed + notSent
            (result.pushes.accepted, result.pushes.rejected) = (accepted, rejected)
            (result.pushes.failed, result.pushes.notSent) = (failed, notSent)
            result.cost.clientCPU = cpu
            return CostSample.problem(result)
        }
        #expect(problem(accepted: 10_000, notSent: 5000, cpu: 5000) == nil)
        #expect(problem(accepted: 99_000, rejected: 500, failed: 500, cpu: 1000) == nil)
        #expect(problem(accepted: 10, cpu: 1e9) == "10 pushes were accepted; a cost takes at least 10,000")
        #expect(problem(accepted: 0, cpu: 0) == "0 pushes were accepted; a cost takes at least 10,000")
        #expect(
            problem(accepted: 10_000, cpu: 4800)
                == "the client's CPU time was 48.0 ms; a cost takes at least 50.0 ms")
        #expect(
            problem(accepted: 0, rejected: 50_000, cpu: 5000)
                == "0 of 50,000 pushes were accepted; a cost takes at least 99 %")
        #expect(
            problem(accepted: 98_999, rejected: 501, failed: 500, cpu: 1000)
                == "98,999 of 100,000 pushes were accepted; a cost takes at least 99 %")
    }

    @Test(
        "The cost at a measured setting is what was measured; between settings it lies between; memory by least squares"
    )
    func costs() throws {
        let samples = [
            sample("a", connections: 1, cpu: 600, memory: 40_000_000),
            sample("b", connections: 100, cpu: 1000, memory: 49_900_000),
            sample(
                "c", connections: 1, streams: 50, cpu: 9000, memory: nil, rtt: 10_000_000, service: 10_400_000,
                rate: 4000),
        ]
        let model = try #require(CostModel(samples))
        func cost(_ connections: Double) -> Double {
            model.client(connectionsPerWorker: connections, streams: 1000, hasLink: false)
        }
        #expect(cost(1) == 600 && cost(100) == 1000)
        #expect(isClose(cost(10), 800) && cost(3) < 800 && cost(30) > 800)
        #expect(isClose(model.memoryPerConnection(streams: 7), 100_000) && isClose(model.memoryBase, 39_900_000))
        // The run over the link was idle: its cost is not one of busy threads, but its wait is the overhead.
        #expect(model.overhead == 400_000 && model.settings == 2 && model.isOfBusyRuns)
    }

    @Test("A client's memory is that of its connections and of their streams, where both were varied")
    func memory() throws {
        func samples(_ places: [(Int, Int)]) -> [CostSample] {
            places.map { connections, streams in
                sample(
                    "\(connections) \(streams)", connections: connections, streams: streams, cpu: 600,
                    memory: UInt64(60_000_000 + connections * (30_000 + 120 * streams)))
            }
        }
        let places = [(1, 100), (1, 1000), (16, 1000), (200, 100), (200, 500)]
        let model = try #require(CostModel(samples(places)))
        #expect(isClose(model.memoryBase, 60e6, 1e-6))
        #expect(isClose(model.memoryPerConnection(streams: 300), 66_000, 1e-6))
        // As many streams for each connection: what is a stream's cannot be told.
        let alike = try #require(CostModel(samples([(1, 500), (50, 500), (200, 500)])))
        #expect(isClose(alike.memoryPerConnection(streams: 300), 90_000, 1e-6))
        #expect(CostModel(samples([(4, 500)]))?.memoryPerConnection(streams: 300) == nil)
    }

    /// Rates of 1, 2, 4 and 8 workers by a law, with a mock of twice as many threads.
    private func scaled(_ law: ScalabilityLaw, cores: Int, cpu: Double = 1000, rounds: Int = 2) -> [CostSample] {
        [1, 2, 4, 8].flatMap { threads in
            (0..<rounds).map { round in
                sample(
                    "\(threads)-\(round)", threads: threads, connections: threads, cpu: cpu,
                    rate: law.rate(of: Double(threads)), mockThreads: 2 * threads, cores: cores)
            }
        }
    }

    @Test("Contention is seen in rates, though waiting burns no CPU time; costs are those of one worker")
    func workers() throws {
        let law = ScalabilityLaw(rate: 1e6, contention: 0.03, crosstalk: 0.001)
        // Every run has the same CPU time a push.
        let samples = scaled(law, cores: 24)
        let model = try #require(CostModel(samples))
        let fitted = try #require(model.law)
        #expect(isClose(fitted.contention, 0.03, 1e-6) && isClose(fitted.crosstalk, 0.001, 1e-6), "\(fitted)")
        #expect(isClose(model.client(connectionsPerWorker: 1, streams: 1000, hasLink: false), 1000, 1e-6))
        var question = question
        question.pushes = 100_000_000
        question.cores = 64
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        // √(0.97 / 0.001) = 31.1: more workers on a machine would do less.
        #expect(plan.configuration.workers == 31, "\(plan.configuration)")
        #expect(isClose(plan.measured.contention?.value, 0.03, 1e-6) && plan.measured.contention?.low != nil)
        #expect(
            plan.assumptions.contains { $0.contains("3.00 % contention (95 %: 3.00 % - 3.00 %)") },
            "\(plan.assumptions)")
    }

    @Test("Where threads share cores, or the mock is what limits, contention is not measured, and said not to be")
    func unknownContention() throws {
        let law = ScalabilityLaw(rate: 1e6, contention: 0.2)
        var crowded = question
        crowded.pushes = 40_000_000
        for (samples, reason) in [
            // 8 + 16 threads on 16 cores leave 1, 2 and 4 workers; on 5 cores there is one number of them.
            (scaled(law, cores: 5), "no runs with several numbers"),
            (
                scaled(law, cores: 24).map {
                    var one = $0; one.mockCPU = 8000; return one
                }, "no runs with several numbers"
            ),
            (self.samples, "runs with one number of workers cannot show it"),
        ] {
            let model = try #require(CostModel(samples))
            #expect(model.law == nil && model.lawProblem.hasPrefix(reason), "\(model.lawProblem)")
            let plan = try Planner.plan(crowded, samples: samples, origin: "x")
            #expect(
                plan.measured.contention == nil && plan.configuration.workers == 4 && plan.configuration.machines == 3)
            // 8.780 cores; with 5 % contention among four workers 15 % more.
            let cores = 4e7 / Self.left * 1e-6 / 0.5
            #expect(isClose(plan.needed?.cores.value, cores))
            #expect(
                plan.assumptions.contains {
                    $0.hasPrefix("contention between workers was not measured (\(reason)")
                        && $0.hasSuffix("would take 10.1 cores")
                }, "\(plan.assumptions)")
        }
        let part = try #require(CostModel(scaled(law, cores: 16))?.law)
        #expect(part.points == 3 && isClose(part.contention, 0.2, 1e-6), "\(part)")
    }

    @Test("On part of a machine contention is that of the workers that are planned, not of all its cores")
    func contentionOfFew() throws {
        let model = try #require(CostModel(scaled(ScalabilityLaw(rate: 1e6, contention: 0.05), cores: 24)))
        var question = question
        question.pushes = 10_000_000
        for cores in [16, 64] {
            question.cores = cores
            let plan = PlanModel(question, model)
            let rate = 1e7 / Self.left
            let needs = plan.needs(rate)
            // 2.19 cores alone: three, each of which gets 1 / 1.1 done.
            #expect(isClose(needs.cores, rate * 1e-6 / 0.5 * 1.1, 1e-6), "\(needs)")
            #expect(plan.configuration(needs).workers == 3)
        }
        // The reserve that a goal asks for is in it: twice 2.195 cores, of six workers of which each gets 1 / 1.25 done.
        let unmeasured = PlanModel(question, try #require(CostModel(samples)))
        let needs = unmeasured.needs(1e7 / Self.left, reserve: 2)
        let text = PlanWarnings.assumptions(unmeasured, unmeasured.configuration(needs), needs, reserve: 2)
        #expect(text.contains { $0.hasSuffix("5 % would take 5.5 cores") }, "\(text)")
    }

    @Test("A server that answers one by one: its cores stand beside, and are planned with when it is said to be so")
    func single() throws {
        let runs = [sample("s", cpu: 7000, answers: .single), sample("t", cpu: 7000, answers: .single)]
        let plan = try Planner.plan(question, samples: samples + runs, origin: "x")
        let rate = 1e5 / Self.left
        #expect(
            isClose(plan.needed?.cores.value, rate * 1e-6 / 0.5)
                && isClose(plan.needed?.coresIfSingle?.value, rate * 7e-6 / 0.5))
        #expect(PlanReport.text(plan).contains("  answered one by one"))
        var told = question
        told.answers = .single
        let single = try Planner.plan(told, samples: samples + runs, origin: "x")
        #expect(isClose(single.needed?.cores.value, rate * 7e-6 / 0.5) && single.needed?.coresIfSingle == nil)
        #expect(isClose(single.measured.clientCPU.value, 7000))
        #expect(
            try Planner.plan(told, samples: samples, origin: "x").warnings.contains {
                $0.hasPrefix("no run against a server")
            })
        #expect(try Planner.plan(question, samples: samples, origin: "x").needed?.coresIfSingle == nil)
    }
}

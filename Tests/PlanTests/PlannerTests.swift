import Results
import SampleRuns
import Scenarios
import Testing

@testable import Plan
@testable import Transport

@Suite struct PlannerTests {
    private func sample(
        _ run: String, threads: Int = 1, connections: Int = 1, streams: Int = 1000, cpu: Double = 1000,
        mock: Double? = 500, memory: UInt64? = 40_000_000, rtt: UInt64 = 0, service: Double = 0, rate: Double = 800_000,
        engine: String = "wire", version: String = "1", mockThreads: Int? = nil, cores: Int? = nil,
        pace: Double? = nil, answers: CostSample.Answers? = nil, totals: [Double]? = nil,
        pushesPerConnection: Double? = nil
    ) -> CostSample {
        CostSample(
            run: run, engine: engine, version: version, machine: "m", threads: threads, connections: connections,
            streams: streams, roundTrip: rtt, isShaped: false, isBundledMock: true, perSecond: rate, clientCPU: cpu,
            mockCPU: mock, clientMemory: memory, workerLoad: rtt > 0 ? 0.1 : 0.9, service: service, serverTime: nil,
            mockThreads: mockThreads, cores: cores, pace: pace, answers: answers, totals: totals,
            pushesPerConnection: pushesPerConnection)
    }

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

    private var samples: [CostSample] { [sample("a"), sample("b")] }

    /// 100,000 devices in 10 s over 100 ms, half of every bound used.
    private var question: PlanQuestion {
        var question = PlanQuestion()
        question.pushes = 100_000
        question.within = 10e9
        question.roundTrip = 100e6
        question.cores = 4
        question.utilisation = 0.5
        question.payloadBytes = 300
        question.largestPayload = 400
        question.requestBytes = 400
        question.answerBytes = 50
        // Where it is not the simulation that is looked at.
        question.simulated = 2000
        return question
    }

    /// What TCP's slow start takes of it, seconds: five rounds of 10 × (1, 2, 4, 8, 16) segments of 1,448 bytes, of the 400 KB and
    /// TLS's 22 bytes in 16 KB that 1,000 streams hold.
    private static let slowStart = 0.1 * (5 - 31 * 14_480 / (400_000 * (1 + 22.0 / 16_384)))
    /// Connecting takes 4 round trips, the last answers one.
    private static let left = 9.5 - slowStart

    private func isClose(_ one: Double?, _ other: Double, _ within: Double = 1e-9) -> Bool {
        one.map { abs($0 - other) <= within * max(1, abs(other)) } ?? false
    }

    @Test("Machines that bandwidth asks for have no more workers than the work does")
    func narrowMachines() throws {
        var question = question
        // 10 Mbit/s.
        question.bandwidth = 1.25e6
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        let wire = 400 * (1 + 22.0 / 16_384) * (1 + 90.0 / 1448)
        let machines = 1e5 / Self.left / 0.5 * wire / 1.25e6
        #expect(isClose(plan.needed?.machines.value, machines))
        #expect(plan.configuration.machines == Int(machines.rounded(.up)) && plan.configuration.workers == 1)
    }

    @Test("Known numbers: rate, streams, connections, cores, memory and bandwidth follow from the formulas")
    func known() throws {
        var question = question
        // Sixteen round trips at full use.
        question.simulated = 64_000
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        let needed = try #require(plan.needed)
        let rate = 1e5 / Self.left
        #expect(isClose(needed.perSecond, rate))
        #expect(isClose(needed.inFlight.value, rate * 0.1))
        // 1,000 streams over 100 ms: 10,000 a second a connection, half of it used.
        #expect(isClose(needed.connections.value, rate / 5000))
        #expect(isClose(needed.cores.value, rate * 1e-6 / 0.5))
        #expect(isClose(needed.machines.value, rate * 1e-6 / 0.5 / 4))
        let wire = 400 * (1 + 22.0 / 16_384) * (1 + 90.0 / 1448)
        #expect(isClose(needed.bandwidth.value, rate * wire))
        #expect(plan.configuration == .init(machines: 1, workers: 1, connections: 3, streams: 1000))
        #expect(plan.bounds.map(\.name) == [.streams, .clientCPU])
        #expect(isClose(plan.bounds[0].perSecond.value, 30_000) && isClose(plan.bounds[1].perSecond.value, 1e6))
        #expect(isClose(needed.shortest.value, 1e14 / 30_000 + 1e10 - Self.left * 1e9))
        #expect(abs(plan.simulation.difference) < 0.03, "\(plan.simulation)")
        #expect(plan.warnings.contains { $0.hasPrefix("connections were not varied") }, "\(plan.warnings)")
    }

    @Test("Window, bandwidth and a connection's rate bind where they are the tightest")
    func binding() throws {
        var question = question
        question.simulated = 25_000
        question.window = 65_536
        var plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(plan.bounds[0].name == .window)
        // 110 pushes, the first number above half the window, a round trip.
        #expect(isClose(plan.bounds[0].perSecond.value, 1100 * Double(plan.configuration.connections)))
        #expect(abs(plan.simulation.difference) < 0.03, "\(plan.simulation)")
        question.window = nil
        question.linkRate = 1e6
        plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(plan.bounds[0].name == .connectionRate)
        #expect(isClose(plan.bounds[0].perSecond.value, 2500 * Double(plan.configuration.connections)))
        question.linkRate = nil
        question.bandwidth = 1e6
        plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(plan.bounds[0].name == .bandwidth && plan.configuration.machines == 10)
        #expect(abs(plan.simulation.difference) < 0.03, "\(plan.simulation)")
    }

    @Test("Elasticities: devices and time in inverse, the round trip moves connections and not cores")
    func sensitivities() throws {
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        func input(_ name: String) -> PlanDocument.Sensitivity? { plan.sensitivities.first { $0.input == name } }
        #expect(isClose(input("devices")?.connections, 1, 1e-3) && isClose(input("devices")?.cores, 1, 1e-3))
        // ln (10.112 / 8.112) / ln (11 / 9) with the 0.888 s that connecting and becoming fast take.
        #expect(isClose(input("time")?.cores, -1.098, 2e-3), "\(plan.sensitivities)")
        #expect(isClose(input("round-trip time")?.connections, 1.097, 2e-3), "\(plan.sensitivities)")
        #expect(isClose(input("round-trip time")?.cores, 0.097, 2e-3), "\(plan.sensitivities)")
        // More streams are reached later.
        #expect(isClose(input("streams a connection")?.connections, -0.988, 2e-3))
        #expect(isClose(input("client CPU a push")?.cores, 1, 1e-3) && input("client CPU a push")?.connections == 0)
        #expect(input("window") == nil && input("server's answer time") == nil)
    }

    @Test("Intervals come from repeated runs only, hold the figure, and are the same with the same seed")
    func intervals() throws {
        let spread = [900.0, 950, 1000, 1050, 1100].enumerated().map { sample("\($0.offset)", cpu: $0.element) }
        let plan = try Planner.plan(question, samples: spread, origin: "x")
        let cores = try #require(plan.needed?.cores)
        let (low, high) = (try #require(cores.low), try #require(cores.high))
        #expect(low < cores.value && cores.value < high)
        #expect(isClose(low / cores.value, 0.9, 0.06) && isClose(high / cores.value, 1.1, 0.06), "\(cores)")
        #expect(try Planner.plan(question, samples: spread, origin: "x") == plan)
        let single = try Planner.plan(question, samples: [sample("a")], origin: "x")
        #expect(single.needed?.cores.low == nil)
        #expect(single.warnings.contains { $0.hasPrefix("each setting was run once") })
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

    @Test("A connection that is ended costs its wait without a round trip too, and gives no more than one that is not")
    func goAwayEdges() throws {
        var question = PlanQuestion()
        (question.roundTrip, question.pushes, question.within, question.goAwayEvery) = (0, 100_000, 10e9, 500)
        (question.connections, question.machines) = (1, 1)
        let model = PlanModel(question, try #require(CostModel(samples)))
        #expect(isClose(model.perConnection(.streams), 500 / 0.025, 1e-9))
        question.roundTrip = 20e6
        question.serverTime = .constant(1e9)
        let slow = PlanModel(question, try #require(CostModel(samples)))
        #expect(
            isClose(slow.perConnection(.streams), 1000 / 1.02, 0.01),
            "\(String(describing: slow.perConnection(.streams)))")
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
        #expect(plan.simulation.replications == 5 && plan.simulation.p99?.low != nil)
        #expect(!plan.warnings.contains { $0.hasPrefix("no run at a rate") })
        #expect(
            try Planner.plan(question, samples: samples, origin: "x").warnings.contains {
                $0.hasPrefix("no run at a rate")
            })
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

    @Test(
        "Pushes that are sent again cost again: a fifth of the answers makes a quarter more of everything, and a longer end"
    )
    func sentAgain() throws {
        var question = question
        question.sentAgain = 0.2
        question.simulated = 600_000
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        let needed = try #require(plan.needed)
        // 8 rounds until of 100,000 pushes less than one is left: 0.2⁸ × 10⁵ = 0.26.
        let rate = 1e5 / (Self.left - 0.7)
        #expect(isClose(needed.perSecond, rate) && isClose(needed.connections.value, rate * 1.25 / 5000))
        #expect(isClose(needed.cores.value, rate * 1.25e-6 / 0.5) && isClose(needed.inFlight.value, rate * 1.25 * 0.1))
        #expect(isClose(plan.bounds.first { $0.name == .clientCPU }?.perSecond.value, 8e5))
        #expect(abs(plan.simulation.difference) < 0.03, "\(plan.simulation)")
        // A push takes 1.25 round trips on average, and more than two of them one time in 25.
        let latency = try #require(plan.simulation.latency)
        #expect(
            isClose(latency.mean, 125e6, 0.02) && latency.p50 < 102_000_000 && latency.p99 > 290_000_000, "\(latency)")
    }

    @Test(
        "Connections that are ended lose a round trip, a wait and what becoming fast takes; new ones cost CPU time"
    )
    func goAway() throws {
        var question = question
        question.goAwayEvery = 20_000
        question.simulated = 400_000
        let runs = [sample("g", cpu: 1600, pushesPerConnection: 500), sample("h", cpu: 1600, pushesPerConnection: 500)]
        let plan = try Planner.plan(question, samples: samples + runs, origin: "x")
        // 2 s of pushes; their end is known when the last are answered; the next connection needs 25 ms, 0.4 s and slow start.
        let each = 20_000 / (2 + 0.025 + 0.4 + Self.slowStart)
        let streams = try #require(plan.bounds.first { $0.name == .streams })
        #expect(isClose(streams.perSecond.value, each * Double(plan.configuration.connections), 1e-6), "\(streams)")
        // 600 ns more for each of 500 pushes: 0.3 ms a connection.
        #expect(isClose(plan.measured.handshake?.value, 300_000))
        #expect(isClose(plan.measured.clientCPU.value, 1000 + 300_000.0 / 20_000))
        #expect(abs(plan.simulation.difference) < 0.06, "\(plan.simulation)")
    }

    @Test("Loss bounds each connection by what TCP lets be on its way")
    func loss() throws {
        var question = question
        question.loss = 0.01
        question.simulated = 20_000
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        // √150 = 12.25 segments of 1,448 bytes a round trip.
        let each = 150.0.squareRoot() * 1448 / (400 * (1 + 22.0 / 16_384)) / 0.1
        #expect(plan.bounds[0].name == .loss)
        #expect(
            isClose(plan.bounds[0].perSecond.value, each * Double(plan.configuration.connections), 1e-6),
            "\(plan.bounds)")
        #expect(!plan.assumptions.contains { $0.contains("nothing is lost") })
        let latency = try #require(plan.simulation.latency)
        // A hundredth of the segments comes a round trip later, and what follows waits for it.
        #expect(latency.p99 >= 190_000_000 && latency.p50 < 150_000_000, "\(latency)")
    }

    @Test("Goals: reached, out of reach because of the link, and those a plan does not predict")
    func goals() throws {
        func plan(_ goal: String) throws -> PlanDocument {
            try Planner.plan(question, goals: try Threshold.list(parsing: goal), samples: samples, origin: "x")
        }
        let reached = try plan("p99 < 1s && cpu < 2us && rss < 1GB && rate > 10k")
        #expect(reached.goals.map(\.held) == [true, true, true, true], "\(reached.goals)")
        let missed = try plan("p99 < 50ms")
        #expect(missed.goals.map(\.held) == [false] && missed.configuration == reached.configuration)
        #expect(missed.warnings.contains { $0.hasPrefix("goal p99 < 50ms is not reached: 100") }, "\(missed.warnings)")
        #expect(throws: Planner.Failure.self) { try plan("accepted >= 99%") }
    }

    @Test("What is too short, too small, mixed or without cost is said in one line")
    func refused() throws {
        var short = question
        short.within = 300e6
        #expect(
            throws: Planner.Failure(
                description: "within 300 ms: connecting and the last answers alone take 888 ms; expected more")
        ) { try Planner.plan(short, samples: samples, origin: "x") }
        #expect(throws: Planner.Failure(description: "x: no run with a CPU time a push to plan with")) {
            try Planner.plan(question, samples: [sample("a", cpu: 0)], origin: "x")
        }
        var small = question
        small.connections = 1
        let plan = try Planner.plan(
            small, samples: samples + [sample("c", engine: "nghttp2", version: "2")], origin: "x")
        #expect(plan.configuration.connections == 1)
        #expect(
            plan.warnings.contains {
                $0.contains(
                    "1 connection on 1 machine do 10,000/s at most, of 10,974/s needed: the devices take 10.9 s")
            })
        #expect(plan.needed?.inTime == false && !plan.isReached && plan.simulation.latency == nil)
        #expect(plan.warnings.contains("the runs differ in engine: nghttp2; wire; their costs are mixed"))
        #expect(plan.warnings.contains("the runs differ in version: 1; 2; their costs are mixed"))
    }

    @Test("Goals of a plan that does not reach the devices in time: latencies grow, the rate is what can be done")
    func shortGoals() throws {
        var small = question
        small.connections = 1
        let goals = try Threshold.list(parsing: "p99 < 20s && rate >= 10.4k && rate >= 9.9k && cpu < 2us")
        let plan = try Planner.plan(small, goals: goals, samples: samples, origin: "x")
        #expect(plan.goals.map(\.held) == [false, false, true, true], "\(plan.goals)")
        #expect(plan.goals[0].value == nil && isClose(plan.goals[1].value, 10_000))
        #expect(plan.warnings.contains("goal p99 < 20s is not reached: latencies grow with the queue"))
        // All of a bound, but no more, is enough.
        small = question
        small.utilisation = 1
        #expect(try Planner.plan(small, samples: samples, origin: "x").isReached)
    }

    @Test("With the mock on the same machine its threads and the shared cores are bounds")
    func shared() throws {
        var question = PlanQuestion()
        (question.machines, question.connections, question.cores) = (1, 4, 2)
        (question.mockThreads, question.sharedCores) = (1, 2)
        (question.requestBytes, question.payloadBytes, question.simulated) = (400, 300, 25_000)
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(plan.needed == nil && plan.bounds.map(\.name) == [.sharedCores, .clientCPU, .serverCPU])
        #expect(isClose(plan.bounds[0].perSecond.value, 2e9 / 1500) && isClose(plan.bounds[2].perSecond.value, 2e6))
        #expect(abs(plan.simulation.difference) < 0.03, "\(plan.simulation)")
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
}

import Results
import Scenarios
import Testing

@testable import Plan

@Suite struct PlannerTests: MeasuredCosts {
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
        #expect(abs(plan.simulation.difference ?? 1) < 0.03, "\(plan.simulation)")
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
        #expect(abs(plan.simulation.difference ?? 1) < 0.03, "\(plan.simulation)")
        question.window = nil
        question.linkRate = 1e6
        plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(plan.bounds[0].name == .connectionRate)
        #expect(isClose(plan.bounds[0].perSecond.value, 2500 * Double(plan.configuration.connections)))
        question.linkRate = nil
        question.bandwidth = 1e6
        plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(plan.bounds[0].name == .bandwidth && plan.configuration.machines == 10)
        #expect(abs(plan.simulation.difference ?? 1) < 0.03, "\(plan.simulation)")
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
        "A connection that is ended costs its handshake without a round trip too, and where it is answered for long, two take turns"
    )
    func goAwayEdges() throws {
        var question = PlanQuestion()
        (question.roundTrip, question.pushes, question.within, question.goAwayEvery) = (0, 100_000, 10e9, 500)
        (question.connections, question.machines) = (1, 1)
        let handshakes = [sample("a", handshake: 800_000), sample("b", handshake: 800_000)]
        let model = PlanModel(question, try #require(CostModel(handshakes)))
        // 0.8 ms, and what a worker takes to send them.
        #expect(isClose(model.perConnection(.streams), 500 / 0.0013, 1e-6))
        question.roundTrip = 20e6
        question.serverTime = .constant(1e9)
        let slow = PlanModel(question, try #require(CostModel(samples)))
        #expect(
            isClose(slow.perConnection(.streams), 1000 / (1.02 + 0.08), 0.01),
            "\(String(describing: slow.perConnection(.streams)))")
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
        #expect(abs(plan.simulation.difference ?? 1) < 0.03, "\(plan.simulation)")
        // A push takes 1.25 round trips on average, and more than two of them one time in 25.
        let latency = try #require(plan.simulation.latency)
        #expect(
            isClose(latency.mean, 125e6, 0.02) && latency.p50 < 102_000_000 && latency.p99 > 290_000_000, "\(latency)")
    }

    @Test(
        "Connections that are ended lose a round trip and what becoming fast takes; new ones cost CPU time"
    )
    func goAway() throws {
        var question = question
        question.goAwayEvery = 20_000
        question.simulated = 400_000
        let runs = [sample("g", cpu: 1600, pushesPerConnection: 500), sample("h", cpu: 1600, pushesPerConnection: 500)]
        let plan = try Planner.plan(question, samples: samples + runs, origin: "x")
        // 2 s of pushes; their end is known when the last are answered; the next connection needs 0.4 s, 0.3 ms of CPU time and slow start.
        let each = 20_000 / (2 + 0.4 + 0.0003 + Self.slowStart)
        let streams = try #require(plan.bounds.first { $0.name == .streams })
        #expect(isClose(streams.perSecond.value, each * Double(plan.configuration.connections), 1e-6), "\(streams)")
        // 600 ns more for each of 500 pushes: 0.3 ms a connection.
        #expect(isClose(plan.measured.handshake?.value, 300_000))
        #expect(isClose(plan.measured.clientCPU.value, 1000 + 300_000.0 / 20_000))
        #expect(abs(plan.simulation.difference ?? 1) < 0.06, "\(plan.simulation)")
    }

    @Test(
        "What a connection takes is its handshake, and in runs that made connections all the time what their pushes cost besides"
    )
    func handshakeCosts() throws {
        let closed = [sample("a", handshake: 700_000), sample("b", handshake: 900_000)]
        #expect(CostModel(closed)?.handshake == 800_000)
        // 600 ns more for each of 500 pushes.
        // Alone, client and mock one after the other, as in the runs with the fewest connections.
        #expect(CostModel(closed)?.handshakeAlone == nil)
        var (few, many) = (closed[1], closed[0])
        (few.connections, few.mockHandshake) = (1, 600_000)
        (many.connections, many.mockHandshake) = (50, 300_000)
        let alone = try #require(CostModel([few, many]))
        #expect(alone.handshakeAlone == 1_500_000 && alone.handshake == 800_000)
        let made = sample("c", cpu: 1600, pushesPerConnection: 500, handshake: 800_000)
        #expect(isClose(CostModel(closed + [made])?.handshake, 1_100_000))
        #expect(CostModel(samples)?.handshake == nil)
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

    @Test(
        "Each worker has as many connections as every other, and no more of them count than the one with the fewest has"
    )
    func evenly() throws {
        var question = question
        (question.pushes, question.cores, question.simulated) = (30_000_000, 16, 400_000)
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        let (workers, connections) = (plan.configuration.workers, plan.configuration.connections)
        // 6.6 cores, and 658.6 connections.
        #expect(workers == 7 && connections == 665, "\(plan.configuration)")
        #expect(isClose(plan.bounds.first { $0.name == .streams }?.perSecond.value, 6_650_000))
        #expect(abs(plan.simulation.difference ?? 1) < 0.03, "\(plan.simulation)")
        // Of ten connections two workers use all, four would use eight. Where 12.5 cores are needed fifteen workers use 30 of 31; one uses
        // all. Of three on sixteen all.
        #expect(try isClose(bounds(31, machines: 1, cores: 16)[.streams], 310_000))
        #expect(try isClose(bounds(31, machines: 1, cores: 16, needed: 12.5)[.streams], 300_000))
        func bounds(
            _ connections: Int, machines: Int, cores: Int, needed: Double = 0.1
        ) throws -> [PlanDocument.BoundName: Double] {
            var question = self.question
            question.pushes = UInt64(needed * 0.5e6 * Self.left)
            (question.connections, question.machines, question.cores) = (connections, machines, cores)
            return Dictionary(
                uniqueKeysWithValues: try Planner.plan(question, samples: samples, origin: "x").bounds.map {
                    ($0.name, $0.perSecond.value)
                })
        }
        #expect(try isClose(bounds(10, machines: 1, cores: 4)[.streams], 100_000))
        let few = try bounds(3, machines: 1, cores: 16)
        #expect(isClose(few[.streams], 30_000) && isClose(few[.clientCPU], 3e6), "\(few)")
        // A worker without a connection does nothing: four on four machines.
        #expect(try isClose(bounds(4, machines: 4, cores: 16)[.clientCPU], 4e6))
        #expect(throws: Planner.Failure.self) { try bounds(4, machines: 8, cores: 1) }
        // No goal takes more machines than there are connections, and one that is out of reach is said to be missed.
        question = self.question
        (question.connections, question.bandwidth) = (4, 5e6)
        let missed = try Planner.plan(
            question, goals: try Threshold.list(parsing: "p99 < 50ms"), samples: samples, origin: "x")
        #expect(missed.goals.map(\.held) == [false] && missed.configuration.machines == 2, "\(missed.configuration)")
    }

    @Test(
        "Cores that are needed are planned where more workers make pushes cheaper, and where many slow each other down")
    func enough() throws {
        // 1.1 us at 80 connections a worker, 1 us at 40.
        let samples = [40, 80].flatMap { connections in
            (0..<2).map {
                sample("\(connections)-\($0)", connections: connections, cpu: connections == 40 ? 1000 : 1100)
            }
        }
        for share in stride(from: 0.9, through: 1.1, by: 0.01) {
            var question = question
            (question.cores, question.streams) = (8, 1000)
            question.pushes = UInt64(share * 8 * 0.5 / 1.05e-6 * Self.left)
            let model = PlanModel(question, try #require(CostModel(samples)))
            let rate = try #require(model.required)
            let configuration = model.configuration(model.needs(rate))
            let client = try #require(model.bounds(configuration).first { $0.name == .clientCPU })
            #expect(client.rate * 0.5 >= rate * (1 - 1e-9), "\(share): \(configuration), \(client.rate), \(rate)")
        }
        var question = question
        (question.cores, question.pushes) = (256, UInt64(10.25 * 0.5e6 * Self.left))
        var model = PlanModel(question, try #require(CostModel(self.samples)))
        model.law = ScalabilityLaw(rate: 1, contention: 0.1)
        let rate = try #require(model.required)
        let configuration = model.configuration(model.needs(rate))
        #expect(
            try #require(model.bounds(configuration).first { $0.name == .clientCPU }).rate * 0.5 >= rate * (1 - 1e-9))
    }

    @Test("Handshakes of connections that end after few pushes are planned for at a rate, too")
    func handshakesAtRates() throws {
        var question = question
        (question.goAwayEvery, question.cores, question.pushes) = (10, 64, 1_000_000)
        var runs = samples + [sample("p", cpu: 1200, rate: 40_000, pace: 40_000)]
        for index in 0..<2 { runs.append(sample("h\(index)", connections: 100, cpu: 1000, pushesPerConnection: 10)) }
        let model = PlanModel(question, try #require(CostModel(runs)))
        let rate = try #require(model.required)
        let needs = model.needs(rate)
        let configuration = model.configuration(needs)
        let closed = model.clientCost(configuration)
        #expect(needs.cores >= rate * closed / 1e9 / 0.5 * (1 - 1e-9) || needs.cores <= 1, "\(needs), \(closed)")
        #expect(model.clientCost(configuration, at: rate) >= closed)
        #expect(throws: Planner.Failure.self) {
            var open = self.question
            (open.pushes, open.connections, open.machines) = (nil, 1, 1)
            _ = try Planner.plan(open, goals: try Threshold.list(parsing: "p99 < 1s"), samples: samples, origin: "x")
        }
    }

    @Test("A goal for CPU time is one of pushes, however often they are sent")
    func goalOfSentAgain() throws {
        var question = question
        question.sentAgain = 0.5
        let plan = try Planner.plan(
            question, goals: try Threshold.list(parsing: "cpu < 1.9us"), samples: samples, origin: "x")
        #expect(plan.goals.map(\.held) == [false] && isClose(plan.goals[0].value, 2000), "\(plan.goals)")
    }

    @Test("Where all of the time is used there is no more of it: the utilisation moves cores and connections alike")
    func fullUse() throws {
        var question = question
        question.utilisation = 1
        (question.pushes, question.cores) = (30_000_000, 16)
        let moved = try Planner.plan(question, samples: samples, origin: "x").sensitivities
        let line = try #require(moved.first { $0.input == "utilisation" })
        #expect(isClose(line.connections, -1, 2e-3) && isClose(line.cores, -1, 2e-3), "\(line)")
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
        for (goal, sides) in [("p99 > 1s", "< or <="), ("cpu >= 2us", "< or <="), ("rate < 10k", "> or >=")] {
            #expect(
                throws: Planner.Failure(description: "goal \"\(goal)\": what is worse reaches it; expected \(sides)")
            ) { try plan(goal) }
        }
    }

    @Test(
        "Where more pushes are open at once than there are streams, that is said: with much jitter they wait for free ones"
    )
    func fullStreams() throws {
        func warns(_ jitter: Double) throws -> Bool {
            var asked = question
            (asked.pushes, asked.within, asked.roundTrip, asked.jitter) = (1_000_000, 20e9, 80e6, jitter)
            asked.utilisation = 0.8
            let plan = try Planner.plan(asked, samples: samples, origin: "x")
            let (needed, latency) = (try #require(plan.needed), try #require(plan.simulation.latency))
            let streams = Double(plan.configuration.connections) * Double(asked.streams)
            let isFull = needed.perSecond * latency.mean / 1e9 > streams
            #expect(plan.warnings.contains { $0.contains("streams there are: they wait for free ones") } == isFull)
            return isFull
        }
        #expect(try !warns(0) && warns(80e6))
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
                    "1 connection on 1 machine does 10,000/s at most, of 10,974/s needed: the devices take 10.9 s")
            })
        #expect(plan.needed?.inTime == false && !plan.isReached && plan.simulation.latency == nil)
        #expect(plan.warnings.contains("the runs differ in engine: nghttp2; wire; their costs are mixed"))
        #expect(plan.warnings.contains("the runs differ in version: 1; 2; their costs are mixed"))
    }

    @Test(
        "Of another server's runs nothing is assumed but that the server is that one; runs against it and the mock are not mixed"
    )
    func otherServers() throws {
        var other = samples
        for index in other.indices { other[index].isBundledMock = false }
        let plan = try Planner.plan(question, samples: other, origin: "x")
        #expect(plan.assumptions.contains("the server answers as the one that the runs were made against"))
        #expect(!plan.assumptions.contains { $0.contains("together together") })
        #expect(!plan.warnings.contains { $0.contains("servers") })
        let mixed = try Planner.plan(question, samples: samples + other, origin: "x")
        #expect(
            mixed.warnings.contains {
                $0.hasPrefix("the runs were made against several servers: another; the bundled mock; ")
            })
        #expect(mixed.assumptions.contains { $0.contains("together together") })
        var two = other
        (two[0].target, two[1].target) = ("https://a", "https://b")
        let several = try Planner.plan(question, samples: two, origin: "x")
        #expect(several.warnings.contains { $0.contains("several servers: https://a; https://b; ") })
        var asked = question
        (asked.answers, asked.mockThreads, asked.machines) = (.single, 1, 1)
        let ignored = try Planner.plan(asked, samples: other, origin: "x").warnings
        #expect(ignored.contains { $0.hasPrefix("--answers changes nothing: ") })
        #expect(ignored.contains { $0.hasPrefix("no run against the bundled mock: ") })
        #expect(!ignored.contains { $0.hasPrefix("no run against a server that") })
    }

    @Test("A window that would never open again is refused")
    func closedWindow() throws {
        var closed = question
        (closed.window, closed.windowReopen) = (65_535, 1)
        #expect {
            try Planner.plan(closed, samples: samples, origin: "x")
        } throws: {
            "\($0)".contains(
                "--window-reopen: the window holds 218 payloads, and the server would open it again after 219: no push")
        }
        closed.windowReopen = 0.9
        #expect(throws: Never.self) { try Planner.plan(closed, samples: samples, origin: "x") }
    }

    @Test("Fewer streams at times ask for more connections, and what a simulation sees too little of is said")
    func fewerStreams() throws {
        let plain = try Planner.plan(question, samples: samples, origin: "x")
        var fewer = question
        fewer.simulated = 200_000
        // A tenth of the streams for half of the time.
        fewer.fewerStreams = FewerStreams(streams: 100, time: 0.5e9, every: 1e9)
        let plan = try Planner.plan(fewer, samples: samples, origin: "x")
        let more = try #require(plan.needed).connections.value / #require(plain.needed).connections.value
        #expect(isClose(more, 1 / 0.55), "\(more)")
        #expect(!plan.warnings.contains { $0.contains("--fewer-streams") }, "\(plan.warnings)")
        #expect(plan.question.fewerStreams == fewer.fewerStreams && plan.simulation.meanValue == nil)
        // Of a day the simulation sees next to nothing; changes within a cycle are hardly felt.
        fewer.fewerStreams = FewerStreams(streams: 100, time: 3600e9, every: 86_400e9)
        let day = try Planner.plan(fewer, samples: samples, origin: "x")
        #expect(day.warnings.contains { $0.hasPrefix("of the period of --fewer-streams the simulation sees 0.0") })
        fewer.fewerStreams = FewerStreams(streams: 1, time: 1, every: 2)
        let rapid = try Planner.plan(fewer, samples: samples, origin: "x")
        #expect(try isClose(#require(rapid.needed).connections.value, #require(plain.needed).connections.value))
        #expect(abs(rapid.simulation.difference ?? 1) < 0.05, "\(rapid.simulation)")
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

    @Test("Whoever waits for a plan is told what it is at: each reserve that is tried for a goal, too")
    func progress() throws {
        func steps(_ goal: String) throws -> [String] {
            var steps: [String] = []
            _ = try Planner.plan(
                question, goals: try Threshold.list(parsing: goal), samples: samples, origin: "x",
                progress: { steps.append($0) })
            return steps
        }
        let (first, last) = (["simulating the rate", "simulating full use"], ["looking for intervals"])
        #expect(try steps("p99 < 1s") == first + last)
        // What four times as much does not help is given up.
        let most = "simulating the rate, 4.0 times the connections and cores"
        #expect(try steps("p99 < 50ms") == first + [most] + last)
        let tried = [1.25, 1.5, 2, 3].map { "simulating the rate, \($0) times the connections and cores" }
        #expect(try steps("p99 < 1s && rss < 1MB") == first + [most] + tried + last)
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
        #expect(abs(plan.simulation.difference ?? 1) < 0.03, "\(plan.simulation)")
    }
}

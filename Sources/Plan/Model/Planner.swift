import Analysis
import Measurement
import Results
import Scenarios
import Settings

/// Makes plans: `docs/planning.md` has the formulas and what they take for granted.
enum Planner {
    /// Why no plan can be made, one line.
    struct Failure: Error, CustomStringConvertible, Sendable, Equatable {
        let description: String
    }

    /// What is tried when a goal asks for more than the utilisation leaves: times as many connections and cores.
    private static let reserves = [1.25, 1.5, 2, 3]
    private static let mostReserve = 4.0

    /// - Throws: the first goal of which a plan says nothing.
    static func check(_ goals: [Threshold], hasEcho: Bool) throws(Failure) {
        for goal in goals {
            if isOfEcho(goal) {
                guard hasEcho else {
                    throw Failure(
                        description:
                            "goal \"\(goal.text)\": without a device model nothing is asked of a backend; give --device-model on"
                    )
                }
                guard case .echo("peak", _) = goal.metric else {
                    throw Failure(
                        description:
                            "goal \"\(goal.text)\": of the echo a plan predicts its peak, as in echo.peak < 50k")
                }
                guard [.below, .atMost].contains(goal.comparison) else {
                    throw Failure(
                        description:
                            "goal \"\(goal.text)\": a fan-out is planned to keep the peak below a limit; expected < or <=, as in "
                            + "echo.peak < 50k")
                }
            } else if !isPredicted(goal) {
                throw Failure(
                    description:
                        "goal \"\(goal.text)\": a plan predicts total, service and round_trip latencies, rate, rss and cpu, and "
                        + "echo.peak")
            } else if let sides = wrongWay(goal) {
                throw Failure(
                    description: "goal \"\(goal.text)\": what is worse reaches it; expected \(sides)")
            }
        }
    }

    /// What a goal that keeps no plan from being worse should have: a rate is to be at least so high, all else at most.
    private static func wrongWay(_ goal: Threshold) -> String? {
        if case .rate = goal.metric { return [.below, .atMost].contains(goal.comparison) ? "> or >=" : nil }
        return [.above, .atLeast].contains(goal.comparison) ? "< or <=" : nil
    }

    private static func isOfEcho(_ goal: Threshold) -> Bool {
        switch goal.metric {
        case .echo: true
        case .latency(let stage, _, _): stage == Threshold.echo
        default: false
        }
    }

    /// - Parameters:
    ///   - origin: where the samples come from, as a reader is to be told.
    ///   - echo: what devices ask; nil: not asked.
    ///   - progress: told what comes next, a few words, each of which may take seconds.
    static func plan(
        _ question: PlanQuestion, goals: [Threshold] = [], samples: [CostSample], origin: String,
        echo: EchoQuestion? = nil, progress: (String) -> Void = { _ in }
    ) throws(Failure) -> PlanDocument {
        guard let costs = CostModel(samples) else {
            throw Failure(description: "\(origin): no run with a CPU time a push to plan with")
        }
        try check(goals, hasEcho: echo != nil)
        if let use = question.windowUse, use.held < use.step {
            throw Failure(
                description:
                    "--window-reopen: the window holds \(PlanReport.count(use.held)) payloads, and the server would open it again after "
                    + "\(PlanReport.count(use.step)): no push could be sent any more; expected a smaller share, or a larger --window"
            )
        }
        let echoGoals = goals.filter(isOfEcho)
        let goals = goals.filter { !isOfEcho($0) }
        var model = PlanModel(question, costs)
        let unended = unended(model)
        if let unended { model = unended }
        let intervals = PlanIntervals(samples, seed: question.seed)
        var (draft, full) = try chosen(model, goals, progress)
        var warnings = PlanWarnings.of(samples, costs, model, draft.configuration)
        if let unseen = full.unseen { warnings.append("full use was not simulated: \(PlanWarnings.why(unseen))") }
        if let problem = full.problem { warnings.append(problem) }
        if let seen = full.simulation.periodsSeen(draft.needs?.perSecond ?? full.simulation.formula), seen < 2 {
            warnings.append(
                "of the period of --fewer-streams the simulation sees \(Units.fixed(seen, places: 2)): its latencies and rate are "
                    + "those of that time")
        }
        if let latency = draft.latency, let rate = draft.needs?.perSecond,
            let full = PlanWarnings.full(latency.mean, rate, model, draft.configuration)
        {
            warnings.append(full)
        }
        if let unseen = draft.unseen {
            warnings.append("there are no latencies at the planned rate: \(PlanWarnings.why(unseen))")
        }
        if let needs = draft.needs {
            warnings += PlanWarnings.shortfalls(model, draft.configuration, needs)
            if !draft.isInTime, full.isShort(of: needs.perSecond), let rate = full.rate {
                warnings.append(
                    "simulated, it does \(PlanReport.count(rate))/s of \(PlanReport.count(needs.perSecond))/s needed: what is due waits "
                        + "ever longer")
            }
        }
        for goal in draft.goals where !goal.held {
            let value =
                goal.value.map { written($0, goals, goal.text) }
                ?? (draft.unseen == nil ? "latencies grow with the queue" : "latencies were not simulated")
            let isKnown = goal.value != nil || draft.unseen == nil
            warnings.append("goal \(goal.text) is not \(isKnown ? "" : "known to be ")reached: \(value)")
        }
        if let echo, let pushes = question.pushes, let rate = draft.needs?.perSecond {
            progress("simulating devices")
            let heard = EchoModel(echo, pushes: pushes, spread: Double(pushes) / rate * 1e9)
            draft.echo = heard.document(echoGoals, edges: model.edges)
            warnings += PlanWarnings.of(heard)
        }
        progress("looking for intervals")
        let (simulation, throughput) = (full.simulation, full.throughput)
        draft.simulation = PlanDocument.Simulation(
            seed: question.seed, workers: simulation.workers, connections: simulation.connections,
            isPart: simulation.part < 1, pushes: full.outcomes.reduce(0) { $0 + $1.answered },
            formula: simulation.formula, simulated: throughput?.value, difference: full.difference,
            latency: draft.latency, replications: full.outcomes.count, latencyReplications: draft.latencies.count,
            range: throughput?.low == nil ? nil : throughput, meanValue: simulation.meanValue,
            median: draft.quantile(50), p99: draft.quantile(99), finish: full.finish)
        var plan = document(draft, model, samples, intervals, origin, warnings)
        plan.question.goAwayEvery = question.goAwayEvery
        plan.question.endsConnections = model.question.goAwayEvery != nil
        if unended != nil, let every = question.goAwayEvery {
            plan.assumptions.append(
                "no connection gets so many pushes (\(PlanReport.count(every)), --goaway-every) that the server ends it"
            )
        }
        return plan
    }

    /// The same without GOAWAY, where a plan without it gives no connection enough pushes to be ended; nil: some are.
    private static func unended(_ model: PlanModel) -> PlanModel? {
        guard model.question.goAwayEvery != nil else { return nil }
        let plain = PlanModel(model.withoutGoAway.question, model.costs)
        guard let rate = plain.required,
            !PlanSimulation.endsConnections(model.question, plain.configuration(plain.needs(rate)))
        else { return nil }
        return plain
    }

    // MARK: The answer

    private struct Draft {
        var needs: PlanModel.Needs?
        var configuration: PlanModel.Configuration
        var reserve = 1.0
        /// Of each replication; none when what is due waits ever longer, or it is not seen.
        var latencies: [LatencyHistogram] = []
        var unseen: PlanSimulation.Unseen?
        var isInTime = true
        /// All latencies are within their goals.
        var isFast = true
        var goals: [PlanDocument.Goal] = []
        var simulation: PlanDocument.Simulation?
        var echo: PlanDocument.Echo?

        var isReached: Bool { isInTime && goals.allSatisfy(\.held) }

        var latency: ResultDocument.Latency? {
            latencies.isEmpty ? nil : .init(CensoredHistogram(answered: Planner.sum(latencies)))
        }

        /// What is due waits ever longer: the simulation does no more than this, pushes a second.
        mutating func miss(_ asked: [Threshold], at rate: Double?) {
            isInTime = false
            latencies = []
            goals = zip(asked, goals).map { goal, found in
                switch goal.metric {
                case .latency: .init(text: goal.text, value: nil, held: false)
                case .rate:
                    .init(
                        text: goal.text, value: rate,
                        held: rate.map { goal.comparison.holds($0, goal.limit) } ?? false)
                default: found
                }
            }
        }

        /// Of all replications together, as `latency` has it. Where few of them saw what is rare, the interval of their mean lies beside it: it
        /// goes on to it. nil with one replication, which is all there is to know.
        func quantile(_ percentile: Double) -> PlanDocument.Figure? {
            guard latencies.count > 1 else { return nil }
            let mean = PlanSimulation.figure(latencies.map { Double($0.value(atPercentile: percentile)) })
            let all = Double(Planner.sum(latencies).value(atPercentile: percentile))
            // No push took less than the shortest one.
            let least = latencies.map { Double($0.summary.min) }.min() ?? 0
            return .init(all, low: min(max(mean.low ?? all, least), all), high: max(mean.high ?? all, all))
        }
    }

    private static func sum(_ histograms: [LatencyHistogram]) -> LatencyHistogram {
        histograms.reduce(into: LatencyHistogram()) { $0.add($1) }
    }

    /// Of more than a million each there is no plan, and no simulation. With the bundled mock the connections of all workers are
    /// simulated.
    private static func checked(
        _ configuration: PlanModel.Configuration, _ question: PlanQuestion
    ) throws(Failure) -> PlanModel.Configuration {
        let isWhole = question.mockThreads > 0
        let connections = isWhole ? configuration.connections : configuration.connectionsPerWorker
        guard configuration.connections >= configuration.machines else {
            throw Failure(
                description: "\(PlanReport.count(configuration.machines)) machines and "
                    + "\(PlanReport.count(configuration.connections)) connections: expected at least a connection each")
        }
        guard configuration.machines <= 1e6, configuration.connections.isFinite, connections <= 1e6 else {
            let machines =
                PlanReport.count(configuration.machines) + (configuration.machines == 1 ? " machine" : " machines")
            throw Failure(
                description: "it would take \(machines), and \(PlanReport.count(connections)) connections"
                    + "\(isWhole ? "" : " a worker"); a million of each are the most: give it more time or more streams"
            )
        }
        return configuration
    }

    /// What to plan with, and what that does at full use. Where a goal is missed, or the simulation does less than is needed though the
    /// formula says that it is enough, more is tried.
    private static func chosen(
        _ model: PlanModel, _ goals: [Threshold], _ progress: (String) -> Void
    ) throws(Failure) -> (Draft, FullUse) {
        func full(_ draft: Draft) -> FullUse {
            progress("simulating full use")
            return FullUse(model, draft.configuration)
        }
        guard let rate = try rate(model, goals) else {
            let draft = Draft(configuration: try given(model))
            return (draft, full(draft))
        }
        func tried(_ reserve: Double) -> Draft? { try? draft(model, goals, rate, reserve: reserve, progress) }
        var plain = try draft(model, goals, rate, reserve: 1, progress)
        let use = full(plain)
        let isShort = plain.isInTime && use.isShort(of: rate)
        if plain.isReached, !isShort { return (plain, use) }
        if plain.isInTime, !model.question.isGiven {
            // What no reserve can help, the link or what was given, is not paid for, nor looked for in vain: the most comes first.
            let most = plain.isReached ? nil : tried(mostReserve)
            for reserve in plain.isReached || most?.isFast == true ? reserves + [mostReserve] : [] {
                let next = reserve == mostReserve ? most ?? tried(reserve) : tried(reserve)
                guard let next, next.isReached else { continue }
                let use = full(next)
                if !use.isShort(of: rate) { return (next, use) }
            }
        }
        if isShort { plain.miss(goals, at: use.rate) }
        return (plain, use)
    }

    /// Pushes a second that are needed; nil: no devices are to be reached.
    private static func rate(_ model: PlanModel, _ goals: [Threshold]) throws(Failure) -> Double? {
        guard let pushes = model.question.pushes else {
            if let goal = goals.first { throw Failure(description: "goal \(goal.text): goes with --devices") }
            return nil
        }
        guard pushes != 0 else { throw Failure(description: "0 devices: expected at least 1 to plan for") }
        guard let rate = model.required else {
            let edges = model.edges < 1e18 ? Units.duration(nanoseconds: model.edges) : "more than thirty years"
            throw Failure(
                description:
                    "within \(Units.duration(nanoseconds: model.question.within ?? 0)): connecting and the last answers alone take "
                    + "\(edges); expected more\(handshakes(model))")
        }
        return rate
    }

    /// What of it the handshakes are, where they are most of it.
    private static func handshakes(_ model: PlanModel) -> String {
        guard let connections = model.question.connections, 2 * model.handshakes > model.edges else { return "" }
        return
            ", or fewer than \(Units.counted(connections, "connection")): a worker takes "
            + "\(Units.duration(nanoseconds: model.handshakes)) for its handshakes"
    }

    private static func given(_ model: PlanModel) throws(Failure) -> PlanModel.Configuration {
        guard let machines = model.question.machines, let connections = model.question.connections else {
            throw Failure(description: "without devices, machines and connections must be given")
        }
        return try checked(
            model.configuration(connections: Double(connections), machines: Double(machines), cores: 1), model.question)
    }

    private static func draft(
        _ model: PlanModel, _ goals: [Threshold], _ rate: Double, reserve: Double, _ progress: (String) -> Void
    ) throws(Failure) -> Draft {
        let needs = model.needs(rate, reserve: reserve)
        let configuration = try checked(model.configuration(needs), model.question)
        var draft = Draft(needs: needs, configuration: configuration, reserve: reserve)
        draft.isInTime = model.canDo(rate, configuration)
        progress("simulating the rate" + (reserve > 1 ? ", \(reserve) times the connections and cores" : ""))
        var outcomes: [FanOutSimulation.Outcome] = []
        do throws(PlanSimulation.Unseen) {
            if draft.isInTime { outcomes = try PlanSimulation(model, configuration).paced(rate) }
        } catch {
            draft.unseen = error
        }
        draft.latencies = outcomes.map(\.total)
        draft.goals = goals.map { goal in
            let value = value(goal, outcomes, needs: needs, model, configuration)
            return .init(
                text: goal.text, value: value, held: value.map { goal.comparison.holds($0, goal.limit) } ?? false)
        }
        draft.isFast = zip(goals, draft.goals).allSatisfy { goal, found in
            if case .latency = goal.metric { found.held } else { true }
        }
        return draft
    }

    private static func isPredicted(_ goal: Threshold) -> Bool {
        switch goal.metric {
        case .latency(let stage, _, let part): part == nil && ["total", "service", "round_trip"].contains(stage)
        // Nothing is rejected or lost in a plan: its four rates are one.
        case .rate(_, let ofTarget): !ofTarget
        case .memory(let name): name == "rss"
        case .cpu: true
        case .count, .echo, .noConnection: false
        }
    }

    /// - Parameter outcomes: none when the queue grows: a latency has no value then.
    private static func value(
        _ goal: Threshold, _ outcomes: [FanOutSimulation.Outcome], needs: PlanModel.Needs, _ model: PlanModel,
        _ configuration: PlanModel.Configuration
    ) -> Double? {
        switch goal.metric {
        case .latency(let stage, let statistic, _):
            outcomes.isEmpty
                ? nil
                : ThresholdVerdict.value(statistic, sum(outcomes.map { stage == "total" ? $0.total : $0.roundTrip }))
        case .rate: min(model.bounds(configuration)[0].rate, needs.perSecond)
        case .memory: needs.memory / configuration.machines
        // Of a push, however often it is sent.
        default: model.clientCost(configuration, at: needs.perSecond) * model.question.attempts
        }
    }

    private static func written(_ value: Double, _ goals: [Threshold], _ text: String) -> String {
        switch goals.first(where: { $0.text == text })?.metric {
        case .rate: "\(PlanReport.count(value))/s"
        case .memory: PlanReport.size(value)
        default: Units.duration(nanoseconds: value)
        }
    }

    // MARK: The document

    private static func document(
        _ draft: Draft, _ model: PlanModel, _ samples: [CostSample], _ intervals: PlanIntervals, _ origin: String,
        _ warnings: [String]
    ) -> PlanDocument {
        let question = model.question
        let configuration = draft.configuration
        let models = intervals.models.map { PlanModel(question, $0) }
        /// A figure of the plan, with the interval that the same formula gives of resampled runs.
        func figure(_ value: (PlanModel) -> Double?) -> PlanDocument.Figure {
            PlanIntervals.figure(value(model) ?? .nan, models.compactMap(value))
        }
        let costs = model.costs
        let rate = draft.needs?.perSecond
        let law = model.law
        let measured = PlanDocument.Measured(
            origin: origin, runs: samples.count, settings: costs.settings,
            clientCPU: figure { $0.clientCost(configuration) },
            pacedCPU: rate.map { rate in figure { $0.clientCost(configuration, at: rate) } },
            serverCPU: question.mockThreads > 0 && model.serverCost(configuration) != nil
                ? figure { $0.serverCost(configuration) } : nil,
            overhead: figure { $0.costs.overhead }, memoryBase: figure { $0.costs.memoryBase },
            memoryPerConnection: figure {
                $0.costs.memoryPerConnection(streams: Double($0.question.streams)) ?? CostModel.usualMemoryPerConnection
            },
            handshake: costs.handshake == nil ? nil : figure { $0.costs.handshake },
            contention: law.map { .init($0.contention, in: $0.contentionRange) },
            crosstalk: law.map { .init($0.crosstalk, in: $0.crosstalkRange) }, workerCounts: law?.points ?? 1)
        var needed: PlanDocument.Needed?
        if let needs = draft.needs {
            let again = models.compactMap { model in
                model.required.map { model.needs($0, reserve: draft.reserve) }
            }
            func need(_ value: (PlanModel.Needs) -> Double) -> PlanDocument.Figure {
                PlanIntervals.figure(value(model.needs(needs.perSecond, reserve: draft.reserve)), again.map(value))
            }
            needed = .init(
                perSecond: needs.perSecond, inFlight: need(\.inFlight), connections: need(\.connections),
                cores: need(\.cores), machines: need(\.machines), memory: need(\.memory), bandwidth: need(\.bandwidth),
                shortest: figure { $0.shortest(configuration) }, inTime: draft.isInTime, edges: model.edges)
            if model.answers == .batched, question.answers == nil, costs.knowsSingle {
                func cores(_ costs: CostModel) -> Double? {
                    let model = PlanModel(question, costs, answers: .single)
                    return model.required.map { model.needs($0, reserve: draft.reserve).cores }
                }
                needed?.coresIfSingle = PlanIntervals.figure(cores(costs) ?? .nan, intervals.models.compactMap(cores))
            }
        }
        let rates = models.map { $0.bounds(configuration) }
        let bounds = model.bounds(configuration).map { bound in
            PlanDocument.Bound(
                name: bound.name,
                perSecond: PlanIntervals.figure(
                    bound.rate, rates.compactMap { $0.first { $0.name == bound.name }?.rate }))
        }
        return PlanDocument(
            question: .init(
                devices: question.devices, pushes: question.pushes, within: question.within,
                roundTrip: question.roundTrip,
                serverTime: question.serverTime.mean, streams: question.streams, utilisation: question.utilisation,
                payload: question.payloadBytes, request: question.requestBytes, answer: question.answerBytes,
                wire: question.wireBytes, bandwidth: question.bandwidth, linkRate: question.linkRate,
                window: question.window, answers: question.answers, jitter: question.jitter, loss: question.loss,
                goAwayEvery: question.goAwayEvery, fewerStreams: question.fewerStreams, sentAgain: question.sentAgain),
            measured: measured, needed: needed,
            configuration: .init(
                machines: Int(configuration.machines), workers: Int(configuration.workers),
                connections: Int(configuration.connections), streams: question.streams),
            bounds: bounds, simulation: draft.simulation!, echo: draft.echo, goals: draft.goals,
            sensitivities: draft.needs == nil ? [] : PlanSensitivities.of(model),
            assumptions: PlanWarnings.assumptions(model, draft.configuration, draft.needs, reserve: draft.reserve)
                + (draft.echo.map(PlanWarnings.assumptions) ?? []),
            warnings: warnings)
    }
}

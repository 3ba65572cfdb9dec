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

    /// Formula and simulation further apart than this are worth a warning.
    static let allowedDifference = 0.05
    /// What is tried when a goal asks for more than the utilisation leaves: times as many connections and cores.
    private static let reserves = [1, 1.25, 1.5, 2, 3, 4]

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
            }
        }
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
    static func plan(
        _ question: PlanQuestion, goals: [Threshold] = [], samples: [CostSample], origin: String,
        echo: EchoQuestion? = nil
    ) throws(Failure) -> PlanDocument {
        guard let costs = CostModel(samples) else {
            throw Failure(description: "\(origin): no run with a CPU time a push to plan with")
        }
        try check(goals, hasEcho: echo != nil)
        let echoGoals = goals.filter(isOfEcho)
        let goals = goals.filter { !isOfEcho($0) }
        let model = PlanModel(question, costs)
        let intervals = PlanIntervals(samples, seed: question.seed)
        var draft = try draft(model, goals)
        var warnings = PlanWarnings.of(samples, costs, model, draft.configuration)
        let full = PlanSimulation(model, draft.configuration)
        let outcome = full.full()
        let difference = outcome.throughput / full.formula - 1
        if abs(difference) > allowedDifference {
            warnings.append(
                "formula and simulation differ by \(percent(difference)), more than \(percent(allowedDifference)): "
                    + "near where two bounds meet the formula promises too much")
        }
        if let needs = draft.needs {
            warnings += PlanWarnings.shortfalls(model, draft.configuration, needs)
        }
        for goal in draft.goals where !goal.held {
            let value = goal.value.map { written($0, goals, goal.text) } ?? "latencies grow with the queue"
            warnings.append("goal \(goal.text) is not reached: \(value)")
        }
        if let echo, let pushes = question.pushes, let rate = draft.needs?.perSecond {
            let heard = EchoModel(echo, pushes: pushes, spread: Double(pushes) / rate * 1e9)
            draft.echo = heard.document(echoGoals, edges: model.edges)
            warnings += PlanWarnings.of(heard)
        }
        draft.simulation = PlanDocument.Simulation(
            seed: question.seed, workers: full.workers, connections: full.connections, pushes: outcome.answered,
            formula: full.formula, simulated: outcome.throughput, difference: difference, latency: draft.latency)
        return document(draft, model, samples, intervals, origin, warnings)
    }

    // MARK: The answer

    private struct Draft {
        var needs: PlanModel.Needs?
        var configuration: PlanModel.Configuration
        var reserve = 1.0
        var latency: ResultDocument.Latency?
        var isInTime = true
        var goals: [PlanDocument.Goal] = []
        var simulation: PlanDocument.Simulation?
        var echo: PlanDocument.Echo?
    }

    private static func draft(_ model: PlanModel, _ goals: [Threshold]) throws(Failure) -> Draft {
        let question = model.question
        guard question.pushes != nil else {
            guard let machines = question.machines, let connections = question.connections else {
                throw Failure(description: "without devices, machines and connections must be given")
            }
            return Draft(
                configuration: .init(
                    machines: Double(machines), workers: min(model.workersPerMachine, Double(connections)),
                    connections: Double(connections)))
        }
        guard let rate = model.required else {
            throw Failure(
                description:
                    "within \(Units.duration(nanoseconds: question.within ?? 0)): connecting and the last answers alone take "
                    + "\(Units.duration(nanoseconds: model.edges)); expected more")
        }
        var plain: Draft?
        for reserve in reserves {
            let needs = model.needs(rate, reserve: reserve)
            let configuration = model.configuration(needs)
            var next = Draft(needs: needs, configuration: configuration, reserve: reserve)
            let outcome = PlanSimulation(model, configuration).paced(rate)
            next.isInTime = model.canDo(rate, configuration)
            next.latency = next.isInTime ? latency(outcome.total) : nil
            next.goals = goals.map { goal in
                let value = value(goal, next.isInTime ? outcome : nil, needs: needs, model, configuration)
                return .init(
                    text: goal.text, value: value, held: value.map { goal.comparison.holds($0, goal.limit) } ?? false)
            }
            if next.isInTime, next.goals.allSatisfy(\.held) { return next }
            plain = plain ?? next
            if plain?.isInTime == false || question.machines != nil && question.connections != nil { break }
        }
        // What no reserve can help, the link or what was given, is not paid for.
        return plain!
    }

    private static func isPredicted(_ goal: Threshold) -> Bool {
        switch goal.metric {
        case .latency(let stage, _, let part): part == nil && ["total", "service", "round_trip"].contains(stage)
        // Nothing is rejected or lost in a plan: its four rates are one.
        case .rate(_, let ofTarget): !ofTarget
        case .memory(let name): name == "rss"
        case .cpu: true
        case .count, .echo: false
        }
    }

    /// - Parameter outcome: nil when the queue grows: a latency has no value then.
    private static func value(
        _ goal: Threshold, _ outcome: FanOutSimulation.Outcome?, needs: PlanModel.Needs, _ model: PlanModel,
        _ configuration: PlanModel.Configuration
    ) -> Double? {
        switch goal.metric {
        case .latency(let stage, let statistic, _):
            outcome.map { ThresholdVerdict.value(statistic, stage == "total" ? $0.total : $0.roundTrip) }
        case .rate: outcome == nil ? model.bounds(configuration)[0].rate : needs.perSecond
        case .memory: needs.memory / configuration.machines
        default: model.clientCost(configuration)
        }
    }

    private static func latency(_ histogram: LatencyHistogram) -> ResultDocument.Latency {
        .init(CensoredHistogram(answered: histogram))
    }

    private static func percent(_ share: Double) -> String { "\(Units.fixed(abs(share) * 100, places: 1)) %" }

    private static func written(_ value: Double, _ goals: [Threshold], _ text: String) -> String {
        switch goals.first(where: { $0.text == text })?.metric {
        case .rate: "\(Units.grouped(UInt64(value.rounded())))/s"
        case .memory: Units.bytes(UInt64(value))
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
        /// A figure of the plan, with the interval that the same formula gives of resampled runs.
        func figure(_ value: @escaping (PlanModel) -> Double?) -> PlanDocument.Figure {
            intervals.figure(value(model) ?? .nan) { value(PlanModel(question, $0)) }
        }
        func need(_ value: @escaping (PlanModel.Needs) -> Double) -> PlanDocument.Figure {
            figure { model in model.required.map { value(model.needs($0, reserve: draft.reserve)) } }
        }
        let costs = model.costs
        let measured = PlanDocument.Measured(
            origin: origin, runs: samples.count, settings: costs.settings,
            clientCPU: figure { $0.clientCost(configuration) },
            serverCPU: question.mockThreads > 0 && model.serverCost(configuration) != nil
                ? figure { $0.serverCost(configuration) } : nil,
            overhead: figure { $0.costs.overhead }, memoryBase: figure { $0.costs.memoryBase },
            memoryPerConnection: figure { $0.costs.memoryPerConnection ?? CostModel.usualMemoryPerConnection },
            contention: costs.law.contention, crosstalk: costs.law.crosstalk, workerCounts: costs.law.points)
        var needed: PlanDocument.Needed?
        if let needs = draft.needs {
            needed = .init(
                perSecond: needs.perSecond, inFlight: need(\.inFlight), connections: need(\.connections),
                cores: need(\.cores), machines: need(\.machines), memory: need(\.memory), bandwidth: need(\.bandwidth),
                shortest: figure { $0.shortest(configuration) }, inTime: draft.isInTime)
        }
        let bounds = model.bounds(configuration).map { bound in
            PlanDocument.Bound(
                name: bound.name,
                perSecond: figure { model in model.bounds(configuration).first { $0.name == bound.name }?.rate })
        }
        return PlanDocument(
            question: .init(
                devices: question.devices, pushes: question.pushes, within: question.within,
                roundTrip: question.roundTrip,
                serverTime: question.serverTime.mean, streams: question.streams, utilisation: question.utilisation,
                payload: question.payloadBytes, request: question.requestBytes, answer: question.answerBytes,
                wire: question.wireBytes, bandwidth: question.bandwidth, linkRate: question.linkRate,
                window: question.window),
            measured: measured, needed: needed,
            configuration: .init(
                machines: Int(configuration.machines), workers: Int(configuration.workers),
                connections: Int(configuration.connections), streams: question.streams),
            bounds: bounds, simulation: draft.simulation!, echo: draft.echo, goals: draft.goals,
            sensitivities: draft.needs == nil ? [] : PlanSensitivities.of(model),
            assumptions: PlanWarnings.assumptions(model) + (draft.echo.map(PlanWarnings.assumptions) ?? []),
            warnings: warnings)
    }
}

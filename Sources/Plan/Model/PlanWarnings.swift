import Results
import Settings

/// What a reader of a plan must know besides: doubts about the runs, what does not suffice, what is taken for granted.
enum PlanWarnings {
    static func of(
        _ samples: [CostSample], _ costs: CostModel, _ model: PlanModel, _ configuration: PlanModel.Configuration
    ) -> [String] {
        var warnings: [String] = []
        func mixed(_ what: String, among runs: [CostSample] = samples, _ value: (CostSample) -> String) {
            let values = Set(runs.map(value)).sorted()
            if values.count > 1 {
                warnings.append("the runs differ in \(what): \(values.joined(separator: "; ")); their costs are mixed")
            }
        }
        mixed("engine", \.engine)
        mixed("version", \.version)
        mixed("machine", \.machine)
        let runs = samples.filter { !$0.others.isEmpty }
        for key in Set(runs.flatMap(\.others.keys)).sorted() { mixed(key, among: runs) { $0.others[key] ?? "none" } }
        let servers = Set(samples.map(\.server)).sorted()
        if servers.count > 1 {
            warnings.append(
                "the runs were made against several servers: \(servers.joined(separator: "; ")); a push is taken to cost what it "
                    + "did with those that kept the client or the mock busiest: give --from runs of one of them")
        }
        if !CostModel.hasRepeats(samples) {
            warnings.append("each setting was run once: no intervals of costs; repeat runs to have them")
        }
        let connections = configuration.connectionsPerWorker
        if !costs.connectionRange.contains(connections) {
            warnings.append(
                "\(Units.fixed(connections, places: 0)) connection\(connections == 1 ? " a worker lies" : "s a worker lie") outside what was measured "
                    + "(\(range(costs.connectionRange))): the cost of a push is a mean of the nearest runs")
        }
        if !costs.streamRange.contains(Double(model.question.streams)) {
            let isOne = model.question.streams == 1
            let isAlone = model.question.roundTrip == 0 && Double(model.question.streams) < costs.streamRange.lowerBound
            warnings.append(
                "\(model.question.streams) stream\(isOne ? " lies" : "s lie") outside what was measured (\(range(costs.streamRange)))"
                    + (isAlone
                        ? ": without a round trip, how long a push holds its stream was not measured, and neither rates nor latencies can be relied on"
                        : ""))
        }
        if costs.memoryPerConnection(streams: 1) == nil {
            warnings.append(
                "connections were not varied: \(Units.bytes(UInt64(CostModel.usualMemoryPerConnection))) of memory for each is "
                    + "assumed")
        }
        if !costs.isOfBusyRuns {
            warnings.append("no run kept its threads busy: busy ones spend less on a push than these costs say")
        }
        if costs.overhead == 0, model.question.roundTrip > 0 {
            warnings.append(
                "no run with a round-trip time and idle workers: what a push waits besides the link is taken as 0")
        }
        warnings += ofPace(costs, model, configuration)
        if costs.isOfOtherServers, model.question.answers != nil {
            warnings.append(
                "--answers changes nothing: the runs are of another server, and cost what its way to answer does")
        } else if model.question.answers == .batched, costs.answers == .single {
            warnings.append(
                "no run against a server that answers together what came together: what a push costs then is not in the plan"
            )
        } else if model.question.answers == .single, !costs.knowsSingle {
            warnings.append(
                "no run against a server that answers each push by itself: what that costs the client is not in the plan"
            )
        }
        if model.question.mockThreads > 0, costs.isOfOtherServers {
            warnings.append("no run against the bundled mock: what it takes of the machine is not in the plan")
        }
        if model.question.goAwayEvery != nil, costs.handshake == nil {
            warnings.append(
                "no run says what a connection costs the client (they are of an older version): ended ones cost nothing in the plan"
            )
        }
        return warnings
    }

    private static func ofPace(
        _ costs: CostModel, _ model: PlanModel, _ configuration: PlanModel.Configuration
    ) -> [String] {
        guard let rate = model.required else { return [] }
        guard let range = costs.pace(model.answers, hasLink: model.question.roundTrip > 0).range else {
            return ["no run at a rate: workers that wait between pushes spend more on each than the plan says"]
        }
        let each = rate * model.question.attempts / (configuration.machines * configuration.workers)
        var warnings: [String] = []
        if each < range.lowerBound * 0.9 {
            warnings.append(
                "\(PlanReport.count(each))/s a worker is less than was measured (\(PlanReport.count(range.lowerBound))/s on): a push costs "
                    + "what it does there")
        }
        if let border = model.costAtBorder(configuration), abs(each / PaceCost.denseFrom - 1) < nearBorder {
            warnings.append(
                "about \(PlanReport.count(PaceCost.denseFrom))/s a worker the client begins to gather pushes: a push costs it "
                    + "\(Units.duration(nanoseconds: border.thin)) where it does not yet, and \(Units.duration(nanoseconds: border.dense)) "
                    + "where it does")
        }
        let (isSpread, hasLink) = (model.question.spreadsAnswers, model.question.roundTrip > 0)
        guard each >= PaceCost.denseFrom, !costs.isOfOtherServers,
            !costs.knowsPace(model.answers, hasLink: hasLink, isSpread: isSpread)
        else { return warnings }
        if !isSpread {
            warnings.append(
                "no run at a rate but with answers that take times of their own: each of them wakes the client, and a push costs less "
                    + "than the plan says")
        } else if model.answers == .batched {
            warnings.append(
                "no run at a rate with answers that take times of their own: each of them wakes the client, which costs more than the plan "
                    + "says")
        }
        return warnings
    }

    /// Rates a worker so near to where pushes are gathered may be on either side of it, as a share.
    private static let nearBorder = 0.05

    private static func range(_ range: ClosedRange<Double>) -> String {
        "\(Units.fixed(range.lowerBound, places: 0)) to \(Units.fixed(range.upperBound, places: 0))"
    }

    /// One clause.
    static func why(_ unseen: PlanSimulation.Unseen) -> String {
        switch unseen {
        case .openPushes: "a worker has more pushes open at once than a simulation sees the answers of"
        case .lives(let pushes):
            "its connections last \(PlanReport.count(pushes)) pushes, and a simulation sees no two of such lives"
        case .streamChanges: "limits of streams change too often to be followed for as long as it takes"
        }
    }

    /// What was given and is too small.
    static func shortfalls(
        _ model: PlanModel, _ configuration: PlanModel.Configuration, _ needs: PlanModel.Needs
    ) -> [String] {
        guard !model.canDo(needs.perSecond, configuration), let tightest = model.bounds(configuration).first else {
            return []
        }
        // As everywhere else; less, where both would be written alike.
        let needed = PlanReport.count(needs.perSecond)
        let written = PlanReport.count(tightest.rate)
        return [
            "\(counted(configuration.connections, "connection")) on \(counted(configuration.machines, "machine")) "
                + (configuration.connections == 1 ? "does " : "do ")
                + "\(written == needed ? whole(tightest.rate) : written)/s at most, of \(needed)/s needed: the devices take "
                + Units.duration(nanoseconds: model.shortest(configuration))
        ]
    }

    /// That pushes wait for streams at the planned rate, by Little's law; nil: they do not.
    ///
    /// - Parameter latency: simulated, due to answered, ns.
    static func full(
        _ latency: Double, _ perSecond: Double, _ model: PlanModel, _ configuration: PlanModel.Configuration
    ) -> String? {
        let open = perSecond * latency / 1e9
        let streams = configuration.connections * Double(model.question.streams)
        guard open > streams else { return nil }
        return
            "at that rate \(PlanReport.count(open)) pushes are due and not answered at once, more than the \(PlanReport.count(streams)) "
            + "streams there are: they wait for free ones; a goal for their latency (--goal) or more --connections keeps them from it"
    }

    private static func whole(_ number: Double) -> String { PlanReport.count(number.rounded(.down)) }

    private static func counted(_ number: Double, _ what: String) -> String {
        "\(whole(number)) \(what)\(number == 1 ? "" : "s")"
    }

    /// - Parameter reserve: what the needs were multiplied with.
    static func assumptions(
        _ model: PlanModel, _ configuration: PlanModel.Configuration, _ needs: PlanModel.Needs?, reserve: Double
    ) -> [String] {
        let question = model.question
        var assumptions = ["each worker is a thread with a core and connections of its own"]
        if model.costs.isOfOtherServers, question.mockThreads == 0 {
            assumptions.append("the server answers as the one that the runs were made against")
        } else if question.answers == nil, model.answers == .single {
            assumptions.append("the server answers each push by itself, as that of the runs")
        } else if question.answers == nil {
            assumptions.append(
                "the server answers what came together together; --answers single plans with one that does not")
        }
        assumptions.append(contention(model, configuration, needs, reserve))
        assumptions.append(
            "machines do not slow each other down, and "
                + (question.loss > 0
                    ? "TCP's windows under loss are those of Reno or CUBIC (BBR's are larger)"
                    : "nothing is lost on the way"))
        if question.mockThreads == 0 {
            assumptions.append("the server is elsewhere and never the limit but by its window and answer time")
        }
        if question.window == nil {
            assumptions.append("the server's windows are never the limit")
        } else if question.roundTrip > 0 {
            assumptions.append(
                "the server opens a connection's window again when \(Units.fixed(question.windowReopen * 100, places: 0)) % of it "
                    + "are used")
        }
        if question.pushes != nil {
            assumptions.append(
                "\(Units.fixed(question.utilisation * 100, places: 0)) % of each bound is used; connecting takes "
                    + "\(Units.fixed(question.setupRoundTrips, places: question.mockThreads > 0 ? 1 : 0)) round trips"
                    + (TCPModel(question).slowStart > 0 ? " and TCP's slow start" : "") + ", and pushes are due "
                    + (question.isPoisson ? "at random (Poisson)" : "at equal distances"))
            if !question.serverTime.isConstant {
                assumptions.append(
                    "each answer takes the server a time of its own, whatever the others take; the last one comes in time in "
                        + "\(Units.fixed(PlanModel.sureness * 100, places: 0)) % of fan-outs")
            }
        }
        return assumptions
    }

    /// How workers slow each other down, and what it would take if they did where nobody measured it.
    private static func contention(
        _ model: PlanModel, _ configuration: PlanModel.Configuration, _ needs: PlanModel.Needs?, _ reserve: Double
    ) -> String {
        func percent(_ share: Double) -> String { "\(Units.fixed(share * 100, places: 2)) %" }
        func interval(_ range: ClosedRange<Double>?) -> String {
            range.map { " (95 %: \(percent($0.lowerBound)) - \(percent($0.upperBound)))" } ?? ""
        }
        guard let law = model.law else {
            let text = "contention between workers was not measured (\(model.costs.lawProblem)): none is assumed"
            guard let needs, configuration.workers > 1 else { return text }
            var slowed = model
            slowed.law = ScalabilityLaw(rate: 1, contention: 0.05)
            return text
                + "; 5 % would take \(Units.fixed(slowed.needs(needs.perSecond, reserve: reserve).cores, places: 1)) cores"
        }
        return "workers slow each other down by \(percent(law.contention)) contention\(interval(law.contentionRange))"
            + (law.points > 2
                ? " and \(percent(law.crosstalk)) crosstalk\(interval(law.crosstalkRange))"
                : " and no crosstalk, which two numbers of workers cannot show")
            + ", from \(law.points) numbers of workers"
    }
}

import Foundation

/// The formulas of a plan (docs/planning.md): what a configuration can do by each bound, and what a rate needs.
struct PlanModel {
    private(set) var question: PlanQuestion
    let costs: CostModel
    /// Multiplies CPU time a push, for sensitivities.
    var costFactor = 1.0
    /// Parts of machines and connections count: sensitivities would else see steps.
    var isContinuous = false
    /// Machines of which the number was given, where a sensitivity looks at what is needed.
    var machinesThere: Double?
    /// How the server answers.
    var answers: CostSample.Answers
    /// Workers slow each other down by this; nil: not measured, and taken as not at all.
    var law: ScalabilityLaw?
    /// CPU time that a worker needs to make its first connections, ns.
    private(set) var handshakes = 0.0

    struct Configuration: Equatable {
        var machines: Double
        var workers: Double
        var connections: Double
        var connectionsPerWorker: Double { max(1, connections / (machines * workers)) }
        /// Those that have a connection.
        var allWorkers: Double { min(machines * workers, connections) }
        /// Pushes are dealt out to the workers evenly: the one with the fewest connections says how many of all are of use.
        var evenConnections: Double { allWorkers * (connections / allWorkers).rounded(.down) }
    }

    struct Needs {
        var perSecond: Double
        var inFlight: Double
        var connections: Double
        var cores: Double
        var machines: Double
        var memory: Double
        var bandwidth: Double
    }

    init(_ question: PlanQuestion, _ costs: CostModel, answers: CostSample.Answers? = nil) {
        self.question = question
        self.costs = costs
        self.answers = answers ?? question.answers ?? costs.answers
        law = costs.law
        // How many connections there are follows from the rate, which follows from the time left: the second look is good enough,
        // because handshakes are a small part of it.
        if let handshake = costs.handshake, let rate = required {
            let configuration = configuration(needs(rate))
            handshakes = handshake * configuration.connectionsPerWorker
        }
    }

    /// No connection is ended by the server.
    var withoutGoAway: PlanModel {
        var model = self
        model.question.goAwayEvery = nil
        return model
    }

    /// What a push waits besides link and server; without a link threads find each other awake.
    var overhead: Double { question.roundTrip > 0 ? costs.overhead : 0 }

    /// From a push being put on a stream to the stream being free again, ns.
    var cycle: Double { question.roundTrip + question.jitter + question.serverTime.mean + overhead }

    private func pace(isSpread: Bool) -> PaceCost {
        costs.pace(answers, hasLink: hasLink, isEmulated: question.mockThreads > 0, isSpread: isSpread)
    }

    /// What a push costs at a rate: answers that take times of their own wake the worker each.
    private var pace: PaceCost { pace(isSpread: question.spreadsAnswers) }

    /// What a push waits besides link and server at a rate of all machines, each by itself, from being due on; nil: not measured.
    func wait(_ configuration: Configuration, at rate: Double) -> TimeDistribution? {
        // The spread is in the question.
        pace(isSpread: false).totals(
            at: rate * question.attempts / (configuration.machines * configuration.workers))
    }

    // MARK: Bounds

    private var hasLink: Bool { question.roundTrip > 0 }

    private func efficiency(_ workers: Double) -> Double { law?.efficiency(of: workers) ?? 1 }

    /// CPU time a push on a busy worker among others, ns; connections that are made anew belong to it.
    func clientCost(_ configuration: Configuration) -> Double {
        let cost = costs.client(
            connectionsPerWorker: configuration.connectionsPerWorker, streams: Double(question.streams),
            hasLink: hasLink && question.mockThreads > 0, answers: answers)
        let renewed = question.goAwayEvery.map { (costs.handshake ?? 0) / $0 } ?? 0
        return (cost + renewed) * costFactor / efficiency(configuration.workers)
    }

    /// CPU time a push at a rate of all machines, ns: workers that are not busy sleep and wake between pushes.
    func clientCost(_ configuration: Configuration, at rate: Double) -> Double {
        let closed = clientCost(configuration)
        let paced = pace.cost(
            at: rate * question.attempts / (configuration.machines * configuration.workers), closed: closed)
        // What connections made anew take was not in the runs at a rate.
        return question.goAwayEvery == nil ? paced : max(paced, closed)
    }

    /// What a push costs a worker where it begins to gather pushes, ns: before and after; nil: not measured.
    func costAtBorder(_ configuration: Configuration) -> (thin: Double, dense: Double)? {
        pace.costAtBorder(closed: clientCost(configuration))
    }

    func serverCost(_ configuration: Configuration) -> Double? {
        costs.server(
            connectionsPerWorker: configuration.connectionsPerWorker, streams: Double(question.streams),
            hasLink: hasLink && question.mockThreads > 0)
    }

    /// Pushes a second of one connection by what is a connection's own, attempts counted; what it loses when it is made anew belongs
    /// to it.
    func perConnection(_ name: PlanDocument.BoundName) -> Double? {
        guard let every = question.goAwayEvery else { return steady(name) }
        guard let own = steady(name) ?? (name == .streams ? .infinity : nil) else { return nil }
        let rate = min(own, ofWorker)
        // Streams and windows let pushes go in bursts, a cycle apart, of which the last comes a cycle before its answers. When these
        // come the connection is told to go away, and the next one is made; what was sent meanwhile is refused, and sent again.
        var sending = every / rate - (name == .streams || name == .window ? cycle / 1e9 : 0)
        if name == .streams, question.fewerStreams == nil, question.serverTime.isConstant {
            // So many whole bursts, as long as nothing takes them apart.
            sending = max(sending, ((every / Double(question.streams)).rounded(.up) - 1) * cycle / 1e9)
        }
        // One that is ended while the one before it is still answered waits for that: two of them take turns then.
        let next = max(0, sending) + renewal / 1e9
        return every / max(next, (next + (cycle - told) / 1e9) / 2)
    }

    private var streamRate: Double {
        let streams = Double(question.streams)
        guard let fewer = question.fewerStreams else { return streams / cycle * 1e9 }
        let others = Self.perConnectionBounds.filter { $0 != .streams }.compactMap(steady).min() ?? .infinity
        return fewer.rate(
            usual: streams, cycle: cycle, most: min(others, ofWorker),
            burst: (question.windowUse?.held ?? .infinity, windowRate ?? .infinity, ofWorker))
    }

    /// No connection is faster than a worker that has no other one.
    private var ofWorker: Double {
        let alone = costs.client(
            connectionsPerWorker: 1, streams: Double(question.streams), hasLink: hasLink && question.mockThreads > 0,
            answers: answers)
        return 1e9 / (alone * costFactor)
    }

    private func steady(_ name: PlanDocument.BoundName) -> Double? {
        switch name {
        case .streams: cycle > 0 ? streamRate : nil
        case .window: windowRate
        case .connectionRate:
            question.linkRate.map { min($0 / question.requestBytes, $0 / max(question.answerBytes, 1e-9)) }
        case .loss: TCPModel(question).lossRate
        default: nil
        }
    }

    /// The server says more once a share of the window is used; a client that has sent all of the window waits for it a round
    /// trip. What is used beyond the last such step is not there for it.
    private var windowRate: Double? {
        let wait = question.roundTrip + question.jitter + overhead
        guard wait > 0, let use = question.windowUse else { return nil }
        return max(1, (use.held / use.step).rounded(.down) * use.step) / wait * 1e9
    }

    static let perConnectionBounds: [PlanDocument.BoundName] = [.streams, .window, .connectionRate, .loss]

    /// What the configuration can do by each bound, pushes a second, the tightest first.
    func bounds(_ configuration: Configuration) -> [(name: PlanDocument.BoundName, rate: Double)] {
        var bounds: [(name: PlanDocument.BoundName, rate: Double)] = []
        for name in Self.perConnectionBounds {
            if let rate = perConnection(name) { bounds.append((name, rate * configuration.evenConnections)) }
        }
        if let bandwidth = question.bandwidth, question.requestBytes > 0 {
            bounds.append((.bandwidth, configuration.machines * bandwidth / question.wireBytes))
        }
        let client = clientCost(configuration)
        bounds.append((.clientCPU, configuration.allWorkers / client * 1e9))
        if question.mockThreads > 0, let server = serverCost(configuration) {
            bounds.append((.serverCPU, Double(question.mockThreads) / server * 1e9))
            if let cores = question.sharedCores {
                bounds.append((.sharedCores, Double(cores) / (client + server) * 1e9))
            }
        }
        bounds = bounds.map { ($0.name, $0.rate / question.attempts) }
        return bounds.enumerated().sorted { ($0.element.rate, $0.offset) < ($1.element.rate, $1.offset) }
            .map(\.element)
    }

    // MARK: Needs

    /// Workers of a machine: its cores, but no more than do more together.
    var workersPerMachine: Double { min(Double(question.cores), (law?.peak ?? .infinity).rounded(.down)) }

    /// Until it is known how many cores a rate needs.
    private static let mostLooks = 200

    /// What a rate needs, not rounded.
    ///
    /// - Parameter reserve: multiplies what is planned with, when a goal asks for more than the utilisation leaves.
    func needs(_ rate: Double, reserve: Double = 1) -> Needs {
        let aimed = rate * question.attempts / question.utilisation * reserve
        let perConnection = Self.perConnectionBounds.compactMap(perConnection).min() ?? .infinity
        let workers = max(1, workersPerMachine)
        let connections = max(aimed / perConnection, 1e-9)
        let fewest = question.bandwidth.map { aimed * question.wireBytes / $0 } ?? 0
        func machines(_ cores: Double) -> Double { max(cores / workers, fewest, 1e-9) }
        // What a push costs depends on how many connections a worker has, and that on how many workers there are. Where one worker more
        // makes pushes so much cheaper that it takes one less, and so on, it is the one more.
        var (cores, before, earlier) = (1.0, 0.0, 0.0)
        for _ in 0..<Self.mostLooks where abs(cores - before) > 1e-9 * cores {
            if abs(cores - earlier) <= 1e-9 * cores { break }
            let cost = clientCost(
                configuration(connections: connections, machines: machines(cores), cores: cores))
            (earlier, before) = (before, cores)
            cores = self.cores(rate * question.attempts * reserve, closed: cost)
        }
        cores = max(cores, before)
        let machines = machines(cores)
        let kept = configuration(connections: connections, machines: machines, cores: cores)
        // The ledger of what was accepted: a bit a push, besides what the measured runs had.
        // There is no part of a machine's.
        let memory =
            (machinesThere ?? max(1, (kept.machines - 1e-9).rounded(.up))) * costs.memoryBase
            + kept.connections
            * (costs.memoryPerConnection(streams: Double(question.streams)) ?? CostModel.usualMemoryPerConnection)
            + Double(question.pushes ?? 0) / 8
        return Needs(
            perSecond: rate, inFlight: rate * question.attempts * cycle / 1e9, connections: connections, cores: cores,
            machines: machines, memory: memory, bandwidth: rate * question.attempts * question.wireBytes)
    }

    /// Cores on which a rate takes no more than the utilisation of each worker's time. Less than one: that share of the one worker's; it
    /// may be all of it, as waking for each of few pushes takes more than gathering many.
    private func cores(_ rate: Double, closed: Double) -> Double {
        var each = pace.rate(using: question.utilisation, closed: closed)
        if question.goAwayEvery != nil { each = min(each, question.utilisation * 1e9 / closed) }
        guard rate < each else { return rate / each }
        return min(1, rate * pace.cost(at: rate, closed: closed) / 1e9 / question.utilisation)
    }

    /// Workers of each machine: all its cores, but on one machine, or on more than the work needs because bandwidth asks for them or they
    /// are there, no more than are needed.
    private func workersUsed(cores: Double, machines: Double) -> Double {
        let workers = max(1, workersPerMachine)
        if isContinuous { return min(workers, max(1, cores / machines)) }
        // Who gives no number to reach asks what all of it can do; who gives connections has them dealt out (`workers(of:)`).
        if question.pushes == nil || question.isGiven { return workers }
        let isSpare = question.machines != nil || machines == 1 || machines > (cores / workers).rounded(.up)
        return isSpare ? min(workers, max(1, (cores / machines).rounded(.up))) : workers
    }

    /// The needs in whole connections and machines, or what was given.
    func configuration(_ needs: Needs) -> Configuration {
        configuration(connections: needs.connections, machines: needs.machines, cores: needs.cores)
    }

    /// At least a machine, and as many connections for each worker as for every other, unless their number was given.
    func configuration(connections: Double, machines: Double, cores: Double) -> Configuration {
        func whole(_ need: Double) -> Double { isContinuous ? need : (need - 1e-9).rounded(.up) }
        let given = question.connections.map(Double.init)
        // A machine without a connection does nothing.
        let machines = question.machines.map(Double.init) ?? min(max(1, whole(machines)), given ?? .infinity)
        let used = workersUsed(cores: cores, machines: machines)
        guard let given else {
            let each = connections / (machines * used)
            return Configuration(
                machines: machines, workers: used,
                connections: isContinuous ? connections : max(1, whole(each)) * machines * used)
        }
        return Configuration(
            machines: machines, workers: workers(of: given, machines: machines, cores: cores, used), connections: given)
    }

    /// Of as many workers as the cores take those of which most connections are of use, and as near as can be to what is used elsewhere.
    private func workers(of connections: Double, machines: Double, cores: Double, _ used: Double) -> Double {
        let most = min(max(1, workersPerMachine), max(1, (connections / machines).rounded(.down)))
        let fewest = max(1, min(most, (cores / machines).rounded(.up)), most - Self.mostTried)
        func order(_ workers: Double) -> (Double, Double) {
            let even = Configuration(machines: machines, workers: workers, connections: connections).evenConnections
            return (even, -abs(workers - used))
        }
        return stride(from: fewest, through: most, by: 1).max { order($0) < order($1) } ?? most
    }

    /// Numbers of workers that are looked at.
    private static let mostTried = 1000.0

    /// Whether a configuration can do a rate, but for rounding.
    func canDo(_ rate: Double, _ configuration: Configuration) -> Bool {
        bounds(configuration)[0].rate >= rate * (1 - 1e-6)
    }
}

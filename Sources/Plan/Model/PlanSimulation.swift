import Statistics

/// A plan's configuration as a simulation. Workers share nothing, so that one of them with its part of connections, rate and
/// bandwidth stands for all; with the bundled mock on the same machine everything is simulated.
struct PlanSimulation {
    let model: PlanModel
    let configuration: PlanModel.Configuration
    /// Simulated client threads and connections.
    let workers: Int
    let connections: Int
    /// Of a worker, 0 … 1: where connections last long, some of them have their part of its time.
    let part: Double

    /// Seeds, where chance decides something.
    static let replications = 5
    /// Of large simulations.
    static let fewReplications = 3
    static let fewest = 50_000
    /// Of all connections' limits of streams, in one simulation.
    static let mostChanges = 4e6
    /// Round trips to see, where that is not too many pushes.
    static let cycles = 30.0
    /// Pushes to see, times those that are open at once (half of that suffices), for which there may be as many times more than usual.
    static let fewestTimes = 6.0
    static let mostTimes = 2.0
    /// Of connections that are made anew: what is looked at, and what it takes, the first life being warm-up.
    static let fewestLives = 12.0
    static let leastLives = 2.0 + lifeBeyond
    static let lifeBeyond = 0.25
    /// Where some connections are simulated for all, as few as let so many lives be seen.
    static let livesSeen = 6.0
    /// In a fan-out of fewer lives connections are mostly as they began: together.
    static let livesTogether = 10.0
    /// That are simulated instead of all of a worker.
    static let fewestConnections = 8.0
    /// Pushes are not dealt out so evenly to connections that none has more than this part less than others.
    static let evenness = 0.9

    init(_ model: PlanModel, _ configuration: PlanModel.Configuration) {
        let endsConnections = Self.endsConnections(model.question, configuration)
        self.model = endsConnections ? model : model.withoutGoAway
        self.configuration = configuration
        let isWhole = model.question.mockThreads > 0
        workers = isWhole ? Int(configuration.workers) : 1
        let all =
            isWhole ? configuration.evenConnections : max(1, configuration.connectionsPerWorker.rounded(.down))
        connections = isWhole ? Int(all) : Int(Self.someConnections(of: all, self.model.question))
        part = Double(connections) / all
    }

    /// Whether any connection has so many pushes that it is made anew.
    static func endsConnections(_ question: PlanQuestion, _ configuration: PlanModel.Configuration) -> Bool {
        guard let every = question.goAwayEvery else { return false }
        guard let pushes = question.pushes else { return true }
        return Double(pushes) * question.attempts / configuration.connections >= every * evenness
    }

    /// As many as have so short lives together that several simulations of them can be seen.
    private static func someConnections(of all: Double, _ question: PlanQuestion) -> Double {
        // Bursts are as fast as a whole worker makes them.
        guard let every = question.goAwayEvery, question.fewerStreams == nil else { return all }
        let seen = Double(question.simulated) / Double(fewReplications) / livesSeen
        return min(all, max(fewestConnections, (seen / (every + Double(question.streams))).rounded(.down)))
    }

    private var question: PlanQuestion { model.question }

    /// Part of all workers.
    private var share: Double { part * Double(workers) / (configuration.machines * configuration.workers) }

    /// What the simulated part can do by the tightest bound, pushes a second.
    var formula: Double {
        if question.mockThreads > 0 { return model.bounds(configuration)[0].rate }
        let perConnection = PlanModel.perConnectionBounds.compactMap(model.perConnection).min() ?? .infinity
        return min(
            perConnection * Double(connections), part * Double(workers) / model.clientCost(configuration) * 1e9,
            uplink.map { $0 / question.requestBytes } ?? .infinity) / question.attempts
    }

    /// A worker's part of its machine's bandwidth, in HTTP/2's bytes.
    private var uplink: Double? {
        question.bandwidth.map { part * $0 / PlanQuestion.wireFactor / configuration.workers * Double(workers) }
    }

    /// Why something is not simulated.
    enum Unseen: Error, Equatable {
        /// Their answers would not be seen.
        case openPushes
        /// Connections last longer.
        case lives(pushes: Double)
        /// Limits of streams change more often than can be followed for so long.
        case streamChanges
    }

    /// Every stream used all the time, pushes a second: each replication's.
    func full() throws(Unseen) -> [FanOutSimulation.Outcome] {
        var settings = settings(model.clientCost(configuration), rate: formula)
        settings.wait = .constant(model.overhead)
        let inFlight = min(formula * question.attempts * model.cycle / 1e9, Double(connections * question.streams))
        // All streams are taken at once in the beginning. Of those that wait for the same link as others before them, some suffice; not
        // where pushes go in bursts.
        if settings.fewerStreams == nil, settings.renewal == nil {
            let few = 4 * inFlight / Double(connections) + Double(2 * settings.batch)
            let most = Double(question.simulated / Self.replications) / Self.fewestTimes / Double(connections)
            settings.streams = Int(min(Double(settings.streams), max(few, most)).rounded(.up))
            settings.beginsSteady = model.bounds(configuration)[0].name == .streams
        }
        if life > 0, all.map({ $0 > Self.livesTogether * life }) ?? true { settings.apart = life / formula * 1e9 }
        let open = min(Double(settings.streams), question.windowUse?.held ?? .infinity) * Double(connections)
        let pushes = max(inFlight / question.attempts * Self.cycles, periods(formula), Self.fewestLives * life)
        return try replications(&settings, pushes: pushes, open: open, rate: formula)
    }

    /// At a rate of all machines, each push due at its time.
    func paced(_ perSecond: Double) throws(Unseen) -> [FanOutSimulation.Outcome] {
        let wait = model.wait(configuration, at: perSecond)
        // What was measured has the time in it that waking up and sending took.
        var settings = settings(
            wait == nil ? model.clientCost(configuration, at: perSecond) : model.clientCost(configuration),
            rate: perSecond * share)
        let rate = perSecond * share
        settings.arrivals = question.isPoisson ? .poisson(rate) : .constant(rate)
        settings.wait = wait ?? .constant(model.overhead)
        // Connections that begin together are ended together, the first times: a fan-out that is no longer is simulated as a whole, of
        // a longer one the beginning and what it is like later.
        if life > 0, let all {
            let seen = Double(question.simulated) / work
            if all <= Self.mostTimes * seen {
                settings.pushes = Int(max(1, all).rounded(.up))
                return runs(&settings, Int(max(1, min(Double(Self.replications), seen / all))))
            }
            var beginning = settings
            settings.apart = life / rate * 1e9
            let later = try replications(&settings, pushes: Self.fewestLives * life, open: 0, rate: rate)
            beginning.pushes = Int(max(1, seen / Double(later.count)))
            return zip(runs(&beginning, later.count), later).map { $0.joined(with: $1, pushes: all) }
        }
        let pushes = max(
            rate * question.attempts * model.cycle / 1e9 * Self.cycles, periods(rate), Self.fewestLives * life)
        return try replications(&settings, pushes: pushes, open: 0, rate: rate)
    }

    /// Pushes that the simulated part has of all; nil: no number was asked for.
    private var all: Double? { question.pushes.map { Double($0) * share } }

    /// Pushes of all simulated connections until they are made anew.
    private var life: Double { Double(connections) * (question.goAwayEvery ?? 0) / question.attempts }

    /// Pushes in six of the periods in which there are fewer streams for a time.
    ///
    /// - Parameter rate: of what is simulated.
    private func periods(_ rate: Double) -> Double { 6 * rate * (question.fewerStreams?.every ?? 0) / 1e9 }

    /// Pushes during which limits of streams change no more often than can be simulated within seconds.
    private func changes(_ rate: Double) -> Double {
        guard let fewer = question.fewerStreams, !isTooOften(fewer, rate) else { return .infinity }
        return changes(fewer, rate)
    }

    private func changes(_ fewer: FewerStreams, _ rate: Double) -> Double {
        Self.mostChanges / 2 / Double(connections) * rate * fewer.every / 1e9
    }

    /// Whether limits change too often for each change to be simulated: as many streams as there are on average are then.
    private func isTooOften(_ fewer: FewerStreams, _ rate: Double) -> Bool {
        changes(fewer, rate) < 2000 || Double(2 * connections) * model.cycle / fewer.every > Self.mostChanges
    }

    /// How many of the periods in which there are fewer streams for a time a simulation of a rate of all machines sees; nil: there
    /// are none, or only their mean is simulated.
    func periodsSeen(_ perSecond: Double) -> Double? {
        let rate = perSecond * share
        guard let fewer = question.fewerStreams, !isTooOften(fewer, rate) else { return nil }
        let pushes = min(Double(question.simulated / Self.replications), changes(rate))
        return pushes / (rate * fewer.every / 1e9)
    }

    /// At most so many attempts are simulated a push, those counted that a server refuses which has ended their connection.
    private var work: Double {
        question.attempts * (1 + (question.goAwayEvery.map { Double(question.streams) / $0 } ?? 0))
    }

    /// Where chance decides nothing, one says it all.
    ///
    /// - Parameter open: of pushes so many are seen several times over, as those that are open at once.
    private func replications(
        _ settings: inout FanOutSimulation.Settings, pushes: Double, open: Double, rate: Double
    ) throws(Unseen) -> [FanOutSimulation.Outcome] {
        let isCertain =
            settings.serverTime.isConstant && settings.wait.isConstant && question.jitter == 0 && question.loss == 0
            && question.sentAgain == 0 && question.fewerStreams == nil && settings.renewal == nil
            && (settings.arrivals == .closed || !question.isPoisson)
        func isLarge(_ pushes: Double, _ times: Int) -> Bool {
            pushes * work * Double(times) > Double(question.simulated)
        }
        let isWide = isLarge(Self.fewestTimes * open, Self.replications)
        let isLong = isLarge(Self.leastLives * life, Self.fewReplications)
        let isFew = isWide || isLarge(Self.leastLives * life, Self.replications)
        let most = (isWide || isLong ? Self.mostTimes : 1) * Double(question.simulated) / work
        let times = isCertain || isLong ? 1 : isFew ? Self.fewReplications : Self.replications
        let count = min(
            max(pushes, Double(Self.fewest), Self.fewestTimes * open), (most / Double(times)).rounded(.down),
            changes(rate))
        let least = max(Self.fewestTimes / 2 * open, Self.leastLives * life)
        guard count >= least else {
            throw count == changes(rate)
                ? .streamChanges : least > Self.fewestTimes / 2 * open ? .lives(pushes: life) : .openPushes
        }
        settings.pushes = Int(max(1, count).rounded(.up))
        settings.warmup = settings.pushes / 4
        if life > 0 {
            // Whole lives: each has as many pushes that wait for a connection as any other. What is left goes on as they do.
            let lives = (count / life - Self.lifeBeyond).rounded(.down)
            let warmup = max(1, (lives / 4).rounded(.down))
            settings.pushes = Int(((lives + Self.lifeBeyond) * life).rounded(.up))
            settings.warmup = Int(warmup * life)
            settings.measured = Int((lives - warmup) * life)
        }
        return runs(&settings, times)
    }

    /// Each with another seed.
    private func runs(_ settings: inout FanOutSimulation.Settings, _ times: Int) -> [FanOutSimulation.Outcome] {
        var seeds = SplitMix(seed: question.seed)
        return (0..<times).map { time in
            settings.seed = time == 0 ? question.seed : seeds.next()
            return FanOutSimulation(settings).run()
        }
    }

    /// What several runs of the same are like, and where their mean lies with 95 % confidence (Student's t over the runs).
    static func figure(_ values: [Double]) -> PlanDocument.Figure {
        let count = Double(values.count)
        let mean = values.reduce(0, +) / max(count, 1)
        guard values.count > 1, mean.isFinite else { return PlanDocument.Figure(mean) }
        let spread = (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)).squareRoot()
        let reach = StudentDistribution.quantile(0.975, degrees: values.count - 1) * spread / count.squareRoot()
        return PlanDocument.Figure(mean, low: max(0, mean - reach), high: mean + reach)
    }

    /// By exact mean value analysis, pushes a second; nil where something else than streams and threads is among the two tightest
    /// bounds, or cores are shared.
    var meanValue: Double? {
        let binding = model.bounds(configuration).prefix(2).map(\.name)
        let population = connections * question.streams
        guard question.sharedCores == nil, question.goAwayEvery == nil, question.fewerStreams == nil,
            population <= 5_000_000,
            binding.allSatisfy({ [.streams, .clientCPU, .serverCPU].contains($0) })
        else { return nil }
        var demands = [Double](
            repeating: model.clientCost(configuration) / Double(workers), count: workers)
        if question.mockThreads > 0, let server = model.serverCost(configuration) {
            demands += [Double](repeating: server / Double(question.mockThreads), count: question.mockThreads)
        }
        return MeanValueAnalysis.throughput(population: population, delay: model.cycle, demands: demands)
            .map { $0 / question.attempts }
    }

    private func settings(_ clientCost: Double, rate: Double) -> FanOutSimulation.Settings {
        var settings = FanOutSimulation.Settings()
        settings.workers = workers
        settings.connections = connections
        settings.streams = question.streams
        settings.clientCost = .constant(clientCost / part)
        settings.batch = max(1, Int((part * 65_536 / max(question.requestBytes, 1)).rounded(.down)))
        settings.serverThreads = question.mockThreads
        settings.serverCost = .constant(model.serverCost(configuration) ?? 0)
        settings.cores = question.sharedCores
        settings.link = FanOutLink(roundTrip: question.roundTrip, jitter: question.jitter, loss: question.loss)
        settings.sentAgain = question.sentAgain
        settings.renewal = question.goAwayEvery.map {
            .init(
                every: Int(max(1, min($0, 1e18))), told: model.told, making: model.renewing,
                first: question.roundTrip, each: model.handshake / part)
        }
        if let fewer = question.fewerStreams, fewer.streams < Double(question.streams) {
            if isTooOften(fewer, rate) {
                settings.streams = Int(fewer.mean(usual: Double(question.streams), cycle: model.cycle).rounded())
            } else {
                settings.fewerStreams = fewer
            }
        }
        settings.requestBytes = question.requestBytes
        settings.answerBytes = question.answerBytes
        settings.payloadBytes = question.payloadBytes
        settings.largestPayload = question.largestPayload
        settings.linkRate = [question.linkRate, TCPModel(question).lossRate.map { $0 * question.requestBytes }]
            .compactMap { $0 }.min()
        settings.uplinkRate = uplink
        settings.window = question.window
        settings.windowReopen = question.windowReopen
        settings.serverTime = question.serverTime
        settings.seed = question.seed
        return settings
    }
}

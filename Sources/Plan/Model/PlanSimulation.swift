/// A plan's configuration as a simulation. Workers share nothing, so that one of them with its part of connections, rate and
/// bandwidth stands for all; with the bundled mock on the same machine everything is simulated.
struct PlanSimulation {
    let model: PlanModel
    let configuration: PlanModel.Configuration
    /// Simulated client threads and connections.
    let workers: Int
    let connections: Int

    static let fewest = 50_000
    /// Round trips to see, where that is not too many pushes.
    static let cycles = 30.0

    init(_ model: PlanModel, _ configuration: PlanModel.Configuration) {
        self.model = model
        self.configuration = configuration
        let isWhole = model.question.mockThreads > 0
        workers = isWhole ? Int(configuration.workers) : 1
        connections =
            isWhole ? Int(configuration.connections) : max(1, Int(configuration.connectionsPerWorker.rounded()))
    }

    private var question: PlanQuestion { model.question }

    /// Part of all workers.
    private var share: Double { Double(workers) / (configuration.machines * configuration.workers) }

    /// What the simulated part can do by the tightest bound, pushes a second.
    var formula: Double {
        if question.mockThreads > 0 { return model.bounds(configuration)[0].rate }
        let perConnection = PlanModel.perConnectionBounds.compactMap(model.perConnection).min() ?? .infinity
        return min(
            perConnection * Double(connections), Double(workers) / model.clientCost(configuration) * 1e9,
            uplink.map { $0 / question.requestBytes } ?? .infinity)
    }

    /// A worker's part of its machine's bandwidth, in HTTP/2's bytes.
    private var uplink: Double? {
        question.bandwidth.map { $0 / PlanQuestion.wireFactor / configuration.workers * Double(workers) }
    }

    /// Every stream used all the time.
    func full() -> FanOutSimulation.Outcome {
        var settings = settings
        let inFlight = min(formula * model.cycle / 1e9, Double(connections * question.streams))
        settings.pushes = Int(min(max(inFlight * Self.cycles, Double(Self.fewest)), Double(question.simulated)))
        settings.warmup = settings.pushes / 4
        return FanOutSimulation(settings).run()
    }

    /// At a rate of all machines, each push due at its time.
    func paced(_ perSecond: Double) -> FanOutSimulation.Outcome {
        var settings = settings
        let rate = perSecond * share
        settings.arrivals = question.isPoisson ? .poisson(rate) : .constant(rate)
        settings.pushes = Int(
            min(max(rate * model.cycle / 1e9 * Self.cycles, Double(Self.fewest)), Double(question.simulated)))
        settings.warmup = settings.pushes / 4
        return FanOutSimulation(settings).run()
    }

    private var settings: FanOutSimulation.Settings {
        var settings = FanOutSimulation.Settings()
        settings.workers = workers
        settings.connections = connections
        settings.streams = question.streams
        settings.clientCost = .constant(model.clientCost(configuration))
        settings.batch = max(1, Int((65_536 / max(question.requestBytes, 1)).rounded(.down)))
        settings.serverThreads = question.mockThreads
        settings.serverCost = .constant(model.serverCost(configuration) ?? 0)
        settings.cores = question.sharedCores
        settings.roundTrip = question.roundTrip + model.overhead
        settings.requestBytes = question.requestBytes
        settings.answerBytes = question.answerBytes
        settings.payloadBytes = question.payloadBytes
        settings.largestPayload = question.largestPayload
        settings.linkRate = question.linkRate
        settings.uplinkRate = uplink
        settings.window = question.window
        settings.windowReopen = question.windowReopen
        settings.serverTime = question.serverTime
        settings.seed = question.seed
        return settings
    }
}

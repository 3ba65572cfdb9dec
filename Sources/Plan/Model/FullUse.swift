/// What a configuration does at full use, simulated, beside what the formula says.
struct FullUse {
    let simulation: PlanSimulation
    /// Of each replication; none when `unseen` says why.
    private(set) var outcomes: [FanOutSimulation.Outcome] = []
    private(set) var unseen: PlanSimulation.Unseen?

    /// Formula and simulation further apart than this are worth a warning.
    static let allowedDifference = 0.05

    init(_ model: PlanModel, _ configuration: PlanModel.Configuration) {
        simulation = PlanSimulation(model, configuration)
        do throws(PlanSimulation.Unseen) { outcomes = try simulation.full() } catch { unseen = error }
    }

    /// Pushes a second of what is simulated; nil: not seen.
    var throughput: PlanDocument.Figure? {
        outcomes.isEmpty ? nil : PlanSimulation.figure(outcomes.map(\.throughput))
    }

    /// Simulated to formula, less 1.
    var difference: Double? { throughput.map { $0.value / simulation.formula - 1 } }

    /// Pushes a second of all machines.
    var rate: Double? { throughput.map { $0.value * scale } }

    /// All machines to what is simulated.
    private var scale: Double {
        let formula = simulation.formula
        return formula > 0 ? simulation.model.bounds(simulation.configuration)[0].rate / formula : 0
    }

    /// It does less than is needed, though the formula says that it is enough.
    func isShort(of needed: Double) -> Bool { rate.map { $0 < (1 - Self.allowedDifference) * needed } ?? false }

    /// nil: formula and simulation agree, or chance alone can make them differ.
    var problem: String? {
        guard let throughput, let difference, abs(difference) > Self.allowedDifference else { return nil }
        if let low = throughput.low, let high = throughput.high, low <= simulation.formula, simulation.formula <= high {
            return nil
        }
        return "formula and simulation differ by \(PlanReport.percent(difference)), more than "
            + "\(PlanReport.percent(Self.allowedDifference)): "
            + (difference < 0
                ? "the formula promises too much, as it does where two bounds meet, or with jitter"
                : "the formula promises too little")
    }

    /// How long all pushes take at the simulated rate of each worker, ns: half of the fan-outs take no longer.
    var finish: PlanDocument.Figure? {
        let model = simulation.model
        guard let throughput, model.question.pushes != nil, scale > 0 else { return nil }
        func time(_ rate: Double, _ chance: Double) -> Double? {
            rate > 0 ? model.time(at: rate * scale, chance: chance) : nil
        }
        let isCertain = throughput.low == nil && model.question.serverTime.isConstant
        return time(throughput.value, 0.5).map {
            isCertain
                ? .init($0)
                : .init(
                    $0, low: time(throughput.high ?? throughput.value, 0.025),
                    high: time(throughput.low ?? throughput.value, 0.975))
        }
    }
}

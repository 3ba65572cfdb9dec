import Results
import Settings

/// What a reader of a plan must know besides: doubts about the runs, what does not suffice, what is taken for granted.
enum PlanWarnings {
    static func of(
        _ samples: [CostSample], _ costs: CostModel, _ model: PlanModel, _ configuration: PlanModel.Configuration
    ) -> [String] {
        var warnings: [String] = []
        func mixed(_ what: String, _ value: (CostSample) -> String) {
            let values = Set(samples.map(value)).sorted()
            if values.count > 1 {
                warnings.append("the runs differ in \(what): \(values.joined(separator: "; ")); their costs are mixed")
            }
        }
        mixed("engine", \.engine)
        mixed("version", \.version)
        mixed("machine", \.machine)
        if !CostModel.hasRepeats(samples) {
            warnings.append("each setting was run once: no intervals; repeat runs to have them")
        }
        let connections = configuration.connectionsPerWorker
        if !costs.connectionRange.contains(connections) {
            warnings.append(
                "\(Units.fixed(connections, places: 0)) connections a worker lie outside what was measured "
                    + "(\(range(costs.connectionRange))): the cost of a push is a mean of the nearest runs")
        }
        if Int(configuration.workers) > costs.mostThreads, model.question.mockThreads == 0 {
            warnings.append(
                "\(Int(configuration.workers)) workers on a machine; at most \(costs.mostThreads) were measured: how they slow each "
                    + "other down beyond that is extrapolated")
        }
        if !costs.streamRange.contains(Double(model.question.streams)) {
            warnings.append(
                "\(model.question.streams) streams lie outside what was measured (\(range(costs.streamRange)))")
        }
        if costs.memoryPerConnection == nil {
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
        return warnings
    }

    private static func range(_ range: ClosedRange<Double>) -> String {
        "\(Units.fixed(range.lowerBound, places: 0)) to \(Units.fixed(range.upperBound, places: 0))"
    }

    /// What was given and is too small.
    static func shortfalls(
        _ model: PlanModel, _ configuration: PlanModel.Configuration, _ needs: PlanModel.Needs
    ) -> [String] {
        guard !model.canDo(needs.perSecond, configuration), let tightest = model.bounds(configuration).first else {
            return []
        }
        return [
            "\(counted(configuration.connections, "connection")) on \(counted(configuration.machines, "machine")) do "
                + "\(Units.grouped(UInt64(tightest.rate)))/s at most, of \(Units.grouped(UInt64(needs.perSecond)))/s needed: the "
                + "devices take \(Units.duration(nanoseconds: model.shortest(configuration)))"
        ]
    }

    private static func counted(_ number: Double, _ what: String) -> String {
        "\(Units.grouped(UInt64(number))) \(what)\(number == 1 ? "" : "s")"
    }

    static func assumptions(_ model: PlanModel) -> [String] {
        let question = model.question
        var assumptions = ["each worker is a thread with a core and connections of its own"]
        switch model.costs.law.points {
        case 1:
            assumptions.append("workers do not slow each other down: runs with one number of workers cannot show it")
        case 2:
            assumptions.append(
                "workers slow each other down by \(Units.fixed(model.costs.law.contention * 100, places: 2)) % contention, "
                    + "from two numbers of workers, and by no crosstalk")
        default:
            assumptions.append(
                "workers slow each other down by the universal scalability law, σ "
                    + "\(Units.fixed(model.costs.law.contention, places: 5)), κ \(Units.fixed(model.costs.law.crosstalk, places: 6)), "
                    + "from \(model.costs.law.points) numbers of workers")
        }
        assumptions.append("machines do not slow each other down, and nothing is lost on the way")
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
                    + "\(Int(PlanQuestion.setupRoundTrips)) round trips, and pushes are due "
                    + (question.isPoisson ? "at random (Poisson)" : "at equal distances"))
        }
        return assumptions
    }
}

import Foundation

/// How long a fan-out takes, and what of it is no time to begin pushes in.
extension PlanModel {
    /// From a connection being begun to its being as fast as it gets, at the price of so much time at full speed, ns.
    var warmUp: Double { question.setupRoundTrips * question.roundTrip + TCPModel(question).slowStart }

    /// From the last push that a connection's server takes being sent to the client hearing that it is the last, ns.
    var told: Double { question.roundTrip + question.jitter + overhead }

    /// From the last push that a connection's server takes being sent to the next connection being as fast as it gets, ns.
    var renewal: Double { told + renewing }

    /// From a connection being made anew to its being as fast as it gets, ns: who makes it can do nothing else with it meanwhile.
    var renewing: Double {
        let alone = question.mockThreads > 0 ? costs.handshakeAlone.map { $0 * costFactor } : nil
        return warmUp + (alone ?? handshake)
    }

    /// CPU time of a connection that is made, ns.
    var handshake: Double { (costs.handshake ?? 0) * costFactor }

    /// Connecting and becoming fast: before that no push is begun, ns.
    private var beginning: Double { warmUp + handshakes }

    /// From the last push being begun to the last answer, ns: by then all are there with some chance, where the server's answers take
    /// times of their own.
    ///
    /// - Parameter span: over which pushes are begun, ns.
    func ending(after span: Double, chance: Double = Self.sureness) -> Double {
        let way = question.roundTrip + question.jitter + overhead
        let last = question.serverTime.last(of: Double(question.pushes ?? 1), over: span, chance: chance)
        return way + last + cycle * (lastRounds - 1)
    }

    /// Of what chance decides, how often a plan holds.
    static let sureness = 0.95

    /// Connecting, and the answers of the last pushes: time in which no push is begun, ns.
    var edges: Double { beginning + ending(after: span ?? 0) }

    /// Cycles until the last pushes are answered: those of them that are sent again need more, until less than one push is left.
    private var lastRounds: Double {
        guard question.sentAgain > 0, let pushes = question.pushes else { return 1 }
        return max(1, (log(Double(pushes)) / -log(question.sentAgain)).rounded(.up))
    }

    /// What is left of the time for pushes to be begun in, ns; nil: nothing.
    private var span: Double? {
        guard question.pushes != nil, let within = question.within else { return nil }
        func rest(_ span: Double) -> Double { within - beginning - ending(after: span) }
        guard rest(0) > 0 else { return nil }
        if question.serverTime.isConstant { return rest(0) }
        // The longer they take to be begun, the fewer are begun near the end, and the sooner after it the last is answered, but by less.
        var (low, high) = (0.0, within)
        for _ in 0..<50 {
            let middle = (low + high) / 2
            if rest(middle) >= middle { low = middle } else { high = middle }
        }
        return low > 0 ? low : nil
    }

    /// Pushes a second it takes; nil when the time is over before a push could be answered.
    var required: Double? {
        guard let pushes = question.pushes, let span else { return nil }
        return Double(pushes) / span * 1e9
    }

    /// How long the pushes take with a configuration at full use, ns.
    func shortest(_ configuration: Configuration) -> Double { time(at: bounds(configuration)[0].rate) }

    /// How long all pushes take at a rate, from the first connection to the last answer, ns.
    ///
    /// - Parameter chance: that they take no longer.
    func time(at rate: Double, chance: Double = Self.sureness) -> Double {
        let span = Double(question.pushes ?? 0) / rate * 1e9
        return beginning + span + ending(after: span, chance: chance)
    }
}

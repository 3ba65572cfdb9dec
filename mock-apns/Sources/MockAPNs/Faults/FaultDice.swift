import Faults

/// Draws what happens to each push and connection, one a worker; the same draws for the same seed and order of pushes.
struct FaultDice {
    enum Fate: Equatable {
        case normal
        case rejected(Reason)
        case silent
        case reset
    }

    let plan: FaultPlan
    private var random: SeededRandom
    /// Nothing to look at for any push.
    let isIdle: Bool

    init(_ plan: FaultPlan, worker: Int) {
        self.plan = plan
        random = SeededRandom(seed: plan.seed, stream: UInt64(worker))
        isIdle = plan.rules.isEmpty
    }

    /// The rule that decides about a push.
    ///
    /// - Parameter age: of the server, nanoseconds.
    func rule(for request: RequestState, environment: PushEnvironment, age: UInt64) -> FaultRule? {
        plan.rules.first { rule in
            if let burst = rule.burst, !burst.isOn(age: age) { return false }
            return rule.match.isEverything || rule.match.matches(request, environment)
        }
    }

    mutating func fate(_ rule: FaultRule) -> Fate {
        guard rule.totalShare > 0 else { return .normal }
        var number = random.unit()
        for rejection in rule.rejections {
            if number < rejection.share { return .rejected(rejection.reason) }
            number -= rejection.share
        }
        if number < rule.silentShare { return .silent }
        number -= rule.silentShare
        return number < rule.resetShare ? .reset : .normal
    }

    /// How long the next answer takes, nanoseconds.
    mutating func latency(_ rule: FaultRule) -> UInt64 { rule.latency.sample(&random) }

    mutating func failsHandshake() -> Bool {
        plan.connections.handshakeFailureShare > 0 && random.unit() < plan.connections.handshakeFailureShare
    }

    /// A seed for something that draws by itself.
    mutating func seed() -> UInt64 { random.next() }
}

extension FaultRule.Match {
    func matches(_ request: RequestState, _ environment: PushEnvironment) -> Bool {
        if let wanted = self.environment, wanted != environment { return false }
        if let topics, !Self.contains(topics, request.text(.topic)) { return false }
        if let pushTypes, !pushTypes.contains(request.pushType) { return false }
        if let tokens, !Self.contains(tokens, request.deviceTokenText.lowercased()) { return false }
        return true
    }

    private static func contains(_ patterns: [String], _ text: String) -> Bool {
        patterns.contains { $0.hasSuffix("*") ? text.hasPrefix($0.dropLast()) : text == $0 }
    }
}

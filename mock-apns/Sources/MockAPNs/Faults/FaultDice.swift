import Faults

/// What a rule does to one request.
struct FaultChoice {
    /// Of its rule.
    var number = -1
    /// The rule, or its step whose turn it is.
    let rule: FaultRule
    let fate: FaultDice.Fate
}

/// Draws what happens to each request and connection, one a worker; the same draws for the same seed and order of requests.
struct FaultDice {
    enum Fate: Equatable {
        case normal
        case rejected(Reason)
        case silent
        case reset
        /// By the rule's `answer`.
        case answered
        /// The connection is, as the rule's `close` says.
        case closed

        /// There is no answer.
        var isWithoutAnswer: Bool { self == .silent || self == .reset || self == .closed }
    }

    let script: FaultScript
    /// The script's.
    let plan: FaultPlan
    private var random: SeededRandom
    /// Nothing to look at for any request.
    let isIdle: Bool
    /// Device tokens may say what they are answered.
    private let readsTokens: Bool

    init(_ script: FaultScript, worker: Int, readsTokens: Bool = false) {
        self.script = script
        plan = script.plan
        self.readsTokens = readsTokens
        random = SeededRandom(seed: script.plan.seed, stream: UInt64(worker))
        isIdle = script.plan.rules.isEmpty && !readsTokens
    }

    init(_ plan: FaultPlan, worker: Int) { self.init(FaultScript(plan, startedAt: 0), worker: worker) }

    /// What happens to a request, which counts as one of those its rule was for.
    ///
    /// - Parameter now: monotonic nanoseconds.
    mutating func choose(_ subject: FaultSubject, now: UInt64) -> FaultChoice? {
        if readsTokens, subject.kind == .push, let rule = ScriptedToken.rule(subject.request.deviceToken) {
            return FaultChoice(rule: rule, fate: fate(rule))
        }
        let age = age(now)
        for number in script.plan.rules.indices where applies(number, to: subject, age) {
            let rule = script.plan.rules[number]
            // The rule is for its share only: others are not counted, and use nothing up.
            if rule.share < 1, random.unit() >= rule.share { continue }
            guard let place = script.match(number) else { continue }
            let step = rule.steps.isEmpty ? rule : rule.steps[Int(place % UInt64(rule.steps.count))]
            let fate = fate(step)
            // A rule that draws among its pushes has done nothing to those it leaves as they are.
            if fate != .normal || rule.totalShare == 0, !script.perform(number) { continue }
            return FaultChoice(number: number, rule: step, fate: fate)
        }
        return nil
    }

    /// The first rule for a request, of those that count nothing: what a request that is wrong by itself has to do with rules.
    ///
    /// - Parameter age: of the plan, nanoseconds.
    func rule(for subject: FaultSubject, age: UInt64) -> FaultRule? {
        script.plan.rules.indices.first { !script.plan.rules[$0].isCounted && applies($0, to: subject, age) }
            .map { script.plan.rules[$0] }
    }

    /// Of the plan, nanoseconds.
    func age(_ now: UInt64) -> UInt64 { now > script.startedAt ? now - script.startedAt : 0 }

    private func applies(_ number: Int, to subject: FaultSubject, _ age: UInt64) -> Bool {
        if let burst = script.plan.rules[number].burst, !burst.isOn(age: age) { return false }
        return script.plan.rules[number].match.matches(subject) && script.isLeft(number)
    }

    mutating func fate(_ rule: FaultRule) -> Fate {
        if rule.answer != nil { return .answered }
        if rule.close != nil { return .closed }
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

    /// Puts items into an order that is drawn (Fisher and Yates).
    mutating func shuffle<Item>(_ items: inout [Item]) {
        guard items.count > 1 else { return }
        for place in (1..<items.count).reversed() {
            items.swapAt(place, Int(random.next() % UInt64(place + 1)))
        }
    }
}

import Synchronization

/// A fault plan in force, and how far its counted rules have come: shared by all workers, so that "the next 2" are two of the
/// whole server's.
final class FaultScript: Sendable {
    /// Of a rule that counts.
    private final class Count: Sendable {
        /// Requests that it was for; with steps: that took one.
        let matched = Atomic<UInt64>(0)
        /// Requests that it did something to.
        let done = Atomic<UInt64>(0)
    }

    let plan: FaultPlan
    /// As it was put; nil: the plan came otherwise.
    let text: String?
    /// Since when; monotonic nanoseconds. Bursts count from it.
    let startedAt: UInt64
    /// By rule; nil: it counts nothing.
    private let counts: [Count?]
    /// A rule asks for the team.
    let asksForTeams: Bool

    /// Bytes of memory, about, its share of what is a plan of several namespaces.
    let size: Int

    /// - Parameter sharedBy: how many namespaces have the plan.
    init(_ plan: FaultPlan, text: String? = nil, startedAt: UInt64, sharedBy: Int = 1) {
        (self.plan, self.text) = (plan, text)
        size = (plan.size + (text?.utf8.count ?? 0)) / max(1, sharedBy) + plan.rules.count * MemoryLayout<Count?>.stride
        self.startedAt = startedAt
        counts = plan.rules.map { $0.isCounted ? Count() : nil }
        asksForTeams = plan.rules.contains { $0.match.teams != nil }
    }

    /// The same, as if no request had come yet; bursts go on as they were.
    func begunAnew() -> FaultScript { FaultScript(self) }

    private init(_ other: FaultScript) {
        (plan, text, startedAt, size) = (other.plan, other.text, other.startedAt, other.size)
        asksForTeams = other.asksForTeams
        counts = other.counts.map { $0 == nil ? nil : Count() }
    }

    /// How far the rule of this number has come: how many requests it was for, and to how many it did something; nil: that is not
    /// counted.
    func uses(_ number: Int) -> (matched: UInt64?, acted: UInt64?) {
        guard let count = counts[number] else { return (nil, nil) }
        let rule = plan.rules[number]
        let most = rule.steps.isEmpty || rule.repeatsSteps ? rule.next : UInt64(rule.steps.count)
        let isMatched = rule.next != nil || !rule.steps.isEmpty
        // Those who came too late have counted too.
        return (
            isMatched ? min(count.matched.load(ordering: .relaxed), most ?? .max) : nil,
            rule.times.map { min(count.done.load(ordering: .relaxed), $0) }
        )
    }

    /// The rule of this number is not used up by what was counted so far.
    func isLeft(_ number: Int) -> Bool {
        guard let count = counts[number] else { return true }
        let rule = plan.rules[number]
        if let times = rule.times, count.done.load(ordering: .relaxed) >= times { return false }
        let most = rule.steps.isEmpty || rule.repeatsSteps ? rule.next : UInt64(rule.steps.count)
        return most.map { count.matched.load(ordering: .relaxed) < $0 } ?? true
    }

    /// A request that the rule of this number is for.
    ///
    /// - Returns: which it is, from 0; nil when others were quicker and the rule is used up.
    func match(_ number: Int) -> UInt64? {
        guard let count = counts[number] else { return 0 }
        let rule = plan.rules[number]
        guard rule.next != nil || !rule.steps.isEmpty else { return 0 }
        let place = count.matched.wrappingAdd(1, ordering: .relaxed).oldValue
        if let next = rule.next, place >= next { return nil }
        if !rule.steps.isEmpty, !rule.repeatsSteps, place >= rule.steps.count { return nil }
        return place
    }

    /// The rule of this number does something to a request.
    ///
    /// - Returns: false when it has done so often enough.
    func perform(_ number: Int) -> Bool {
        guard let count = counts[number], let times = plan.rules[number].times else { return true }
        return count.done.wrappingAdd(1, ordering: .relaxed).oldValue < times
    }
}

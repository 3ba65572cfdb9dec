/// What one worker has of a namespace: how its requests are judged and answered, their counts, and the last of them.
final class WorkerNamespace {
    let shared: Namespace
    let checks: RequestChecks
    let channelRequests: ChannelRequests
    let statistics: MockStatistics
    let topics = TopicCounts()
    let handOver: PushHandOver
    @exclusivity(unchecked) var dice: FaultDice
    @exclusivity(unchecked) var recent: RecentPushes
    /// How often it has begun anew, and how often its rules have.
    private(set) var restarts: UInt32 = 0
    private(set) var rulings = 0
    /// Of the worker.
    private let number: Int
    /// Device tokens may say what they are answered.
    private let readsTokens: Bool

    /// - Parameters:
    ///   - tokens: the worker's, for all its namespaces; so is `room`, for pushes that are kept.
    ///   - number: of the worker.
    init(
        _ namespace: Namespace, _ shared: MockShared, tokens: TokenCache, answers: AnswerBlocks,
        room: RecentPushes.Room, number: Int
    ) {
        self.shared = namespace
        self.number = number
        let configuration = shared.configuration
        statistics = namespace.statistics[number]
        checks = RequestChecks(
            topics: configuration.topics, directory: namespace.directory, tokens: tokens,
            members: shared.fleets == nil ? nil : MemberList(), fleets: shared.fleets, rules: configuration.rules)
        channelRequests = ChannelRequests(
            checks: checks, channels: namespace.channels, namespace: namespace.name)
        handOver = PushHandOver(shared, namespace, answers: answers, statistics: statistics, worker: number)
        readsTokens = configuration.scriptedTokens
        dice = FaultDice(namespace.script, worker: number, readsTokens: readsTokens)
        recent = RecentPushes(
            capacity: configuration.adminPort == nil ? 0 : configuration.keptPushes, room: room)
    }

    /// Begins anew: counts, what is kept, and the faults' draws.
    func restart() {
        restarts &+= 1
        statistics.restart()
        topics.reset()
        recent.reset()
        useRules()
    }

    /// Takes the place of one that was forgotten: what was asked before is of before.
    func follow(_ other: WorkerNamespace) { (restarts, rulings) = (other.restarts, other.rulings + 1) }

    /// The namespace's rules are others now, or have begun anew.
    func useRules() {
        rulings += 1
        dice = FaultDice(shared.script, worker: number, readsTokens: readsTokens)
    }
}

import Networking
import Synchronization

/// What all workers share of one namespace: its devices and what is on its way to them, its channels, its counts and the rules for its
/// pushes. A server has one, the default, unless it is told how to tell several apart (`NamespaceRule`).
final class Namespace: Sendable {
    /// For what all namespaces may have together.
    struct Rooms: Sendable {
        /// Pushes that wait for their devices or their time.
        let store: SharedRoom
        let channels = SharedRoom(ChannelDirectory.most)

        init(_ configuration: MockConfiguration) { store = SharedRoom(configuration.delivery.storeCapacity) }
    }

    /// nil: the default one.
    let name: String?
    let directory: DeviceDirectory
    let desk: DeliveryDesk
    let channels: ChannelDirectory
    /// By worker.
    let statistics: [MockStatistics]
    /// The rules in force, which workers go by.
    private let rules: Mutex<FaultScript>
    private let hasOwnRules = Atomic<Bool>(false)
    private let ownsChannels: Bool

    /// - Parameters:
    ///   - rules: at first; nil: the configuration's.
    ///   - channels: another namespace's, where both have the same; nil: its own.
    ///   - log: what becomes of pushes is noted there; nil: nowhere.
    ///   - rooms: of all namespaces; nil: its own.
    ///   - startedAt: of the server, monotonic nanoseconds; `startTime`: UNIX milliseconds at the same moment.
    init(
        name: String?, _ configuration: MockConfiguration, rules: FaultScript? = nil, channels: ChannelDirectory? = nil,
        hub: EventHub, log: DeliveryLog?, rooms: Rooms? = nil, startedAt: UInt64, startTime: Int64
    ) {
        self.name = name
        directory = DeviceDirectory(
            configuration.population, decay: configuration.decay, developmentShare: configuration.developmentShare,
            seed: configuration.delivery.seed, startedAt: startedAt, startTime: startTime)
        let rooms = rooms ?? Rooms(configuration)
        desk = DeliveryDesk(
            configuration.delivery, directory: directory, hub: hub, log: log, room: rooms.store, startedAt: startedAt)
        ownsChannels = channels == nil
        self.channels =
            channels
            ?? ChannelDirectory(
                limit: configuration.channelLimit, enabled: configuration.broadcastTopics, room: rooms.channels)
        statistics = (0..<max(1, configuration.threads)).map { _ in MockStatistics() }
        self.rules = Mutex(rules ?? FaultScript(configuration.faults, startedAt: startedAt))
    }

    var script: FaultScript { rules.withLock { $0 } }
    var plan: FaultPlan { script.plan }

    /// Other rules, whose bursts and counts begin now.
    ///
    /// - Parameters:
    ///   - text: as the plan was put.
    ///   - isOwn: not those of all namespaces.
    ///   - sharedBy: how many namespaces have them.
    func use(_ plan: FaultPlan, text: String?, isOwn: Bool, sharedBy: Int) {
        let script = FaultScript(plan, text: text, startedAt: MonotonicClock.now(), sharedBy: sharedBy)
        rules.withLock { $0 = script }
        hasOwnRules.store(isOwn, ordering: .relaxed)
    }

    /// It has what a reset leaves: rules of its own, devices that are attached.
    var isHeld: Bool { hasOwnRules.load(ordering: .relaxed) || desk.isAttached }

    /// Begins anew what is not the workers': what is stored, channels, changes of devices, and what rules have counted.
    func reset() {
        desk.reset()
        if ownsChannels { channels.reset() }
        directory.forgetChanges()
        rules.withLock { $0 = $0.begunAnew() }
    }

    /// The counts of this moment.
    func add(to counts: inout MockCounts) {
        for worker in statistics { counts.add(worker) }
    }

    /// What became of accepted pushes.
    var deliveryCounts: DeliveryCounts {
        var counts = desk.counts
        for worker in statistics { counts.delivered += worker.deliveredAtOnce.load(ordering: .relaxed) }
        return counts
    }
}

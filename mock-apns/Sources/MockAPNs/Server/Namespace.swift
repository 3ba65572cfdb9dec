import Networking
import Synchronization

/// What all workers share of one namespace: its devices and what is on its way to them, its channels, its counts and the rules for its
/// pushes. A server has one, the default, unless it is told how to tell several apart (`NamespaceRule`).
final class Namespace: Sendable {
    /// nil: the default one.
    let name: String?
    let directory: DeviceDirectory
    let desk: DeliveryDesk
    let channels: ChannelDirectory
    /// By worker.
    let statistics: [MockStatistics]
    /// The rules in force, which workers go by.
    private let rules: Mutex<FaultScript>
    private let ownsChannels: Bool

    /// - Parameters:
    ///   - rules: at first; nil: the configuration's.
    ///   - channels: another namespace's, where both have the same; nil: its own.
    ///   - log: what becomes of pushes is noted there; nil: nowhere.
    ///   - startedAt: of the server, monotonic nanoseconds; `startTime`: UNIX milliseconds at the same moment.
    init(
        name: String?, _ configuration: MockConfiguration, rules: FaultScript? = nil, channels: ChannelDirectory? = nil,
        hub: EventHub,
        log: DeliveryLog?, startedAt: UInt64, startTime: Int64
    ) {
        self.name = name
        directory = DeviceDirectory(
            configuration.population, decay: configuration.decay, developmentShare: configuration.developmentShare,
            seed: configuration.delivery.seed, startedAt: startedAt, startTime: startTime)
        desk = DeliveryDesk(configuration.delivery, directory: directory, hub: hub, log: log, startedAt: startedAt)
        ownsChannels = channels == nil
        self.channels =
            channels
            ?? ChannelDirectory(limit: configuration.channelLimit, enabled: configuration.broadcastTopics)
        statistics = (0..<max(1, configuration.threads)).map { _ in MockStatistics() }
        self.rules = Mutex(rules ?? FaultScript(configuration.faults, startedAt: startedAt))
    }

    var script: FaultScript { rules.withLock { $0 } }
    var plan: FaultPlan { script.plan }

    /// Other rules, whose bursts and counts begin now.
    ///
    /// - Parameter sharedBy: how many namespaces have them.
    func use(_ plan: FaultPlan, sharedBy: Int) {
        let script = FaultScript(plan, startedAt: MonotonicClock.now(), sharedBy: sharedBy)
        rules.withLock { $0 = script }
    }

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

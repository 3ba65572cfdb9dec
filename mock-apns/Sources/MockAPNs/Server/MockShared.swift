import Logging
import Measurement
import Networking

/// What all workers of a server share.
struct MockShared: Sendable {
    let configuration: MockConfiguration
    /// The default namespace.
    let home: Namespace
    /// nil: there is no other.
    let namespaces: Namespaces?
    let tokenUpdates: TokenUpdates
    let hub: EventHub
    let watch: PushWatch
    /// What became of pushes that are kept; nil: none are.
    let log: DeliveryLog?
    /// nil: there is no device model.
    let fleets: DeviceFleets?
    let book: LedgerBook
    let spread: ConnectionSpread
    let logger: Logger
    /// Monotonic nanoseconds.
    let startedAt: UInt64

    init(
        _ configuration: MockConfiguration, hub: EventHub, watch: PushWatch, logger: Logger,
        startedAt: UInt64 = MonotonicClock.now()
    ) {
        self.configuration = configuration
        self.hub = hub
        self.watch = watch
        let kept = configuration.adminPort == nil ? 0 : configuration.keptPushes
        let log = kept > 0 ? DeliveryLog(capacity: kept * max(1, configuration.threads)) : nil
        self.log = log
        self.logger = logger
        self.startedAt = startedAt
        let startTime = MonotonicClock.unixMilliseconds()
        let rooms = Namespace.Rooms(configuration)
        let home = Namespace(
            name: nil, configuration, hub: hub, log: log, rooms: rooms, startedAt: startedAt, startTime: startTime)
        self.home = home
        namespaces = configuration.namespaceRule.map { rule in
            // A port's namespace has no management of its own.
            let channels = rule == .port ? home.channels : nil
            return Namespaces(rule, rules: FaultScript(configuration.faults, startedAt: startedAt)) {
                Namespace(
                    name: $0, configuration, rules: $1, channels: channels, hub: hub, log: log, rooms: rooms,
                    startedAt: startedAt, startTime: startTime)
            }
        }
        tokenUpdates = TokenUpdates(configuration.tokenUpdates)
        fleets = configuration.deviceModel.map {
            DeviceFleets(
                $0, seed: configuration.delivery.seed, count: max(1, configuration.threads), startedAt: startedAt,
                startTime: startTime, log: configuration.deviceLog)
        }
        spread = ConnectionSpread(workers: max(1, configuration.threads))
        book = LedgerBook(capacity: configuration.ledgerCapacity, timesInterval: configuration.timesInterval)
    }

    /// nil: it has not come into being.
    ///
    /// - Parameter name: nil: of the default one.
    func namespace(_ name: String?) -> Namespace? {
        guard let name else { return home }
        return namespaces?.known(name)
    }

    /// All namespaces, the default one first.
    var allNamespaces: [Namespace] { [home] + (namespaces?.all ?? []) }
}

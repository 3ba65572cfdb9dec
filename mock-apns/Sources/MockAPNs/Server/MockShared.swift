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
    /// nil: there is no device model.
    let fleets: DeviceFleets?
    let book: LedgerBook
    let spread: ConnectionSpread
    let logger: Logger
    /// Monotonic nanoseconds.
    let startedAt: UInt64

    init(
        _ configuration: MockConfiguration, hub: EventHub, logger: Logger, startedAt: UInt64 = MonotonicClock.now()
    ) {
        self.configuration = configuration
        self.hub = hub
        self.logger = logger
        self.startedAt = startedAt
        let startTime = MonotonicClock.unixMilliseconds()
        let home = Namespace(name: nil, configuration, hub: hub, startedAt: startedAt, startTime: startTime)
        self.home = home
        namespaces = configuration.namespaceRule.map { rule in
            // A port's namespace has no management of its own.
            let channels = rule == .port ? home.channels : nil
            return Namespaces(rule) {
                Namespace(
                    name: $0, configuration, channels: channels, hub: hub, startedAt: startedAt, startTime: startTime)
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
}

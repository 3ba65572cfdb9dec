import Logging
import Measurement
import Networking

/// What all workers of a server share.
struct MockShared: Sendable {
    let configuration: MockConfiguration
    let directory: DeviceDirectory
    let tokenUpdates: TokenUpdates
    let channels: ChannelDirectory
    let hub: EventHub
    let desk: DeliveryDesk
    /// nil: there is no device model.
    let fleets: DeviceFleets?
    let book: LedgerBook
    let spread: ConnectionSpread
    /// That of the start; workers are told of others.
    let faults: FaultScript
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
        directory = DeviceDirectory(
            configuration.population, decay: configuration.decay, developmentShare: configuration.developmentShare,
            seed: configuration.delivery.seed, startedAt: startedAt, startTime: startTime)
        tokenUpdates = TokenUpdates(configuration.tokenUpdates)
        channels = ChannelDirectory(limit: configuration.channelLimit, enabled: configuration.broadcastTopics)
        desk = DeliveryDesk(configuration.delivery, directory: directory, hub: hub, startedAt: startedAt)
        fleets = configuration.deviceModel.map {
            DeviceFleets(
                $0, seed: configuration.delivery.seed, count: max(1, configuration.threads), startedAt: startedAt,
                startTime: startTime, log: configuration.deviceLog)
        }
        faults = FaultScript(configuration.faults, startedAt: startedAt)
        spread = ConnectionSpread(workers: max(1, configuration.threads))
        book = LedgerBook(capacity: configuration.ledgerCapacity, timesInterval: configuration.timesInterval)
    }
}

import Devices
import Measurement
import Payloads

/// Hands one worker's accepted pushes of a namespace on: to their devices, to the delivery desk, and to who watches.
final class PushHandOver {
    /// When a push was accepted: by the worker's clocks, read once a round of its loop.
    struct Moment {
        /// ns of the monotonic clock.
        let now: UInt64
        let unixMilliseconds: Int64
    }

    private let desk: DeliveryDesk
    private let hub: EventHub
    private let directory: DeviceDirectory
    /// nil: there is no device model.
    private let fleets: DeviceFleets?
    /// A device may have so many pushes only.
    private let isLimited: Bool
    private let answers: AnswerBlocks
    private let statistics: MockStatistics
    /// Of the namespace; nil: the default one.
    private let namespace: String?
    /// nil: nobody can ask what became of a push.
    private let log: DeliveryLog?
    /// Of the worker.
    private let number: Int

    init(
        _ shared: MockShared, _ namespace: Namespace, answers: AnswerBlocks, statistics: MockStatistics,
        worker number: Int
    ) {
        desk = namespace.desk
        hub = shared.hub
        directory = namespace.directory
        fleets = shared.fleets
        isLimited = shared.configuration.delivery.perDeviceLimit != nil
        self.answers = answers
        self.statistics = statistics
        self.namespace = namespace.name
        log = shared.log
        self.number = number
    }

    /// Hands an accepted push on to its device.
    ///
    /// - Returns: a reason when that cannot be.
    @inline(__always)
    func deliver(
        _ state: RequestState, _ trace: @autoclosure () -> TracedPush?,
        listed: @autoclosure () -> UnsafeBufferPointer<PayloadMember>, _ moment: @autoclosure () -> Moment
    ) -> Reason? {
        if let fleets { return handOver(state, trace(), listed(), to: fleets, moment()) }
        guard desk.isIdle else { return handOver(state, moment()) }
        MockStatistics.increment(statistics.deliveredAtOnce)
        return nil
    }

    private func handOver(_ state: RequestState, _ moment: Moment) -> Reason? {
        let key = TokenKey(state.deviceToken)
        if let reason = desk.admit(key, now: moment.now) { return reason }
        return desk.deliver(
            delivered(state, key, moment), now: moment.now, unixTime: moment.unixMilliseconds / 1000)
    }

    /// To its device, whose model says what comes of it. Who watches sees it at once.
    private func handOver(
        _ state: RequestState, _ trace: TracedPush?, _ listed: UnsafeBufferPointer<PayloadMember>,
        to fleets: DeviceFleets, _ moment: Moment
    ) -> Reason? {
        if isLimited,
            let reason = desk.admit(TokenKey(state.deviceToken), now: moment.now)
        {
            return reason
        }
        let record = directory.mayBeUnreached ? directory.record(TokenKey(state.deviceToken)) : nil
        if record?.state == .disabled {
            desk.discard()
            log?.note(.discarded, answers.uniqueIdentifier(of: state))
            return nil
        }
        let isOffline = record?.isOffline == true
        let outcome = fleets.receive(state, trace, listed: listed, isOffline: isOffline, now: moment.now, by: number)
        MockStatistics.increment(statistics.deliveredAtOnce)
        log?.note(.delivered, answers.uniqueIdentifier(of: state), outcome: outcome.name)
        if hub.isWatched {
            var push = delivered(state, TokenKey(state.deviceToken), moment)
            push.outcome = outcome
            hub.post([push])
        }
        return nil
    }

    private func delivered(_ state: RequestState, _ key: TokenKey, _ moment: Moment) -> DeliveredPush {
        DeliveredPush(
            token: state.deviceTokenText.lowercased(), key: key, channel: nil, topic: state.text(.topic),
            pushType: state.pushType, priority: state.priority,
            identifier: answers.identifier(of: state),
            collapseID: state.has(.collapseID) ? state.text(.collapseID) : nil,
            expiration: state.has(.expiration) ? Int64(state.text(.expiration)) : nil,
            acceptedAt: moment.unixMilliseconds, payload: Array(state.body), namespace: namespace,
            unique: log == nil ? nil : answers.uniqueIdentifier(of: state))
    }
}

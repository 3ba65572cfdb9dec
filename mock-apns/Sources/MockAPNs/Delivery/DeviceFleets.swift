import Devices
import Echo
import Measurement
import Networking
import Payloads
import Synchronization

/// The devices of a mock that has a device model (docs/devices.md): a fleet for each worker, each under a lock of its own, a device in
/// the fleet that its token says. Whichever worker gets a push hands it over before it answers, so that whoever waits for an answer
/// knows that the device has had the push before the next.
///
/// Each worker does what is due in its own fleet; a push that makes it sooner due from another thread wakes that worker. Times given are
/// nanoseconds of the monotonic clock.
final class DeviceFleets: Sendable {
    private final class Member: @unchecked Sendable {
        private let lock = Mutex<Void>(())
        // Touched under the lock only.
        @exclusivity(unchecked) private var fleet: DeviceFleet
        @exclusivity(unchecked) private var untagged: UInt64 = 0
        private var failed: [EchoRequest.Kind: UInt64] = [:]
        private var requests: [EchoRequest] = []
        /// How often it was begun anew.
        private var epoch: UInt32 = 0
        private let place: Int
        /// nil: nobody wants to know what became of each push.
        private let log: FleetLog?
        /// Where its devices' requests go; nil: there is no backend. Set before the workers' threads are started.
        var echo: Echo?
        /// Of the worker whose fleet it is; set before its thread is started.
        var wakeUp = WakeUp()

        init(_ fleet: DeviceFleet, place: Int, log: FleetLog?) {
            self.fleet = fleet
            self.place = place
            self.log = log
        }

        /// - Returns: what `body` does, when something is due next (UNIX nanoseconds), and whether that is sooner than before.
        func use<Answer>(
            at time: UInt64, _ body: (DeviceFleet) -> Answer
        ) -> (answer: Answer, due: UInt64?, isSooner: Bool) {
            lock.withLock { _ in
                let before = fleet.nextDue ?? .max
                let answer = body(fleet)
                settle(at: time)
                let due = fleet.nextDue
                return (answer, due, (due ?? .max) < before)
            }
        }

        /// Looks without changing anything.
        func glance(_ body: (DeviceFleet) -> Void) { lock.withLock { _ in body(fleet) } }

        /// Hands requests over; without a backend they have failed at once.
        private func settle(at time: UInt64) {
            while !fleet.requests.isEmpty {
                swap(&requests, &fleet.requests)
                if let echo {
                    echo.ask(requests, fleet: place, epoch: epoch)
                } else {
                    for request in requests {
                        failed[request.kind, default: 0] += 1
                        fleet.finished(request.id, .failed, at: time)
                    }
                }
                requests.removeAll(keepingCapacity: true)
            }
            tellLog()
        }

        private func tellLog() {
            guard let log, !fleet.reports.isEmpty else { return }
            for report in fleet.reports { log.take(report) }
            fleet.reports.removeAll(keepingCapacity: true)
        }

        /// A request of the fleet's, as it was then, has ended.
        ///
        /// - Returns: whether it was waited for; what is due next, and whether that is sooner than before.
        func finished(
            _ request: UInt64, _ ending: EchoEnding, epoch: UInt32, at time: UInt64
        ) -> (isWaitedFor: Bool, isSooner: Bool) {
            lock.withLock { _ in
                guard epoch == self.epoch else { return (false, false) }
                let before = fleet.nextDue ?? .max
                let isWaitedFor = fleet.finished(request, ending, at: time)
                settle(at: time)
                return (isWaitedFor, (fleet.nextDue ?? .max) < before)
            }
        }

        /// The name of a push that is about to be received. Under the lock.
        func ticket(_ push: TracedPush?) -> UInt64 {
            let named = push.flatMap { DeviceTicket($0) }
            if let log { log.willReceive(named == nil ? nil : push) }
            if let named { return named.word }
            untagged += 1
            return DeviceTicket(untagged: untagged).word
        }

        func figures(at time: UInt64) -> (counts: DeviceCounts, touched: Int, failed: [EchoRequest.Kind: UInt64]) {
            lock.withLock { _ in
                fleet.advance(to: time)
                settle(at: time)
                return (fleet.counts, fleet.touched, failed)
            }
        }

        func begin(_ anew: sending DeviceFleet, epoch: UInt32) {
            lock.withLock { _ in
                fleet = anew
                self.epoch = epoch
                untagged = 0
                failed = [:]
                log?.beginAnew()
            }
        }

        /// Tells the log what has not become of pushes by now.
        ///
        /// - Returns: pushes that are not in it.
        func endLog() -> UInt64 {
            lock.withLock { _ in
                guard let log else { return 0 }
                tellLog()
                fleet.tellUnfinished(log.take)
                log.flush()
                return log.unlogged
            }
        }
    }

    let model: DeviceModel
    private let seed: UInt64
    private let startedAt: UInt64
    /// UNIX nanoseconds at `startedAt`.
    private let startTime: UInt64
    private let members: [Member]
    private let log: DeviceLogWriter?
    /// How often they were begun anew, by one at a time.
    private let epoch = Mutex<UInt32>(0)
    /// Set before the workers' threads are started.
    private let echo = Mutex<Echo?>(nil)
    /// Of any number: tells the number of each synthetic device.
    private let devices: SyntheticDevices

    /// - Parameters:
    ///   - seed: of what is drawn by device, of synthetic devices, and of the keys that open what was sealed for them.
    ///   - count: of fleets, from 1: one a worker.
    ///   - startTime: UNIX milliseconds at `startedAt`.
    ///   - log: what became of each push is written there; nil: nowhere.
    init(
        _ model: DeviceModel, seed: UInt64, count: Int, startedAt: UInt64, startTime: Int64,
        log: DeviceLogWriter? = nil
    ) {
        self.model = model
        self.seed = seed
        self.startedAt = startedAt
        let time = UInt64(clamping: startTime) &* 1_000_000
        self.startTime = time
        devices = SyntheticDevices(seed: seed, count: .max)
        self.log = log
        members = (0..<count).map {
            Member(
                Self.fleet(model, seed, time, log), place: $0,
                log: log.map { FleetLog($0, unixTime: time, monotonicTime: startedAt) })
        }
    }

    private static func fleet(
        _ model: DeviceModel, _ seed: UInt64, _ startedAt: UInt64, _ log: DeviceLogWriter?
    ) -> DeviceFleet {
        DeviceFleet(model, seed: seed, sealingSeed: seed, startedAt: startedAt, isReporting: log != nil)
    }

    /// Before the workers' threads are started.
    func use(_ wakeUps: [WakeUp]) {
        for (member, wakeUp) in zip(members, wakeUps) { member.wakeUp = wakeUp }
    }

    /// Lets devices ask their backend. Before the workers' threads are started.
    func begin(_ echo: Echo) {
        self.echo.withLock { $0 = echo }
        for member in members { member.echo = echo }
        echo.start(.init(startTime: startTime, startedAt: startedAt)) { [members] request, fleet, epoch, ending, now in
            let member = members[fleet]
            let time = self.time(now)
            let used = member.finished(request, ending, epoch: epoch, at: time)
            if used.isSooner { member.wakeUp.signal() }
            return used.isWaitedFor
        }
    }

    /// Devices ask no more; what they had asked for stays under way.
    func stop() { echo.withLock { $0 }?.stop() }

    /// What became of the requests of devices; nil: there is no backend.
    var echoFigures: EchoFigures? { echo.withLock { $0 }?.figures }

    /// UNIX nanoseconds, which no change of the clock moves.
    private func time(_ now: UInt64) -> UInt64 { startTime &+ (now - min(now, startedAt)) }

    private func place(_ key: DeviceKey) -> Int { key.share(of: members.count) }

    // MARK: Pushes

    /// A push for a device is about to be judged, and may be accepted: what it needs of memory is asked for, so that it need not
    /// be waited for.
    ///
    /// - Returns: what the device is known by.
    func expect(_ token: UnsafeRawBufferPointer) -> DeviceKey {
        let key = DeviceKey(token)
        members[place(key)].glance { $0.expect(key) }
        return key
    }

    /// The same, later: what was asked for is there.
    func approach(_ key: DeviceKey) { members[place(key)].glance { $0.approach(key) } }

    /// A push that was accepted.
    ///
    /// - Parameters:
    ///   - push: by its trace tag; nil: it has none, or its run no place.
    ///   - listed: where the members of its payload stand; empty: not known.
    ///   - isOffline: somebody has said that the device is.
    ///   - worker: whose thread this is.
    /// - Returns: what has become of it so far.
    @discardableResult
    func receive(
        _ state: RequestState, _ push: TracedPush?,
        listed: UnsafeBufferPointer<PayloadMember> = .init(start: nil, count: 0), isOffline: Bool, now: UInt64,
        by worker: Int
    ) -> DeviceOutcome {
        let key = state.deviceKey ?? DeviceKey(state.deviceToken)
        let expiration = state.has(.expiration) ? Int64(state.text(.expiration)) : nil
        let place = place(key)
        let member = members[place]
        let time = time(now)
        let used = member.use(at: time) { fleet in
            let number = fleet.number(of: key) ?? devices.index(ofToken: state.deviceToken) ?? 0
            if isOffline { fleet.set(.online(false), on: key, number: number, at: time) }
            return fleet.receive(
                DevicePush(
                    device: key, number: number, ticket: member.ticket(push), type: state.pushType,
                    priority: UInt8(clamping: state.priority), collapseID: state.value(.collapseID),
                    expiration: expiration, payload: state.body, members: listed), at: time)
        }
        if used.isSooner, place != worker { member.wakeUp.signal() }
        return used.answer
    }

    /// Does what is due in a worker's own fleet.
    ///
    /// - Returns: when to come again; `UInt64.max` when nothing is planned.
    func advance(_ worker: Int, now: UInt64) -> UInt64 {
        let time = time(now)
        guard let due = members[worker].use(at: time, { $0.advance(to: time) }).due else { return .max }
        return startedAt &+ (due - min(due, startTime))
    }

    // MARK: By hand

    /// Looks at a device or does something with it, at the time given to `body`, UNIX nanoseconds. From any thread.
    ///
    /// - Parameter body: is given the device's fleet, its key there, and its number.
    func use<Answer>(
        _ token: String, now: UInt64, _ body: (DeviceFleet, DeviceKey, UInt64, UInt64) -> Answer
    ) -> Answer {
        let key = DeviceKey(token)
        let number = Array(token.utf8).withUnsafeBytes(devices.index) ?? 0
        let member = members[place(key)]
        let time = time(now)
        let used = member.use(at: time) { body($0, key, number, time) }
        if used.isSooner { member.wakeUp.signal() }
        return used.answer
    }

    /// Begins anew: as if nothing had happened to any device.
    func reset(now: UInt64) {
        epoch.withLock { epoch in
            epoch &+= 1
            // Requests of the fleets that end are forgotten from here on, and what was logged of before is too late for the file.
            echo.withLock { $0 }?.begin(epoch: epoch)
            log?.beginAnew()
            for member in members { member.begin(Self.fleet(model, seed, time(now), log), epoch: epoch) }
        }
    }

    /// Completes the log: what is still under way stays so in it.
    ///
    /// - Throws: one line when anything of it could not be written.
    func endLog() throws(DeviceLog.Failure) {
        guard let log else { return }
        try log.end(unlogged: members.reduce(0) { $0 + $1.endLog() })
    }

    /// What became of all pushes so far.
    func figures(now: UInt64) -> DeviceFigures {
        var counts = DeviceCounts()
        var touched = 0
        var failed: [EchoRequest.Kind: UInt64] = [:]
        for member in members {
            let part = member.figures(at: time(now))
            counts.add(part.counts)
            touched += part.touched
            failed.merge(part.failed, uniquingKeysWith: +)
        }
        let hasBackend = echo.withLock { $0 != nil }
        return DeviceFigures(counts, touched: touched, failed: hasBackend ? nil : failed)
    }
}

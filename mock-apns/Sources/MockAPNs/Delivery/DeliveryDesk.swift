import Networking
import Synchronization

/// Brings accepted pushes to their devices: at once, when the device comes back, or when their time has come.
///
/// Shared by all workers under one lock, and asked only when something is to happen between accepting and delivering, or
/// somebody watches deliveries. Rules: "Sending notification requests to APNs".
final class DeliveryDesk: Sendable {
    private enum Due: Sendable {
        /// A push held back for its priority.
        case delayed(UInt64)
        /// The end of what is stored for a device's app.
        case expiry(TokenKey, bundleID: String, number: UInt64)
        /// A device drawn offline comes back.
        case comeback(TokenKey)
        /// The hour of throttling is over.
        case release(TokenKey, bundleID: String, number: UInt64)
    }

    private struct Stored: Sendable {
        let push: DeliveredPush
        let number: UInt64
    }

    private struct Window: Sendable {
        var start: UInt64
        var count: Int
    }

    /// Windows by what is counted. Of more than so many, those are forgotten that were counted in longest ago: the last so many that were
    /// counted in are there, and as many again at most.
    private struct Windows<Key: Hashable & Sendable>: Sendable {
        private var recent: [Key: Window] = [:]
        private var older: [Key: Window] = [:]

        /// - Parameter now: of the asking worker's own clock, which may be a little behind another's.
        /// - Returns: the window with one more.
        mutating func count(_ key: Key, now: UInt64, period: UInt64, most: Int) -> Window {
            var window = recent[key] ?? older.removeValue(forKey: key) ?? Window(start: now, count: 0)
            if max(now, window.start) - window.start >= period { window = Window(start: now, count: 0) }
            window.count += 1
            recent[key] = window
            if recent.count > most { (older, recent) = (recent, [:]) }
            return window
        }
    }

    private struct AppKey: Hashable, Sendable {
        let device: TokenKey
        let bundleID: String
    }

    private struct State: Sendable {
        var counts = DeliveryCounts()
        /// By device and app: in general only the latest is kept.
        var stored: [TokenKey: [String: Stored]] = [:]
        var delayed: [UInt64: DeliveredPush] = [:]
        var due = DueQueue<Due>()
        var nextNumber: UInt64 = 0
        /// How many streams of a device are attached.
        var attached: [TokenKey: Int] = [:]
        var background = Windows<AppKey>()
        var rates = Windows<TokenKey>()
        /// Devices whose comeback is planned.
        var planned: Set<TokenKey> = []
        /// Places taken in the room.
        var taken = 0
    }

    private let settings: DeliverySettings
    /// Something happens between accepting and delivering.
    private let isOn: Bool
    private let directory: DeviceDirectory
    private let hub: EventHub
    /// What becomes of pushes is noted there; nil: nowhere.
    private let log: DeliveryLog?
    private let startedAt: UInt64
    private let state = Mutex(State())
    /// For the pushes that wait, of all namespaces.
    private let room: SharedRoom
    private let mostWindows: Int
    private static let hour: UInt64 = 3_600_000_000_000

    /// - Parameters:
    ///   - room: for the pushes that wait; nil: its own, as large as the settings say.
    ///   - mostWindows: devices, and apps on devices, whose pushes are counted.
    init(
        _ settings: DeliverySettings, directory: DeviceDirectory, hub: EventHub, log: DeliveryLog? = nil,
        room: SharedRoom? = nil, mostWindows: Int = 1_000_000, startedAt: UInt64
    ) {
        self.settings = settings
        isOn = settings.isOn
        self.directory = directory
        self.hub = hub
        self.log = log
        self.room = room ?? SharedRoom(settings.storeCapacity)
        self.mostWindows = mostWindows
        self.startedAt = startedAt
    }

    deinit { state.withLock { room.give($0.taken) } }

    /// Nobody would notice the difference: pushes need not be shown to the desk.
    var isIdle: Bool { !isOn && !hub.isWatched && !directory.mayBeUnreached }

    var counts: DeliveryCounts { state.withLock { $0.counts } }
    /// Things to do at their time, those that may turn out to be over among them.
    var planned: Int { state.withLock { $0.due.count } }

    func reset() {
        state.withLock { state in
            let attached = state.attached
            room.give(state.taken)
            state = State()
            state.attached = attached
        }
    }

    /// Some device is attached.
    var isAttached: Bool { state.withLock { !$0.attached.isEmpty } }

    /// Counts a push to this device; a reason when it is one too many.
    func admit(_ key: TokenKey, now: UInt64) -> Reason? {
        guard let limit = settings.perDeviceLimit else { return nil }
        return state.withLock { state in
            let window = state.rates.count(key, now: now, period: settings.perDevicePeriod, most: mostWindows)
            guard window.count > limit else { return nil }
            state.counts.tooMany += 1
            return .tooManyRequests
        }
    }

    /// - Parameters:
    ///   - now: nanoseconds of the monotonic clock; `unixTime`: seconds.
    /// - Returns: a reason when the push can be neither delivered nor stored.
    func deliver(_ push: DeliveredPush, now: UInt64, unixTime: Int64) -> Reason? {
        var ready: [DeliveredPush] = []
        var isSooner = false
        let reason = state.withLock { state -> Reason? in
            let before = state.due.nextDue ?? .max
            defer { isSooner = (state.due.nextDue ?? .max) < before }
            if isDisabled(push.key) {
                state.counts.discarded += 1
                log?.note(.discarded, push.unique)
                return nil
            }
            if push.pushType == .background, let release = throttle(push, now, &state) {
                state.counts.throttled += 1
                log?.note(.heldBack, push.unique)
                return store(push, now, unixTime, release: release, &state)
            }
            if isOffline(push.key, now, state) { return store(push, now, unixTime, release: nil, &state) }
            let interval =
                push.priority == 5 ? settings.priority5Interval : push.priority == 1 ? settings.priority1Interval : 0
            guard interval == 0 else {
                guard takeRoom(&state) else { return .internalServerError }
                state.nextNumber += 1
                state.delayed[state.nextNumber] = push
                let age = now - startedAt
                plan(.delayed(state.nextNumber), due: startedAt + (age / interval + 1) * interval, &state)
                state.counts.grouped += 1
                log?.note(.grouped, push.unique)
                return nil
            }
            state.counts.delivered += 1
            ready.append(push)
            return nil
        }
        post(ready)
        if isSooner { hub.wake() }
        return reason
    }

    /// Counts a push for a device with notifications disabled.
    func discard() { state.withLock { $0.counts.discarded += 1 } }

    private func isDisabled(_ key: TokenKey) -> Bool {
        directory.mayBeUnreached && directory.record(key)?.state == .disabled
    }

    /// Does what is due.
    ///
    /// - Returns: when to come again; nil when nothing is planned.
    func advance(now: UInt64, unixTime: Int64) -> UInt64? {
        var ready: [DeliveredPush] = []
        let next = state.withLock { state -> UInt64? in
            while let due = state.due.take(now: now) {
                switch due {
                case .delayed(let number):
                    guard let push = state.delayed.removeValue(forKey: number) else { continue }
                    if isDisabled(push.key) {
                        state.counts.discarded += 1
                        log?.note(.discarded, push.unique)
                    } else if isOffline(push.key, now, state) {
                        // It keeps its place, and is not refused.
                        _ = store(push, now, unixTime, release: nil, &state)
                    } else {
                        state.counts.delivered += 1
                        ready.append(push)
                    }
                case .expiry(let key, let bundleID, let number):
                    guard let push = take(key, bundleID, number, &state) else { continue }
                    state.counts.expired += 1
                    log?.note(.expired, push.unique)
                case .comeback(let key):
                    state.planned.remove(key)
                    if !isOffline(key, now, state) { ready += takeAll(key, &state) }
                case .release(let key, let bundleID, let number):
                    guard !isOffline(key, now, state), let push = take(key, bundleID, number, &state) else { continue }
                    state.counts.delivered += 1
                    state.counts.deliveredLate += 1
                    ready.append(push)
                }
            }
            giveRoom(&state)
            return state.due.nextDue
        }
        post(ready)
        return next
    }

    /// Tells who watches of pushes that were delivered.
    private func post(_ pushes: [DeliveredPush]) {
        if let log { for push in pushes { log.note(.delivered, push.unique) } }
        hub.post(pushes)
    }

    // MARK: Presence

    /// A stream of this device was attached.
    func attach(_ key: TokenKey, now: UInt64) {
        let ready = state.withLock { state in
            state.attached[key, default: 0] += 1
            defer { giveRoom(&state) }
            return isOffline(key, now, state) ? [] : takeAll(key, &state)
        }
        post(ready)
    }

    func detach(_ key: TokenKey) {
        state.withLock { state in
            guard let count = state.attached[key] else { return }
            state.attached[key] = count == 1 ? nil : count - 1
        }
    }

    /// Something was changed about a device: what waits for it is delivered if it is there now, and discarded if its notifications
    /// are disabled.
    func lookAgain(_ key: TokenKey, now: UInt64) {
        let ready = state.withLock { state in
            defer { giveRoom(&state) }
            if isDisabled(key) {
                let waiting = state.stored.removeValue(forKey: key) ?? [:]
                state.counts.waiting -= UInt64(waiting.count)
                state.counts.discarded += UInt64(waiting.count)
                for stored in waiting.values { log?.note(.discarded, stored.push.unique) }
                return [DeliveredPush]()
            }
            return isOffline(key, now, state) ? [] : takeAll(key, &state)
        }
        post(ready)
    }

    private func isOffline(_ key: TokenKey, _ now: UInt64, _ state: borrowing State) -> Bool {
        if let record = directory.record(key), record.isOffline { return true }
        if settings.onlineByAttachment { return state.attached[key] == nil }
        guard settings.offlineShare > 0 else { return false }
        let draw = key.share(settings.seed ^ 0x0FF)
        guard draw < settings.offlineShare else { return false }
        return comeback(key).map { now < $0 } ?? true
    }

    /// When a device drawn offline comes back.
    private func comeback(_ key: TokenKey) -> UInt64? {
        guard settings.offlineShare > 0, let within = settings.offlineWithin else { return nil }
        return startedAt + UInt64(key.share(settings.seed ^ 0xBAC) * Double(within))
    }

    // MARK: The store

    /// When the push may be delivered, if its app has used up the hour's background pushes.
    private func throttle(_ push: DeliveredPush, _ now: UInt64, _ state: inout State) -> UInt64? {
        guard let limit = settings.backgroundPerHour else { return nil }
        let app = AppKey(device: push.key, bundleID: push.bundleID)
        let window = state.background.count(app, now: now, period: Self.hour, most: mostWindows)
        return window.count > limit ? window.start + Self.hour : nil
    }

    private func store(
        _ push: DeliveredPush, _ now: UInt64, _ unixTime: Int64, release: UInt64?, _ state: inout State
    ) -> Reason? {
        // 0: try once, do not store.
        if let expiration = push.expiration, expiration <= unixTime {
            if expiration == 0 { state.counts.notStored += 1 } else { state.counts.expired += 1 }
            log?.note(expiration == 0 ? .notStored : .expired, push.unique)
            return nil
        }
        let bundleID = push.bundleID
        if let older = state.stored[push.key]?[bundleID] {
            if let collapseID = push.collapseID, older.push.collapseID == collapseID {
                state.counts.collapsed += 1
                log?.note(.collapsed, older.push.unique)
            } else {
                state.counts.replaced += 1
                log?.note(.replaced, older.push.unique)
            }
            state.counts.waiting -= 1
        } else if !takeRoom(&state) {
            return .internalServerError
        }
        state.nextNumber += 1
        let number = state.nextNumber
        state.stored[push.key, default: [:]][bundleID] = Stored(push: push, number: number)
        state.counts.stored += 1
        log?.note(.stored, push.unique)
        state.counts.waiting += 1
        let end = min(push.expiration ?? .max, unixTime + DeliverySettings.longestStorage)
        plan(
            .expiry(push.key, bundleID: bundleID, number: number), due: now + UInt64(end - unixTime) * 1_000_000_000,
            &state)
        if let release { plan(.release(push.key, bundleID: bundleID, number: number), due: release, &state) }
        if let comeback = comeback(push.key), comeback > now, state.planned.insert(push.key).inserted {
            plan(.comeback(push.key), due: comeback, &state)
        }
        return nil
    }

    /// For one more push. `--store-capacity` is of all pushes that wait, stored or held back for their priority. The place of one that
    /// has just left it is taken first.
    private func takeRoom(_ state: inout State) -> Bool {
        if state.taken > Int(state.counts.waiting) + state.delayed.count { return true }
        guard room.take() else { return false }
        state.taken += 1
        return true
    }

    /// What no longer waits has left its place.
    private func giveRoom(_ state: inout State) {
        let left = state.taken - Int(state.counts.waiting) - state.delayed.count
        guard left > 0 else { return }
        state.taken -= left
        room.give(left)
    }

    /// What was planned for pushes that were replaced or taken since is forgotten once it is as much as all the rest: the plan
    /// stays within 4 entries a waiting push, 2 a device that is to come back, and 64.
    private func plan(_ due: Due, due time: UInt64, _ state: inout State) {
        state.due.add(due, due: time)
        let needed = 2 * Int(state.counts.waiting) + state.delayed.count + state.planned.count
        guard state.due.count > 2 * needed + 64 else { return }
        let (stored, delayed, planned) = (state.stored, state.delayed, state.planned)
        state.due.removeAll { due in
            switch due {
            case .delayed(let number): delayed[number] == nil
            case .comeback(let key): !planned.contains(key)
            case .expiry(let key, let bundleID, let number), .release(let key, let bundleID, let number):
                stored[key]?[bundleID]?.number != number
            }
        }
    }

    private func take(
        _ key: TokenKey, _ bundleID: String, _ number: UInt64, _ state: inout State
    ) -> DeliveredPush? {
        guard let stored = state.stored[key]?[bundleID], stored.number == number else { return nil }
        state.stored[key]![bundleID] = nil
        if state.stored[key]!.isEmpty { state.stored[key] = nil }
        state.counts.waiting -= 1
        return stored.push
    }

    /// Everything stored for a device, oldest first.
    private func takeAll(_ key: TokenKey, _ state: inout State) -> [DeliveredPush] {
        guard let apps = state.stored.removeValue(forKey: key) else { return [] }
        let pushes = apps.values.sorted { $0.number < $1.number }.map(\.push)
        state.counts.waiting -= UInt64(pushes.count)
        state.counts.delivered += UInt64(pushes.count)
        state.counts.deliveredLate += UInt64(pushes.count)
        return pushes
    }
}

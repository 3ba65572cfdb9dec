import Networking
import PlainHTTP
import Synchronization

/// The thread beside the workers: it answers people and programs that watch the mock (plain HTTP/1.1), brings deliveries to
/// those who have subscribed to them, and does what the delivery desk has planned.
///
/// It is our own and not a library's because an event stream has to cost well under 4 KB for 10,000 of them to be held, and
/// because it shares its thread with the delivery timers.
final class AdminServer: @unchecked Sendable {
    /// What an event stream shows.
    private enum Subscription {
        case everything
        case device(TokenKey)
        case channel(String)
    }

    /// Set once, before the thread is started.
    unowned(unsafe) var server: MockServer!
    private let listener: Listener?
    private let reactor: Reactor
    private let shared: MockShared
    private let stopping = Atomic<Bool>(false)

    // Touched by the thread only.
    private var plain: PlainServer!
    private var subscriptions: [UInt64: Subscription] = [:]
    private var everything: Set<UInt64> = []
    private var devices: [TokenKey: [UInt64]] = [:]
    private var channels: [String: [UInt64]] = [:]
    private static let heartbeat: UInt64 = 15_000_000_000

    init(listener: Listener?, reactor: Reactor, shared: MockShared) {
        self.listener = listener
        self.reactor = reactor
        self.shared = shared
    }

    func stop() {
        stopping.store(true, ordering: .relaxed)
        reactor.wakeUp.signal()
    }

    func run() {
        let configuration = shared.configuration
        let hosts = HostRule(names: [configuration.adminHost] + configuration.adminNames, flag: "--admin-name")
        plain = PlainServer(listener: listener, reactor: reactor, hosts: hosts) { [unowned self] in answer($0, $1) }
        defer { plain = nil }
        plain.ended = { [unowned self] in unsubscribe($0) }
        plain.dropped = { [shared] in shared.hub.countDropped(UInt64($0)) }
        plain.exhausted = { [shared] in
            shared.logger.warning("no file descriptor left for another connection to the admin port")
        }
        var nextHeartbeat = MonotonicClock.now() + Self.heartbeat
        var nextDue = shared.home.desk.advance(now: MonotonicClock.now(), unixTime: MonotonicClock.unixSeconds())
        while !stopping.load(ordering: .relaxed) {
            let before = MonotonicClock.now()
            let until = min(nextDue ?? .max, nextHeartbeat)
            plain.turn(timeout: until > before ? until - before : 0)
            let now = MonotonicClock.now()
            nextDue = shared.home.desk.advance(now: now, unixTime: MonotonicClock.unixSeconds())
            show(shared.hub.take())
            if now >= nextHeartbeat {
                nextHeartbeat = now + Self.heartbeat
                plain.sendHeartbeats()
            }
        }
    }

    private func answer(_ request: PlainRequest, _ connection: UInt64) -> PlainResponse? {
        if let refusal = AdminPages.refusal(request, server.shared.configuration.rules) { return refusal }
        guard request.path == "/events" else {
            return AdminPages(server: server, subscribers: watchers).answer(request)
        }
        if request.isHead { return .events }
        plain.beginEvents(connection)
        if let token = request.query["token"] {
            let key = TokenKey(token)
            subscribe(connection, .device(key))
            shared.home.desk.attach(key, now: MonotonicClock.now())
        } else if let channel = request.query["channel"] {
            subscribe(connection, .channel(channel))
            if let push = shared.home.channels.latest(channel, unixTime: MonotonicClock.unixSeconds()) {
                show(push, to: [connection])
            }
        } else {
            subscribe(connection, .everything)
        }
        return nil
    }

    // MARK: Subscribers

    private var watchers: Int { subscriptions.count }

    private func subscribe(_ connection: UInt64, _ subscription: Subscription) {
        subscriptions[connection] = subscription
        switch subscription {
        case .everything: everything.insert(connection)
        case .device(let key): devices[key, default: []].append(connection)
        case .channel(let id): channels[id, default: []].append(connection)
        }
        shared.hub.setSubscribers(watchers)
    }

    private func unsubscribe(_ connection: UInt64) {
        guard let subscription = subscriptions.removeValue(forKey: connection) else { return }
        switch subscription {
        case .everything: everything.remove(connection)
        case .device(let key):
            devices[key]?.removeAll { $0 == connection }
            if devices[key]?.isEmpty == true { devices[key] = nil }
            shared.home.desk.detach(key)
        case .channel(let id):
            channels[id]?.removeAll { $0 == connection }
            if channels[id]?.isEmpty == true { channels[id] = nil }
        }
        shared.hub.setSubscribers(watchers)
    }

    private func show(_ pushes: [DeliveredPush]) {
        for push in pushes {
            let own = push.channel.map { channels[$0] } ?? devices[push.key]
            let receivers = everything.union(own ?? [])
            if !receivers.isEmpty { show(push, to: receivers) }
        }
    }

    private func show(_ push: DeliveredPush, to receivers: Set<UInt64>) {
        let kind = push.channel == nil ? "push" : "broadcast"
        let event = Array(
            "event: \(kind)\ndata: \(push.json(deliveredAt: MonotonicClock.unixMilliseconds()))\n\n".utf8)
        for receiver in receivers { plain.sendEvent(event, to: receiver) }
    }
}

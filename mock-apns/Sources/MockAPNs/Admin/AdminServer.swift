import Networking
import PlainHTTP
import Settings
import Synchronization

/// The thread beside the workers: it answers people and programs that watch the mock (plain HTTP/1.1), brings deliveries to
/// those who have subscribed to them, and does what the delivery desk has planned.
///
/// It is our own and not a library's because an event stream has to cost well under 4 KB for 10,000 of them to be held, and
/// because it shares its thread with the delivery timers.
final class AdminServer: @unchecked Sendable {
    /// What an event stream shows.
    private struct Subscription {
        enum Subject {
            case everything
            /// With the namespace that the device is attached in.
            case device(TokenKey, Namespace)
            case channel(String)
        }

        let subject: Subject
        let namespaces: NamespaceChoice
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
    private var waits: PushWaits!
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
        waits = PushWaits(server)
        defer {
            plain = nil
            waits = nil
        }
        plain.fields = ["server: mock-apns/\(Version.number)"]
        plain.ended = { [unowned self] in unsubscribe($0) }
        plain.dropped = { [shared] in shared.hub.countDropped(UInt64($0)) }
        plain.exhausted = { [shared] in
            shared.logger.warning("no file descriptor left for another connection to the admin port")
        }
        var nextHeartbeat = MonotonicClock.now() + Self.heartbeat
        var nextDue = deliver(now: MonotonicClock.now())
        while !stopping.load(ordering: .relaxed) {
            let before = MonotonicClock.now()
            let until = min(nextDue ?? .max, nextHeartbeat, waits.nextDue ?? .max)
            plain.turn(timeout: until > before ? until - before : 0)
            let now = MonotonicClock.now()
            nextDue = deliver(now: now)
            show(shared.hub.take())
            waits.look(now: now)
            while let (request, answer) = waits.next() { plain.respond(answer, to: request) }
            if now >= nextHeartbeat {
                nextHeartbeat = now + Self.heartbeat
                plain.sendHeartbeats()
            }
        }
    }

    /// Does what the desks of all namespaces have planned.
    ///
    /// - Returns: when to come again, monotonic ns; nil when nothing is planned.
    private func deliver(now: UInt64) -> UInt64? {
        let unixTime = MonotonicClock.unixSeconds()
        return shared.allNamespaces.compactMap { $0.desk.advance(now: now, unixTime: unixTime) }.min()
    }

    private func answer(_ request: PlainRequest, _ connection: UInt64) -> PlainResponse? {
        if let refusal = AdminPages.refusal(request, server.shared.configuration.rules) { return refusal }
        do throws(SettingsError) {
            switch request.path {
            case "/events": return try subscribe(request, connection)
            case "/pushes" where request.query["wait"] != nil: return try wait(request, connection)
            default:
                return AdminPages(
                    server: server, watchers: .init(subscribers: subscriptions.count, waiting: waits.count)
                ).answer(request)
            }
        } catch { return .text("\(request.path): \(error)", status: 400) }
    }

    private func wait(_ request: PlainRequest, _ connection: UInt64) throws(SettingsError) -> PlainResponse? {
        let query = try PushQuery(request, of: server)
        guard !waits.isFull else {
            return .text("/pushes: \(PushWaits.most) requests wait already", status: 503)
        }
        if let answer = waits.add(query, for: connection, now: MonotonicClock.now()) { return answer }
        plain.await(request, connection)
        return nil
    }

    private func subscribe(_ request: PlainRequest, _ connection: UInt64) throws(SettingsError) -> PlainResponse? {
        let name = request.query["namespace"]
        // A device that is there is a change.
        let namespaces = try NamespaceChoice(
            name, isRead: name == nil || request.query["token"] == nil || request.isHead, of: server)
        if request.isHead { return .events }
        plain.beginEvents(connection)
        if let token = request.query["token"] {
            let key = TokenKey(token)
            let home = if case .one(let name) = namespaces { shared.namespace(name)! } else { shared.home }
            subscribe(connection, .init(subject: .device(key, home), namespaces: namespaces))
            home.desk.attach(key, now: MonotonicClock.now())
        } else if let channel = request.query["channel"] {
            subscribe(connection, .init(subject: .channel(channel), namespaces: namespaces))
            let unixTime = MonotonicClock.unixSeconds()
            for namespace in shared.allNamespaces where namespaces.includes(namespace) {
                if let push = namespace.channels.latest(channel, unixTime: unixTime) {
                    show(push, to: [connection])
                    break
                }
            }
        } else {
            subscribe(connection, .init(subject: .everything, namespaces: namespaces))
        }
        return nil
    }

    // MARK: Subscribers

    private func subscribe(_ connection: UInt64, _ subscription: Subscription) {
        subscriptions[connection] = subscription
        switch subscription.subject {
        case .everything: everything.insert(connection)
        case .device(let key, _): devices[key, default: []].append(connection)
        case .channel(let id): channels[id, default: []].append(connection)
        }
        shared.hub.setSubscribers(subscriptions.count)
    }

    private func unsubscribe(_ connection: UInt64) {
        guard let subscription = subscriptions.removeValue(forKey: connection) else { return }
        switch subscription.subject {
        case .everything: everything.remove(connection)
        case .device(let key, let namespace):
            devices[key]?.removeAll { $0 == connection }
            if devices[key]?.isEmpty == true { devices[key] = nil }
            namespace.desk.detach(key)
        case .channel(let id):
            channels[id]?.removeAll { $0 == connection }
            if channels[id]?.isEmpty == true { channels[id] = nil }
        }
        shared.hub.setSubscribers(subscriptions.count)
    }

    private func show(_ pushes: [DeliveredPush]) {
        for push in pushes {
            let own = push.channel.map { channels[$0] } ?? devices[push.key]
            let receivers = everything.union(own ?? []).filter {
                subscriptions[$0]?.namespaces.includes(push.namespace) == true
            }
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

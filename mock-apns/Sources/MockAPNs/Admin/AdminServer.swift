import Networking
import PlainHTTP
import Synchronization

/// The thread beside the workers: it answers people and programs that watch the mock (plain HTTP/1.1), brings deliveries to
/// those who have subscribed to them, and does what the delivery desk has planned.
///
/// It is our own and not a library's because an event stream has to cost well under 4 KB for 10,000 of them to be held, and
/// because it shares its thread with the delivery timers.
final class AdminServer: @unchecked Sendable {
    /// Set once, before the thread is started.
    unowned(unsafe) var server: MockServer!
    private let listener: Listener?
    private let reactor: Reactor
    private let shared: MockShared
    private let stopping = Atomic<Bool>(false)

    // Touched by the thread only.
    private var connections: [UInt64: AdminConnection] = [:]
    private var nextToken: UInt64 = 1
    private var everything: Set<UInt64> = []
    private var devices: [TokenKey: [UInt64]] = [:]
    private var channels: [String: [UInt64]] = [:]
    private static let listenerToken: UInt64 = 0
    private static let mostConnections = 50_000
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
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 16_384)
        defer { buffer.deallocate() }
        if let listener { reactor.add(listener.descriptor, token: Self.listenerToken, interest: .readable) }
        var nextHeartbeat = MonotonicClock.now() + Self.heartbeat
        var nextDue = shared.desk.advance(now: MonotonicClock.now(), unixTime: MonotonicClock.unixSeconds())
        while !stopping.load(ordering: .relaxed) {
            let before = MonotonicClock.now()
            let until = min(nextDue ?? .max, nextHeartbeat)
            let count = reactor.wait(timeout: until > before ? until - before : 0)
            for index in 0..<count {
                let event = reactor.event(at: index)
                if event.token == Self.listenerToken {
                    accept()
                } else if let connection = connections[event.token] {
                    connection.handle(event.readiness, buffer) { [unowned self] in answer($0, $1) }
                    if connection.isClosed { remove(connection) }
                }
            }
            let now = MonotonicClock.now()
            nextDue = shared.desk.advance(now: now, unixTime: MonotonicClock.unixSeconds())
            show(shared.hub.take())
            if now >= nextHeartbeat {
                nextHeartbeat = now + Self.heartbeat
                for connection in Array(connections.values) where connection.subscription != nil {
                    connection.sendHeartbeat()
                    if connection.isClosed { remove(connection) }
                }
            }
        }
        for connection in connections.values { connection.close() }
        connections = [:]
    }

    private func accept() {
        while let listener {
            guard case .descriptor(let descriptor) = listener.accept() else { return }
            guard connections.count < Self.mostConnections,
                let stream = try? SocketStream(accepted: descriptor, tls: nil, options: SocketOptions())
            else { continue }
            connections[nextToken] = AdminConnection(token: nextToken, stream: stream, reactor: reactor)
            nextToken += 1
        }
    }

    private func answer(_ request: PlainRequest, _ connection: AdminConnection) -> PlainResponse? {
        if let refusal = AdminPages.refusal(request) { return refusal }
        guard request.path == "/events" else {
            return AdminPages(server: server, subscribers: subscribers).answer(request)
        }
        if let token = request.query["token"] {
            let key = TokenKey(token)
            subscribe(connection, .device(key))
            shared.desk.attach(key, now: MonotonicClock.now())
        } else if let channel = request.query["channel"] {
            subscribe(connection, .channel(channel))
            if let push = shared.channels.latest(channel, unixTime: MonotonicClock.unixSeconds()) {
                show(push, to: [connection.token])
            }
        } else {
            subscribe(connection, .everything)
        }
        return nil
    }

    // MARK: Subscribers

    private var subscribers: Int {
        everything.count + devices.values.reduce(0) { $0 + $1.count } + channels.values.reduce(0) { $0 + $1.count }
    }

    private func subscribe(_ connection: AdminConnection, _ subscription: AdminConnection.Subscription) {
        connection.subscription = subscription
        connection.beginEvents()
        switch subscription {
        case .everything: everything.insert(connection.token)
        case .device(let key): devices[key, default: []].append(connection.token)
        case .channel(let id): channels[id, default: []].append(connection.token)
        }
        tellHub(change: 1)
    }

    /// Kept apart from `subscribers` so that attaching the ten-thousandth does not count the others again.
    private var watchers = 0
    private func tellHub(change: Int) {
        watchers += change
        shared.hub.setSubscribers(watchers)
    }

    private func remove(_ connection: AdminConnection) {
        guard connections.removeValue(forKey: connection.token) != nil, let subscription = connection.subscription
        else {
            return
        }
        switch subscription {
        case .everything: everything.remove(connection.token)
        case .device(let key):
            devices[key]?.removeAll { $0 == connection.token }
            if devices[key]?.isEmpty == true { devices[key] = nil }
            shared.desk.detach(key)
        case .channel(let id):
            channels[id]?.removeAll { $0 == connection.token }
            if channels[id]?.isEmpty == true { channels[id] = nil }
        }
        tellHub(change: -1)
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
        for token in receivers {
            guard let connection = connections[token] else { continue }
            if !connection.sendEvent(event) { shared.hub.countDropped() }
            if connection.isClosed { remove(connection) }
        }
    }
}

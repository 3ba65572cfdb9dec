import Glibc
import Networking

/// What strangers may take of a `PlainServer`.
public struct PlainLimits: Sendable {
    /// At a time; whoever comes beyond them is closed at once.
    public var connections = 50_000
    /// Bytes of memory of all requests that are not complete and all answers and events that are not read, the one answer that
    /// is being given apart. Beyond it whoever holds most is closed; an event stream first loses the events that wait, and is told.
    public var held = 64 << 20
    /// Bytes of a request's body; a larger one is refused with 413.
    public var body = 1 << 20
    /// From a request's beginning, or the connection's, until it is complete, ns.
    public var request: UInt64 = 10_000_000_000
    /// Until an answer is read, and until an event stream on which something waits takes more of it, ns.
    public var answer: UInt64 = 60_000_000_000
    /// From an answer to the next request, ns: more than the minute in which Prometheus comes again.
    public var idle: UInt64 = 120_000_000_000
    /// From the last answer until the client closes, ns.
    var parting: UInt64 = 2_000_000_000

    public init() {}
}

/// What became of connections and of requests that nobody was asked to answer, since the server's start.
public struct PlainCounts: Sendable, Equatable {
    public var accepted: UInt64 = 0
    /// Closed at once: there were as many as there may be.
    public var beyondLimit: UInt64 = 0
    /// Closed so that others have room: they held most of `PlainLimits.held`.
    public var closedForRoom: UInt64 = 0
    /// Requests that were refused: no HTTP, too large, not complete in time, of an unknown host.
    public var refused: UInt64 = 0

    public init() {}
}

/// HTTP/1.1 and event streams, plain or under TLS, on the thread of whoever turns it. A turn does one thing for each connection,
/// so that none keeps the others waiting.
public final class PlainServer {
    /// The answer to a request; nil when it has made an event stream of the connection (`beginEvents`) or answers later.
    private let answer: (PlainRequest, _ connection: UInt64) -> PlainResponse?
    private let listener: Listener?
    private let reactor: Reactor
    private let tls: TLSContext?
    private let hosts: HostRule
    private let limits: PlainLimits
    private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 16_384)

    /// Told of each connection that was an event stream and is over.
    public var ended: (_ connection: UInt64) -> Void = { _ in }
    /// Told how many events were dropped because a client does not keep up.
    public var dropped: (_ events: Int) -> Void = { _ in }
    /// Told when the process has no descriptor left for another connection; once, until all that waited have been accepted.
    public var exhausted: () -> Void = {}

    public private(set) var counts = PlainCounts()
    /// Connections that are open.
    public var open: Int { connections.count }

    private var connections: [UInt64: PlainConnection] = [:]
    private var nextToken: UInt64 = 1
    /// Have more requests to be answered though nothing comes.
    private var waiting: [PlainConnection] = []
    /// What all connections hold, bytes.
    private var held = 0
    private var isAccepting = true
    /// There has been no descriptor for a connection since all that waited were accepted.
    private var isShort = false
    private var nextTick: UInt64 = 0
    private var now: UInt64 = MonotonicClock.now()
    private static let listenerToken: UInt64 = 0
    private static let tick: UInt64 = 250_000_000
    /// Accepted, or answered once more, in one turn.
    private static let mostInTurn = 256

    public init(
        listener: Listener?, tls: TLSContext? = nil, reactor: Reactor, hosts: HostRule,
        limits: PlainLimits = PlainLimits(),
        answer: @escaping (PlainRequest, _ connection: UInt64) -> PlainResponse?
    ) {
        self.listener = listener
        self.tls = tls
        self.reactor = reactor
        self.hosts = hosts
        self.limits = limits
        self.answer = answer
        if let listener { reactor.add(listener.descriptor, token: Self.listenerToken, interest: .readable) }
    }

    deinit {
        for connection in connections.values { connection.close() }
        if let listener { reactor.remove(listener.descriptor) }
        buffer.deallocate()
    }

    /// Waits until something comes, the event loop is woken or `timeout` ns have passed, and does what there is to do.
    public func turn(timeout: UInt64) {
        var patience = waiting.isEmpty ? timeout : 0
        if !connections.isEmpty || !isAccepting {
            let time = MonotonicClock.now()
            patience = min(patience, nextTick > time ? nextTick - time : 0)
        }
        let count = reactor.wait(timeout: patience)
        now = MonotonicClock.now()
        for index in 0..<count {
            let event = reactor.event(at: index)
            if event.token == Self.listenerToken {
                accept()
            } else if let connection = connections[event.token] {
                if connection.awaited == nil {
                    handle(connection)
                } else {
                    connection.interrupt(event.readiness)
                    settle(connection)
                }
            }
        }
        let again = waiting.prefix(Self.mostInTurn)
        waiting.removeFirst(again.count)
        for connection in again {
            connection.isWaiting = false
            if !connection.isClosed { handle(connection) }
        }
        if now >= nextTick { lookAfterAll() }
    }

    private func accept() {
        guard let listener else { return }
        for _ in 0..<Self.mostInTurn {
            switch listener.accept() {
            case .none:
                // Nobody waits any more.
                isShort = false
                return
            case .exhausted:
                // Level-triggered: the listener would be ready again at once.
                reactor.modify(listener.descriptor, token: Self.listenerToken, interest: [])
                isAccepting = false
                if !isShort { exhausted() }
                isShort = true
                return
            case .descriptor(let descriptor):
                counts.accepted += 1
                guard connections.count < limits.connections else {
                    counts.beyondLimit += 1
                    close(descriptor)
                    continue
                }
                guard let stream = try? SocketStream(accepted: descriptor, tls: tls, options: SocketOptions()) else {
                    continue
                }
                connections[nextToken] = PlainConnection(
                    token: nextToken, stream: stream, isSecure: tls != nil, reactor: reactor, limits: limits, now: now)
                nextToken += 1
            }
        }
    }

    private func handle(_ connection: PlainConnection) {
        let hasMore = connection.handle(buffer, now: now) { request in
            if let refusal = hosts.refusal(request) {
                counts.refused += 1
                return refusal
            }
            return answer(request, connection.token)
        }
        if hasMore { handleAgain(connection) }
        settle(connection)
    }

    private func handleAgain(_ connection: PlainConnection) {
        guard !connection.isWaiting else { return }
        connection.isWaiting = true
        waiting.append(connection)
    }

    /// Counts what a connection now holds, and lets it go when it is closed.
    private func settle(_ connection: PlainConnection) {
        count(connection)
        if connection.refused {
            connection.refused = false
            counts.refused += 1
        }
        let holds = connection.counted
        if connection.isClosed {
            if connections.removeValue(forKey: connection.token) != nil, connection.isEventStream {
                ended(connection.token)
            }
        } else if holds > 0, held - holds > limits.held {
            makeRoom(for: connection)
        }
    }

    private func count(_ connection: PlainConnection) {
        let holds = connection.isClosed ? 0 : connection.held
        held += holds - connection.counted
        connection.counted = holds
    }

    /// Of those that hold most, event streams lose the events that wait, and whoever has none to lose is closed, until a quarter of
    /// the room is free.
    private func makeRoom(for current: PlainConnection) {
        let others = connections.values.filter { $0 !== current && $0.counted > 0 }
        for connection in others.sorted(by: { $0.counted > $1.counted }) {
            if held - current.counted <= limits.held / 4 * 3 { return }
            let events = connection.isEventStream ? connection.dropEvents() : 0
            if events > 0 {
                dropped(events)
                count(connection)
            } else {
                counts.closedForRoom += 1
                connection.close()
                settle(connection)
            }
        }
    }

    private func lookAfterAll() {
        nextTick = now + Self.tick
        for connection in connections.values.filter({ $0.deadline <= now }) {
            connection.expire(now)
            settle(connection)
        }
        if !isAccepting, let listener {
            reactor.modify(listener.descriptor, token: Self.listenerToken, interest: .readable)
            isAccepting = true
        }
    }

    // MARK: Answers that come later

    /// Lets the request that is being answered wait for `respond`, `leaveUnanswered` or `reset`; nothing more is taken from its
    /// connection until then. There is no limit to how long that may be.
    public func await(_ request: PlainRequest, _ connection: UInt64) { connections[connection]?.await(request) }

    /// Answers the request that waits on a connection.
    ///
    /// - Returns: false when the connection is gone.
    @discardableResult
    public func respond(_ response: PlainResponse, to connection: UInt64) -> Bool {
        guard let connection = connections[connection] else { return false }
        connection.respond(response, now)
        if connection.hasMore { handleAgain(connection) }
        settle(connection)
        return true
    }

    /// Never answers it: the client has as long to give it up as it would have to read an answer.
    public func leaveUnanswered(_ connection: UInt64) { connections[connection]?.leaveUnanswered(now) }

    /// Closes a connection with a RST.
    public func reset(_ connection: UInt64) {
        guard let connection = connections[connection] else { return }
        connection.reset()
        settle(connection)
    }

    // MARK: Event streams

    /// Makes an event stream of a connection that is being answered.
    public func beginEvents(_ connection: UInt64) { connections[connection]?.beginEvents(now) }

    /// Sends it, or drops it where the client does not keep up.
    public func sendEvent(_ bytes: [UInt8], to connection: UInt64) {
        guard let connection = connections[connection] else { return }
        if !connection.sendEvent(bytes, now: now, isFull: held > limits.held) { dropped(1) }
        settle(connection)
    }

    /// Sends all event streams a comment, so that peers that have vanished are noticed.
    public func sendHeartbeats() {
        for connection in connections.values.filter(\.isEventStream) {
            connection.sendHeartbeat(now)
            settle(connection)
        }
    }
}

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

/// HTTP/1.1 and event streams, and HTTP/2 where it is wanted, plain or under TLS, on the thread of whoever turns it. A turn does one
/// thing for each connection, so that none keeps the others waiting.
///
/// A request is known by a number, and so is an event stream: of its connection, and in HTTP/2 of its stream.
public final class PlainServer {
    /// The answer to a request; nil when it has made an event stream of the connection (`beginEvents`) or answers later.
    private let answer: (PlainRequest, _ request: UInt64) -> PlainResponse?
    private let listener: Listener?
    private let reactor: Reactor
    private let tls: TLSContext?
    private let hosts: HostRule
    private let limits: PlainLimits
    private let speaksHTTP2: Bool
    /// A TLS record, whose last byte is its content's type.
    private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 16_640)
    private let buffers = BufferPool(capacity: 66_560)

    /// Told of each connection that was an event stream and is over.
    public var ended: (_ connection: UInt64) -> Void = { _ in }
    /// Told how many events were dropped because a client does not keep up.
    public var dropped: (_ events: Int) -> Void = { _ in }
    /// Told when the process has no descriptor left for another connection; once, until all that waited have been accepted.
    public var exhausted: () -> Void = {}

    /// Lines of the head of every answer to a request that could be read, without their ends: `server: mock-apns/1.0`.
    public var fields: [String] = []

    public private(set) var counts = PlainCounts()
    /// Connections that are open.
    public var open: Int { connections.count }

    private var connections: [UInt64: ServedConnection] = [:]
    private var nextToken: UInt64 = 1
    /// Have more requests to be answered though nothing comes.
    private var waiting: [ServedConnection] = []
    /// Have answers that were not written.
    private var unflushed: [ServedConnection] = []
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
        limits: PlainLimits = PlainLimits(), speaksHTTP2: Bool = false,
        answer: @escaping (PlainRequest, _ request: UInt64) -> PlainResponse?
    ) {
        self.listener = listener
        self.tls = tls
        self.reactor = reactor
        self.hosts = hosts
        self.limits = limits
        self.speaksHTTP2 = speaksHTTP2
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
        flush()
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
                if !connection.isBusy {
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
                guard
                    let stream = try? SocketStream(
                        accepted: descriptor, tls: tls, options: .accepted, gathering: buffers)
                else {
                    continue
                }
                connections[nextToken] = PlainConnection(
                    token: nextToken, stream: stream, isSecure: tls != nil, mayBeHTTP2: speaksHTTP2, reactor: reactor,
                    limits: limits, now: now)
                nextToken += 1
            }
        }
    }

    private func handle(_ connection: ServedConnection) {
        let hasMore = connection.handle(buffer, now: now) { request, stream in
            if let refusal = hosts.refusal(request) {
                counts.refused += 1
                return complete(refusal)
            }
            return answer(request, Self.number(connection.token, stream)).map(complete)
        }
        if let next = connection.successor {
            // It goes on with what was read already.
            connections[next.token] = next
            next.counted = connection.counted
            return handle(next)
        }
        if hasMore { handleAgain(connection) }
        settle(connection)
    }

    /// 33 bits of connection, 31 of stream.
    private static func number(_ connection: UInt64, _ stream: Int32) -> UInt64 { connection << 31 | UInt64(stream) }
    private static func stream(_ number: UInt64) -> Int32 { Int32(number & 0x7FFF_FFFF) }
    private func connection(_ number: UInt64) -> ServedConnection? { connections[number >> 31] }

    private func handleAgain(_ connection: ServedConnection) {
        guard !connection.isWaiting else { return }
        connection.isWaiting = true
        waiting.append(connection)
    }

    private func complete(_ response: PlainResponse) -> PlainResponse {
        var response = response
        response.fields += fields
        return response
    }

    /// Counts what a connection now holds, and lets it go when it is closed.
    private func settle(_ connection: ServedConnection) {
        count(connection)
        counts.refused += connection.refused
        connection.refused = 0
        let holds = connection.counted
        if connection.isClosed {
            if connections.removeValue(forKey: connection.token) != nil, connection.isEventStream {
                ended(Self.number(connection.token, 0))
            }
        } else if holds > 0, held - holds > limits.held {
            makeRoom(for: connection)
        }
    }

    private func count(_ connection: ServedConnection) {
        let holds = connection.isClosed ? 0 : connection.held
        held += holds - connection.counted
        connection.counted = holds
    }

    /// Of those that hold most, event streams lose the events that wait, and whoever has none to lose is closed, until a quarter of
    /// the room is free.
    private func makeRoom(for current: ServedConnection) {
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
            if connection.hasMore { handleAgain(connection) }
            settle(connection)
        }
        if !isAccepting, let listener {
            reactor.modify(listener.descriptor, token: Self.listenerToken, interest: .readable)
            isAccepting = true
        }
    }

    // MARK: Answers that come later

    /// Lets the request that is being answered wait for `respond`, `leaveUnanswered` or `reset`; in HTTP/1.1 nothing more is taken
    /// from its connection until then. There is no limit to how long that may be.
    public func await(_ request: PlainRequest, _ number: UInt64) {
        connection(number)?.await(request, stream: Self.stream(number))
    }

    /// Answers a request that waits. In HTTP/2 the answer may leave with the next `flush` only.
    ///
    /// - Returns: false when nobody is there for it any more.
    @discardableResult
    public func respond(_ response: PlainResponse, to number: UInt64) -> Bool {
        guard let connection = connection(number) else { return false }
        let isTaken = connection.respond(complete(response), stream: Self.stream(number), now)
        if connection.hasMore { handleAgain(connection) }
        didTouch(connection)
        return isTaken
    }

    /// Never answers it: the client has as long to give it up as it would have to read an answer.
    public func leaveUnanswered(_ number: UInt64) {
        connection(number)?.leaveUnanswered(stream: Self.stream(number), now)
    }

    /// Closes the connection with a RST; in HTTP/2 resets the stream.
    public func reset(_ number: UInt64) {
        guard let connection = connection(number) else { return }
        connection.reset(stream: Self.stream(number))
        didTouch(connection)
    }

    private func didTouch(_ connection: ServedConnection) {
        if connection.flushesLater, !connection.isUnflushed {
            connection.isUnflushed = true
            unflushed.append(connection)
        }
        settle(connection)
    }

    /// Writes the answers that were given since the last turn.
    public func flush() {
        guard !unflushed.isEmpty else { return }
        let all = unflushed
        unflushed.removeAll(keepingCapacity: true)
        for connection in all {
            connection.isUnflushed = false
            guard !connection.isClosed else { continue }
            connection.flushAnswers(now)
            if connection.hasMore { handleAgain(connection) }
            settle(connection)
        }
    }

    // MARK: Event streams

    /// Makes an event stream of a connection that is being answered, in HTTP/1.1 only.
    public func beginEvents(_ number: UInt64) { connection(number)?.beginEvents(complete(.events), now) }

    /// Sends it, or drops it where the client does not keep up.
    public func sendEvent(_ bytes: [UInt8], to number: UInt64) {
        guard let connection = connection(number) else { return }
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

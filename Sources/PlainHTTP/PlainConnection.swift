import Networking

/// One client: requests one after the other, or, once it has asked for one, an event stream. While it does not read what it was
/// sent, nothing more is read from it.
///
/// Memory of an event stream: about half a kilobyte (this object, its socket and its place among the connections).
final class PlainConnection: ServedConnection {
    private var received: [UInt8] = []
    /// `received` says nothing before it is so long.
    private var needed = 1
    private var unsent: [UInt8] = []
    /// How many of `unsent` are gone.
    private var sent = 0
    private(set) var isEventStreamBegun = false
    /// TLS is being agreed on.
    private var isSecuring: Bool
    /// A request is being answered elsewhere; what goes on is read when it is. What the answer will have to know of it.
    private(set) var awaited: (closes: Bool, isHead: Bool)?
    private var closesWhenSent = false
    /// All is said; what the client still sends is read so that the close does not take the answer away from it.
    private var isFinished = false
    /// Events that were not sent because the client reads too slowly.
    private var lost = 0
    /// It may still begin with the preface of HTTP/2.
    private var mayBeHTTP2: Bool
    private var framed: FramedConnection?

    /// Unsent bytes beyond which events are dropped.
    private static let mostUnsent = 1 << 18
    /// Bytes written at a time, so that one who reads fast leaves time for others.
    private static let mostWritten = 1 << 18

    /// - Parameters:
    ///   - isSecure: the stream begins with a TLS handshake.
    ///   - mayBeHTTP2: a client that begins with its preface is answered in it.
    init(
        token: UInt64, stream: ByteStream, isSecure: Bool, mayBeHTTP2: Bool, reactor: Reactor, limits: PlainLimits,
        now: UInt64
    ) {
        isSecuring = isSecure
        self.mayBeHTTP2 = mayBeHTTP2
        super.init(token: token, stream: stream, reactor: reactor, limits: limits, deadline: now + limits.request)
    }

    override var held: Int { received.capacity + unsent.capacity }
    override var isEventStream: Bool { isEventStreamBegun }
    override var isBusy: Bool { awaited != nil }
    override var successor: ServedConnection? { framed }

    /// Reads at most one buffer and answers at most one request.
    ///
    /// - Returns: true when there may be another request among what was read.
    override func handle(
        _ buffer: UnsafeMutableBufferPointer<UInt8>, now: UInt64,
        answer: (PlainRequest, _ stream: Int32) -> PlainResponse?
    ) -> Bool {
        if isSecuring {
            switch stream.advance() {
            case .done: isSecuring = false
            case .inProgress:
                setInterest(stream.interest)
                return false
            case .failed:
                close()
                return false
            }
            setInterest(.readable)
        }
        if awaited != nil { return false }
        if !unsent.isEmpty { flush(now) }
        if isClosed || !unsent.isEmpty && !isEventStream { return false }
        if received.count < needed {
            switch stream.read(into: buffer.baseAddress!, capacity: buffer.count) {
            case .bytes(let count):
                // A subscriber has nothing more to say.
                if isEventStream || isFinished { return false }
                if received.isEmpty, deadline > now + limits.request { deadline = now + limits.request }
                received += UnsafeBufferPointer(rebasing: buffer[..<count])
            case .wouldBlock: return false
            case .endOfStream, .failed:
                close()
                return false
            }
        }
        if mayBeHTTP2, isPreface(now) { return false }
        if received.count >= needed { takeRequest(now, answer) }
        return hasMore
    }

    /// Whether what was read is HTTP/2's preface, or may become it.
    private func isPreface(_ now: UInt64) -> Bool {
        let length = min(received.count, FramedConnection.preface.count)
        guard received.prefix(length).elementsEqual(FramedConnection.preface.prefix(length)) else {
            mayBeHTTP2 = false
            return false
        }
        if length == FramedConnection.preface.count {
            framed = FramedConnection(following: self, received, now)
            received = []
        } else {
            needed = received.count + 1
        }
        return true
    }

    override var hasMore: Bool {
        !isClosed && awaited == nil && unsent.isEmpty && (received.count >= needed || stream.hasBufferedInput)
    }

    // MARK: Answers that come later

    /// The request that is being taken is answered by `respond`, whenever that is.
    override func await(_ request: PlainRequest, stream _: Int32) {
        awaited = (request.closes, request.isHead)
        deadline = .max
    }

    override func respond(_ response: PlainResponse, stream _: Int32, _ now: UInt64) -> Bool {
        guard let awaited, !isClosed else { return true }
        self.awaited = nil
        closesWhenSent = awaited.closes
        send(response.bytes(closes: awaited.closes, isHead: awaited.isHead), now)
        return true
    }

    override func leaveUnanswered(stream _: Int32, _ now: UInt64) { deadline = now + limits.answer }

    override func reset(stream _: Int32) {
        stream.reset()
        close()
    }

    override func interrupt(_ readiness: Readiness) {
        if readiness.isDisjoint(with: .closed) { setInterest([]) } else { close() }
    }

    private func takeRequest(_ now: UInt64, _ answer: (PlainRequest, Int32) -> PlainResponse?) {
        switch PlainRequest.parse(received, largestBody: limits.body) {
        case .incomplete(let count): needed = count
        case .awaited(let count):
            needed = count
            // It has no more time for its request than others.
            let before = deadline
            send(PlainResponse.goOn, now)
            if !isFinished { deadline = min(deadline, before) }
        case .refused(let status, let problem):
            refused += 1
            refuse(.text(problem, status: status), now)
        case .request(let request, let used):
            if used == received.count { received = [] } else { received.removeFirst(used) }
            needed = 1
            guard let response = answer(request, 0) else { return }
            closesWhenSent = request.closes
            send(response.bytes(closes: request.closes, isHead: request.isHead), now)
        }
    }

    private func refuse(_ response: PlainResponse, _ now: UInt64) {
        closesWhenSent = true
        received = []
        needed = 1
        send(response.bytes(closes: true), now)
    }

    override func beginEvents(_ answer: PlainResponse, _ now: UInt64) {
        isEventStreamBegun = true
        received = []
        needed = 1
        send(answer.bytes(closes: false) + Array(": ready\n\n".utf8), now)
    }

    override func sendEvent(_ bytes: [UInt8], now: UInt64, isFull: Bool) -> Bool {
        guard unsent.isEmpty || !isFull && unsent.count - sent < Self.mostUnsent else {
            lost += 1
            return false
        }
        if lost > 0 {
            send(Self.lostEvents + Array("\(lost)}\n\n".utf8), now)
            lost = 0
        }
        send(bytes, now)
        return true
    }

    override func dropEvents() -> Int {
        var events: [ArraySlice<UInt8>] = []
        var rest = unsent[sent...]
        while let end = Self.eventEnd(rest) {
            events.append(rest[..<end])
            rest = rest[end...]
        }
        guard let first = events.first else { return 0 }
        let before = lost
        var told = 0
        for event in events.dropFirst() {
            if event.starts(with: Self.lostEvents) {
                told += event.dropFirst(Self.lostEvents.count).prefix { $0 != 0x7D }.reduce(0) {
                    $0 * 10 + Int($1) - 48
                }
            } else {
                lost += 1
            }
        }
        let dropped = lost - before
        lost += told
        unsent = Array(first)
        sent = 0
        return dropped
    }

    private static let lostEvents = Array("event: lost\ndata: {\"events\":".utf8)

    /// Behind the empty line that ends the first event.
    private static func eventEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.dropFirst().first { bytes[$0] == 10 && bytes[$0 - 1] == 10 }.map { $0 + 1 }
    }

    override func sendHeartbeat(_ now: UInt64) { if unsent.isEmpty { send(Array(": \n\n".utf8), now) } }

    override func expire(_ now: UInt64) {
        if unsent.isEmpty, awaited == nil, !received.isEmpty {
            refused += 1
            refuse(
                .text("the request was not complete within \(limits.request / 1_000_000_000) s", status: 408), now)
            if isFinished { return }
        }
        close()
    }

    private func send(_ bytes: [UInt8], _ now: UInt64) {
        guard !isClosed, !isFinished else { return }
        if unsent.isEmpty {
            unsent = bytes
            deadline = now + limits.answer
        } else {
            if sent > 0 {
                unsent.removeFirst(sent)
                sent = 0
            }
            unsent += bytes
        }
        flush(now)
    }

    private func flush(_ now: UInt64) {
        let end = min(unsent.count, sent + Self.mostWritten)
        while sent < end {
            let result = unsent.withUnsafeBufferPointer { stream.write($0.baseAddress! + sent, count: end - sent) }
            switch result {
            case .bytes(let count):
                sent += count
                // An answer has an end, which has to be reached in time; an event stream has to go on.
                if isEventStream { deadline = now + limits.answer }
            case .wouldBlock: return setInterest(isEventStream ? [.readable, .writable] : .writable)
            case .endOfStream, .failed: return close()
            }
        }
        guard sent == unsent.count else { return setInterest(isEventStream ? [.readable, .writable] : .writable) }
        unsent = []
        sent = 0
        setInterest(.readable)
        if closesWhenSent {
            stream.finish()
            isFinished = true
            received = []
            deadline = now + limits.parting
        } else {
            deadline = isEventStream ? .max : now + (received.isEmpty ? limits.idle : limits.request)
        }
    }
}

import Networking
import PlainHTTP

/// One client of the admin listener: requests one after the other, or, once it has asked for one, an event stream.
///
/// Memory of a subscriber: about half a kilobyte (this object, its socket and its place in the subscriptions).
final class AdminConnection {
    /// What an event stream shows.
    enum Subscription: Equatable {
        case everything
        case device(TokenKey)
        case channel(String)
    }

    let token: UInt64
    private let stream: ByteStream
    private let reactor: Reactor
    private var received: [UInt8] = []
    private var unsent: [UInt8] = []
    private var interest: Readiness = .readable
    private(set) var isClosed = false
    private var closesWhenSent = false
    var subscription: Subscription?
    /// Events that were not sent because the client reads too slowly.
    private var lost = 0
    /// Unsent bytes beyond which events are dropped.
    private static let mostUnsent = 1 << 18

    init(token: UInt64, stream: ByteStream, reactor: Reactor) {
        self.token = token
        self.stream = stream
        self.reactor = reactor
        reactor.add(stream.descriptor, token: token, interest: interest)
    }

    /// Reads what there is and calls `answer` for each request.
    func handle(
        _ readiness: Readiness, _ buffer: UnsafeMutableBufferPointer<UInt8>,
        answer: (PlainRequest, AdminConnection) -> PlainResponse?
    ) {
        if readiness.contains(.writable) { flush() }
        while !isClosed {
            switch stream.read(into: buffer.baseAddress!, capacity: buffer.count) {
            case .bytes(let count):
                // A subscriber has nothing more to say.
                if subscription != nil || closesWhenSent { continue }
                received += UnsafeBufferPointer(rebasing: buffer[..<count])
                takeRequests(answer)
            case .wouldBlock: return
            case .endOfStream, .failed: close()
            }
        }
    }

    private func takeRequests(_ answer: (PlainRequest, AdminConnection) -> PlainResponse?) {
        while !received.isEmpty, subscription == nil, !closesWhenSent {
            switch PlainRequest.parse(received) {
            case .incomplete: return
            case .refused(let status, let problem):
                closesWhenSent = true
                send(PlainResponse.text(problem, status: status).bytes(closes: true))
            case .request(let request, let used):
                received.removeFirst(used)
                if let response = answer(request, self) {
                    closesWhenSent = request.closes
                    send(response.bytes(closes: request.closes))
                }
            }
        }
        received = []
    }

    /// The answer to a subscription; events follow.
    func beginEvents() {
        send(
            Array(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\n\r\n: ready\n\n".utf8)
        )
    }

    /// - Returns: false when the event was dropped because the client does not keep up.
    func sendEvent(_ bytes: [UInt8]) -> Bool {
        guard unsent.count < Self.mostUnsent else {
            lost += 1
            return false
        }
        if lost > 0 {
            send(Array("event: lost\ndata: {\"events\":\(lost)}\n\n".utf8))
            lost = 0
        }
        send(bytes)
        return true
    }

    /// A comment, so that a peer that has vanished is noticed.
    func sendHeartbeat() { if unsent.isEmpty { send(Array(": \n\n".utf8)) } }

    private func send(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        if unsent.isEmpty { unsent = bytes } else { unsent += bytes }
        flush()
    }

    private func flush() {
        var offset = 0
        while offset < unsent.count, !isClosed {
            let result = unsent.withUnsafeBufferPointer {
                stream.write($0.baseAddress! + offset, count: unsent.count - offset)
            }
            switch result {
            case .bytes(let count): offset += count
            case .wouldBlock:
                unsent.removeFirst(offset)
                setInterest([.readable, .writable])
                return
            case .endOfStream, .failed: close()
            }
        }
        unsent = []
        setInterest(.readable)
        if closesWhenSent {
            stream.finish()
            close()
        }
    }

    private func setInterest(_ wanted: Readiness) {
        guard wanted != interest, !isClosed else { return }
        interest = wanted
        reactor.modify(stream.descriptor, token: token, interest: wanted)
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        reactor.remove(stream.descriptor)
    }
}

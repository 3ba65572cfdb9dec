import Glibc
import Networking

@testable import HTTP2
@testable import Transport

/// Engine wire's side of one connection, held against a server that says what the input makes of it.
///
/// The input is a byte of options and then operations, so that libFuzzer finds the deeper states soon: valid frames in all
/// their shapes, frames with any header, raw bytes, and what else happens to a connection. What is said is delivered in pieces,
/// read into memory of exactly that size. After each piece the books must balance: `check`.
struct ClientFuzz {
    /// Counts each push's ends.
    private final class Driver: PushDriver {
        /// Of each push: 1 under way, 2 ended.
        var states: [UInt8] = []
        private(set) var ended = 0
        var payloadLength = 20
        var sendsIdentifier = false

        override func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {
            let sequence = Int(ticket.sequence)
            request.tokenLength = 1 + sequence * 7 % 64
            for place in 0..<request.tokenLength {
                request.token[place] = (place & 1 == 0 ? 0x30 : 0x61) + UInt8(place % 6)
            }
            request.payloadLength = payloadLength
            request.payload.update(repeating: 0x62, count: payloadLength)
            request.hasIdentifier = sendsIdentifier
            request.identifier.update(repeating: 0x31, count: 36)
            token = Array("bearer \(sequence / 5)".utf8)
            request.authorization = token.withUnsafeBufferPointer { given in
                let kept = UnsafeMutableBufferPointer<UInt8>(rebasing: memory[..<given.count])
                _ = kept.update(from: given)
                return UnsafeBufferPointer(kept)
            }
        }
        private var token: [UInt8] = []
        private let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64)
        deinit { memory.deallocate() }

        override func finished(
            _ ticket: borrowing PushTicket, outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
            at time: UInt64, body: UnsafeBufferPointer<UInt8>
        ) {
            let sequence = Int(ticket.sequence)
            precondition(states[sequence] == 1, "push \(sequence) ends twice")
            precondition(body.count <= ClientStreams.bodyCapacity)
            states[sequence] = 2
            ended += 1
        }
    }

    nonisolated(unsafe) private static let reactor = try! Reactor()
    private static let mostPushes = 200

    private var input: Slice<UnsafeBufferPointer<UInt8>>
    private let driver = Driver()
    private let connection: PushConnection
    private let session: WireSession
    private let peer: Int32
    private let capacity: Int
    private var said = ServerSpeech()
    private var heard: ClientSpeech
    private var isListening = true

    static func run(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let first = bytes.first else { return }
        var fuzz = ClientFuzz(options: first, bytes.dropFirst())
        fuzz.run()
    }

    private init(options bits: UInt8, _ input: Slice<UnsafeBufferPointer<UInt8>>) {
        self.input = input
        var ends: [Int32] = [0, 0]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        peer = ends[1]
        var options = TransportOptions()
        capacity = Int(bits & 7) + 1
        options.streams = capacity
        options.huffman = bits & 0x20 != 0
        options.pushTimeout = 1
        options.pingInterval = 1 << 62
        options.connectTimeout = 1 << 62
        options.retryLimit = 3
        options.socket.sendBuffer = 4096
        if bits & 0x40 != 0 { options.session.streamWindow = 100 }
        driver.payloadLength = bits & 0x08 != 0 ? 20_000 : 20
        driver.sendsIdentifier = options.huffman
        let firstStream: Int32 = bits & 0x10 != 0 ? .max - 20 : 1
        session = WireSession(
            RequestHead(
                authority: "a.example:1", isSecure: false,
                headerSets: [[("apns-topic", "com.example.app"), ("apns-priority", "10")]]),
            settings: options.session, usesHuffman: options.huffman, streams: capacity,
            sendBuffers: BufferPool(capacity: 131_072), firstStream: firstStream)
        connection = PushConnection(
            session, token: 1, index: 0, lane: 0,
            stream: try! SocketStream(accepted: ends[0], tls: nil, options: options.socket), options: options,
            driver: driver, loop: Self.reactor, memory: RequestMemory(tokenCapacity: 64, payloadCapacity: 20_000),
            now: MonotonicClock.now())
        heard = ClientSpeech(firstStream: firstStream)
        said.firstStream = firstStream
        said.mayBreak = bits & 0x80 != 0
    }

    // MARK: The course of a connection

    private mutating func run() {
        let empty = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1)
        defer { empty.deallocate() }
        _ = connection.handle([], scratch: empty)
        listen()
        if !said.mayBreak {
            said.settings([])
            deliver(pieces: .max)
        }
        while let operation = next(), connection.state != .closed {
            perform(operation & 15)
            if operation & 0x80 == 0 || said.bytes.count > 60_000 {
                deliver(pieces: [.max, 1, 2, 5, 8, 9, 10, 17][Int(operation >> 4 & 7)])
            }
        }
        if connection.state != .closed { deliver(pieces: .max) }
        let hasBroken = connection.cause == .protocolViolation
        precondition(said.mayBreak || !hasBroken, "a valid frame was refused: \(connection.causeText)")
        isListening = true
        listen()
        if hasBroken, !connection.isWriteBlocked {
            let code = heard.goAwayCode
            precondition(
                code.map { [1, 3, 5, 6, 9, 11].contains($0) } ?? false,
                "GOAWAY \(String(describing: code)) after a violation")
        }
        connection.close(.interrupted, text: "the end")
        precondition(session.streams.used == 0, "streams are left")
        check()
        close(peer)
    }

    private mutating func next() -> UInt8? { input.popFirst() }
    private mutating func number() -> Int { Int(next() ?? 0) }

    private mutating func deliver(pieces: Int) {
        var position = 0
        let bytes = said.bytes
        said.bytes = []
        while position < bytes.count, connection.state != .closed {
            let count = min(pieces, bytes.count - position, 30_000)
            // What was never read makes room for nothing: the client's side always reads all there is.
            let sent = bytes.withUnsafeBytes { send(peer, $0.baseAddress! + position, count, Int32(MSG_NOSIGNAL)) }
            precondition(sent > 0, "the client does not read")
            position += sent
            let exact = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: sent)
            _ = connection.handle(.readable, scratch: exact)
            exact.deallocate()
            turn()
        }
        turn()
    }

    /// What `PushClient` does between two waits.
    private mutating func turn() {
        while connection.canSend {
            if let again = connection.refused.popLast() {
                connection.send(again, now: MonotonicClock.now())
            } else {
                guard driver.states.count < Self.mostPushes else { break }
                driver.states.append(1)
                connection.send(
                    PushTicket(sequence: UInt64(driver.states.count - 1), due: 0), now: MonotonicClock.now())
            }
            _ = connection.flushFullBatches()
        }
        connection.flush()
        listen()
        if connection.isWriteBlocked, isListening {
            let empty = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1)
            while connection.isWriteBlocked, connection.state != .closed {
                _ = connection.handle(.writable, scratch: empty)
                listen()
            }
            empty.deallocate()
        }
        said.opened = session.nextStream
        check()
    }

    private mutating func listen() {
        guard isListening else { return }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(peer, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            heard.take(buffer[..<count], said)
        }
    }

    // MARK: What must hold

    private func check() {
        let open = session.streams
        precondition(open.capacity == capacity)
        var streams = Set<Int32>()
        var held = 0
        for index in 0..<capacity where open.entries[index].id != 0 {
            let entry = open.entries[index]
            precondition(streams.insert(entry.id).inserted, "two places of one stream")
            precondition(open.find(entry.id) == index, "an open stream is not found")
            precondition(!session.isIdle(entry.id), "an open stream is idle")
            if let payload = entry.held {
                held += 1
                precondition(payload.pointee.rest >= 0, "more was sent than there is")
            }
        }
        precondition(streams.count == open.used, "\(open.used) places are used, \(streams.count) have a stream")
        precondition(held == open.heldBack, "what is held back is miscounted")
        // The free places' list has every other place once.
        var free: [Int] = []
        var next = open.nextIndex
        while next >= 0, free.count <= capacity {
            free.append(next)
            next = Int(open.entries[next].nextFree)
        }
        precondition(
            Set(free).count == free.count && free.allSatisfy { open.entries[$0].id == 0 }, "a place used twice")
        precondition(free.count + open.used == capacity, "a place is lost")
        precondition(
            connection.cause == .protocolViolation
                || session.sendWindow <= 0x7FFF_FFFF && session.initialWindow <= 0x7FFF_FFFF)
        precondition(session.sendWindow >= 0, "more was sent than the connection's window allows")
        precondition(
            driver.states.count == driver.ended + open.used + connection.refused.count,
            "\(driver.states.count) pushes: \(driver.ended) ended, \(open.used) open, \(connection.refused.count) refused"
        )
    }

    // MARK: Operations

    private mutating func perform(_ kind: UInt8) {
        switch kind {
        case 0:
            let count = number() % 5
            said.settings((0..<count).map { _ in (UInt16(number() % 8), number()) })
        case 1: said.frame(Frame.settings, flags: Frame.acknowledgement, stream: 0, [])
        case 2: said.headers(stream: number(), shape: number(), flags: number() | 1, pieces: 1)
        case 3: said.headers(stream: number(), shape: number(), flags: number() & ~1, pieces: 1)
        case 4: said.headers(stream: number(), shape: number(), flags: number(), pieces: 2 + number() % 4)
        case 5: said.data(stream: number(), length: number(), flags: number())
        case 6: said.onStream(number()) { $0.frame(Frame.reset, flags: 0, stream: $1, [0, 0, 0, UInt8($2 % 16)]) }
        case 7: said.goAway(lastStream: number(), code: number())
        case 8: said.windowUpdate(stream: number(), by: number())
        case 9: said.frame(Frame.ping, flags: UInt8(number() & 1), stream: 0, [UInt8](repeating: 7, count: 8))
        case 10:
            said.onStream(number()) { said, stream, _ in
                said.frame(Frame.priority, flags: 0, stream: stream, [0, 0, 0, 0, 9])
            }
        case 11:
            said.frame(
                UInt8(10 + number() % 246), flags: UInt8(number()), stream: Int32(number()),
                [UInt8](repeating: 1, count: number()))
        case 12:
            said.mayBreak = true
            let count = min(number(), input.count)
            said.bytes += input.prefix(count)
            input = input.dropFirst(count)
        case 13:
            said.mayBreak = true
            let (type, flags, stream) = (UInt8(number() % 11), UInt8(number()), said.stream(number()) ?? 1)
            let count = min(number(), input.count)
            said.frame(type, flags: flags, stream: stream, Array(input.prefix(count)))
            input = input.dropFirst(count)
        case 14:
            // Every push under way is out of time.
            deliver(pieces: .max)
            connection.tick(now: MonotonicClock.now() + 200_000_000)
            turn()
        default:
            // The peer stops reading, or goes on: what it does not read must not grow here.
            isListening.toggle()
            said.mayBreak = true
        }
    }
}

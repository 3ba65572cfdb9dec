import Glibc
import HTTP2
import Networking

/// Reads answers as the mock gives them, without sending pushes: how engine `wire`'s frame parser is measured alone.
///
/// Streams are taken in batches, and the answers of a batch lie one after the other, as one read brings them.
package final class AnswerReader {
    private final class Counter: PushDriver {
        @exclusivity(unchecked) var sum: UInt64 = 0

        override func finished(
            _ ticket: borrowing PushTicket, outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
            at time: UInt64, body: UnsafeBufferPointer<UInt8>
        ) {
            sum &+= UInt64(body.count)
            switch outcome {
            case .accepted: sum &+= 1
            case .rejected(let status): sum &+= UInt64(status)
            case .failed: preconditionFailure("an answer is one")
            }
        }
    }

    private static let batch = 64
    private let driver = Counter()
    private let memory: RequestMemory
    private let reactor: Reactor
    private let connection: WireConnection
    private let peer: Int32
    private let answers: UnsafeMutableBufferPointer<UInt8>
    /// Where the stream ids of each answer's frames lie.
    private var places: [[Int]] = []

    /// - Throws: when the system has no descriptors.
    package init() throws(NetworkError) {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0 else {
            throw NetworkError(.io, "no socket pair can be had")
        }
        peer = ends[1]
        memory = RequestMemory(
            authority: "a", isSecure: false, headerSets: [[]], tokenCapacity: 64, payloadCapacity: 64)
        reactor = try Reactor()
        var options = TransportOptions()
        options.streams = Self.batch
        connection = WireConnection(
            token: 1, index: 0, lane: 0,
            target: Target(
                address: try SocketAddress(host: "127.0.0.1", port: 1), host: "a", authority: "a", tls: nil),
            stream: try SocketStream(accepted: ends[0], tls: nil, options: SocketOptions()), options: options,
            driver: driver, loop: reactor, shared: memory, sendBuffers: BufferPool(capacity: 131_072),
            now: MonotonicClock.now())
        var all: [UInt8] = []
        for number in 0..<Self.batch {
            var streams: [Int] = []
            for frame in Self.answer(isAccepted: number % 16 != 5) {
                streams.append(all.count + 5)
                all += frame
            }
            places.append(streams)
        }
        answers = .allocate(capacity: all.count)
        _ = answers.update(from: all)
        let settings = Self.frame(Frame.settings, flags: 0, [])
        precondition(connection.consume(settings, count: settings.count) == nil)
    }

    deinit {
        connection.close(.interrupted, text: "read")
        close(peer)
        answers.deallocate()
    }

    /// One of sixteen is rejected, with a body.
    private static func answer(isAccepted: Bool) -> [[UInt8]] {
        func text(_ value: String) -> [UInt8] { [UInt8(value.utf8.count)] + Array(value.utf8) }
        let identifier = [0x00] + text("apns-id") + text("01234567-89ab-4def-8123-456789abcdef")
        if isAccepted { return [frame(Frame.headers, flags: Frame.endHeaders | Frame.endStream, [0x88] + identifier)] }
        let body = "{\"reason\":\"BadDeviceToken\"}"
        return [
            frame(
                Frame.headers, flags: Frame.endHeaders,
                [0x8C] + identifier + [0x00] + text("content-type") + text("application/json")),
            frame(Frame.data, flags: Frame.endStream, Array(body.utf8)),
        ]
    }

    private static func frame(_ type: UInt8, flags: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: Frame.headerLength)
        Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: 0, into: &header)
        return header + payload
    }

    /// Reads the answers of `count` pushes, rounded up to batches, at most 1,000,000,000 in all; returns a number that
    /// depends on them.
    package func run(_ count: UInt64) -> UInt64 {
        let bytes = answers.baseAddress!
        var done: UInt64 = 0
        while done < count {
            places.withUnsafeBufferPointer { places in
                for streams in places {
                    let stream = UInt32(bitPattern: connection.pretend())
                    for place in streams { Frame.write32(stream, into: bytes + place) }
                }
            }
            let problem = connection.consume(bytes, count: answers.count)
            precondition(problem == nil && connection.inFlight == 0, "the answers are right")
            done += UInt64(Self.batch)
        }
        return driver.sum
    }
}

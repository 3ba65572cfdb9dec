import Foundation
import HTTP2
import Networking

@testable import Transport

/// A connection of engine wire and, at the other end of a socket pair, whoever plays its server: frame by frame, on one
/// thread.
final class WirePair {
    final class Driver: PushDriver {
        var outcomes: [UInt64: String] = [:]
        /// When each push ended, ns.
        var times: [UInt64: UInt64] = [:]
        var events: [String] = []
        var faults: [String] = []
        var (writes, writesAfterEnd) = (0, 0)
        /// Of each payload, bytes.
        var payloadLength = 1

        override func connection(_ index: Int, _ event: ConnectionEvent) { events.append("\(event)") }

        override func streamFault(_ text: String) { faults.append(text) }

        override func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {
            request.tokenLength = 1
            request.token[0] = 0x61
            request.payload.update(repeating: 0x62, count: payloadLength)
            request.payloadLength = payloadLength
        }
        override func written(_ ticket: borrowing PushTicket, started: UInt64, at time: UInt64) { writes += 1 }
        override func writtenAfterEnd(at time: UInt64) { writesAfterEnd += 1 }
        override func finished(
            _ ticket: borrowing PushTicket, outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
            at time: UInt64, body: UnsafeBufferPointer<UInt8>
        ) {
            let sequence = ticket.sequence
            precondition(outcomes[sequence] == nil, "push \(sequence) ends twice")
            outcomes[sequence] = "\(outcome)"
            times[sequence] = time
        }
    }

    struct Heard: Equatable {
        let type: UInt8
        let stream: Int32
        let payload: [UInt8]
    }

    let driver = Driver()
    let connection: PushConnection
    private let reactor: Reactor
    private let peer: Int32
    private let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 65_536)
    private var sent: UInt64 = 0

    /// - Parameters:
    ///   - firstStream: where the stream ids begin, for who wants to see their end.
    ///   - settles: the server has sent its SETTINGS.
    init(
        streams: Int = 8, firstStream: Int32 = 1, settles: Bool = true,
        _ change: (inout TransportOptions) -> Void = { _ in }
    ) throws {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0 else {
            throw NetworkError(.io, "socketpair")
        }
        peer = ends[1]
        reactor = try Reactor()
        var options = TransportOptions()
        options.streams = streams
        change(&options)
        let session = WireSession(
            RequestHead(authority: "a", isSecure: false, headerSets: [[]]), settings: options.session,
            streams: streams, sendBuffers: BufferPool(capacity: 131_072), firstStream: firstStream)
        connection = PushConnection(
            session, token: 1, index: 0, lane: 0,
            stream: try SocketStream(accepted: ends[0], tls: nil, options: SocketOptions()), options: options,
            driver: driver, loop: reactor, memory: RequestMemory(tokenCapacity: 64, payloadCapacity: 64),
            now: MonotonicClock.now())
        _ = connection.handle([], scratch: scratch)
        if settles { say(Self.frame(Frame.settings)) }
        _ = heard()
    }

    deinit {
        connection.close(.interrupted, text: "the test is over")
        close(peer)
        scratch.deallocate()
    }

    static func frame(_ type: UInt8, _ flags: UInt8 = 0, _ stream: Int32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 9)
        Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: stream, into: &bytes)
        return bytes + payload
    }

    /// Begins so many pushes, as far as the connection takes them.
    ///
    /// - Parameter time: ns; nil: now.
    func push(_ count: Int, at time: UInt64? = nil) {
        for _ in 0..<count where connection.canSend {
            connection.send(PushTicket(sequence: sent, due: 0), now: time ?? MonotonicClock.now())
            sent += 1
        }
        connection.flush()
    }

    /// The server says `bytes`, and the client takes them in.
    func say(_ bytes: [UInt8]) {
        let count = bytes.withUnsafeBytes { send(peer, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL)) }
        precondition(count == bytes.count, "the socket takes little")
        _ = connection.handle(.readable, scratch: scratch)
        connection.flush()
    }

    /// The server has said all.
    func hangUp() {
        shutdown(peer, Int32(SHUT_WR))
        _ = connection.handle(.readable, scratch: scratch)
    }

    /// What the client has said since the last call.
    func heard() -> [Heard] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = max(0, recv(peer, &buffer, buffer.count, 0))
        var bytes = buffer[..<count]
        if bytes.starts(with: Frame.preface) { bytes = bytes.dropFirst(Frame.preface.count) }
        var frames: [Heard] = []
        while bytes.count >= 9 {
            let start = Array(bytes.prefix(9))
            let length = Int(start[0]) << 16 | Int(start[1]) << 8 | Int(start[2])
            bytes = bytes.dropFirst(9)
            frames.append(
                Heard(
                    type: start[3],
                    stream: Int32(bitPattern: start.withUnsafeBufferPointer { Frame.read32($0.baseAddress! + 5) }),
                    payload: Array(bytes.prefix(length))))
            bytes = bytes.dropFirst(length)
        }
        return frames
    }
}

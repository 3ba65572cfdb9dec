import HTTP2
import Networking
import Testing

@testable import Transport

/// A connection over a stream of the tests', asked with PING after 5 s and given up 5 s later.
@Suite struct PingTests {
    private static let second: UInt64 = 1_000_000_000

    private let loop = VirtualLoop()
    private let driver = WirePair.Driver()
    private let stream: VirtualStream
    private let connection: PushConnection
    private let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 65_536)

    init() {
        stream = VirtualStream(loop, descriptor: 1)
        var options = TransportOptions()
        options.pushTimeout = 1 << 62
        let session = WireSession(
            RequestHead(authority: "a", isSecure: false, headerSets: [[]]), settings: options.session, streams: 8,
            sendBuffers: BufferPool(capacity: 131_072))
        connection = PushConnection(
            session, token: 1, index: 0, lane: 0, stream: stream, options: options, driver: driver, loop: loop,
            memory: RequestMemory(tokenCapacity: 64, payloadCapacity: 64), now: loop.time)
        _ = connection.handle([], scratch: scratch)
    }

    private func push(_ sequence: UInt64 = 0) {
        connection.send(PushTicket(sequence: sequence, due: 0), now: loop.time)
        connection.flush()
    }

    /// The state so many seconds later.
    private func state(after seconds: UInt64) -> PushConnection.State {
        loop.time += seconds * Self.second
        connection.tick(now: loop.time)
        return connection.state
    }

    @Test(
        "While a PING waits here behind pushes, a peer that takes some of them is alive, and one that takes none is not"
    )
    func held() {
        defer { scratch.deallocate() }
        stream.room = 0
        push()
        #expect(connection.isWriteBlocked && state(after: 6) == .open)
        for _ in 0..<5 {
            stream.room = 10
            _ = connection.handle(.writable, scratch: scratch)
            #expect(connection.isWriteBlocked && state(after: 4) == .open)
        }
        #expect(state(after: 4) == .open && state(after: 2) == .closed && connection.cause == .peerVanished)
    }

    @Test("The same while it waits in the kernel; what is behind it is no sign of life")
    func queued() {
        defer { scratch.deallocate() }
        push()
        #expect(state(after: 6) == .open)
        let end = stream.progress.given
        for step in 1...5 {
            stream.taken = UInt64(step) * 10
            #expect(state(after: 4) == .open)
        }
        stream.taken = end
        #expect(state(after: 4) == .open)
        push(1)
        stream.taken = stream.progress.given
        #expect(stream.taken > end && state(after: 4) == .open)
        push(2)
        stream.taken = stream.progress.given
        #expect(state(after: 2) == .closed && connection.cause == .peerVanished)
    }
}

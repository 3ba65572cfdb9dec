import HTTP2
import Networking
import Testing

@testable import Transport

/// A loop without a network: nothing is ever ready, and every connection is a `GarrulousStream`.
private final class StillLoop: EventLoop {
    var time: UInt64 = 1_000_000_000
    var streams: [GarrulousStream] = []

    init() { super.init(wakeUp: WakeUp()) }

    override var now: UInt64 { time }
    override func connect(
        to address: SocketAddress, serverName: String, tls: TLSContext?, options: SocketOptions, gathering: BufferPool?
    ) throws(NetworkError) -> ByteStream {
        let stream = GarrulousStream()
        streams.append(stream)
        return stream
    }
}

/// A peer that always has said more than is read at once: SETTINGS, then acknowledgements of PINGs without end.
private final class GarrulousStream: ByteStream {
    static let cycles: UInt64 = 1_000_000_000
    var isBroken = false
    private var hasBegun = false

    override var descriptor: Int32 { 5 }
    override var hasBufferedInput: Bool { true }
    /// The handshake takes none.
    override var socketCycles: UInt64 { hasBegun ? Self.cycles : 0 }
    override func read(into buffer: UnsafeMutablePointer<UInt8>, capacity: Int) -> IOResult {
        let frame =
            hasBegun
            ? WirePair.frame(Frame.ping, Frame.acknowledgement, 0, [UInt8](repeating: 0, count: 8))
            : WirePair.frame(Frame.settings)
        hasBegun = true
        buffer.update(from: frame, count: frame.count)
        return .bytes(frame.count)
    }
    override func write(_ bytes: UnsafePointer<UInt8>, count: Int) -> IOResult { isBroken ? .failed : .bytes(count) }
}

@Suite struct LaggingConnectionTests {
    @Test("A connection that breaks while input of it waits inside TLS is accounted once")
    func once() throws {
        let loop = StillLoop()
        let control = RunControl()
        let driver = CountingDriver(10, size: 10)
        let client = try PushClient(driver, over: loop, control: control)
        client.begin()
        #expect(driver.events == ["opened"])
        // The connection is looked at again at the end of the round, but the first write breaks it before.
        loop.streams[0].isBroken = true
        #expect(client.turn(waits: false))
        #expect(driver.events == ["opened", "lost", "ended(connection_reset)"] && loop.streams.count == 1)
        #expect(client.socketTime == CycleClock.shared.nanoseconds(from: 0, to: GarrulousStream.cycles))
        control.ask(.abort)
        while client.turn(waits: false) {}
        client.end()
        #expect(driver.isBalanced)
    }
}

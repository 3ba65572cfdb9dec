import HTTP2
import Testing

@testable import Transport

/// More connections than one wait tells of, and more than one tick looks at.
@Suite struct ManyConnectionsTests {
    private let loop = VirtualLoop()
    private static let timeout: UInt64 = 2_000_000_000

    /// One push is on each connection.
    private func client(_ driver: NumberedDriver) throws -> PushClient {
        var options = TransportOptions()
        (options.connections, options.streams, options.pushTimeout) = (Int(driver.count), 1, Self.timeout)
        let client = try PushClient(
            driver, over: loop, options: options, payloadCapacity: NumberedDriver.largest)
        client.begin()
        while driver.taken < driver.count, client.turn(waits: true) {}
        #expect(client.leftovers.slots == Int(driver.count) && loop.streams.count == Int(driver.count))
        return client
    }

    @Test("After a stall no push is given up whose answer is there, over however many connections")
    func stall() throws {
        let driver = NumberedDriver(3 * UInt64(VirtualLoop.mostEvents) + 10)
        let client = try client(driver)
        for stream in loop.streams {
            stream.input = WirePair.frame(Frame.headers, Frame.endStream | Frame.endHeaders, 1, [0x88])
        }
        loop.time += 2 * Self.timeout
        while client.turn(waits: true) {}
        #expect(driver.failed.isEmpty && driver.accepted.count == Int(driver.count) && driver.isBalanced)
        #expect(client.leftovers.slots == 0)
        client.end()
    }

    @Test("Pushes without an answer time out within half a second, over however many connections")
    func timeouts() throws {
        let driver = NumberedDriver(2000)
        let client = try client(driver)
        let begun = loop.time
        while driver.failed.count < driver.count, client.turn(waits: true) {}
        #expect(loop.time > begun + Self.timeout - 100_000_000)
        #expect(loop.time < begun + Self.timeout + 600_000_000, "\(loop.time - begun)")
        #expect(driver.failed.values.allSatisfy { $0 == .pushTimeout } && driver.isBalanced)
        while client.turn(waits: true) {}
        #expect(client.leftovers.slots == 0)
        client.end()
    }
}

import HTTP2
import Networking
import Testing

@testable import Transport

@Suite struct BackoffTests {
    @Test(
        "A server that says goodbye before it answers, and then answers, is no failing one: the next connection comes soon"
    )
    func goodbyeBeforeAnswers() throws {
        let loop = VirtualLoop()
        let driver = CountingDriver(20, size: 10)
        var options = TransportOptions()
        options.streams = 1
        let client = try PushClient(
            target: Target(
                address: try SocketAddress(host: "127.0.0.1", port: 1), host: "a", authority: "a", tls: nil),
            options: options, driver: driver, control: RunControl(), headerSets: [[]], tokenCapacity: 64,
            payloadCapacity: 64, loop: loop)
        client.begin()
        let begin = loop.time
        var said = 0
        // Each connection takes one push, says GOAWAY, and answers 10 ms later.
        while client.turn(waits: true) {
            guard loop.streams.count > said, let stream = loop.streams.last, stream.writes.count > 1 else { continue }
            said += 1
            stream.input += WirePair.frame(Frame.goAway, 0, 0, [0, 0, 0, 1, 0, 0, 0, 0])
            _ = client.turn(waits: true)
            loop.time += 10_000_000
            stream.input += WirePair.frame(Frame.headers, Frame.endHeaders | Frame.endStream, 1, [0x88])
        }
        client.end()
        #expect(driver.isBalanced && said == 20, "\(said) \(driver.events)")
        // 10 ms for the answer, 50 ms at most before the next attempt, which is looked for every 20 ms.
        #expect(loop.time - begin < 20 * 100_000_000, "\(loop.time - begin) ns")
    }
}

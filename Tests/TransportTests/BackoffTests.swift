import HTTP2
import Networking
import Testing

@testable import Transport

@Suite struct BackoffTests {
    /// A client of one connection and `streams` streams with 20 pushes.
    private func client(_ loop: VirtualLoop, _ driver: PushDriver, streams: Int) throws -> PushClient {
        var options = TransportOptions()
        options.streams = streams
        let client = try PushClient(driver, over: loop, options: options)
        client.begin()
        return client
    }

    @Test("Answers of long ago do not make the next attempts come sooner")
    func gone() throws {
        let loop = VirtualLoop()
        let driver = CountingDriver(20, size: 10)
        let client = try client(loop, driver, streams: 2)
        while loop.streams[0].writes.count < 2, client.turn(waits: true) {}
        // One of two pushes is answered, the other stays open; nobody listens any more.
        loop.isRefusing = true
        loop.streams[0].input +=
            WirePair.frame(Frame.headers, Frame.endHeaders | Frame.endStream, 1, [0x88])
            + WirePair.frame(Frame.goAway, 0, 0, [0, 0, 0, 3, 0, 0, 0, 0])
        let end = loop.time + 9_000_000_000
        while loop.time < end, client.turn(waits: true) {}
        let attempts = driver.events.count { $0 == "reconnecting" }
        // 50 ms, doubled each time, of which half is waited on average: about ten.
        #expect((3...20).contains(attempts), "\(attempts)")
    }

    @Test("A lane has at most two connections, however many say goodbye and never end")
    func endless() throws {
        let loop = VirtualLoop()
        let driver = CountingDriver(20, size: 10)
        let client = try client(loop, driver, streams: 1)
        // Sooner than any of them is given up for its silence.
        let end = loop.time + 9_000_000_000
        var said = 0
        while loop.time < end, client.turn(waits: true) {
            guard loop.streams.count > said, let stream = loop.streams.last, stream.writes.count > 1 else { continue }
            said += 1
            stream.input += WirePair.frame(Frame.goAway, 0, 0, [0, 0, 0, 1, 0, 0, 0, 0])
        }
        #expect(said == 2 && loop.streams.count == 2, "\(said) \(loop.streams.count)")
    }

    @Test(
        "A server that says goodbye before it answers, and then answers, is no failing one: the next connection comes soon"
    )
    func goodbyeBeforeAnswers() throws {
        let loop = VirtualLoop()
        let driver = CountingDriver(20, size: 10)
        let client = try client(loop, driver, streams: 1)
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

import HTTP2
import Networking
import Testing

@testable import Transport

@Suite struct BackoffTests {
    /// A client of one connection and `streams` streams with 20 pushes.
    private func client(
        _ loop: VirtualLoop, _ driver: PushDriver, streams: Int, _ change: (inout TransportOptions) -> Void = { _ in }
    ) throws -> PushClient {
        var options = TransportOptions()
        options.streams = streams
        change(&options)
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
        (loop.isRefusing, loop.refusal) = (true, .connect)
        loop.streams[0].input +=
            WirePair.frame(Frame.headers, Frame.endHeaders | Frame.endStream, 1, [0x88])
            + WirePair.frame(Frame.goAway, 0, 0, [0, 0, 0, 3, 0, 0, 0, 0])
        let end = loop.time + 9_000_000_000
        while loop.time < end, client.turn(waits: true) {}
        let attempts = driver.events.count { $0 == "reconnecting" }
        // 50 ms, doubled each time, of which half is waited on average: about ten.
        #expect((3...20).contains(attempts), "\(attempts)")
    }

    private static let goAway = WirePair.frame(Frame.goAway, 0, 0, [0, 0, 0, 1, 0, 0, 0, 0])
    private static let answer = WirePair.frame(Frame.headers, Frame.endHeaders | Frame.endStream, 1, [0x88])

    /// Until a push is on the connection, after its preface and the acknowledged SETTINGS; at most a virtual minute.
    private func send(_ client: PushClient, over number: Int, _ loop: VirtualLoop) {
        let end = loop.time + 60_000_000_000
        func isSent() -> Bool { loop.streams.count > number && loop.streams[number].writes.count > 2 }
        while !isSent(), loop.time < end, client.turn(waits: true) {}
        #expect(isSent(), "connection \(number)")
    }

    @Test(
        "A connection that had answers and is told to go away, or closed, is replaced before any time passes",
        arguments: [true, false])
    func atOnce(_ isClosed: Bool) throws {
        let loop = VirtualLoop()
        let driver = CountingDriver(20, size: 10)
        let client = try client(loop, driver, streams: 1)
        for round in 0..<5 {
            send(client, over: round, loop)
            loop.streams[round].input += Self.answer
            _ = client.turn(waits: false)
            let begin = loop.time
            if isClosed { loop.streams[round].isHungUp = true } else { loop.streams[round].input += Self.goAway }
            for _ in 0..<4 { _ = client.turn(waits: false) }
            try #require(loop.streams.count == round + 2 && loop.time == begin, "round \(round)")
        }
    }

    @Test("A connection that is refused is tried again at once, and from then on after reconnect_delay at most")
    func outage() throws {
        let loop = VirtualLoop()
        let driver = DueDriver(20, size: 10)
        let client = try client(loop, driver, streams: 1)
        send(client, over: 0, loop)
        loop.streams[0].input += Self.answer
        _ = client.turn(waits: false)
        let begin = loop.time
        (loop.isRefusing, loop.streams[0].isHungUp) = (true, true)
        for _ in 0..<4 { _ = client.turn(waits: false) }
        #expect(loop.asked.count >= 3 && loop.time == begin)
        // Nobody listens for 1.5 s.
        while loop.time < begin + 1_500_000_000, client.turn(waits: true) {}
        #expect(driver.noConnection.current > 1_300_000_000 && driver.noConnection.nextAttempt != nil)
        loop.isRefusing = false
        let again = loop.time
        send(client, over: 1, loop)
        let end = loop.streams[1].writes[2].time
        #expect(end - again <= 50_000_000, "\(end - again) ns")
        while loop.time < end + 100_000_000, client.turn(waits: true) {}
        let missed = driver.noConnection
        #expect(missed.total == end - begin && missed.longest == missed.total && missed.current == 0, "\(missed)")
        #expect(missed.cause?.description == "connection_refused" && missed.wait <= 50_000_000)
    }

    @Test("Time without a connection counts from when the next push is due, and not while none is")
    func nothingDue() throws {
        let loop = VirtualLoop()
        let driver = DueDriver(20, size: 10)
        let client = try client(loop, driver, streams: 1)
        send(client, over: 0, loop)
        // The second push is due a second later.
        let begin = loop.time
        driver.notBefore = begin + 1_000_000_000
        loop.streams[0].input += Self.answer
        _ = client.turn(waits: false)
        (loop.isRefusing, loop.streams[0].isHungUp) = (true, true)
        while loop.time < begin + 1_500_000_000, client.turn(waits: true) {}
        loop.isRefusing = false
        send(client, over: 1, loop)
        let end = loop.streams[1].writes[2].time
        while loop.time < end + 100_000_000, client.turn(waits: true) {}
        #expect(driver.noConnection.total == end - driver.notBefore, "\(driver.noConnection) \(end - begin)")
    }

    @Test("Of several workers the one that lacked a connection for longest stands for all, with its own cause and wait")
    func worst() {
        func lacking(_ times: [UInt64], _ why: ConnectionEnd, lasts: Bool = false) -> NoConnection {
            var missed = NoConnection()
            for (number, time) in times.enumerated() {
                missed.begin(1000)
                missed.count(1000 + time, due: 0, why: why, wait: time / 10)
                if !lasts || number + 1 < times.count { missed.end() }
            }
            return missed
        }
        var all = NoConnection()
        all.add(lacking([40, 30], .broken(.connectionRefused)))
        all.add(lacking([60], .broken(.connectTimeout), lasts: true))
        #expect(all.total == 70 && all.longest == 40 && all.wait == 4 && all.cause == .broken(.connectionRefused))
        // What lasts now is another's, for its own reason.
        #expect(all.current == 60 && all.currentCause == .broken(.connectTimeout))
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
        // 10 ms for the answer, and two ticks of 20 ms that the test lets pass; no connection waits for another.
        #expect(loop.time - begin <= 20 * 50_000_000, "\(loop.time - begin) ns")
    }
}

/// Says when its pushes are due: all at once, or from a time on.
private final class DueDriver: CountingDriver {
    var notBefore: UInt64 = 0
    private(set) var noConnection = NoConnection()

    override func take(now: UInt64, into ticket: inout PushTicket) -> Supply {
        now < notBefore && next < count ? .notBefore(notBefore) : super.take(now: now, into: &ticket)
    }

    override func missed(_ noConnection: NoConnection) { self.noConnection = noConnection }

    override func nextDue(now: UInt64) -> UInt64? { next < count ? notBefore : nil }
}

import Networking
import Testing

@testable import Transport

/// Has nothing to send yet, and notes what ended the run.
private final class IdleDriver: PushDriver {
    let loop: VirtualLoop
    var abandonedBy: FailureCause?
    var stoppedBy: FailureCause?
    /// Others still send.
    var staysForOthers = false

    init(_ loop: VirtualLoop) { self.loop = loop }

    override func take(now: UInt64, into ticket: inout PushTicket) -> Supply { .notBefore(now + 3_600_000_000_000) }
    override func hasMore(now: UInt64) -> Bool { true }
    override func abandon(_ cause: FailureCause, now: UInt64) { abandonedBy = cause }
    override func mayEnd(now: UInt64) -> Bool { !staysForOthers }
    override func stopped(_ cause: FailureCause, now: UInt64) { stoppedBy = cause }
}

@Suite struct CutOffTests {
    private let loop = VirtualLoop()
    private let control = RunControl()

    /// A client with an open connection.
    private func client(_ driver: IdleDriver, giveUpAfter: UInt64 = 10_000_000_000) throws -> PushClient {
        var options = TransportOptions()
        options.giveUpAfter = giveUpAfter
        let client = try PushClient(driver, over: loop, control: control, options: options)
        client.begin()
        pass(200_000_000, client)
        return client
    }

    private func pass(_ time: UInt64, _ client: PushClient) {
        let end = loop.time + time
        while loop.time < end, client.turn(waits: true) {}
    }

    @Test("A connection that was lost while the client stood still is not one that has been missing for so long")
    func stall() throws {
        let driver = IdleDriver(loop)
        let client = try client(driver)
        loop.streams[0].isHungUp = true
        loop.time += 5_000_000_000
        control.ask(.drain, isTimeUp: true)
        while client.turn(waits: true) {}
        client.end()
        #expect(driver.abandonedBy == nil && driver.stoppedBy == .runEnded)
    }

    @Test("Nor is a target given up after such a time before it was asked again")
    func stallBeforeGivingUp() throws {
        let driver = IdleDriver(loop)
        let client = try client(driver, giveUpAfter: 1_000_000_000)
        loop.streams[0].isHungUp = true
        loop.time += 5_000_000_000
        pass(2_000_000_000, client)
        #expect(driver.abandonedBy == nil && loop.streams.count == 2)
        // One that is gone is.
        loop.isRefusing = true
        loop.streams[1].isHungUp = true
        pass(500_000_000, client)
        #expect(driver.abandonedBy == nil)
        pass(1_000_000_000, client)
        #expect(driver.abandonedBy == .connectionRefused)
        client.end()
    }

    @Test(
        "A client that gave its target up stays while its driver wants it to, without a connection, until it is stopped"
    )
    func stays() throws {
        let driver = IdleDriver(loop)
        driver.staysForOthers = true
        let client = try client(driver, giveUpAfter: 1_000_000_000)
        loop.isRefusing = true
        loop.streams[0].isHungUp = true
        pass(2_000_000_000, client)
        #expect(driver.abandonedBy == .connectionRefused)
        // The target is there again.
        (loop.isRefusing, driver.abandonedBy) = (false, nil)
        pass(5_000_000_000, client)
        #expect(client.turn(waits: true) && loop.streams.count == 1 && driver.abandonedBy == nil)
        control.ask(.drain)
        #expect(!client.turn(waits: true) && driver.stoppedBy == .interrupted)
        client.end()
    }

    @Test("One that nobody is left to stay for ends at once")
    func ends() throws {
        let driver = IdleDriver(loop)
        driver.staysForOthers = true
        let client = try client(driver, giveUpAfter: 1_000_000_000)
        loop.isRefusing = true
        loop.streams[0].isHungUp = true
        pass(2_000_000_000, client)
        driver.staysForOthers = false
        #expect(!client.turn(waits: true))
        client.end()
    }

    @Test("When the time is over and no connection has been open for a while, that is why the rest is not sent")
    func gone() throws {
        let driver = IdleDriver(loop)
        let client = try client(driver)
        loop.isRefusing = true
        loop.streams[0].isHungUp = true
        pass(500_000_000, client)
        control.ask(.drain, isTimeUp: true)
        while client.turn(waits: true) {}
        client.end()
        #expect(driver.abandonedBy == .connectionRefused)
    }
}

import HTTP2
import Networking
import TestSupport
import Testing

@testable import Transport

/// Time-outs of pushes on one connection, whose time is moved by hand.
@Suite struct PushTimeoutTests {
    private static let millisecond: UInt64 = 1_000_000

    private func pair(timeout: UInt64, streams: Int = 8) throws -> WirePair {
        try WirePair(streams: streams) {
            $0.pushTimeout = timeout
            $0.pingInterval = 1 << 62
        }
    }

    @Test("Open pushes are looked at only once the oldest may have timed out")
    func scans() throws {
        let timeout = 2000 * Self.millisecond
        let pair = try pair(timeout: timeout)
        let connection = pair.connection
        let start = MonotonicClock.now()
        connection.tick(now: start)
        #expect(connection.nextScan == start + timeout + 1)
        let (first, second) = (start + 10 * Self.millisecond, start + 500 * Self.millisecond)
        pair.push(1, at: first)
        pair.push(1, at: second)
        for time in stride(from: start, through: start + timeout, by: Int(20 * Self.millisecond)) {
            connection.tick(now: time)
            #expect(connection.nextScan == start + timeout + 1)
        }
        // A look finds the first push just in time, and looks again a tick later.
        connection.tick(now: start + timeout + 1)
        #expect(connection.nextScan == start + timeout + 1 + 20 * Self.millisecond && pair.driver.outcomes.isEmpty)
        connection.tick(now: connection.nextScan)
        #expect(pair.driver.outcomes == [0: "failed(push_timeout)"] && connection.nextScan == second + timeout + 1)
        connection.tick(now: second + timeout)
        #expect(pair.driver.outcomes.count == 1)
        connection.tick(now: second + timeout + 1)
        #expect(pair.driver.outcomes == [0: "failed(push_timeout)", 1: "failed(push_timeout)"])
    }

    @Test("A push whose status has come times out with a cause of its own")
    func incomplete() throws {
        let timeout = 1000 * Self.millisecond
        let pair = try pair(timeout: timeout)
        let start = MonotonicClock.now()
        pair.push(3, at: start)
        pair.say(WirePair.frame(Frame.headers, Frame.endHeaders, 1, [0x88]))
        pair.say(WirePair.frame(Frame.headers, Frame.endHeaders, 3, [0x08, 3, 0x31, 0x30, 0x33]))
        pair.connection.tick(now: start + timeout + 1)
        let silent = "failed(push_timeout)"
        #expect(pair.driver.outcomes == [0: "failed(answer_incomplete)", 1: silent, 2: silent])
    }

    @Test("While answers come, a connection looks at its pushes about once a time-out")
    func quiet() throws {
        let timeout = 1000 * Self.millisecond
        let pair = try pair(timeout: timeout)
        let start = MonotonicClock.now()
        var looks: Set<UInt64> = []
        for step in 0..<500 as Range<Int32> {
            let time = start + UInt64(step) * 20 * Self.millisecond
            pair.connection.tick(now: time)
            pair.push(1, at: time)
            looks.insert(pair.connection.nextScan)
            // The push before this one is answered.
            if step > 0 {
                pair.say(WirePair.frame(Frame.headers, Frame.endStream | Frame.endHeaders, step * 2 - 1, [0x88]))
            }
            _ = pair.heard()
        }
        #expect(pair.driver.outcomes.values.allSatisfy { $0 == "accepted" } && pair.driver.outcomes.count == 499)
        // 10 seconds.
        #expect(looks.count <= 12, "\(looks.count)")
    }

    @Test("Pushes that leave only after this thread stood still have time for their answers, and no more than once")
    func standstill() throws {
        for isAnswered in [true, false] {
            let loop = VirtualLoop()
            let driver = NumberedDriver(3)
            var options = TransportOptions()
            options.pushTimeout = 2000 * Self.millisecond
            (options.pingInterval, options.giveUpAfter) = (1 << 60, 1 << 60)
            let client = try PushClient(driver, over: loop, options: options, payloadCapacity: 4_096)
            client.begin()
            while driver.opened == 0 { #expect(client.turn(waits: true)) }
            // Begun, and on their way after 5 s.
            loop.writeCost = 5000 * Self.millisecond
            while driver.taken < 3 || loop.time < 6000 * Self.millisecond { #expect(client.turn(waits: true)) }
            loop.writeCost = 0
            let back = loop.time
            while loop.time < back + 200 * Self.millisecond { #expect(client.turn(waits: true)) }
            #expect(driver.failed.isEmpty)
            if isAnswered {
                loop.streams[0].input = [1, 3, 5].flatMap {
                    WirePair.frame(Frame.headers, Frame.endHeaders | Frame.endStream, $0, [0x88])
                }
            } else {
                // Nor is it given again where each tick is late.
                while !driver.isBalanced, loop.time < back + 60_000 * Self.millisecond {
                    loop.time += 150 * Self.millisecond
                    _ = client.turn(waits: false)
                }
                #expect(loop.time < back + 2500 * Self.millisecond, "\(loop.time - back)")
            }
            while client.turn(waits: true) {}
            client.end()
            #expect(driver.isBalanced && driver.failed.count == (isAnswered ? 0 : 3), "\(driver.failed)")
        }
    }

    @Test("No push times out early, and none later than 100 ms and a tick after its time")
    func prompt() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed)
        for timeout in [0, 50, 90, 1000, 3000].map({ $0 * Self.millisecond }) {
            let pair = try pair(timeout: timeout, streams: 64)
            let start = MonotonicClock.now()
            var begun: [UInt64: UInt64] = [:]
            var time = start
            while time < start + 10_000 * Self.millisecond {
                pair.connection.tick(now: time)
                if UInt64.random(in: 0..<10, using: &random) < 3 {
                    for _ in 0..<Int.random(in: 1...4, using: &random) where pair.connection.canSend {
                        begun[UInt64(begun.count)] = time
                        pair.push(1, at: time)
                    }
                }
                // Some are answered; an answer to a push that has ended is passed over.
                if !begun.isEmpty, Bool.random(using: &random) {
                    let stream = Int32.random(in: 0..<Int32(begun.count), using: &random) * 2 + 1
                    pair.say(WirePair.frame(Frame.headers, Frame.endStream | Frame.endHeaders, stream, [0x88]))
                }
                _ = pair.heard()
                time += 20 * Self.millisecond
            }
            var timedOut = 0
            for (push, began) in begun {
                let outcome = pair.driver.outcomes[push]
                if outcome == "accepted" { continue }
                let due = began + timeout
                guard outcome != nil else {
                    #expect(due + 120 * Self.millisecond >= time - 20 * Self.millisecond, "seed \(seed): \(push)")
                    continue
                }
                timedOut += 1
                let end = try #require(pair.driver.times[push])
                #expect(end > due && end <= due + 120 * Self.millisecond, "seed \(seed): \(push), \(timeout)")
            }
            #expect(timedOut > 0, "seed \(seed)")
        }
    }
}

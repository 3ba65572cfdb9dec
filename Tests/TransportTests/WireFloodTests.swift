import HTTP2
import Networking
import Testing

@testable import Transport

/// Frames that RFC 9113 allows and that bring no answer (section 10.5), and windows.
@Suite struct WireFloodTests {
    private static let word: [UInt8] = [0, 0, 0, 1]
    private static func frame(_ type: UInt8, _ flags: UInt8 = 0, _ stream: Int32 = 0, _ payload: [UInt8] = [])
        -> [UInt8]
    {
        WirePair.frame(type, flags, stream, payload)
    }

    @Test(
        "Frames without end and without an answer end the connection with ENHANCE_YOUR_CALM",
        arguments: [
            ("SETTINGS", frame(Frame.settings)), ("SETTINGS", frame(Frame.settings, 1)),
            ("PING", frame(Frame.ping, 0, 0, word + word)), ("PING", frame(Frame.ping, 1, 0, word + word)),
            ("empty DATA", frame(Frame.data, 0, 3)), ("empty DATA", frame(Frame.data, Frame.padded, 3, [0])),
            ("WINDOW_UPDATE", frame(Frame.windowUpdate, 0, 0, word)),
            ("WINDOW_UPDATE", frame(Frame.windowUpdate, 0, 3, word)),
            ("WINDOW_UPDATE", frame(Frame.windowUpdate, 0, 1, word)),
            ("PRIORITY", frame(Frame.priority, 0, 5, word + [9])), ("unknown frames", frame(0x70, 0, 3)),
            ("RST_STREAM", frame(Frame.reset, 0, 1, word)),
            ("DATA of closed streams", frame(Frame.data, 0, 1, [1])),
            ("HEADERS of closed streams", frame(Frame.headers, Frame.endHeaders, 1, [0x88])),
            ("interim answers", frame(Frame.headers, Frame.endHeaders, 5, [0x08, 3, 0x31, 0x30, 0x33])),
        ] as [(String, [UInt8])])
    func flood(_ name: String, _ frame: [UInt8]) throws {
        let pair = try WirePair()
        pair.push(3)
        // Stream 1 is over, 3 has its status, 5 has nothing.
        pair.say(Self.frame(Frame.headers, Frame.endHeaders | Frame.endStream, 1, [0x88]))
        pair.say(Self.frame(Frame.headers, Frame.endHeaders, 3, [0x88]))
        let hundred = [[UInt8]](repeating: frame, count: 100).flatMap { $0 }
        var count = 0
        var heard = pair.heard()
        while pair.connection.state != .closed, count < 20_000 {
            pair.say(hundred)
            count += 100
            heard = pair.heard()
        }
        #expect(pair.connection.state == .closed && count >= 1000, "\(name): \(count)")
        #expect(heard.last == .init(type: Frame.goAway, stream: 0, payload: [0, 0, 0, 0, 0, 0, 0, 11]), "\(name)")
        #expect(pair.driver.events.suffix(2) == ["lost", "ended(flood \(name))"])
        #expect(
            pair.driver.outcomes == [
                0: "accepted", 1: "failed(answer_incomplete)", 2: "failed(protocol_violation)",
            ])
    }

    @Test("As many frames are borne again after each answer, and some for each push")
    func answers() throws {
        let pair = try WirePair {
            $0.pushTimeout = 1
            $0.pingInterval = 1 << 62
        }
        let pings = [[UInt8]](repeating: Self.frame(Frame.ping, 0, 0, Self.word + Self.word), count: 100).flatMap { $0 }
        for round in 0..<10 as Range<Int32> {
            pair.push(1)
            for _ in 0..<9 {
                pair.say(pings)
                _ = pair.heard()
            }
            pair.say(Self.frame(Frame.headers, Frame.endHeaders | Frame.endStream, 2 * round + 1, [0x88]))
        }
        #expect(pair.connection.state == .open && pair.driver.outcomes.count == 10)
        // A server that opens its windows and answers only when the push has timed out.
        for round in 10..<2010 as Range<Int32> {
            let stream = 2 * round + 1
            pair.push(1)
            pair.say(
                Self.frame(Frame.windowUpdate, 0, 0, Self.word) + Self.frame(Frame.windowUpdate, 0, stream, Self.word))
            pair.connection.tick(now: MonotonicClock.now() + 200_000_000)
            pair.say(
                Self.frame(Frame.headers, Frame.endHeaders, stream, [0x88]) + Self.frame(Frame.data, 0, stream, [1])
                    + Self.frame(Frame.data, Frame.endStream, stream))
            _ = pair.heard()
        }
        #expect(pair.connection.state == .open && pair.driver.outcomes.count == 2010)
    }

    @Test("Windows that are given back for what was sent are no flood, however small the pieces")
    func smallPieces() throws {
        let pair = try WirePair {
            $0.pushTimeout = 1
            $0.pingInterval = 1 << 62
        }
        pair.driver.payloadLength = 40
        for round in 0..<200 as Range<Int32> {
            pair.push(1)
            let pieces =
                Self.frame(Frame.windowUpdate, 0, 0, Self.word)
                + Self.frame(Frame.windowUpdate, 0, 2 * round + 1, Self.word)
            pair.say([[UInt8]](repeating: pieces, count: 40).flatMap { $0 })
            pair.connection.tick(now: MonotonicClock.now() + 200_000_000)
            _ = pair.heard()
        }
        #expect(pair.connection.state == .open && pair.driver.outcomes.count == 200)
    }

    @Test("Nor are they where a thousand streams wait for their own windows, and the connection's is open all the time")
    func smallPiecesOfMany() throws {
        let streams: Int32 = 1200
        let pair = try WirePair(streams: Int(streams), settles: false) {
            $0.pushTimeout = 1 << 62
            $0.pingInterval = 1 << 62
        }
        // SETTINGS_INITIAL_WINDOW_SIZE 1, SETTINGS_MAX_CONCURRENT_STREAMS 1,200.
        pair.say(Self.frame(Frame.settings, 0, 0, [0, 4, 0, 0, 0, 1, 0, 3, 0, 0, 4, 0xB0]))
        pair.driver.payloadLength = 40
        pair.push(Int(streams))
        _ = pair.heard()
        for _ in 0..<5 {
            for stream in 0..<streams {
                // Both give back the byte that was sent.
                pair.say(
                    Self.frame(Frame.windowUpdate, 0, 2 * stream + 1, Self.word)
                        + Self.frame(Frame.windowUpdate, 0, 0, Self.word))
                if stream % 100 == 0 { _ = pair.heard() }
            }
        }
        #expect(pair.connection.state == .open, "\(pair.driver.events.suffix(2))")
    }

    @Test(
        "A window beyond 2^31-1, or opened by nothing, is an error of its stream",
        arguments: [
            // One byte of 65,535 is used.
            ([[0x7F, 0xFF, 0x00, 0x02]], 3), ([[0x7F, 0xFF, 0x00, 0x01], [0, 0, 0, 1]], 3), ([[0, 0, 0, 0]], 1),
        ] as [([[UInt8]], UInt8)])
    func streamWindow(_ increments: [[UInt8]], _ code: UInt8) throws {
        let pair = try WirePair()
        pair.push(2)
        _ = pair.heard()
        for increment in increments {
            #expect(pair.driver.outcomes.isEmpty)
            pair.say(Self.frame(Frame.windowUpdate, 0, 1, increment))
        }
        #expect(pair.heard() == [.init(type: Frame.reset, stream: 1, payload: [0, 0, 0, code])])
        pair.say(Self.frame(Frame.headers, Frame.endStream | Frame.endHeaders, 3, [0x88]))
        #expect(pair.driver.outcomes == [0: "failed(malformed_answer)", 1: "accepted"])
        #expect(pair.connection.state == .open)
    }

    @Test(
        "SETTINGS that take the window of a stream under way beyond 2^31-1 end the connection, if only for a moment",
        arguments: [[], [0, 4, 0, 0, 0, 1]] as [[UInt8]])
    func initialWindow(_ next: [UInt8]) throws {
        let pair = try WirePair()
        pair.push(1)
        pair.say(Self.frame(Frame.windowUpdate, 0, 1, [0, 0, 0, 2]))
        _ = pair.heard()
        pair.say(Self.frame(Frame.settings, 0, 0, [0, 4, 0x7F, 0xFF, 0xFF, 0xFF] + next))
        #expect(pair.heard() == [.init(type: Frame.goAway, stream: 0, payload: [0, 0, 0, 0, 0, 0, 0, 3])])
    }
}

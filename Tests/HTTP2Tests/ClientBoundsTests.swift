import Testing

@testable import HTTP2

/// How many frames without an answer engine wire bears, with the clock standing still.
@Suite struct ClientBoundsTests {
    private static func frame(_ type: UInt8, _ flags: UInt8 = 0, _ stream: Int32 = 0, _ payload: [UInt8] = [])
        -> [UInt8]
    {
        var bytes = [UInt8](repeating: 0, count: 9)
        Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: stream, into: &bytes)
        return bytes + payload
    }

    private static let ping = frame(Frame.ping, 0, 0, [UInt8](repeating: 0, count: 8))

    /// A connection that has begun, with so many pushes under way.
    private func client(streams: Int, pushes: Int) -> HandTurnedClient {
        let client = HandTurnedClient(isWire: true, streams: streams)
        _ = client.receive(Self.frame(Frame.settings))
        for _ in 0..<pushes {
            _ = client.send("/", payload: [1])
            _ = client.output()
        }
        return client
    }

    /// How often the session bears `frame` before it ends the connection, at most 100,000 times.
    private func borne(_ client: HandTurnedClient, _ frame: [UInt8]) -> Int {
        for count in 0..<100_000 {
            if let violation = client.receive(frame) {
                #expect(violation.isFlood)
                return count
            }
            _ = client.output()
        }
        return .max
    }

    @Test("1,000 frames are borne, less the SETTINGS before, and 8 for each push, however many streams there may be")
    func pushesUnderWay() {
        #expect(borne(client(streams: 1000, pushes: 0), Self.ping) == 999)
        #expect(borne(client(streams: 1000, pushes: 1), Self.ping) == 1007)
        #expect(borne(client(streams: 1000, pushes: 1000), Self.ping) == 8999)
    }

    /// How many RST_STREAM frames there are.
    private func resets(_ bytes: [UInt8]) -> Int {
        var (count, place) = (0, 0)
        while place + 9 <= bytes.count {
            if bytes[place + 3] == Frame.reset { count += 1 }
            place += 9 + (Int(bytes[place]) << 16 | Int(bytes[place + 1]) << 8 | Int(bytes[place + 2]))
        }
        return count
    }

    @Test(
        "However often a server has the client reset streams, each is reset once, and little is written",
        arguments: [true, false])
    func provokedResets(_ isWire: Bool) {
        let pushes = 100
        let client = HandTurnedClient(isWire: isWire, streams: pushes)
        _ = client.receive(Self.frame(Frame.settings))
        var written = 0
        for _ in 0..<pushes {
            _ = client.send("/", payload: [1])
            _ = client.output()
        }
        var count = 0
        var isOver = false
        for round in 0..<200 {
            for push in 0..<pushes where !isOver {
                // A field name in upper case.
                let malformed = Self.frame(
                    Frame.headers, Frame.endHeaders, Int32(2 * push + 1), [0x88, 0x00, 1, 0x41, 1, 0x61])
                if client.receive(malformed) != nil || !client.session.isAlive { isOver = true }
                // At first nothing is taken from the client.
                guard round > 0 else { continue }
                let output = client.output()
                count += resets(output)
                written += output.count
            }
        }
        #expect(count == pushes && client.endings.count == pushes, "\(count) resets")
        #expect(written < pushes * 13 + 1000, "\(written) bytes")
    }

    @Test("An answer fills it for what is still under way")
    func answer() {
        let client = client(streams: 1000, pushes: 11)
        #expect(client.receive(Self.frame(Frame.headers, 5, 1, [0x88])) == nil)
        #expect(borne(client, Self.ping) == 1080)
    }

    @Test("Frames for which many streams are looked at count for more; streams that are not in use cost nothing")
    func looks() {
        let settings = Self.frame(Frame.settings, 0, 0, [0, 4, 0, 1, 0, 0])
        #expect(borne(client(streams: 100_000, pushes: 1), settings) == 1007)
        // 33,000 less one, at 41 each.
        #expect(borne(client(streams: 4000, pushes: 4000), settings) == 804)
        let goAway = Self.frame(Frame.goAway, 0, 0, [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        #expect(borne(client(streams: 4000, pushes: 4000), goAway) == 804)
    }
}

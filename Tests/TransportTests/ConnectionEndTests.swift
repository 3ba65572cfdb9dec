import Dispatch
import HTTP2
import Networking
import Testing

@testable import Transport

/// Stops its run, if asked to, as soon as a connection is told to go away.
private final class EndingDriver: CountingDriver {
    private let control: RunControl
    private let stopsAtGoAway: Bool

    init(_ count: UInt64, control: RunControl, stopsAtGoAway: Bool) {
        self.control = control
        self.stopsAtGoAway = stopsAtGoAway
        super.init(count, size: 100)
    }

    override func connection(_ index: Int, _ event: ConnectionEvent) {
        super.connection(index, event)
        if stopsAtGoAway, event == .goAway { control.ask(.abort) }
    }
}

/// Every connection that ended before the run did has exactly one reason.
@Suite(.serialized) struct ConnectionEndTests {
    static let engines = TestedEngine.allCases

    /// Ends by why, and how many connections were lost, told to go away or never opened.
    private struct Ends {
        var labels: [String: Int] = [:]
        var others = 0
        var sum: Int { labels.values.reduce(0, +) }

        init(_ events: [String]) {
            for event in events {
                if event.hasPrefix("ended(") { labels[String(event.dropFirst(6).dropLast()), default: 0] += 1 }
                if ["lost", "goAway", "connectFailed"].contains(event) { others += 1 }
            }
        }
    }

    private func run(
        _ engine: TestedEngine, _ address: SocketAddress, count: UInt64, control: RunControl = RunControl(),
        stopsAtGoAway: Bool = false,
        _ change: (inout TransportOptions) -> Void = { _ in }
    ) throws -> Ends {
        var options = TransportOptions()
        options.streams = 50
        options.reconnectDelay = 1_000_000
        options.reconnectDelayMax = 20_000_000
        change(&options)
        let driver = EndingDriver(count, control: control, stopsAtGoAway: stopsAtGoAway)
        try engine.make(
            target: Target(address: address, host: "127.0.0.1", authority: "127.0.0.1", tls: nil), options: options,
            driver: driver, control: control, payloadCapacity: 100
        ).run()
        #expect(driver.isBalanced)
        let ends = Ends(driver.events)
        #expect(ends.sum == ends.others, "\(driver.events)")
        return ends
    }

    private func run(
        _ engine: TestedEngine, _ script: Script, count: UInt64 = 500, control: RunControl = RunControl(),
        stopsAtGoAway: Bool = false,
        _ change: (inout TransportOptions) -> Void = { _ in }
    ) throws -> Ends {
        let server = try ScriptedServer(script)
        defer { _ = server.stop() }
        return try run(
            engine, server.address, count: count, control: control, stopsAtGoAway: stopsAtGoAway, change)
    }

    @Test(
        "A connection that was told to go away ends for what GOAWAY says: code, reason, the last of several, junk unread",
        arguments: engines)
    func goAway(_ engine: TestedEngine) throws {
        let shutdown = Array("{\"reason\":\"Shutdown\"}".utf8)
        let cases: [(says: [(code: ErrorCode, debugData: [UInt8])], label: String)] = [
            ([(.noError, shutdown)], "goaway NO_ERROR Shutdown"),
            ([(.enhanceYourCalm, [])], "goaway ENHANCE_YOUR_CALM"),
            ([(.noError, [UInt8](repeating: 0xC3, count: 5000))], "goaway NO_ERROR (unreadable)"),
            ([(.noError, [0x1B, 0x5B, 0x32, 0x4A])], "goaway NO_ERROR (unreadable)"),
            ([(ErrorCode(rawValue: 77), Array("bye".utf8))], "goaway error code 77 bye"),
            (
                [(.noError, []), (.internalError, Array("{\"reason\":\"InternalServerError\"}".utf8))],
                "goaway INTERNAL_ERROR InternalServerError"
            ),
        ]
        for (says, label) in cases {
            let ends = try run(engine, Script(goAwayAfter: 60, goAways: says), count: 300)
            #expect(Array(ends.labels.keys) == [label] && ends.sum >= 4)
        }
    }

    @Test("A connection that broke, or never was usable, ends for what broke it", arguments: engines)
    func broken(_ engine: TestedEngine) throws {
        let cut = try run(engine, Script(cutAfter: 100), count: 1000)
        #expect(cut.labels.keys.allSatisfy { ["connection_closed", "connection_reset"].contains($0) } && cut.sum > 1)
        let garbage = try run(engine, Script(garbageAfter: 20), count: 60)
        #expect(garbage.labels["protocol_violation", default: 0] > 0)
        let refused = try run(engine, Script(refuseFirst: 3), count: 100)
        // One of the three was to see whether the peer speaks TLS.
        #expect(refused.sum == 2)
        let mute = try run(engine, Script(isMute: true), count: 10) {
            $0.connectTimeout = 100_000_000
            $0.giveUpAfter = 300_000_000
        }
        #expect(Array(mute.labels.keys) == ["connect_timeout"])
        let vanished = try run(engine, Script(freezeAfter: 100), count: 120) {
            $0.pingInterval = 50_000_000
            $0.pingTimeout = 150_000_000
            $0.streams = 10
        }
        #expect(vanished.labels["peer_vanished", default: 0] > 0)
        let nobody = try DeafPort()
        let unheard = try run(engine, nobody.address, count: 10) { $0.giveUpAfter = 200_000_000 }
        #expect(Array(unheard.labels.keys) == ["connection_refused"])
    }

    @Test("Connections that are there at the end, or when the run is stopped, have not ended", arguments: engines)
    func remaining(_ engine: TestedEngine) throws {
        let plain = try run(engine, Script()) { $0.connections = 3 }
        #expect(plain.sum == 0)
        let control = RunControl()
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { control.ask(.abort) }
        let stopped = try run(engine, Script(silentEvery: 1), control: control)
        #expect(stopped.sum == 0)
    }

    @Test("Stopped while it drains, a connection has ended for its GOAWAY all the same", arguments: engines)
    func stopped(_ engine: TestedEngine) throws {
        let ends = try run(engine, Script(goAwayAfter: 5, silentEvery: 1), count: 8, stopsAtGoAway: true) {
            $0.streams = 5
        }
        #expect(Array(ends.labels.keys) == ["goaway NO_ERROR Shutdown"])
    }

    @Test("A connection without stream ids ends for that, told once, whatever GOAWAY says after it")
    func streamIDs() throws {
        let pair = try WirePair(firstStream: .max - 2)
        pair.push(3)
        #expect(pair.connection.state == .draining && pair.driver.events == ["opened"])
        pair.say(WirePair.frame(Frame.goAway, 0, 0, [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]))
        pair.say(WirePair.frame(Frame.headers, Frame.endStream | Frame.endHeaders, .max - 2, [0x88]))
        pair.say(WirePair.frame(Frame.headers, Frame.endStream | Frame.endHeaders, .max, [0x88]))
        #expect(pair.connection.inFlight == 0)
        pair.connection.finishGracefully()
        pair.connection.close(.connectionReset, text: "too late")
        #expect(pair.driver.events == ["opened", "ended(stream_ids_used_up)"])
    }

    @Test("A server that speaks something else is named at once, in however many pieces it says so")
    func otherProtocol() throws {
        let how = "; turn h2c on there, or use its https:// port"
        let http1 = "the server speaks HTTP/1, not HTTP/2: it answered "
        let other = "the server speaks no HTTP/2: it answered "
        let port = "; check the target's port"
        for (pieces, text) in [
            (["HTT", "P/1.1 400 Bad Request\r\nServer: x\r\n"], "\(http1)\"HTTP/1.1 400 Bad Request\"\(how)"),
            (["H", "TTP/1", ".0 200 OK\r\n"], "\(http1)\"HTTP/1.0 200 OK\"\(how)"),
            (["<!DOCTYPE HTML>\n<html lang=\"en\">\n"], "\(http1)\"<!DOCTYPE HTML>\"\(how)"),
            (["\r\n SSH-2.0-\u{1B}[2J", "x\r\n"], "\(other)\" SSH-2.0-?[2J\"\(port)"),
            (["ERROR\r\n"], "\(other)\"ERROR\"\(port)"),
            ([String(repeating: "x", count: 2000)], "\(other)\"\(String(repeating: "x", count: 80))\"\(port)"),
            (["J\0\0\0\n8.0.36\0"], "\(other)4A 00 00 00 0A 38 2E 30 2E 33 36 00\(port)"),
            (["\u{15}", "\u{3}\u{3}\0\u{2}\u{2}F"], "the target speaks TLS: use https://"),
            (
                ["HTTP/1.1 400 Bad Request\r\nServer: nginx\r\n\r\nThe plain HTTP request was sent to HTTPS port"],
                "the target speaks TLS: use https:// (it answered \"HTTP/1.1 400 Bad Request\")"
            ),
            (
                ["HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"],
                "the target speaks TLS: use https:// (it answered \"HTTP/1.0 400 Bad Request\")"
            ),
        ] {
            let pair = try WirePair(settles: false)
            for piece in pieces { pair.say(Array(piece.utf8)) }
            #expect(pair.connection.cause == .notHTTP2 && pair.connection.causeText == text, "\(pieces)")
            #expect(pair.driver.events == ["connectFailed", "ended(not_http2)"])
        }
    }

    @Test("What a server said before it hung up is told, however short")
    func shortText() throws {
        let pair = try WirePair(settles: false)
        pair.say(Array("busy".utf8))
        #expect(pair.connection.state == .settling)
        pair.hangUp()
        #expect(pair.connection.cause == .notHTTP2, "\(pair.connection.causeText)")
        #expect(
            pair.connection.causeText == "the server speaks no HTTP/2: it answered \"busy\"; check the target's port")
    }

    @Test("GOAWAY as the first frame shows its code and debug data, in however many pieces it comes, whole or not")
    func goAwayFirst() throws {
        let debugData = Array("too many connections from 10.0.0.1, try again in a minute or two".utf8)
        let bytes = WirePair.frame(Frame.goAway, 0, 0, [0, 0, 0, 0, 0, 0, 0, 11] + debugData)
        for size in [1, 5, 9, 12, 17, 20, bytes.count] {
            let pair = try WirePair(settles: false)
            for start in stride(from: 0, to: bytes.count, by: size) where pair.connection.state != .closed {
                pair.say(Array(bytes[start..<min(bytes.count, start + size)]))
            }
            #expect(
                pair.connection.causeText
                    == "the server refused the connection: GOAWAY ENHANCE_YOUR_CALM \"\(String(decoding: debugData, as: UTF8.self))\"",
                "in pieces of \(size)")
            #expect(
                pair.driver.events
                    == ["connectFailed", "ended(goaway ENHANCE_YOUR_CALM too many connections from 10.0.0.1, t...)"])
        }
        let cut = try WirePair(settles: false)
        cut.say(Array(bytes[..<25]))
        #expect(cut.connection.state == .settling)
        cut.hangUp()
        #expect(cut.connection.causeText == "the server refused the connection: GOAWAY ENHANCE_YOUR_CALM \"too many\"")
        let bare = try WirePair(settles: false)
        bare.say(WirePair.frame(Frame.goAway, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]))
        #expect(bare.connection.causeText == "the server refused the connection: GOAWAY NO_ERROR")
        #expect(bare.connection.cause == .connectionClosed)
    }

    @Test("GOAWAY that is read with SETTINGS refuses the connection as one that comes first; a later one ends it")
    func goAwayWithSettings() throws {
        let settings = WirePair.frame(Frame.settings)
        let said = Array("too many connections".utf8)
        let goAway = WirePair.frame(Frame.goAway, 0, 0, [0, 0, 0, 0, 0, 0, 0, 11] + said)
        let graceful = WirePair.frame(Frame.goAway, 0, 0, [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        let ping = WirePair.frame(Frame.ping, 0, 0, [UInt8](repeating: 0, count: 8))
        // Of several it is the last; and whatever else comes.
        for bytes in [settings + goAway, settings + ping + graceful + settings + goAway + settings + ping] {
            let pair = try WirePair(settles: false)
            pair.say(bytes)
            #expect(pair.connection.state == .closed && pair.connection.cause == .connectionClosed)
            #expect(
                pair.connection.causeText
                    == "the server refused the connection: GOAWAY ENHANCE_YOUR_CALM \"too many connections\"")
            #expect(
                pair.driver.events == ["connectFailed", "ended(goaway ENHANCE_YOUR_CALM too many connections)"])
        }
        let later = try WirePair(settles: false)
        later.say(settings)
        later.say(goAway)
        #expect(later.connection.state == .draining && later.driver.events == ["opened", "goAway"])
        let broken = try WirePair(settles: false)
        broken.say(settings + WirePair.frame(Frame.ping))
        #expect(broken.driver.events == ["opened", "lost", "ended(protocol_violation)"])
    }

    @Test(
        "A server that says GOAWAY with its SETTINGS is tried again after the back-off, and given up",
        arguments: engines)
    func refusing(_ engine: TestedEngine) throws {
        let loop = VirtualLoop()
        loop.isSilent = true
        let driver = CountingDriver(10, size: 100)
        var options = TransportOptions()
        options.engine = engine == .nghttp2 ? .nghttp2 : .wire
        options.giveUpAfter = 2_000_000_000
        let client = try PushClient(driver, over: loop, options: options)
        client.begin()
        var refused = 0
        repeat {
            for stream in loop.streams.dropFirst(refused) {
                stream.input =
                    WirePair.frame(Frame.settings) + WirePair.frame(Frame.goAway, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])
            }
            refused = loop.streams.count
        } while client.turn(waits: true)
        client.end()
        #expect(driver.isBalanced && loop.streams.count > 2 && loop.time < 5_000_000_000, "\(loop.streams.count)")
        #expect(client.lastProblem == "the server refused the connection: GOAWAY NO_ERROR")
        #expect(!driver.events.contains("opened") && Ends(driver.events).labels == ["goaway NO_ERROR": refused])
    }

    @Test("SETTINGS in pieces are SETTINGS, and another first frame is the session's to judge")
    func settingsInPieces() throws {
        let settings = WirePair.frame(Frame.settings, 0, 0, [0, 3, 0, 0, 0, 100])
        for size in 1...settings.count {
            let pair = try WirePair(settles: false)
            for start in stride(from: 0, to: settings.count, by: size) {
                pair.say(Array(settings[start..<min(settings.count, start + size)]))
            }
            #expect(pair.connection.state == .open && pair.driver.events == ["opened"], "in pieces of \(size)")
        }
        let ping = try WirePair(settles: false)
        ping.say(WirePair.frame(Frame.ping, 0, 0, [UInt8](repeating: 0, count: 8)))
        #expect(ping.connection.causeText == "the peer broke HTTP/2: the first frame is not SETTINGS")
    }

    @Test("A connection that was told to go away and has answered all is no problem", arguments: engines)
    func graceful(_ engine: TestedEngine) throws {
        let last: [UInt8] = [0x7F, 0xFF, 0xFF, 0xFF]
        let driver = try onePush(
            engine,
            WirePair.frame(Frame.goAway, 0, 0, last + [0, 0, 0, 0]) + WirePair.frame(Frame.headers, 5, 1, [0x88])
                + WirePair.frame(Frame.goAway, 0, 0, [0, 0, 0, 1, 0, 0, 0, 0]))
        #expect(driver.outcomes == ["accepted"] && driver.problems.isEmpty, "\(driver.problems)")
        #expect(driver.events.last == "ended(goaway NO_ERROR)")
    }

    @Test("What a server broke is said, also after its GOAWAY", arguments: engines)
    func problems(_ engine: TestedEngine) throws {
        let goAway = WirePair.frame(Frame.goAway, 0, 0, [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        let continuation = WirePair.frame(Frame.continuation, Frame.endHeaders, 1, [0x88])
        let block = WirePair.frame(Frame.headers, 5, 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        for (bytes, outcome, problem) in [
            (
                goAway + continuation, "failed(protocol_violation)",
                engine == .nghttp2 ? "CONTINUATION: unexpected" : "CONTINUATION without a header block"
            ),
            (block, "failed(malformed_answer)", "a header block that cannot be decoded"),
            (goAway + block, "failed(malformed_answer)", "a header block that cannot be decoded"),
        ] {
            let driver = try onePush(engine, bytes)
            #expect(driver.outcomes == [outcome])
            #expect(driver.problems == ["the peer broke HTTP/2: \(problem)"])
        }
    }

    /// Sends one push, which is answered with `bytes`.
    private func onePush(_ engine: TestedEngine, _ bytes: [UInt8]) throws -> OnePush {
        let server = try RawServer(WirePair.frame(Frame.settings), answer: bytes)
        let control = RunControl()
        let driver = OnePush(control)
        try engine.make(
            target: Target(address: server.address, host: "127.0.0.1", authority: "a", tls: nil),
            options: TransportOptions(), driver: driver, control: control, payloadCapacity: 64
        ).run()
        return driver
    }

    @Test("Told to go away, then broken or wrong: one end, for the last GOAWAY that came")
    func brokenAfterGoAway() throws {
        let pair = try WirePair()
        pair.push(2)
        let debugData = Array("{\"reason\":\"Shutdown\"}".utf8)
        pair.say(WirePair.frame(Frame.goAway, 0, 0, [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]))
        pair.say(WirePair.frame(Frame.goAway, 0, 0, [0, 0, 0, 3, 0, 0, 0, 0] + debugData))
        #expect(pair.connection.state == .draining && pair.driver.events == ["opened", "goAway"])
        pair.say(WirePair.frame(Frame.headers, 5, 0, [0x88]))
        #expect(pair.connection.state == .closed && pair.connection.cause == .protocolViolation)
        #expect(pair.driver.events == ["opened", "goAway", "ended(goaway NO_ERROR Shutdown)"])
    }
}

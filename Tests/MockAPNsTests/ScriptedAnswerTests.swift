import Glibc
import HTTP2
import Logging
import Signing
import Testing

@testable import MockAPNs

/// What fault rules do to requests and connections, seen at the wire.
@Suite struct ScriptedAnswerTests {
    typealias Client = FrameClient

    private func start(
        _ rules: String, _ change: (inout MockConfiguration) throws -> Void = { _ in }
    ) throws -> MockServer {
        var configuration = MockConfiguration()
        configuration.faults = try FaultFile.parse("{seed: 1, rules: [\(rules)]}", file: "f")
        try change(&configuration)
        return try MockServer(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func text(_ frame: ReceivedFrame?) -> String { String(decoding: frame?.payload ?? [], as: UTF8.self) }

    /// What a push on `stream` is answered, as the text of its header block: literals that are not Huffman coded.
    private func answer(_ client: Client, _ stream: Int32) -> String {
        client.send(Client.push(stream))
        let frame = client.wait { $0.type == Frame.headers && $0.stream == stream }
        return frame?.payload.first == 0x88 ? "200" : text(frame)
    }

    /// All of the answer to `stream`, up to its end.
    private func whole(_ client: Client, _ stream: Int32) -> [ReceivedFrame] {
        var frames: [ReceivedFrame] = []
        while let frame = client.next() {
            guard frame.stream == stream else { continue }
            frames.append(frame)
            if frame.type == Frame.reset || frame.flags & Frame.endStream != 0, frame.type <= 3 { break }
        }
        return frames
    }

    private func streams(_ client: Client, until isEnough: ([Int32]) -> Bool) -> [Int32] {
        var answered: [Int32] = []
        while !isEnough(answered), let frame = client.next() {
            if frame.type == Frame.headers { answered.append(frame.stream) }
        }
        return answered
    }

    private func last(_ frame: ReceivedFrame?) -> UInt32? {
        frame.map { $0.payload[..<4].reduce(0) { $0 << 8 | UInt32($1) } }
    }

    @Test(
        "Steps are taken by the pushes of all connections in their order, and begin anew with a reset or another plan")
    func steps() throws {
        let server = try start("{then: [503, 429, 200]}, {reject: 410}") { $0.threads = 2 }
        let clients = [try Client(port: server.port), try Client(port: server.port)]
        #expect(answer(clients[0], 1).contains("503") && answer(clients[1], 1).contains("429"))
        #expect(answer(clients[0], 3) == "200" && answer(clients[1], 3).contains("410"))
        server.reset()
        #expect(answer(clients[0], 5).contains("503"))
        server.use(try FaultFile.parse("{rules: [{next: 1, reject: 403}]}", file: "f"))
        #expect(server.shared.home.script.startedAt > server.shared.startedAt)
        #expect(answer(clients[0], 7).contains("403") && answer(clients[1], 5) == "200")
        server.stop()
    }

    @Test(
        "An answer written by hand has the status, headers and body that its rule says, and is no delivery unless 200")
    func raw() throws {
        let server = try start(
            """
            {next: 1, answer: {status: 502, headers: {content-type: text/html, x-cache: miss}, body: <h1>Bad gateway</h1>,
             apns_id: no}}, {next: 1, answer: {status: 200, headers: {x-served-by: proxy}}}, {answer: 504}
            """)
        let client = try Client(port: server.port)
        client.send(Client.push(1))
        let frames = whole(client, 1)
        #expect(text(frames.first).contains("502") && text(frames.first).contains("x-cache\u{4}miss"))
        #expect(!text(frames.first).contains("apns-id") && text(frames.last) == "<h1>Bad gateway</h1>")
        client.send(Client.push(3))
        let block = whole(client, 3)
        #expect(block.count == 1 && block[0].payload[0] == 0x88 && text(block[0]).contains("x-served-by\u{5}proxy"))
        #expect(text(block[0]).contains("apns-id\u{24}"))
        #expect(answer(client, 5).contains("504"))
        let counts = server.counts
        #expect(counts.requests == 3 && counts.accepted == 1 && counts.rejected == 0 && counts.scripted == 2)
        #expect(counts.scriptedStatuses == [502: 1, 504: 1] && server.deliveryCounts.delivered == 1)
        server.stop()
    }

    @Test("A body may be shorter than it was said to be: reset, or never ended")
    func truncated() throws {
        let answer = "status: 200, headers: {content-length: 500}, body: short"
        let server = try start(
            "{next: 1, answer: {\(answer), end: reset}, reset_code: CANCEL}, {next: 1, answer: {\(answer), end: never}}"
        )
        let client = try Client(port: server.port)
        client.send(Client.push(1))
        let frames = whole(client, 1)
        #expect(frames.map(\.type) == [Frame.headers, Frame.data, Frame.reset] && frames.last?.code == .cancel)
        #expect(text(frames[0]).contains("content-length\u{3}500") && text(frames[1]) == "short")
        client.send(Client.push(3))
        let open = try #require(client.wait { $0.type == Frame.data && $0.stream == 3 })
        #expect(open.flags & Frame.endStream == 0 && text(open) == "short" && client.isServed(5))
        server.stop()
    }

    @Test("Trailers end an answer; a body may come slowly, and waits for the client's window")
    func slow() throws {
        let server = try start(
            """
            {next: 1, answer: {status: 200, body: hello, trailers: {grpc-status: 14}}},
            {answer: {status: 500, body: 0123456789, body_rate: 200B/s}}
            """)
        let client = try Client(port: server.port)
        client.send(Client.push(1))
        let frames = whole(client, 1)
        #expect(frames.map(\.type) == [Frame.headers, Frame.data, Frame.headers])
        #expect(
            frames.last?.flags == Frame.endHeaders | Frame.endStream && text(frames.last).contains("grpc-status\u{2}14")
        )
        client.send(Client.push(3))
        let pieces = whole(client, 3).filter { $0.type == Frame.data }
        #expect(pieces.count > 2 && pieces.map(text).joined() == "0123456789")
        // A window of 4 bytes.
        client.send(Client.frame(Frame.settings, Client.setting(4, 4)) + Client.push(5))
        var body = ""
        while body.count < 4, let frame = client.wait({ $0.type == Frame.data && $0.stream == 5 }) {
            body += text(frame)
        }
        #expect(body == "0123" && client.isAlive())
        client.send(Client.frame(Frame.windowUpdate, stream: 5, Client.number(100)))
        body += whole(client, 5).map(text).joined()
        #expect(body == "0123456789")
        server.stop()
    }

    @Test("An answer may come after its stream was reset")
    func late() throws {
        let server = try start("{answer: {status: 200, body: late, after_reset: yes}, reset_code: NO_ERROR}")
        let client = try Client(port: server.port)
        client.send(Client.push(1))
        #expect(client.resetCode(1) == .noError)
        let frames = whole(client, 1)
        #expect(frames.map(\.type) == [Frame.headers, Frame.data] && text(frames.last) == "late")
        #expect(client.isAlive() && server.counts.accepted == 1)
        server.stop()
    }

    @Test("A rejection may say when to try again, also when it comes late")
    func retryAfter() throws {
        let server = try start("{next: 1, reject: 503, retry_after: 30s}, {reject: 429, retry_after: 1s, latency: 5ms}")
        let client = try Client(port: server.port)
        let first = answer(client, 1)
        #expect(first.contains("503") && first.contains("retry-after\u{2}30") && first.contains("apns-id"))
        #expect(text(client.wait { $0.type == Frame.data }) == "{\"reason\":\"ServiceUnavailable\"}")
        #expect(answer(client, 3).contains("retry-after\u{1}1"))
        #expect(server.counts.reasons == ["ServiceUnavailable": 1, "TooManyRequests": 1])
        server.stop()
    }

    @Test("GOAWAY keeps the first pushes of a batch; those above it are neither handled nor answered")
    func keep() throws {
        let server = try start(
            "{next: 4, batch: 4, goaway: {keep: 2, code: ENHANCE_YOUR_CALM, debug: enough}, within: 1h}"
        ) { $0.adminPort = 0 }
        let client = try Client(port: server.port)
        client.send([1, 3, 5, 7].flatMap { Client.push($0) } + Client.push(9))
        let told = try #require(client.wait { $0.type == Frame.goAway })
        #expect(last(told) == 3 && told.code == .enhanceYourCalm && text(told).hasSuffix("enough"))
        #expect(streams(client) { _ in false } == [1, 3] && client.isClosed)
        let counts = server.counts
        #expect(counts.requests == 4 && counts.accepted == 2 && counts.unhandled == 2)
        #expect(server.deliveryCounts.delivered == 2)
        let kept = server.ask { $0.home.recent.list(PushFilter()) }.flatMap { $0 }
        #expect(kept.compactMap(\.unanswered) == [.unhandled, .unhandled])
        #expect(kept.count == 4 && kept.allSatisfy { $0.token == String(repeating: "ab", count: 32) })
        server.stop()
    }

    @Test("GOAWAY may name streams below the push that it comes at, or a stream by its id")
    func below() throws {
        let server = try start(
            "{token: ff*, next: 1, goaway: {last_stream: -1}}, {token: ff*, goaway: {last_stream: 5}}")
        let device = String(repeating: "ff", count: 32)
        for (name, accepted) in [(3, [Int32(1), 3]), (5, [1, 3, 5])] as [(UInt32, [Int32])] {
            let client = try Client(port: server.port)
            client.send(Client.push(1) + Client.push(3) + Client.push(5, device: device) + Client.push(7))
            var answered: [Int32] = []
            var named: UInt32?
            while let frame = client.next() {
                if frame.type == Frame.headers { answered.append(frame.stream) }
                if frame.type == Frame.goAway { named = last(frame) }
            }
            #expect(named == name && answered == accepted && client.isClosed)
        }
        let counts = server.counts
        #expect(counts.unhandled == 1 && counts.accepted == 5, "\(counts)")
        server.stop()
    }

    @Test("6.8: GOAWAY may be announced first, with 2^31-1; what comes until the second is handled")
    func twice() throws {
        let server = try start("{next: 1, goaway: {twice: true, pause: 200ms, code: NO_ERROR}}")
        let client = try Client(port: server.port)
        client.send(Client.push(1))
        #expect(last(client.wait { $0.type == Frame.goAway }) == 0x7FFF_FFFF)
        #expect(client.isServed(3))
        #expect(last(client.wait { $0.type == Frame.goAway }) == 3)
        while client.next() != nil {}
        #expect(client.isClosed && server.counts.accepted == 2)
        server.stop()
    }

    @Test("A second GOAWAY may name fewer streams than were in flight")
    func twiceKept() throws {
        let server = try start("{batch: 3, within: 1h, goaway: {twice: true, pause: 50ms, keep: 1}}")
        let client = try Client(port: server.port)
        client.send([1, 3, 5].flatMap { Client.push($0) })
        #expect(last(client.wait { $0.type == Frame.goAway }) == 0x7FFF_FFFF)
        client.send(Client.push(7))
        #expect(streams(client) { !$0.isEmpty } == [1])
        #expect(last(client.wait { $0.type == Frame.goAway }) == 1)
        #expect(streams(client) { _ in false } == [] && client.isClosed)
        #expect(server.counts.accepted == 1 && server.counts.unhandled == 2)
        server.stop()
    }

    @Test("A connection is closed at a push: what was answered before arrives, and nothing after it is handled")
    func close() throws {
        for (way, isReset) in [("fin", false), ("rst", true)] {
            let server = try start("{token: ff*, close: \(way)}")
            let client = try Client(port: server.port)
            client.send(Client.push(1) + Client.push(3, device: String(repeating: "ff", count: 32)) + Client.push(5))
            #expect(streams(client) { _ in false } == [1] && client.isClosed && client.isReset == isReset, "\(way)")
            #expect(server.counts.accepted == 1 && server.counts.unhandled == 1)
            server.stop()
        }
    }

    @Test("A batch is answered in reverse, in an order drawn from the seed, or as it is when no more come")
    func order() throws {
        let sent: [Int32] = (0..<20).map { 2 * $0 + 1 }
        let reversed = try start("{batch: 20, within: 1h, order: reversed}")
        let first = try Client(port: reversed.port)
        first.send(sent.flatMap { Client.push($0) })
        #expect(streams(first) { $0.count == 20 } == sent.reversed())
        reversed.stop()
        let shuffled = try start("{batch: 20, within: 1h, order: shuffled}")
        let second = try Client(port: shuffled.port)
        second.send(sent.flatMap { Client.push($0) })
        let order = streams(second) { $0.count == 20 }
        #expect(order != sent && order.sorted() == sent)
        shuffled.stop()
        let few = try start("{batch: 20, within: 20ms}")
        let third = try Client(port: few.port)
        third.send(Client.push(1) + Client.push(3))
        #expect(streams(third) { $0.count == 2 } == [1, 3] && few.counts.accepted == 2)
        few.stop()
    }

    @Test("A long body goes out as the client opens its window")
    func long() throws {
        let body = String(repeating: "0123456789abcdef", count: 4096)
        let server = try start("{answer: {status: 200, body: \(body)}}")
        let client = try Client(port: server.port)
        client.send(Client.push(1))
        var received = ""
        while received.utf8.count < body.utf8.count, let frame = client.wait({ $0.type == Frame.data }) {
            received += text(frame)
            // 65,535 bytes fit in at first; the last one does not.
            if received.utf8.count == 65_535 {
                client.send(Client.frame(Frame.windowUpdate, Client.number(10)))
                client.send(Client.frame(Frame.windowUpdate, stream: 1, Client.number(10)))
            }
        }
        #expect(received == body && client.wait { $0.type == Frame.data }?.flags == Frame.endStream)
        server.stop()
    }

    @Test("Bodies for a client with wide windows that reads nothing wait, and others are served")
    func unread() throws {
        let body = String(repeating: "x", count: 1_000_000)
        let server = try start("{topic: com.example.big, answer: {status: 200, body_rate: 100GB/s, body: \(body)}}")
        let widest = Client.frame(Frame.settings, Client.setting(4, 0x7FFF_FFFF))
        let wide = widest + Client.frame(Frame.windowUpdate, Client.number(0x7FFE_0000))
        let request = Client.request().map { $0.0 == "apns-topic" ? ("apns-topic", "com.example.big") : $0 }
        let clients = try (0..<3).map { _ in try Client(port: server.port, receiveBuffer: 4096) }
        var pushes: [UInt8] = []
        for stream in stride(from: Int32(1), to: 201, by: 2) {
            pushes += Client.headers(stream, request, end: false)
            pushes += Client.frame(Frame.data, flags: Frame.endStream, stream: stream, Client.payload)
        }
        for client in clients { client.send(wide + pushes) }
        #expect(try Client(port: server.port).isServed(1))
        for _ in 0..<1000 where server.counts.requests < 301 { usleep(10_000) }
        #expect(server.counts.requests == 301)
        #expect((server.ask { $0.held }.first ?? .max) < 4 << 20)
        server.stop()
    }

    @Test("A slow answer whose window the client does not open is reset in time")
    func stuck() throws {
        let server = try start("{answer: {status: 500, body: 0123456789, body_rate: 1MB/s}}") {
            $0.writeTimeout = 100_000_000
        }
        let client = try Client(port: server.port)
        client.send(Client.frame(Frame.settings, Client.setting(4, 0)) + Client.push(1))
        #expect(client.resetCode(1) == .cancel && client.isAlive())
        server.stop()
    }

    @Test("Each namespace has counts and batches of its own, also where they come over one connection")
    func namespaces() throws {
        let server = try start("{push_type: voip, batch: 5, within: 20ms}, {then: [503, 200]}") {
            $0.namespaceRule = .topic
        }
        let client = try Client(port: server.port)
        func push(_ stream: Int32, _ topic: String, _ type: String = "alert") -> [UInt8] {
            let headers = [
                (":method", "POST"), (":scheme", "http"), (":path", "/3/device/" + String(repeating: "ab", count: 32)),
                (":authority", "localhost"), ("apns-topic", topic), ("apns-push-type", type),
            ]
            return Client.headers(stream, headers, end: false)
                + Client.frame(Frame.data, flags: Frame.endStream, stream: stream, Client.payload)
        }
        for (stream, topic, status) in [(1, "com.one", "503"), (3, "com.two", "503"), (5, "com.one", "200")]
            as [(Int32, String, String)]
        {
            client.send(push(stream, topic))
            let frame = client.wait { $0.type == Frame.headers && $0.stream == stream }
            #expect((frame?.payload.first == 0x88) == (status == "200"), "\(stream)")
        }
        client.send(push(7, "com.one.voip", "voip") + push(9, "com.two.voip", "voip"))
        #expect(streams(client) { $0.count == 2 }.sorted() == [7, 9])
        for (name, accepted) in [("com.one", 2), ("com.two", 1)] as [(String, UInt64)] {
            var counts = MockCounts()
            server.shared.namespaces?.named(name)?.add(to: &counts)
            #expect(counts.accepted == accepted && counts.rejected == 1, "\(name)")
        }
        server.stop()
    }

    @Test("A client is pinged at a push")
    func ping() throws {
        let server = try start("{next: 1, ping: 2}")
        let client = try Client(port: server.port)
        client.send(Client.push(1))
        for _ in 0..<2 {
            let ping = try #require(client.wait { $0.type == Frame.ping })
            #expect(ping.flags == 0 && ping.payload.count == 8)
            client.send(Client.frame(Frame.ping, flags: Frame.acknowledgement, ping.payload))
        }
        #expect(client.wait { $0.type == Frame.headers && $0.stream == 1 } != nil && client.isServed(3))
        server.stop()
    }

    @Test("Rules are for the team of the connection's provider token")
    func teams() throws {
        let teams = try ["TEAM567890", "OTHERTEAM0"].map {
            try ProviderIdentity(key: .ephemeral(), keyID: "KEY" + $0.prefix(7), teamID: $0)
        }
        let server = try start("{team: OTHERTEAM0, reject: 503}") { $0.accounts = teams.map { ProviderAccount($0) } }
        for (identity, status) in zip(teams, ["200", "503"]) {
            let client = try Client(port: server.port)
            let token = try TokenSigner.bearer(identity, unixTime: Int64(time(nil)))
            client.send(
                Client.headers(1, Client.request(more: [("authorization", token)]), end: false)
                    + Client.frame(Frame.data, flags: Frame.endStream, stream: 1, Client.payload))
            let frame = client.wait { $0.type == Frame.headers && $0.stream == 1 }
            let answer = frame?.payload.first == 0x88 ? "200" : text(frame)
            #expect(answer.contains(status), "\(identity.teamID)")
        }
        server.stop()
    }

    @Test("Broadcasts and channel management go through the rules that are for them")
    func channels() throws {
        let server = try start(
            """
            {request: management, then: [{reject: 503, retry_after: 5s}, {answer: {status: 502, body: oops}, latency: 5ms}]},
            {request: broadcast, next: 1, reset: 100%}, {reject: 410}
            """
        ) { $0.managementPort = 0 }
        let port = try #require(server.endpoints.first { $0.name == "production management" }).port
        func create(_ client: Client, _ stream: Int32) -> [ReceivedFrame] {
            client.send(
                Client.headers(
                    stream,
                    [
                        (":method", "POST"), (":scheme", "http"), (":path", "/1/apps/com.example.app/channels"),
                        (":authority", "localhost"),
                    ], end: false)
                    + Client.frame(
                        Frame.data, flags: Frame.endStream, stream: stream,
                        Array("{\"message-storage-policy\":1,\"push-type\":\"LiveActivity\"}".utf8)))
            return whole(client, stream)
        }
        let manager = try Client(port: port)
        let busy = create(manager, 1)
        #expect(text(busy[0]).contains("503") && text(busy[0]).contains("retry-after\u{1}5"))
        #expect(text(busy[0]).contains("apns-request-id\u{24}") && text(busy[1]).contains("ServiceUnavailable"))
        let proxy = create(manager, 3)
        #expect(text(proxy[0]).contains("502") && text(proxy[1]) == "oops")
        let made = create(manager, 5)
        #expect(text(made[0]).contains("201") && text(made[0]).contains("apns-channel-id"))
        let client = try Client(port: server.port)
        let path = "/4/broadcasts/apps/com.example.app"
        for stream in [1, 3] as [Int32] {
            client.send(
                Client.headers(
                    stream, [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost")]))
        }
        #expect(client.resetCode(1) == .internalError)
        // The second is judged: it names no channel.
        #expect(text(whole(client, 3).last).contains("MissingChannelId"))
        #expect(server.counts.channelRequests == 5 && server.counts.requests == 0)
        #expect(server.counts.channelReasons == ["ServiceUnavailable": 1, "MissingChannelId": 1])
        server.stop()
    }

    @Test("Device tokens say their answers only where that is asked for")
    func tokens() throws {
        for isOn in [true, false] {
            let server = try start("") { $0.scriptedTokens = isOn }
            let client = try Client(port: server.port)
            client.send(Client.push(1, device: "dead4100" + String(repeating: "0", count: 56)))
            let frame = client.wait { $0.type == Frame.headers && $0.stream == 1 }
            #expect(text(frame).contains("410") == isOn)
            client.send(Client.push(3, device: "dead000100" + String(repeating: "0", count: 54)))
            #expect((client.wait { $0.stream == 3 }?.type == Frame.reset) == isOn && client.isServed(5))
            server.stop()
        }
    }

    @Test(
        "A push that is never answered is delivered all the same: stored for a device that is offline, given when it is back"
    )
    func silent() throws {
        let server = try start("{next: 1, silent: 100%}")
        let device = String(repeating: "ab", count: 32)
        var record = DeviceRecord()
        record.isOffline = true
        server.shared.home.directory.change(TokenKey(device), to: record)
        let client = try Client(port: server.port)
        client.send(Client.push(1))
        #expect(client.isAlive() && server.counts.silenced == 1)
        #expect(server.deliveryCounts.stored == 1 && server.deliveryCounts.waiting == 1)
        record.isOffline = false
        server.shared.home.directory.change(TokenKey(device), to: record)
        server.shared.home.desk.lookAgain(TokenKey(device), now: server.shared.startedAt)
        #expect(server.deliveryCounts.deliveredLate == 1 && server.deliveryCounts.delivered == 1)
        server.stop()
    }
}

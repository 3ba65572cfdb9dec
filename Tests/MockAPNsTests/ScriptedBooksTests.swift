import Glibc
import HTTP2
import Logging
import Signing
import Testing

@testable import MockAPNs

/// What is counted and kept of requests whose answers are a fault rule's: each once, and as it was.
@Suite struct ScriptedBooksTests {
    typealias Client = FrameClient

    private func start(
        _ faults: String, _ change: (inout MockConfiguration) -> Void = { _ in }
    ) throws -> MockServer {
        var configuration = MockConfiguration()
        configuration.adminPort = 0
        configuration.faults = try FaultFile.parse("{seed: 1, \(faults)}", file: "f")
        change(&configuration)
        return try MockServer(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// The next answer: its stream, and its header block as text.
    private func answer(_ client: Client) -> (stream: Int32, text: String)? {
        client.wait { $0.type == Frame.headers }.map {
            // The statuses of the static table (RFC 7541, appendix A).
            let status = [0x88: "200", 0x8C: "400"][$0.payload.first ?? 0] ?? ""
            return ($0.stream, status + String(decoding: $0.payload.dropFirst(), as: UTF8.self))
        }
    }

    private func kept(_ server: MockServer) -> [RecentPushes.Entry] {
        server.ask { $0.home.recent.list(PushFilter()) }.flatMap { $0 }
    }

    /// Waits for what the server has to notice by itself.
    private func holds(_ check: () -> Bool) -> Bool {
        for _ in 0..<1000 where !check() { usleep(10_000) }
        return check()
    }

    private func broadcast(_ stream: Int32) -> [UInt8] { request(stream, "/4/broadcasts/apps/com.example.app") }

    private func request(_ stream: Int32, _ path: String, end: Bool = true) -> [UInt8] {
        let fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost")]
        return Client.headers(stream, fields, end: end)
    }

    /// Begins to make a channel.
    private func manager(_ server: MockServer, _ body: [UInt8] = []) throws -> Client {
        let port = try #require(server.endpoints.first { $0.name == "production management" }).port
        let client = try Client(port: port)
        client.send(request(1, "/1/apps/com.example.app/channels", end: false) + body)
        return client
    }

    @Test("Where too many answers wait, 503 is all that a push is: not delivered, and 503 in every book")
    func tooMany() throws {
        let server = try start("rules: [{latency: 300ms}]") { $0.maxWaitingAnswers = 1 }
        let client = try Client(port: server.port)
        client.send([1, 3, 5].flatMap { Client.push($0) })
        #expect(answer(client)?.text.contains("503") == true && answer(client)?.text.contains("503") == true)
        #expect(answer(client)?.stream == 1)
        #expect(server.counts.accepted == 1 && server.counts.rejected == 2)
        #expect(server.deliveryCounts.delivered == 1)
        #expect(kept(server).map(\.status).sorted { ($0 ?? 0) < ($1 ?? 0) } == [200, 503, 503])
        server.stop()
    }

    @Test("A push whose stream or connection ends while its answer waits is abandoned")
    func abandoned() throws {
        let slow = try start("rules: [{latency: 1h}]")
        var client: Client? = try Client(port: slow.port)
        client!.send(Client.push(1) + Client.frame(Frame.reset, stream: 1, Client.number(8)) + Client.push(3))
        #expect(holds { slow.counts.abandoned == 1 && slow.counts.requests == 2 })
        client = nil
        #expect(holds { slow.counts.abandoned == 2 })
        let late = kept(slow)
        #expect(late.map(\.unanswered) == [.abandoned, .abandoned] && late.allSatisfy { $0.status == nil })
        slow.stop()
        let batch = try start("rules: [{batch: 3, within: 1h}]")
        client = try Client(port: batch.port)
        client!.send(Client.push(1))
        #expect(holds { batch.counts.requests == 1 })
        client = nil
        #expect(holds { batch.counts.abandoned == 1 })
        #expect(kept(batch).map(\.unanswered) == [.abandoned] && batch.deliveryCounts.delivered == 0)
        batch.stop()
    }

    @Test("What was asked before a reset and is answered after it is counted nowhere; what was held, wholly after it")
    func reset() throws {
        let slow = try start("rules: [{latency: 200ms}]")
        let client = try Client(port: slow.port)
        client.send(Client.push(1))
        #expect(holds { slow.counts.requests == 1 })
        slow.reset()
        #expect(answer(client)?.text.hasPrefix("200") == true && slow.counts.requests == 0 && slow.counts.accepted == 0)
        client.send(Client.push(3))
        #expect(answer(client)?.stream == 3)
        #expect(holds { slow.counts.answerTimes.metrics.count == 1 })
        slow.stop()
        let batch = try start("rules: [{batch: 2, within: 3s}]")
        let other = try Client(port: batch.port)
        other.send(Client.push(1))
        #expect(holds { batch.counts.requests == 1 })
        batch.reset()
        #expect(
            answer(other)?.text.hasPrefix("200") == true && batch.counts.requests == 1 && batch.counts.accepted == 1)
        #expect(kept(batch).count == 1)
        batch.stop()
    }

    @Test("A reset beside pushes leaves as many delivered as accepted, over all threads")
    func resetUnderLoad() throws {
        let server = try start("rules: []") { $0.threads = 2 }
        // With a subscriber of deliveries the desk, which all threads share, has them.
        server.shared.hub.setSubscribers(1)
        let clients = try (0..<2).map { _ in try Client(port: server.port) }
        var stream: Int32 = -1
        for _ in 0..<20 {
            for _ in 0..<20 {
                stream += 2
                for client in clients { client.send(Client.push(stream)) }
            }
            server.reset()
        }
        for client in clients { #expect(client.wait { $0.type == Frame.headers && $0.stream == stream } != nil) }
        #expect(holds { server.deliveryCounts.delivered == server.counts.accepted })
        server.stop()
    }

    @Test("The times of answers are those of pushes, whatever rules there are for broadcasts")
    func broadcastTimes() throws {
        let server = try start("rules: [{request: broadcast, latency: 20ms}]")
        let client = try Client(port: server.port)
        client.send(Client.push(1))
        #expect(answer(client)?.stream == 1)
        client.send(broadcast(3))
        #expect(answer(client)?.stream == 3)
        client.send(Client.push(5))
        #expect(answer(client)?.stream == 5)
        #expect(holds { server.counts.answerTimes.metrics.count == 2 } && server.counts.channelRequests == 1)
        server.stop()
    }

    /// Whose pushes a reset of all forgets, while one of them is held since a reset of its own.
    private func forgotten(_ rule: String) throws -> (server: MockServer, client: Client) {
        let server = try start("rules: [\(rule)]") { $0.namespaceRule = .topic }
        let client = try Client(port: server.port)
        client.send(Client.push(1, device: String(repeating: "zz", count: 32)))
        #expect(answer(client)?.text.contains("400") == true)
        server.reset(.one("com.example.app"))
        client.send(Client.push(3))
        #expect(holds { server.counts.requests == 1 })
        server.reset()
        #expect(server.counts.requests == 0)
        return (server, client)
    }

    private func counts(_ server: MockServer, _ namespace: String?) -> MockCounts {
        var counts = MockCounts()
        server.shared.namespace(namespace)?.add(to: &counts)
        return counts
    }

    @Test("A push that is held while its namespace is forgotten counts in it, made again, and nowhere else")
    func forgottenNamespace() throws {
        let (server, client) = try forgotten("{batch: 9, within: 3s}")
        #expect(answer(client)?.stream == 3)
        let (home, own) = (counts(server, nil), counts(server, "com.example.app"))
        #expect(home.requests == 0 && home.accepted == 0 && own.requests == 1 && own.accepted == 1)
        let kept = server.ask { $0.allNamespaces.flatMap { $0.recent.list(PushFilter()) } }.flatMap { $0 }
        #expect(kept.map(\.namespace) == ["com.example.app"])
        // The next one is of the same namespace.
        client.send(Client.push(5, device: String(repeating: "zz", count: 32)))
        #expect(answer(client)?.text.contains("400") == true && counts(server, "com.example.app").requests == 2)
        server.stop()
    }

    @Test(
        "A push of before a reset that is abandoned after it is kept and counted nowhere, if its namespace is forgotten"
    )
    func forgottenAbandoned() throws {
        let (server, client) = try forgotten("{batch: 9, within: 1h}")
        client.send(Client.frame(Frame.reset, stream: 3, Client.number(8)))
        client.send(Client.push(5, device: String(repeating: "zz", count: 32)))
        #expect(answer(client)?.text.contains("400") == true)
        let kept = server.ask { $0.allNamespaces.flatMap { $0.recent.list(PushFilter()) } }.flatMap { $0 }
        #expect(kept.map(\.status) == [400] && server.counts.abandoned == 0 && server.counts.requests == 1)
        server.stop()
    }

    @Test("Pushes of before a reset that a GOAWAY leaves unhandled after it are requests of after it")
    func resetGoAway() throws {
        let server = try start("rules: [{batch: 9, within: 3s, goaway: {keep: 0}}]")
        let client = try Client(port: server.port)
        client.send(Client.push(1) + Client.push(3))
        #expect(holds { server.counts.requests == 2 })
        server.reset()
        #expect(client.wait { $0.type == Frame.goAway } != nil)
        #expect(holds { server.counts.unhandled == 2 } && server.counts.requests == 2)
        server.stop()
    }

    @Test("What old rules hold is not a part of a batch of new ones")
    func oldBatches() throws {
        let server = try start("rules: [{batch: 3, within: 3s}]")
        let client = try Client(port: server.port)
        client.send(Client.push(1) + Client.push(3))
        #expect(holds { server.counts.requests == 2 })
        server.use(try FaultFile.parse("{rules: [{batch: 3, within: 1h, order: reversed}]}", file: "f"))
        client.send(Client.push(5))
        #expect(answer(client)?.stream == 1 && answer(client)?.stream == 3)
        client.send(Client.push(7) + Client.push(9))
        #expect((0..<3).map { _ in answer(client)?.stream } == [9, 7, 5])
        server.stop()
    }

    @Test("retry_after is for what its rule rejects, not for what breaks a rule of APNs")
    func retryAfter() throws {
        let server = try start("rules: [{retry_after: 7s, reject: {503: 100%}}]")
        let client = try Client(port: server.port)
        client.send(Client.push(1, device: String(repeating: "zz", count: 32)))
        let wrong = try #require(answer(client)?.text)
        #expect(wrong.contains("400") && !wrong.contains("retry-after"))
        client.send(Client.push(3))
        #expect(answer(client)?.text.contains("retry-after") == true)
        server.stop()
    }

    @Test("Broadcasts cost no penalty and take none back, with rules or without")
    func penalty() throws {
        let server = try start(
            """
            connections: {penalty: {bad_device_token: 5, accepted: 1, step: 10, goaway: 30}},
            rules: [{request: broadcast, reject: {500: 100%}}]
            """)
        let client = try Client(port: server.port)
        let wrong = { (stream: Int32) in Client.push(stream, device: String(repeating: "zz", count: 32)) }
        client.send(
            [1, 3, 5].flatMap(wrong) + (0..<15).flatMap { broadcast(7 + 2 * $0) } + [37, 39, 41].flatMap(wrong))
        #expect(client.wait { $0.type == Frame.goAway } != nil && server.counts.bounds.cutOff == 1)
        server.stop()
    }

    @Test("A request whose rest does not come is counted as what it is, in its namespace, and kept")
    func unfinished() throws {
        let server = try start("rules: []") {
            $0.requestTimeout = 100_000_000
            $0.namespaceRule = .topic
            $0.managementPort = 0
        }
        let client = try Client(port: server.port)
        client.send(Client.open(1))
        #expect(answer(client)?.text.contains("400") == true)
        var counts = MockCounts()
        server.shared.namespaces?.named("com.example.app")?.add(to: &counts)
        #expect(counts.requests == 1 && counts.reasons == ["IdleTimeout": 1])
        let kept = server.ask { $0.allNamespaces.flatMap { $0.recent.list(PushFilter()) } }.flatMap { $0 }
        #expect(kept.map(\.reason) == ["IdleTimeout"] && kept.map(\.topic) == ["com.example.app"])
        #expect(answer(try manager(server))?.text.contains("400") == true)
        #expect(server.counts.requests == 1 && server.counts.channelRequests == 1)
        #expect(server.counts.channelReasons == ["IdleTimeout": 1])
        server.stop()
    }

    @Test("Channel requests that a rule answers by hand are counted; a 2xx does not hide that one is refused")
    func channels() throws {
        let server = try start(
            "rules: [{request: broadcast, answer: 502}, {request: management, answer: {status: 201}}]"
        ) { $0.managementPort = 0 }
        let client = try Client(port: server.port)
        client.send(broadcast(1))
        #expect(answer(client)?.text.contains("502") == true)
        #expect(server.counts.channelRequests == 1 && server.counts.channelScripted == 1)
        let body = Client.frame(Frame.data, flags: Frame.endStream, stream: 1, Array("{\"bad\":1}".utf8))
        #expect(answer(try manager(server, body))?.text.contains("400") == true)
        #expect(server.counts.channelScripted == 1 && server.counts.channelReasons.count == 1)
        server.stop()
    }

    @Test("A client whose provider token a rule has called expired may come with another one at once")
    func expired() throws {
        let identity = try ProviderIdentity(key: .ephemeral(), keyID: "ABC123DEFG", teamID: "TEAM567890")
        let server = try start("rules: [{next: 1, reject: ExpiredProviderToken}]") {
            $0.accounts = [ProviderAccount(identity)]
        }
        let client = try Client(port: server.port)
        let now = Int64(time(nil))
        for (stream, age, status) in [(1, 9, ""), (3, 5, "200"), (5, 1, "")] as [(Int32, Int64, String)] {
            let token = try TokenSigner.bearer(identity, unixTime: now - age)
            client.send(
                Client.headers(stream, Client.request(more: [("authorization", token)]), end: false)
                    + Client.frame(Frame.data, flags: Frame.endStream, stream: stream, Client.payload))
            #expect(answer(client)?.text.hasPrefix(status) == true, "\(stream)")
        }
        #expect(server.counts.reasons == ["ExpiredProviderToken": 1, "TooManyProviderTokenUpdates": 1])
        #expect(server.counts.accepted == 1)
        server.stop()
    }

    @Test("A broadcast that comes while the server goes away is no push")
    func shutdown() throws {
        let server = try start("rules: []")
        let client = try Client(port: server.port)
        #expect(client.isServed(1))
        _ = server.ask { $0.isShuttingDown = true }
        client.send(broadcast(3))
        #expect(answer(client)?.text.contains("503") == true)
        #expect(server.counts.requests == 1 && server.counts.channelReasons == ["Shutdown": 1])
        server.stop()
    }
}

import Foundation
import Synchronization
import Testing

@testable import Devices
@testable import Echo

/// How requests of devices end, with a peer that does what the test says.
@Suite(.serialized) struct EchoTests {
    @Test("What a device wanted is there with 200 and 201, is not with 204; other statuses fail")
    func statuses() throws {
        let statuses = [200, 201, 204, 404, 500, 302, 202]
        let peer = ScriptedPeer { _, request in
            .status(Int(request.line.split(separator: " ")[1].dropFirst())!, ["location: /200"])
        }
        defer { peer.stop() }
        let bench = try EchoBench(peer.url)
        defer { bench.echo.stop() }
        for (number, status) in statuses.enumerated() { bench.ask(UInt64(number), .rich, "/\(status)") }
        try bench.wait(ended: statuses.count)
        let books = bench.books
        #expect(books.total.answered == 3 && books.total.failed == 4 && books[.rich] == books.total)
        #expect(books.failures == ["HTTP 404": 1, "HTTP 500": 1, "HTTP 302": 1, "HTTP 202": 1])
        #expect(books.statuses == Dictionary(uniqueKeysWithValues: statuses.map { ($0, 1) }))
        #expect(bench.all.filter { $0.ending == .newData }.map(\.request).sorted() == [0, 1])
        #expect(bench.all.filter { $0.ending == .noData }.map(\.request) == [2])
        #expect(bench.all.count == statuses.count && peer.requests.count == statuses.count)
        #expect(books.latency.summary.count == 3 && books.unanswered.summary.count == 4)
        #expect(books.wait.summary.count == 7)
    }

    @Test("A request has the devices' credentials, and the URL's path before its own")
    func heads() throws {
        let peer = ScriptedPeer { _, _ in .status(200, body: "12345") }
        defer { peer.stop() }
        let bench = try EchoBench("http://ada:pass%20word@127.0.0.1:\(peer.port)/v1/")
        defer { bench.echo.stop() }
        bench.ask(1, .fetch, "/api/content")
        try bench.wait(ended: 1)
        bench.ask(2, .action, "/api/actions", notification: "a\"\n", action: "REPLY", text: "Auf \u{1F600}")
        try bench.wait(ended: 2)
        bench.ask(3, .fetch, "/api/content")
        try bench.wait(ended: 3)
        let requests = peer.requests
        #expect(
            requests.map(\.line) == [
                "GET /v1/api/content HTTP/1.1", "POST /v1/api/actions HTTP/1.1", "GET /v1/api/content HTTP/1.1",
            ])
        let authorization = "Authorization: Basic " + Data("ada:pass word".utf8).base64EncodedString()
        for request in requests { #expect(request.head.contains(authorization)) }
        #expect(requests[1].head.contains("Content-Type: application/json") && !requests[1].head.contains("Expect"))
        let body = try #require(
            try JSONSerialization.jsonObject(with: Data(requests[1].body.utf8)) as? [String: String])
        #expect(body["notification"] == "a\"\n" && body["action"] == "REPLY" && body["text"] == "Auf \u{1F600}")
        #expect(body["device"]?.count == 16)
        let books = bench.books
        #expect(books.bytes == 15 && books.connections == 1)
        #expect(Set(requests.map(\.connection)).count == 1)
    }

    @Test("With fresh connections each request has its own")
    func fresh() throws {
        let peer = ScriptedPeer { _, _ in .status(200) }
        defer { peer.stop() }
        let bench = try EchoBench(peer.url) { $0.hasFreshConnections = true }
        defer { bench.echo.stop() }
        for id in 1...5 {
            bench.ask(UInt64(id))
            try bench.wait(ended: id)
        }
        #expect(Set(peer.requests.map(\.connection)).count == 5 && bench.books.connections == 5)
    }

    @Test("A whole URL is asked only where its host is the backend's, by its path and query")
    func foreignHosts() throws {
        let peer = ScriptedPeer { _, _ in .status(200) }
        defer { peer.stop() }
        let bench = try EchoBench(peer.url + "/v1")
        defer { bench.echo.stop() }
        let own = [
            "https://127.0.0.1/a.png?x=1#top", "http://127.0.0.1:1/b", "http://127.0.0.1:9?c", "/d",
        ]
        let foreign = [
            "https://example.com/a", "http://127.0.0.1.example.com/", "http://127.0.0.1@example.com/",
            "//example.com/a",
            "ftp://127.0.0.1/a", "file:///etc/passwd", "a.png", "",
        ]
        for (id, url) in (own + foreign + ["/a b", "/a\r\nx: y"]).enumerated() {
            bench.ask(UInt64(id), .attachment, url)
            try bench.wait(ended: id + 1)
        }
        #expect(peer.requests.map(\.line) == ["/a.png?x=1", "/b", "/?c", "/v1/d"].map { "GET \($0) HTTP/1.1" })
        let books = bench.books
        #expect(books[.attachment].answered == 4 && books[.attachment].failed == 10)
        #expect(books.failures == ["foreign host": 8, "bad URL": 2])
    }

    @Test("A connection that is refused, closed or reset without an answer is tried three times more, and no more")
    func retries() throws {
        let gone = ScriptedPeer { _, _ in .silence }
        gone.stop()
        let refused = try EchoBench(gone.url)
        defer { refused.echo.stop() }
        refused.ask(1, .action, "/api/actions")
        refused.ask(2)
        try refused.wait(ended: 2)
        #expect(refused.books.failures == ["connection refused": 2] && refused.books.retries == 6)
        #expect(refused.books.connections == 0 && refused.all.count == 2)

        for (reply, cause) in [
            (ScriptedPeer.Reply.close(after: ""), "closed without answer"), (.reset(after: ""), "connection reset"),
        ] {
            let peer = ScriptedPeer { _, _ in reply }
            let bench = try EchoBench(peer.url)
            bench.ask(1)
            try bench.wait(ended: 1)
            #expect(bench.books.failures == [cause: 1] && bench.books.retries == 3)
            #expect(peer.requests.count == 4)
            // What may have been done is not asked for again.
            bench.ask(2, .action, "/api/actions")
            try bench.wait(ended: 2)
            #expect(bench.books.failures == [cause: 2] && bench.books.retries == 3 && peer.requests.count == 5)
            bench.echo.stop()
            peer.stop()
        }
    }

    @Test("A connection that was used before and is closed instead of an answer is no second request of its own")
    func closedWhenUsedAgain() throws {
        let peer = ScriptedPeer { number, _ in number == 1 || number == 4 ? .close(after: "") : .status(200) }
        defer { peer.stop() }
        let bench = try EchoBench(peer.url)
        defer { bench.echo.stop() }
        for id in 1...2 {
            bench.ask(UInt64(id))
            try bench.wait(ended: id)
        }
        #expect(bench.books.total.answered == 2 && bench.books.retries == 1 && peer.requests.count == 3)
        bench.ask(3)
        try bench.wait(ended: 3)
        bench.ask(4, .action, "/api/actions")
        try bench.wait(ended: 4)
        #expect(bench.books.failures == ["closed without answer": 1] && peer.requests.count == 5)
    }

    @Test(
        "429 and 503 are asked again, POST too, not before the time that the backend says, and never after the deadline"
    )
    func retryAfter() throws {
        let peer = ScriptedPeer { number, _ in
            switch number {
            case 0: .status(503, ["retry-after: 1"])
            case 1: .status(429)
            case 2: .status(201)
            default: .status(503, ["Retry-After: 31"])
            }
        }
        defer { peer.stop() }
        let bench = try EchoBench(peer.url)
        defer { bench.echo.stop() }
        bench.ask(1, .action, "/api/actions")
        try bench.wait(ended: 1)
        let requests = peer.requests
        #expect(bench.books.total.answered == 1 && bench.books.retries == 2 && requests.count == 3)
        #expect(requests[1].time - requests[0].time >= 1)
        bench.ask(2)
        try bench.wait(ended: 2)
        #expect(bench.books.failures == ["HTTP 503": 1] && bench.books.retries == 2)
        #expect(bench.books.statuses == [503: 2, 429: 1, 201: 1])
    }

    @Test("Pauses are drawn from seed, device and attempt: a quarter more or less than 1, 2 and 4 units")
    func pauses() throws {
        var times: [[Double]] = []
        for _ in 0..<2 {
            let peer = ScriptedPeer { _, _ in .close(after: "") }
            let bench = try EchoBench(peer.url) { $0.pauses = [100_000_000, 200_000_000, 400_000_000] }
            bench.ask(7)
            try bench.wait(ended: 1)
            times.append(peer.requests.map(\.time))
            bench.echo.stop()
            peer.stop()
        }
        for times in times {
            try #require(times.count == 4)
            for attempt in 0..<3 {
                #expect(times[attempt + 1] - times[attempt] >= 0.0749 * Double(1 << attempt))
            }
        }
    }

    @Test("What finds no place until its deadline is never sent; what has begun is given up then")
    func places() throws {
        let peer = ScriptedPeer { _, _ in .silence }
        defer { peer.stop() }
        let bench = try EchoBench(peer.url) { $0.places = 2 }
        defer { bench.echo.stop() }
        for id in 1...2 { bench.ask(UInt64(id), within: 5) }
        try bench.wait { _ in peer.requests.count == 2 }
        for id in 3...7 { bench.ask(UInt64(id), within: 1) }
        try bench.wait(ended: 7)
        let books = bench.books
        #expect(books.total.givenUp == 2 && books.total.notBegun == 5 && books.total.requests == 7)
        #expect(peer.requests.count == 2 && bench.all.count == 7)
        #expect(bench.all.prefix(5).map(\.request).sorted() == [3, 4, 5, 6, 7])
        #expect(books.wait.summary.count == 2 && books.unanswered.summary.count == 7)
        // The places are free again.
        bench.ask(8, within: 1)
        try bench.wait { _ in peer.requests.count == 3 }
    }

    @Test("A request that waits to be repeated has given its place back")
    func placesOfThoseThatPause() throws {
        let peer = ScriptedPeer { number, _ in .status(number == 0 ? 503 : 200, ["retry-after: 2"]) }
        defer { peer.stop() }
        let bench = try EchoBench(peer.url) { $0.places = 1 }
        defer { bench.echo.stop() }
        bench.ask(1)
        try bench.wait { _ in peer.requests.count == 1 }
        bench.ask(2)
        try bench.wait(ended: 2)
        #expect(bench.all.map(\.request) == [2, 1] && bench.books.total.answered == 2)
    }

    @Test("Endless, broken and slow answers end, each with its cause")
    func hostile() throws {
        let head = "HTTP/1.1 200 OK\r\n"
        let replies: [(ScriptedPeer.Reply, String?)] = [
            (.endless("x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n", first: head, pause: 0), "head too long"),
            (.endless(String(repeating: "y", count: 9999), first: head + "x: ", pause: 0), nil),
            (.endless("HTTP/1.1 100 Continue\r\n\r\n", first: "", pause: 0), "head too long"),
            (.endless(String(repeating: "b", count: 9999), first: head + "\r\n", pause: 0), "body too long"),
            (.endless("5\r\nhello\r\n", first: head + "transfer-encoding: chunked\r\n\r\n", pause: 0), "body too long"),
            (.close(after: "garbage\r\n\r\n"), "not HTTP"),
            (.close(after: head + "content-length: 100\r\n\r\nshort"), "answer cut short"),
            (.reset(after: head), "answer cut short"),
            (.close(after: "HTTP/1.1 99999 X\r\n\r\n"), nil),
            (.close(after: head + "transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n"), nil),
        ]
        let peer = ScriptedPeer { _, request in replies[Int(request.line.split(separator: " ")[1].dropFirst())!].0 }
        defer { peer.stop() }
        let bench = try EchoBench(peer.url) { $0.longestBody = 1 << 20 }
        defer { bench.echo.stop() }
        for (id, reply) in replies.enumerated() {
            let before = bench.books.failures
            bench.ask(UInt64(id), .rich, "/\(id)")
            try bench.wait(ended: id + 1)
            let cause = bench.books.failures.first { before[$0.key] != $0.value }?.key
            if let expected = reply.1 { #expect(cause == expected, "reply \(id)") }
            #expect(cause != nil, "reply \(id)")
        }
        #expect(bench.books.total.failed == UInt64(replies.count) && bench.books.retries == 0)
    }

    @Test("An answer that drips is given up at the deadline")
    func drip() throws {
        let peer = ScriptedPeer { _, _ in
            .endless("d", first: "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", pause: 10_000)
        }
        defer { peer.stop() }
        let bench = try EchoBench(peer.url)
        defer { bench.echo.stop() }
        bench.ask(1, within: 4)
        try bench.wait { _ in peer.requests.count == 1 }
        try bench.wait(ended: 1)
        #expect(bench.books.total.givenUp == 1)
    }

    @Test("What is under way when it is stopped is told as that, and the sum holds")
    func stopped() throws {
        let peer = ScriptedPeer { _, _ in .silence }
        defer { peer.stop() }
        let bench = try EchoBench(peer.url) { $0.places = 3 }
        for id in 1...9 { bench.ask(UInt64(id)) }
        try bench.wait { _ in peer.requests.count == 3 }
        bench.echo.stop()
        bench.ask(10)
        #expect(bench.books.total.underWay == 10 && bench.books.total.requests == 10 && bench.all.isEmpty)
    }

    @Test("Begun anew, it knows nothing of the requests before, and takes those of the new beginning only")
    func anew() throws {
        let peer = ScriptedPeer { number, _ in number < 2 ? .silence : .status(200) }
        defer { peer.stop() }
        let bench = try EchoBench(peer.url) { $0.places = 2 }
        defer { bench.echo.stop() }
        for id in 1...5 { bench.ask(UInt64(id)) }
        try bench.wait { _ in peer.requests.count == 2 }
        bench.echo.begin(epoch: 1)
        #expect(bench.books.total == EchoBooks.Endings() && bench.books.retries == 0)
        bench.ask(6)
        bench.ask(1, epoch: 1)
        try bench.wait(ended: 1)
        #expect(bench.books.total.requests == 1 && bench.all.map(\.epoch) == [1])
    }

    @Test(
        "Whatever the backend does, each request ends once, and the counts add up",
        arguments: 1...6 as ClosedRange<UInt64>)
    func random(_ seed: UInt64) throws {
        let peer = ScriptedPeer { number, _ in
            var random = SplitMix(state: seed &* 1000 &+ UInt64(number))
            return switch random.next() % 12 {
            case 0: .status(503, ["retry-after: \(random.next() % 2)"])
            case 1: .status(429)
            case 2: .close(after: "")
            case 3: .reset(after: "")
            case 4: .silence
            case 5: .close(after: "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n1")
            case 6: .status(404)
            case 7: .status(204)
            default: .status(200, body: "content")
            }
        }
        defer { peer.stop() }
        let bench = try EchoBench(peer.url) {
            $0.places = 1 + Int(seed % 5)
            $0.hasFreshConnections = seed % 2 == 0
            $0.seed = seed
        }
        var random = SplitMix(state: seed)
        for id in 0..<120 {
            let kind = EchoRequest.Kind.allCases[Int(random.next() % 4)]
            bench.ask(UInt64(id), kind, "/\(id)", within: Double(random.next() % 3000) / 1000)
            if random.next() % 8 == 0 { usleep(UInt32(random.next() % 30_000)) }
            let total = bench.books.total
            #expect(total.requests == UInt64(id + 1) && total.ended + total.underWay == total.requests)
        }
        try bench.wait(ended: 120)
        let books = bench.books
        #expect(books.total.requests == 120 && books.total.ended == 120 && books.total.underWay == 0, "seed \(seed)")
        #expect(books.failures.values.reduce(0, +) == books.total.failed)
        #expect(Set(bench.all.map(\.request)).count == 120 && bench.all.count == 120)
        #expect(books.latency.summary.count == books.total.answered)
        #expect(books.unanswered.summary.count == 120 - books.total.answered)
        #expect(books.series.requests.reduce(0, +) == 120)
        #expect(books.series.answered.reduce(0, +) == books.total.answered)
        // Every attempt that was begun was one request at most at the peer.
        #expect(UInt64(peer.requests.count) <= books.wait.summary.count + books.retries)
        bench.echo.stop()
    }
}

private struct SplitMix {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

import Foundation
import Networking
import Testing

@testable import Backend

@Suite struct BackendServerTests {
    /// Sends requests over one connection, all at once, and reads until so many answers, or the end, have come.
    private func ask(_ server: BackendServer, _ requests: [String], answers: Int? = nil) throws -> [String] {
        let stream = try SocketStream(
            connectingTo: try SocketAddress(host: "127.0.0.1", port: server.port), serverName: "127.0.0.1", tls: nil,
            options: SocketOptions())
        while stream.advance() == .inProgress { usleep(1000) }
        let bytes = Array(requests.joined().utf8)
        try #require(
            bytes.withUnsafeBufferPointer { stream.write($0.baseAddress!, count: bytes.count) } == .bytes(bytes.count))
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<120_000 {
            switch stream.read(into: &buffer, capacity: buffer.count) {
            case .bytes(let count): text += String(decoding: buffer[..<count], as: UTF8.self)
            case .wouldBlock: usleep(1000)
            case .endOfStream, .failed: return parts(text)
            }
            // Every answer's body ends with a line end, and every head with an empty line.
            if parts(text).count == answers ?? requests.count, text.hasSuffix("\n"), !text.hasSuffix("\r\n") { break }
        }
        return parts(text)
    }

    private func parts(_ text: String) -> [String] {
        text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0 }
    }

    private func post(_ path: String, _ body: String, user: String = "bob") -> String {
        "POST \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: \(basic(user))\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private func get(_ path: String, user: String = "bob") -> String {
        "GET \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: \(basic(user))\r\n\r\n"
    }

    private func basic(_ user: String) -> String { "Basic " + Data("\(user):\(user)".utf8).base64EncodedString() }

    private func started(_ change: (inout BackendConfiguration) -> Void = { _ in }) throws -> BackendServer {
        var configuration = BackendConfiguration()
        change(&configuration)
        return try BackendServer(configuration)
    }

    @Test("Requests that come at once on one connection are answered in their order, and each is counted once")
    func pipelined() throws {
        let server = try started()
        let payload = Data("line\n".utf8).base64EncodedString()
        let answers = try ask(
            server,
            [
                post("/api/notifications", #"{"message":"hi","payload":"\#(payload)","contentType":"text/x"}"#),
                get("/api/notifications/1"), get("/api/notifications/1"), get("/api/notifications/1", user: "eve"),
                get("/api/notifications/2"), get("/api/notifications/99999999999999999999"),
                post("/api/actions", #"{"device":"00Aa","notification":1,"action":"more"}"#),
                post("/api/actions", #"{"device":"0g","notification":1,"action":"more"}"#),
                post("/api/notifications", #"{"mesage":"hi"}"#), get("/api/notifications"), get("/x"),
                "GET /api/notifications/1 HTTP/1.1\r\nHost: a\r\n\r\n",
            ])
        #expect(
            answers.map { $0.prefix(3) } == [
                "201", "200", "200", "403", "404", "404", "201", "400", "400", "405", "404", "401",
            ])
        #expect(answers[0].hasSuffix("\r\n\r\n{\"id\":1}\n"))
        #expect(answers[1].contains("content-type: text/x\r\n") && answers[1].hasSuffix("\r\n\r\nline\n"))
        #expect(answers[8].hasSuffix("unknown field \"mesage\"; did you mean \"message\"?\n"))
        #expect(answers[11].contains("www-authenticate: Basic realm="))
        server.stop()
        let counts = server.report.counts
        #expect(counts.requests == 12)
        for (kind, count) in [
            (.created, 1), (.fetched, 1), (.fetchedAgain, 1), (.forbidden, 1), (.unknownID, 2), (.actions, 1),
            (.refused, 4), (.unauthorized, 1),
        ] as [(BackendCounts.Kind, UInt64)] { #expect(counts[kind] == count, "\(kind)") }
    }

    @Test("A store that takes no more is answered 503 and counted, and takes again what comes later")
    func full() throws {
        let server = try started()
        let store = server.store.database
        _ = try ask(server, [post("/api/notifications", "{}")])
        // Nothing is asked of it now: its thread sleeps.
        let pages = try store.number("PRAGMA page_count")
        try store.execute("PRAGMA max_page_count=\(pages)")
        let large = Data(repeating: 7, count: 50_000).base64EncodedString()
        let refused = try ask(server, [post("/api/notifications", #"{"payload":"\#(large)"}"#)])
        #expect(refused[0].hasPrefix("503") && refused[0].contains("full"), "\(refused)")
        try store.execute("PRAGMA max_page_count=1000000")
        let taken = try ask(
            server, [post("/api/notifications", #"{"payload":"bGluZQo="}"#), get("/api/notifications/2")], answers: 2)
        #expect(taken[0].hasSuffix("{\"id\":2}\n") && taken[1].hasPrefix("200"))
        server.stop()
        let counts = server.report.counts
        #expect(counts[.created] == 2 && counts[.notStored] == 1 && counts[.fetched] == 1 && counts.requests == 4)
    }

    @Test("Rules reject, delay, reset and silence, each counted; what is silenced is done")
    func faults() throws {
        func server(_ change: (inout BackendFaults.Rule) -> Void) throws -> BackendServer {
            var rule = BackendFaults.Rule()
            change(&rule)
            return try started {
                $0.faults.rules = [rule]
                $0.limits.answer = 100_000_000
            }
        }
        let rejecting = try server { $0.rejections = [.init(status: 503, share: 1)] }
        #expect(try ask(rejecting, [post("/api/notifications", "{}")])[0].hasPrefix("503"))
        rejecting.stop()
        #expect(rejecting.report.counts[.rejectedByRule] == 1 && rejecting.report.counts[.created] == 0)

        let delaying = try server { $0.latency = .fixed(50_000_000) }
        let start = MonotonicClock.now()
        #expect(try ask(delaying, [post("/api/notifications", "{}")])[0].hasPrefix("201"))
        #expect(MonotonicClock.now() - start >= 50_000_000)
        delaying.stop()
        #expect(delaying.report.counts[.created] == 1)

        let resetting = try server { $0.resetShare = 1 }
        #expect(try ask(resetting, [post("/api/notifications", "{}")]).isEmpty)
        resetting.stop()
        #expect(resetting.report.counts[.resetByRule] == 1)

        let silent = try server { $0.silentShare = 1 }
        #expect(try ask(silent, [post("/api/notifications", "{}")]).isEmpty)
        #expect(try silent.store.database.number("SELECT count(*) FROM notifications") == 1)
        silent.stop()
        #expect(silent.report.counts[.silencedByRule] == 1 && silent.report.counts.requests == 1)
    }

    @Test("Requests that are too large or never complete are refused and counted")
    func bounds() throws {
        let server = try started {
            $0.limits.body = 2048
            $0.limits.request = 2_000_000_000
        }
        let head = "POST /api/notifications HTTP/1.1\r\nHost: a\r\nContent-Length:"
        #expect(try ask(server, ["\(head) 2049\r\n\r\n"])[0].hasPrefix("413"))
        #expect(try ask(server, ["\(head) 20\r\n\r\n{"])[0].hasPrefix("408"))
        server.stop()
        #expect(server.report.counts[.refused] == 2 && server.report.counts.requests == 2)
    }
}

import Foundation
import Testing

/// What a test asks the mock after its pushes: with curl, as tests in any language do.
@Suite(.serialized, .waitsForPrograms) struct PushAssertionTests {
    private let device = ReasonTests.device

    private func curl(_ mock: Mock, _ path: String, _ arguments: [String] = []) throws -> String {
        try Programs.run(
            "/usr/bin/curl",
            ["-s", "--max-time", "120"] + arguments + ["http://127.0.0.1:\(try mock.port(of: "admin"))\(path)"]
        ).output
    }

    private func pushes(_ mock: Mock, _ query: String) throws -> [[String: Any]] {
        let text = try curl(mock, "/pushes" + query)
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]], "\(text)")
    }

    /// Until it is so, or for a minute.
    private func wait(_ isSo: () throws -> Bool) throws {
        for _ in 0..<2000 {
            if try isSo() { return }
            usleep(20_000)
        }
    }

    private func ids(_ mock: Mock, _ query: String) throws -> [Int] {
        try pushes(mock, query).compactMap { $0["id"] as? Int }
    }

    @Test("Connections are numbered from 1 as they come, over all threads")
    func connections() throws {
        let mock = try Mock(["--admin-port", "0", "--threads", "3"])
        for _ in 0..<6 { _ = try ReasonTests.curl(mock, [.init()]) }
        #expect(try pushes(mock, "").compactMap { $0["connection"] as? Int } == [1, 2, 3, 4, 5, 6])
        _ = try mock.stop()
    }

    @Test("A query that is given twice is refused")
    func repeated() throws {
        let mock = try Mock(["--admin-port", "0"])
        #expect(try curl(mock, "/pushes?status=200&limit=2&status=400") == "/pushes: status is given twice\n")
        #expect(try curl(mock, "/stats?%6eamespace=&namespace=") == "/stats: namespace is given twice\n")
        _ = try mock.stop()
    }

    @Test("Pushes are told apart by token, topic, apns-id, push type, status, reason and when they came")
    func filters() throws {
        let mock = try Mock(["--admin-port", "0"])
        let own = "123E4567-e89b-42d3-a456-426614174000"
        _ = try ReasonTests.curl(
            mock,
            [
                .init(), .with { $0.path = "/3/device/\(ReasonTests.other.uppercased())" },
                .with { $0.headers = ["apns-topic: com.example.app.voip", "apns-push-type: voip"] },
                .with { $0.headers.append("apns-id: \(own)") }, .with { $0.body = "" },
            ])
        let all = try pushes(mock, "")
        #expect(all.compactMap { $0["id"] as? Int } == [1, 2, 3, 4, 5])
        let times = all.compactMap { $0["time"] as? Int }
        for (query, expected) in [
            ("token=\(device)", [1, 3, 4, 5]), ("token=\(ReasonTests.other)", [2]),
            ("topic=com.example.app", [1, 2, 4, 5]),
            ("topic=com.example.app*", [1, 2, 3, 4, 5]), ("topic=com.example.*&push_type=voip", [3]),
            ("apns_id=\(own.lowercased())", [4]), ("unique_id=\(all[1]["unique_id"] as? String ?? "")", [2]),
            ("status=400", [5]), ("status=200&limit=2", [3, 4]), ("reason=PayloadEmpty", [5]), ("after=3", [4, 5]),
            ("after=1&limit=2", [2, 3]), ("since=\(times[0])", [1, 2, 3, 4, 5]), ("since=\(times[4] + 1)", []),
        ] as [(String, [Int])] {
            #expect(try ids(mock, "?" + query) == expected, "\(query)")
        }
        let lines = try curl(mock, "/pushes?status=200&format=ndjson").split(separator: "\n")
        #expect(lines.count == 4 && lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") }, "\(lines)")
        let accepted = try curl(mock, "/pushes", ["-i", "-H", "Accept: application/x-ndjson"])
        #expect(accepted.contains("\r\ncontent-type: application/x-ndjson\r\n"), "\(accepted)")
        // Begun anew, ids go on: who follows them misses nothing.
        #expect(try curl(mock, "/reset", ["-X", "POST"]) == "reset\n")
        #expect(try ReasonTests.curl(mock, [.init()]) == [" 200"])
        #expect(try ids(mock, "?after=5") == [6])
        _ = try mock.stop()
    }

    @Test("Every answer says whose it is: of pages, refusals, event streams, and those that were waited for")
    func server() throws {
        let mock = try Mock(["--admin-port", "0"])
        let version = try Programs.run("mock-apns", ["--version"]).output.split(whereSeparator: \.isWhitespace).last
        let line = "\r\nserver: mock-apns/\(try #require(version))\r\n"
        for path in ["/healthz", "/stats", "/nothing", "/pushes?limit=0", "/pushes?wait=1ms"] {
            let answer = try curl(mock, path, ["-i"])
            #expect(answer.components(separatedBy: line).count == 2, "\(answer)")
        }
        #expect(try curl(mock, "/stats", ["-i", "-H", "Host: evil.example"]).contains(line))
        #expect(try curl(mock, "/events", ["-i", "--max-time", "1"]).contains(line))
        #expect(try curl(mock, "/events", ["-I"]).contains(line))
        _ = try mock.stop()
    }

    @Test("Every query that cannot be meant is refused in words")
    func refusals() throws {
        let mock = try Mock(["--admin-port", "0", "--keep-pushes", "10"])
        for (query, expected) in [
            ("apns_id=17", "apns_id \"17\": expected a UUID"), ("unique_id=x", "unique_id \"x\": expected a UUID"),
            ("push_type=alrt", "push_type \"alrt\" is not a push type; did you mean \"alert\"?"),
            ("status=ok", "status \"ok\": expected an HTTP status, 100 to 599, or none"),
            ("status=99", "status \"99\": expected an HTTP status, 100 to 599, or none"),
            ("reason=Unregisterd", "reason \"Unregisterd\" is not a reason of APNs; did you mean \"Unregistered\"?"),
            ("since=-1", "since \"-1\": expected UNIX milliseconds"),
            ("since=99999999999999999999", "since \"99999999999999999999\": expected UNIX milliseconds"),
            ("after=x", "after \"x\": expected the id of a push"), ("limit=0", "limit \"0\": expected a number from 1"),
            ("wait=6m", "wait \"6m\": expected a time up to 5m, as in 5s"),
            ("wait=", "wait \"\": expected a time up to 5m, as in 5s"),
            ("count=2", "count needs wait, as in wait=5s&count=2"),
            ("wait=1s&count=11", "count \"11\": expected 1 to 10, as many as are kept"),
            ("format=xml", "format \"xml\": expected json or ndjson"),
            (
                "namespace=a",
                "namespace \"a\": there is one only; start mock-apns with --namespace-by team, topic, port"
            ),
        ] { #expect(try curl(mock, "/pushes?" + query) == "/pushes: \(expected)\n") }
        for (path, expected) in [
            ("/unique/17", "/unique/17: expected a UUID, as apns-unique-id is\n400"),
            (
                "/unique/123e4567-e89b-42d3-a456-426614174000", "no push with this apns-unique-id is kept\n404"
            ),
        ] { #expect(try curl(mock, path, ["-w", "%{http_code}"]) == expected) }
        _ = try mock.stop()
    }

    @Test("A test waits until so many pushes have come, or its time is over; others are answered meanwhile")
    func waiting() throws {
        let mock = try Mock(["--admin-port", "0", "--threads", "2"])
        let port = try mock.port(of: "admin")
        func wait(_ query: String) throws -> Running {
            try Programs.start(
                "/usr/bin/curl", ["-s", "--max-time", "120", "http://127.0.0.1:\(port)/pushes?wait=100s&\(query)"])
        }
        let three = try wait("count=3&topic=com.example.app")
        let voip = try wait("push_type=voip&format=ndjson")
        #expect(try curl(mock, "/healthz") == "ok\n")
        for _ in 0..<2 { #expect(try ReasonTests.curl(mock, [.init()]) == [" 200"]) }
        // Two have come: a look at them is no third.
        #expect(try ids(mock, "?wait=300ms&count=3") == [1, 2])
        #expect(three.process.isRunning && voip.process.isRunning)
        #expect(
            try ReasonTests.curl(
                mock, [.with { $0.headers = ["apns-topic: com.example.app.voip", "apns-push-type: voip"] }])
                == [" 200"])
        let line = try voip.wait().output
        #expect(line.hasPrefix("{") && line.contains("\"id\":3") && line.hasSuffix("}\n"), "\(line)")
        #expect(three.process.isRunning)
        #expect(try ReasonTests.curl(mock, [.with { $0.body = "" }]).first?.hasSuffix("400") == true)
        let list = try three.wait().output
        #expect(list.components(separatedBy: "\"apns_id\"").count == 4, "\(list)")
        // What is there already is not waited for.
        #expect(try ids(mock, "?wait=100s&count=4") == [1, 2, 3, 4])
        _ = try mock.stop()
    }

    @Test("No more than 256 requests wait; who has gone is waited for no more than the others")
    func manyWaits() throws {
        let mock = try Mock(["--admin-port", "0"])
        let port = try mock.port(of: "admin")
        let request = Array("GET /pushes?wait=5m HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        var clients: [RawClient] = []
        for _ in 0..<256 {
            let client = try RawClient(port: port, preface: false)
            client.write(request)
            clients.append(client)
        }
        try wait { try curl(mock, "/stats").contains("\"waiting\":256") }
        let answer = try curl(mock, "/pushes?wait=10ms", ["-w", "%{http_code}"])
        #expect(answer == "/pushes: 256 requests wait already\n503")
        clients.removeAll()
        #expect(try ReasonTests.curl(mock, [.init()]) == [" 200"])
        #expect(try ids(mock, "?wait=100s") == [1])
        _ = try mock.stop()
    }

    @Test("A push that is kept has its headers as they came, in their order, those nobody looks at too")
    func headers() throws {
        let mock = try Mock(["--admin-port", "0"])
        let request = ReasonTests.Request.with {
            $0.headers = ["X-First: a  b", "apns-topic: com.example.app", "x-twice: 1", "x-twice: 2"]
        }
        // The second comes with a token that is known, and with names and values from the connection's table.
        #expect(try ReasonTests.curl(mock, [request, request]) == [" 200", " 200"])
        let kept = try pushes(mock, "").map { $0["headers"] as? [[String]] ?? [] }
        #expect(kept.count == 2 && kept[0] == kept[1])
        let names = kept[0].map { $0[0] }
        #expect(names.prefix(2) == [":method", ":path"] && names.contains("user-agent"), "\(names)")
        #expect(kept[0][1] == [":path", "/3/device/" + device])
        #expect(
            kept[0].filter { $0[0].hasPrefix("x-") } == [["x-first", "a  b"], ["x-twice", "1"], ["x-twice", "2"]])
        #expect(kept[0].first { $0[0] == "authorization" }?[1].hasPrefix("bearer ") == true)
        _ = try mock.stop()
    }

    @Test("A push that a rule leaves without an answer is kept all the same, and says how")
    func unanswered() throws {
        let mock = try Mock(["--admin-port", "0"])
        for (rule, expected) in [
            ("silent: 100%", "silent"), ("reset: 100%", "reset"), ("close: fin", "closed"),
        ] {
            #expect(try curl(mock, "/faults", ["-X", "PUT", "-d", "{rules: [{\(rule)}]}"]).hasPrefix("rules 1"))
            _ = try ReasonTests.curl(mock, [.with { $0.extra = ["--max-time", "2"] }])
            let kept = try #require(try pushes(mock, "?limit=1").first)
            #expect(kept["unanswered"] as? String == expected && kept["status"] == nil, "\(kept)")
            let fate = try curl(mock, "/unique/\(kept["unique_id"] as? String ?? "")")
            #expect(
                fate.contains("\"event\":\"unanswered\"") && fate.contains("\"delivered\"") == (expected == "silent"))
        }
        #expect(try curl(mock, "/faults", ["-X", "PUT", "-d", "{rules: []}"]).hasPrefix("rules 0"))
        _ = try ReasonTests.curl(mock, [.init()])
        #expect(try ids(mock, "?status=none") == [1, 2, 3] && ids(mock, "?status=200") == [4])
        _ = try mock.stop()
    }

    @Test("What became of a push is told by the apns-unique-id of its answer")
    func fate() throws {
        let mock = try Mock(["--admin-port", "0", "--second-port", "0", "--priority-5-interval", "1s"])
        let development = try mock.port(of: "development")
        func push(_ headers: [String] = []) throws -> String {
            let request = ReasonTests.Request.with {
                $0.headers += headers
                $0.port = development
                $0.extra = ["-i"]
            }
            let answer = try Programs.run("/usr/bin/curl", try ReasonTests.arguments(mock, request)).output
            let line = answer.split(whereSeparator: \.isNewline).first { $0.hasPrefix("apns-unique-id: ") }
            return String(try #require(line, "\(answer)").dropFirst("apns-unique-id: ".count))
        }
        func events(_ unique: String) throws -> [String] {
            let text = try curl(mock, "/unique/" + unique)
            let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            #expect((document?["push"] as? [String: Any])?["unique_id"] as? String == unique.lowercased())
            let log = try #require(document?["log"] as? [[String: Any]], "\(text)")
            #expect(log.map { $0["time"] as? Int ?? 0 } == log.map { $0["time"] as? Int ?? 0 }.sorted())
            return log.compactMap { $0["event"] as? String }
        }
        #expect(try events(try push().uppercased()) == ["accepted", "delivered"])
        let grouped = try push(["apns-priority: 5"])
        try wait { try events(grouped).count == 3 }
        #expect(try events(grouped) == ["accepted", "grouped", "delivered"])
        let page = "/devices/\(device)"
        #expect(try curl(mock, page, ["-X", "PUT", "-d", "{offline: true}"]) == "changed\n")
        let replaced = try push()
        let collapsed = try push(["apns-collapse-id: a"])
        let stored = try push(["apns-collapse-id: a"])
        let unstored = try push(["apns-expiration: 0"])
        #expect(try events(replaced) == ["accepted", "stored", "replaced"])
        #expect(try events(collapsed) == ["accepted", "stored", "collapsed"])
        #expect(try events(stored) == ["accepted", "stored"])
        #expect(try events(unstored) == ["accepted", "not_stored"])
        #expect(try curl(mock, page, ["-X", "PUT", "-d", "{offline: false}"]) == "changed\n")
        #expect(try events(stored) == ["accepted", "stored", "delivered"])
        #expect(try ReasonTests.curl(mock, [.with { $0.body = "" }]).count == 1)
        #expect(try curl(mock, page, ["-X", "PUT", "-d", "{state: disabled}"]) == "changed\n")
        #expect(try events(try push()) == ["accepted", "discarded"])
        let rejected = try #require(try pushes(mock, "?status=400").first?["unique_id"] as? String)
        #expect(try events(rejected) == ["rejected"])
        _ = try mock.stop()
    }
}

import Foundation
import Testing

/// The admin listener, as people and programs use it: with curl.
@Suite(.serialized) struct AdminTests {
    private let device = ReasonTests.device

    private func admin(_ mock: Mock, _ method: String, _ path: String, _ body: String? = nil) throws -> String {
        try Programs.run(
            "/usr/bin/curl",
            ["-s", "-X", method, "http://127.0.0.1:\(try mock.port(of: "admin"))\(path)"]
                + (body.map { ["--data-binary", $0] } ?? [])
        ).output
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    @Test("What happened is counted by status, reason, topic, push type and connection, and can be begun anew")
    func stats() throws {
        let mock = try Mock(["--admin-port", "0"])
        #expect(try admin(mock, "GET", "/healthz") == "ok\n")
        let answers = try ReasonTests.curl(
            mock,
            [
                .init(), .init(), .with { $0.path = "/3/device/x" },
                .with { $0.headers = ["apns-topic: com.example.app.voip", "apns-push-type: voip"] },
            ])
        #expect(answers.map { String($0.suffix(3)) } == ["200", "200", "400", "200"])
        let stats = try json(try admin(mock, "GET", "/stats"))
        #expect(stats["requests"] as? Int == 4 && stats["accepted"] as? Int == 3 && stats["rejected"] as? Int == 1)
        #expect(stats["statuses"] as? [String: Int] == ["200": 3, "400": 1])
        #expect(stats["reasons"] as? [String: Int] == ["BadDeviceToken": 1])
        #expect(stats["push_types"] as? [String: Int] == ["alert": 2, "voip": 1])
        let topics = try #require(stats["topics"] as? [String: [String: Int]])
        #expect(topics["com.example.app"] == ["accepted": 2, "rejected": 1])
        let memory = try #require(stats["memory"] as? [String: Int])
        #expect(memory["rss_bytes"]! > 1_000_000)
        let metrics = try admin(mock, "GET", "/metrics")
        for line in [
            "mock_apns_requests_total 4", "mock_apns_rejected_total{reason=\"BadDeviceToken\"} 1",
            "mock_apns_responses_total{status=\"200\"} 3", "# TYPE mock_apns_connections_open gauge",
            "# TYPE mock_apns_answer_seconds histogram", "mock_apns_answer_seconds_bucket{le=\"+Inf\"} 4",
            "mock_apns_answer_seconds_count 4", "mock_apns_in_flight 0",
        ] { #expect(metrics.contains(line + "\n"), "\(line)") }
        let pushes = try admin(mock, "GET", "/pushes?token=\(device.uppercased())")
        let list = try #require(try JSONSerialization.jsonObject(with: Data(pushes.utf8)) as? [[String: Any]])
        #expect(list.count == 3 && list[0]["status"] as? Int == 200 && list[2]["push_type"] as? String == "voip")
        #expect(list[0]["payload"] as? String == "{\"aps\":{\"alert\":\"hi\"}}")
        #expect(try admin(mock, "POST", "/reset") == "reset\n")
        #expect(try json(try admin(mock, "GET", "/stats"))["requests"] as? Int == 0)
        #expect(try admin(mock, "GET", "/pushes") == "[]\n" && admin(mock, "GET", "/ledger") == "[]\n")
        #expect(try admin(mock, "GET", "/nothing").hasPrefix("not found; there are:\n  GET /stats"))
        _ = try mock.stop()
    }

    @Test("The metrics say how long answers took, the time a fault rule adds included")
    func answerTimes() throws {
        let mock = try Mock(["--admin-port", "0", "--latency", "30ms"])
        #expect(try ReasonTests.curl(mock, [.init(), .init()]) == [" 200", " 200"])
        let lines = try admin(mock, "GET", "/metrics").split(separator: "\n")
        func value(_ name: String) throws -> Double {
            let line = try #require(lines.first { $0.hasPrefix(name + " ") }, "\(lines)")
            return try #require(Double(line.dropFirst(name.count + 1)))
        }
        #expect(try value("mock_apns_answer_seconds_bucket{le=\"0.02\"}") == 0)
        #expect(try value("mock_apns_answer_seconds_bucket{le=\"100\"}") == 2)
        #expect(try value("mock_apns_answer_seconds_count") == 2)
        #expect(try (0.06..<100).contains(value("mock_apns_answer_seconds_sum")))
        _ = try mock.stop()
    }

    @Test("A device gets what waited for it when its event stream is attached, and then each push as it comes")
    func events() throws {
        let mock = try Mock(["--admin-port", "0", "--online-by-attachment"])
        let port = try mock.port(of: "admin")
        func push(_ name: String, to token: String) throws {
            let answer = try ReasonTests.curl(
                mock,
                [
                    .with {
                        $0.path = "/3/device/" + token
                        $0.body = "{\"aps\":{},\n\"name\":\"\(name)\"}"
                    }
                ])
            #expect(answer == [" 200"])
        }
        try push("one", to: device)
        try push("two", to: device)
        try push("elsewhere", to: ReasonTests.other)
        let stream = try Programs.start(
            "/usr/bin/curl", ["-sN", "--max-time", "60", "http://127.0.0.1:\(port)/events?token=\(device)"])
        try stream.waitFor("\"name\":\"two\"")
        try push("three", to: device)
        try stream.waitFor("\"name\":\"three\"")
        let events = stream.text.split(separator: "\n").filter { $0.hasPrefix("data: ") }
        #expect(events.count == 2, "\(stream.text)")
        for event in events {
            let push = try json(String(event.dropFirst(6)))
            #expect(push["token"] as? String == device && push["topic"] as? String == "com.example.app")
        }
        let delivery = try #require(try json(try admin(mock, "GET", "/stats"))["delivery"] as? [String: Int])
        #expect(delivery["delivered"] == 2 && delivery["replaced"] == 1 && delivery["waiting"] == 1)
        kill(stream.process.processIdentifier, SIGTERM)
        _ = try mock.stop()
    }

    @Test("A device can be unregistered, and be taken back, while the mock runs")
    func devices() throws {
        let mock = try Mock(["--admin-port", "0"])
        #expect(try admin(mock, "PUT", "/devices/\(device)", "{state: unregistered, since: 1700000000}") == "changed\n")
        #expect(
            try ReasonTests.curl(mock, [.init()]) == ["{\"reason\":\"Unregistered\",\"timestamp\":1700000000000} 410"])
        #expect(
            try admin(mock, "GET", "/devices/\(device)")
                == "{\"offline\":false,\"since\":1700000000,\"state\":\"unregistered\"}\n")
        for since in ["18446744073709551615", "9223372036854775807", "-1", "1e300", "now"] {
            let answer = try admin(mock, "PUT", "/devices/\(device)", "{since: \(since)}")
            #expect(answer.contains("since \"\(since)\": expected UNIX seconds"), "\(answer)")
        }
        #expect(try admin(mock, "PUT", "/devices/\(device)", "state: registered") == "changed\n")
        #expect(try ReasonTests.curl(mock, [.init()]) == [" 200"])
        #expect(
            try admin(mock, "PUT", "/devices/\(device)", "stat: x")
                == "device:1:1: unknown key \"stat\"; did you mean \"state\"?\n")
        #expect(try admin(mock, "PUT", "/devices/xyz", "state: registered").hasPrefix("expected a device token"))
        _ = try mock.stop()
    }

    @Test("A push to a device that was said to be offline is stored, and delivered when it is back")
    func offline() throws {
        let mock = try Mock(["--admin-port", "0"])
        #expect(try admin(mock, "PUT", "/devices/\(device)", "{offline: true}") == "changed\n")
        #expect(try ReasonTests.curl(mock, [.init()]) == [" 200"])
        let stream = try Programs.start(
            "/usr/bin/curl",
            ["-sN", "--max-time", "60", "http://127.0.0.1:\(try mock.port(of: "admin"))/events?token=\(device)"])
        try stream.waitFor(": ready")
        let waiting = try #require(try json(try admin(mock, "GET", "/stats"))["delivery"] as? [String: Int])
        #expect(waiting["stored"] == 1 && waiting["waiting"] == 1 && !stream.text.contains("event: push"))
        #expect(try admin(mock, "PUT", "/devices/\(device)", "{offline: false}") == "changed\n")
        try stream.waitFor("event: push")
        kill(stream.process.processIdentifier, SIGTERM)
        _ = try mock.stop()
    }

    @Test("A channel's subscribers get its broadcasts, also the last one from before")
    func broadcasts() throws {
        let mock = try Mock(["--admin-port", "0", "--management-port", "0"])
        let management = try mock.port(of: "production management")
        let created = try Programs.run(
            "/usr/bin/curl",
            try ReasonTests.arguments(
                mock,
                .with {
                    $0.port = management
                    $0.path = "/1/apps/com.example.app/channels"
                    $0.headers = []
                    $0.body = "{\"message-storage-policy\":1,\"push-type\":\"LiveActivity\"}"
                    $0.extra = ["-i"]
                })
        ).output
        let line = try #require(created.split(whereSeparator: \.isNewline).first { $0.hasPrefix("apns-channel-id: ") })
        let id = String(line.dropFirst("apns-channel-id: ".count))
        func broadcast(_ name: String) throws {
            let answer = try ReasonTests.curl(
                mock,
                [
                    .with {
                        $0.path = "/4/broadcasts/apps/com.example.app"
                        $0.headers = ["apns-channel-id: \(id)", "apns-push-type: liveactivity"]
                        $0.body = "{\"aps\":{\"event\":\"\(name)\"}}"
                    }
                ])
            #expect(answer == [" 200"])
        }
        try broadcast("first")
        let encoded = id.replacingOccurrences(of: "+", with: "%2B").replacingOccurrences(of: "/", with: "%2F")
        let stream = try Programs.start(
            "/usr/bin/curl",
            ["-sN", "--max-time", "60", "http://127.0.0.1:\(try mock.port(of: "admin"))/events?channel=\(encoded)"])
        try stream.waitFor("\"event\":\"first\"")
        try broadcast("second")
        try stream.waitFor("\"event\":\"second\"")
        kill(stream.process.processIdentifier, SIGTERM)
        _ = try mock.stop()
    }
}

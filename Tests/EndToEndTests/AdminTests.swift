import Foundation
import Testing

/// The admin listener, as people and programs use it: with curl.
@Suite(.serialized, .waitsForPrograms) struct AdminTests {
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

    @Test("Whatever is nested in whatever is refused in words, and the mock goes on")
    func nested() throws {
        let mock = try Mock(["--admin-port", "0"])
        let levels = (0..<350).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
        for body in [
            String(repeating: "{a: ", count: 400), String(repeating: "[", count: 900),
            String(repeating: "- ", count: 5000), levels,
            "rules: " + String(repeating: "[", count: 700) + String(repeating: "]", count: 700),
        ] {
            for path in ["/faults", "/devices/" + device] {
                #expect(!(try admin(mock, "PUT", path, body)).isEmpty)
            }
        }
        // Nine lists of nine aliases each.
        let bomb = (0..<9).map { level in
            "\("abcdefghi".map(String.init)[level]): &\("abcdefghi".map(String.init)[level]) ["
                + Array(repeating: level == 0 ? "x" : "*\("abcdefghi".map(String.init)[level - 1])", count: 9).joined(
                    separator: ",")
                + "]\n"
        }
        let refused = try admin(mock, "PUT", "/faults", bomb.joined() + "? *i\n: 1\n")
        #expect(refused.contains("73 aliases (*name); expected at most 32"), "\(refused)")
        #expect(try admin(mock, "GET", "/healthz") == "ok\n")
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
        // Nobody watches and nothing holds pushes back: every one that was accepted was delivered.
        #expect((stats["delivery"] as? [String: Int])?["delivered"] == 3)
        let metrics = try admin(mock, "GET", "/metrics")
        for line in [
            "mock_apns_requests_total 4", "mock_apns_rejected_total{reason=\"BadDeviceToken\"} 1",
            "mock_apns_responses_total{status=\"200\"} 3", "mock_apns_delivered_total 3",
            "# TYPE mock_apns_connections_open gauge",
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
        let again = try json(try admin(mock, "GET", "/stats"))
        #expect((again["delivery"] as? [String: Int])?["delivered"] == 0)
        _ = try mock.stop()
    }

    @Test("A fault plan without a seed is given one, which is told; one with a seed keeps it, 1 too")
    func seeds() throws {
        let mock = try Mock(["--admin-port", "0"])
        var seen: Set<Int> = []
        for _ in 0..<3 {
            let answer = try admin(mock, "PUT", "/faults", "{rules: [{silent: 1%}]}")
            let seed = try #require(
                answer.hasPrefix("rules 1, seed ") ? Int(answer.dropFirst(14).dropLast()) : nil, "\(answer)")
            #expect(try json(try admin(mock, "GET", "/stats"))["fault_seed"] as? Int == seed)
            seen.insert(seed)
        }
        #expect(seen.count > 1)
        #expect(try admin(mock, "PUT", "/faults", "{seed: 1}") == "rules 0, seed 1\n")
        _ = try mock.stop()
        let folder = try OutputFolder.made()
        let file = folder.path + "/faults.yaml"
        try "{seed: 1, rules: [{silent: 1%}]}".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try Mock(["--faults", file]).stop().output.contains("faults on, seed 1\n"))
    }

    @Test("A client that waits to be told to send a body is told; a wrong method is answered with the right ones")
    func expectation() throws {
        let mock = try Mock(["--admin-port", "0"])
        func curl(_ arguments: [String], _ path: String) throws -> String {
            try Programs.run(
                "/usr/bin/curl",
                ["-s", "-i", "--max-time", "60"] + arguments
                    + ["http://127.0.0.1:\(try mock.port(of: "admin"))\(path)"]
            ).output
        }
        // So long would curl wait before it sends the body unasked.
        let put = try curl(
            ["-X", "PUT", "-H", "Expect: 100-continue", "--expect100-timeout", "50", "-d", "{seed: 1}"], "/faults")
        #expect(put.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), "\(put)")
        #expect(put.hasSuffix("rules 0, seed 1\n"), "\(put)")
        let wrong = try curl(["-X", "POST"], "/devices/\(device)")
        #expect(wrong.hasPrefix("HTTP/1.1 405 ") && wrong.contains("\r\nallow: GET, HEAD, PUT\r\n"), "\(wrong)")
        _ = try mock.stop()
    }

    @Test("Every page says what is wrong with what it is given")
    func wrongPages() throws {
        let mock = try Mock(["--admin-port", "0"])
        func answer(_ method: String, _ path: String, _ body: [String] = []) throws -> String {
            try Programs.run(
                "/usr/bin/curl",
                ["-s", "-w", "%{http_code}", "-X", method, "http://127.0.0.1:\(try mock.port(of: "admin"))\(path)"]
                    + body
            ).output
        }
        let device = "/devices/" + device
        for (method, path, body, expected) in [
            ("POST", "/stats", nil, "POST /stats: expected GET\n405"),
            ("GET", "/reset", nil, "GET /reset: expected POST\n405"),
            ("DELETE", device, nil, "DELETE \(device): expected GET or PUT\n405"),
            ("GET", "/pushes?tokn=ab", nil, "/pushes: unknown query \"tokn\"; did you mean \"token\"?\n400"),
            ("GET", "/stats?all", nil, "/stats: unknown query \"all\"; expected one of namespace\n400"),
            ("GET", "/metrics?all", nil, "/metrics: unknown query \"all\"; this page takes none\n400"),
            ("GET", "/pushes?limit=many", nil, "/pushes: limit \"many\": expected a number from 1\n400"),
            ("GET", "/pushes?limit=-1", nil, "/pushes: limit \"-1\": expected a number from 1\n400"),
            (
                "GET", "/pushes?token=xyz", nil,
                "/pushes: token \"xyz\": expected a device token, at least 64 hexadecimal digits\n400"
            ),
            (
                "GET", "/events?token=", nil,
                "/events: token \"\": expected a device token, at least 64 hexadecimal digits\n400"
            ),
            (
                "GET", "/devices/xyz", nil,
                "expected a device token after /devices/, at least 64 hexadecimal digits\n400"
            ),
            ("PUT", "/faults", nil, "faults: the request has no body; expected a fault plan (YAML or JSON)\n400"),
            (
                "PUT", "/faults", "{rule: []}",
                "faults:1:2: unknown key \"rule\"; did you mean \"rules\"?\n400"
            ),
            ("PUT", "/faults", "{rules: [", nil),
            (
                "PUT", "/faults", "# a plan rules: []",
                "faults: the file is empty; did curl -d @FILE take its line ends? use --data-binary @FILE\n400"
            ),
            (
                "PUT", device, nil,
                "device: the request has no body; expected what to change, as in {state: unregistered}\n400"
            ),
            (
                "PUT", device, "{}",
                "device:1:1: nothing to change; expected state, offline, topic, environment or since\n400"
            ),
            (
                "PUT", device, "{topic: com example}",
                "device:1:9: topic: \"com example\": expected a bundle id, as in com.example.app\n400"
            ),
            ("PUT", device, "{stat: expired}", "device:1:2: unknown key \"stat\"; did you mean \"state\"?\n400"),
            (
                "PUT", device, "{state: offline}",
                "device:1:9: state: \"offline\": expected registered, unregistered, expired or disabled; being offline is said apart, "
                    + "as in {offline: true}\n400"
            ),
            ("PUT", device, "{since: 18446744073709551615}", nil), ("PUT", device, "{since: -1}", nil),
            ("PUT", device, "{offline: maybe}", nil),
        ] as [(String, String, String?, String?)] {
            let text = try answer(method, path, body.map { ["--data-binary", $0] } ?? [])
            if let expected {
                #expect(text == expected)
            } else {
                #expect(text.hasSuffix("\n400") && text.count > 20, "\(text)")
            }
        }
        let folder = try OutputFolder.made()
        try Data([0x7B, 0x0A, 0xFF, 0xFE]).write(to: URL(fileURLWithPath: folder.path + "/noise"))
        for page in ["/faults", device] {
            let text = try answer("PUT", page, ["--data-binary", "@\(folder.path)/noise"])
            #expect(text == (page == device ? "device" : "faults") + ":2: not text in UTF-8\n400")
        }
        _ = try mock.stop()
    }

    @Test("Every file the mock is given that it cannot use costs one line and status 64, before it listens")
    func wrongFiles() throws {
        let folder = try OutputFolder.made()
        func file(_ name: String, _ bytes: [UInt8]) throws -> String {
            let path = folder.path + "/" + name
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return path
        }
        let noise = try file("noise", [0x61, 0x0A, 0xC3, 0x28])
        let empty = try file("empty", [])
        let text = try file("text", Array("what is this\n".utf8))
        let columns = try file("columns", Array("token,stat\n".utf8))
        let missing = folder.path + "/missing"
        let (gone, isFolder) = (": No such file or directory", ": Is a directory")
        for (flags, expected) in [
            (["--device-file", missing], "cannot read the device file \(missing)\(gone)"),
            (["--device-file", folder.path], "cannot read the device file \(folder.path)\(isFolder)"),
            (["--device-file", empty], "\(empty): no device token in it; expected one a line"),
            (["--device-file", columns], "\(columns):1: unknown column \"stat\"; did you mean \"state\"?"),
            (["--faults", missing], "cannot read the fault file \(missing)\(gone)"),
            (["--faults", folder.path], "cannot read the fault file \(folder.path)\(isFolder)"),
            (["--faults", noise], "\(noise):2: not text in UTF-8"),
            (["--faults", empty], "\(empty): the file is empty"),
            (["--faults", text], "\(text):1:1: expected keys with values (key: value)"),
            (["--keys", missing], "cannot read the key file \(missing)\(gone)"),
            (["--keys", noise], "\(noise):2: not text in UTF-8"), (["--keys", text], "\(text):1:1: expected a list"),
            (["--latency", "hdr \(missing)"], "cannot read the latency file \(missing)\(gone)"),
            (["--key", missing, "--key-id", "ABC123DEFG", "--team-id", "TEAM567890"], "cannot read \(missing)\(gone)"),
            (["--cert", missing, "--cert-key", text], "cannot read \(missing)\(gone)"),
            (["--cert", text, "--cert-key", text], "\(text): not a PEM certificate"),
            (["--client-ca", text], "\(text): no PEM certificate found"),
        ] {
            let finished = try Programs.run("mock-apns", ["--port", "0"] + flags)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(flags): \(finished.output)\(finished.error)")
            #expect(finished.error.hasPrefix("mock-apns: ") && finished.error.contains(expected), "\(finished.error)")
            #expect(finished.error.split(separator: "\n").count == 1, "\(finished.error)")
        }
    }

    @Test("pushload and the mock take the same device file, with a header line or without")
    func deviceFiles() throws {
        let folder = try OutputFolder.made()
        let (first, second) = (String(repeating: "ab", count: 32), String(repeating: "0f", count: 32))
        for (text, reasons) in [
            ("\(first)\n\(second)\n", "rejected 0"), ("\(first),state;tag0\n\(second)\n\n", "rejected 0"),
            ("token,tags\n\(first),sports\n\(second),\n", "rejected 0"),
            ("state,tags,token,since\r\nunregistered,a;b,\(first),1700000000\r\n,,\(second)\r\n", "Unregistered 20"),
        ] {
            let file = folder.path + "/devices.csv"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let mock = try Mock(["--device-file", file])
            let run = try Programs.run(
                "pushload",
                [
                    "run", "-n", "40", "--target", mock.url, "--credentials", mock.folder, "--device-file", file,
                    "--quiet",
                    "--output", folder.path + "/runs", "--expect-reasons", "Unregistered",
                ])
            #expect(run.status == 0, "\(run.error)")
            let counted = try mock.stop().output
            #expect(counted.contains("requests 40") && counted.contains(reasons), "\(text) \(counted)")
        }
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

    @Test("A push that a rule leaves unanswered is shown to who watches, as it is counted as delivered")
    func silentDelivery() throws {
        let mock = try Mock(["--admin-port", "0", "--silent", "100%"])
        let stream = try Programs.start(
            "/usr/bin/curl", ["-sN", "--max-time", "60", "http://127.0.0.1:\(try mock.port(of: "admin"))/events"])
        try stream.waitFor(": ready")
        #expect(try ReasonTests.curl(mock, [.with { $0.extra = ["--max-time", "2"] }]) == [" 000"])
        try stream.waitFor("\"token\":\"\(device)\"")
        let stats = try json(try admin(mock, "GET", "/stats"))
        let delivery = try #require(stats["delivery"] as? [String: Any])
        #expect(delivery["delivered"] as? Int == 1 && stats["silenced"] as? Int == 1)
        kill(stream.process.processIdentifier, SIGTERM)
        _ = try mock.stop()
    }

    @Test("The apns-id that the mock gives a push is the same in its answer, in /events and in /pushes")
    func identifiers() throws {
        let mock = try Mock(["--admin-port", "0"])
        let stream = try Programs.start(
            "/usr/bin/curl", ["-sN", "--max-time", "60", "http://127.0.0.1:\(try mock.port(of: "admin"))/events"])
        try stream.waitFor(": ready")
        var given: [String] = []
        let own = "123E4567-e89b-42d3-a456-426614174000"
        for header in [nil, "apns-id: \(own)", "apns-id: 17"] as [String?] {
            let request = ReasonTests.Request.with {
                $0.headers += header.map { [$0] } ?? []
                $0.extra = ["-i"]
            }
            let answer = try Programs.run("/usr/bin/curl", try ReasonTests.arguments(mock, request)).output
            let line = answer.split(whereSeparator: \.isNewline).first { $0.hasPrefix("apns-id: ") }
            given.append(String(try #require(line, "\(answer)").dropFirst("apns-id: ".count)))
        }
        #expect(given[1] == own && given[0].count == 36 && given[2].count == 36)
        let list = try JSONSerialization.jsonObject(with: Data(try admin(mock, "GET", "/pushes").utf8))
        #expect((list as? [[String: Any]])?.map { $0["apns_id"] as? String } == given, "\(list) \(given)")
        for identifier in given[..<2] { try stream.waitFor("\"apns_id\":\"\(identifier)\"") }
        kill(stream.process.processIdentifier, SIGTERM)
        _ = try mock.stop()
    }

    @Test("HEAD of the events tells what they would be, and subscribes nobody")
    func headOfEvents() throws {
        let mock = try Mock(["--admin-port", "0"])
        let port = try mock.port(of: "admin")
        let head = try Programs.run(
            "/usr/bin/curl",
            ["-sI", "--max-time", "20", "http://127.0.0.1:\(port)/events", "http://127.0.0.1:\(port)/healthz"])
        #expect(head.status == 0 && head.output.contains("content-type: text/event-stream\r\n"), "\(head)")
        let stats = try json(try admin(mock, "GET", "/stats"))
        #expect((stats["events"] as? [String: Any])?["subscribers"] as? Int == 0, "\(stats)")
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
            #expect(answer.contains("since: \"\(since)\": expected UNIX seconds"), "\(answer)")
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

import Foundation
import Signing
import Testing

/// `mock-apns check`, and what `--verbose` shows.
@Suite(.serialized, .waitsForPrograms) struct CheckTests {
    private func check(_ text: String, _ arguments: [String] = []) throws -> Finished {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("push-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        try text.write(to: file, atomically: true, encoding: .utf8)
        let finished = try Programs.run("mock-apns", ["check", file.path] + arguments)
        return Finished(
            status: finished.status, output: finished.output.replacingOccurrences(of: file.path, with: "FILE"),
            error: finished.error.replacingOccurrences(of: file.path, with: "FILE"))
    }

    @Test("A good push is accepted, with how much of the payload's limit it uses")
    func good() throws {
        let finished = try check(
            "POST /3/device/\(ReasonTests.device)\napns-topic: com.example.app.voip\napns-push-type: voip\n\n{\"aps\":{}}"
        )
        #expect(
            finished.status == 0
                && finished.output
                    == "200 accepted\n  no authorization header: on a connection without a client certificate it is 403 MissingProviderToken\n  payload 10 of at most 5120 bytes\n"
        )
        #expect(try check("{\"aps\":{\"alert\":\"hi\"}}").status == 0)
    }

    @Test("A bad one gets APNs' answer, what it means, and the line")
    func bad() throws {
        let finished = try check(
            "apns-topic: com.example.app\napns-push-type: background\napns-priority: 10\n\n{\"aps\":{}}")
        #expect(finished.status == 1)
        #expect(
            finished.output
                == "400 BadPriority\n  apns-priority is \"10\"; expected 5 or 1 in a push of type background\n  FILE:3: apns-priority\n  payload 10 of at most 4096 bytes\n"
        )
        let json = try check("{\"aps\":\n{\"alert\":}}", ["--json"])
        #expect(
            json.output
                == "{\"explanation\":[\"the JSON is wrong at byte 18 of the payload (its line 2, column 10)\"],\"payload_bytes\":19,\"payload_limit\":4096,\"reason\":\"PayloadEmpty\",\"status\":400}\n"
        )
        #expect(
            try check("apns-topic: com.other\n\n{\"aps\":{}}", ["--topic", "com.example"]).output.hasPrefix(
                "400 TopicDisallowed\n"))
    }

    @Test("Without a key, a provider token is judged by all but its signature")
    func tokenWithoutKey() throws {
        let identity = try ProviderIdentity(key: .ephemeral(), keyID: "ABC123DEFG", teamID: "TEAM567890")
        func judged(_ authorization: String) throws -> Finished {
            try check("apns-topic: com.example.app\nauthorization: \(authorization)\n\n{\"aps\":{}}")
        }
        func judged(age: Int64) throws -> Finished {
            try judged(TokenSigner.bearer(identity, unixTime: Int64(Date().timeIntervalSince1970) - age))
        }
        let good = try judged(age: 60)
        #expect(
            good.status == 0
                && good.output
                    == "200 accepted\n  the provider token's key, team and signature are not checked: give --credentials or --keys\n  payload 10 of at most 4096 bytes\n"
        )
        for broken in [try judged("nonsense"), try judged("bearer a.b.c"), try judged(age: -7200)] {
            #expect(broken.status == 1 && broken.output.hasPrefix("403 InvalidProviderToken\n"), "\(broken)")
            #expect(broken.output.contains("\n  FILE:2: authorization\n"), "\(broken)")
        }
        #expect(try judged(age: 7200).output.hasPrefix("403 ExpiredProviderToken\n"))
    }

    @Test("A provider token that is not valid is told what is wrong with it, by check and in the log of -v")
    func tokenProblems() throws {
        let mock = try Mock(["-v"])
        let own = try Credentials.load(directory: mock.folder).identity
        let now = Int64(Date().timeIntervalSince1970)
        let foreign = try ProviderIdentity(key: .ephemeral(), keyID: "ABC123DEFG", teamID: own.teamID)
        let team = try ProviderIdentity(key: own.key, keyID: own.keyID, teamID: "TEAM567890")
        let forged = try ProviderIdentity(key: .ephemeral(), keyID: own.keyID, teamID: own.teamID)
        let cases = [
            (
                try TokenSigner.bearer(foreign, unixTime: now),
                "kid is \"ABC123DEFG\", which is not known; known: \(own.keyID)"
            ),
            (
                try TokenSigner.bearer(team, unixTime: now),
                "iss is \"TEAM567890\"; expected \(own.teamID), the team of its key"
            ),
            (try TokenSigner.bearer(forged, unixTime: now), "signature does not verify with key \(own.keyID)"),
            (String(try TokenSigner.bearer(own, unixTime: now).dropFirst(7)), "does not begin with \"bearer \""),
            (try TokenSigner.bearer(own, unixTime: 99_999_999_999), "iat is 99999999999, more than an hour ahead"),
            ("bearer a.b", "not three Base64url parts"),
        ]
        for (authorization, words) in cases {
            let finished = try check(
                "apns-topic: com.example.app\nauthorization: \(authorization)\n\n{\"aps\":{}}",
                ["--credentials", mock.folder])
            let lines = finished.output.split(separator: "\n")
            #expect(lines.first == "403 InvalidProviderToken" && lines[1].contains(words), "\(finished)")
            #expect(try ReasonTests.curl(mock, [.with { $0.authorization = authorization }])[0].hasSuffix(" 403"))
        }
        _ = try mock.stop()
        let log = mock.running.errorText.replacingOccurrences(of: "\\\"", with: "\"")
        for (_, words) in cases { #expect(log.contains(words), "\(words) in \(log)") }
    }

    @Test("A topic that is none commands no terminal: quoted and cut in the log of -v, and in labels of /metrics")
    func hostileTopic() throws {
        let mock = try Mock(["-v", "--admin-port", "0"])
        for topic in ["\u{1B}]0;pwn\u{7}\u{202E}\u{9B}31m\"", String(repeating: "a b", count: 1000)] {
            #expect(try ReasonTests.curl(mock, [.with { $0.headers = ["apns-topic: \(topic)"] }])[0].hasSuffix(" 400"))
        }
        let admin = try mock.port(of: "admin")
        let metrics = try Programs.run("/usr/bin/curl", ["-s", "http://127.0.0.1:\(admin)/metrics"]).output
        #expect(metrics.contains(#"{topic="\\u{1B}]0;pwn\\u{07}\\u{202E}\\u{9B}31m\\\""} 1"#), "\(metrics)")
        let log = try mock.stop().error
        #expect(log.contains(#"topic="\u{1B}]0;pwn\u{07}\u{202E}\u{9B}31m\"""#), "\(log)")
        for text in [metrics, log] {
            #expect(!text.unicodeScalars.contains { [0x1B, 7, 0x9B, 0x202E].contains($0.value) })
            #expect(text.split(separator: "\n").allSatisfy { $0.utf8.count < 1000 })
        }
    }

    @Test("Of a reason's causes the one that applies is named, with what would be right")
    func causes() throws {
        let topic = "apns-topic: com.example.app\n"
        for (head, words) in [
            (topic + "apns-priority: 99", "apns-priority is \"99\"; expected 10, 5 or 1 in a push of type alert"),
            (
                topic + "apns-push-type: background",
                "there is no apns-priority, which means 10; expected 5 or 1 in a push of type background (--background-priority)"
            ),
            (
                topic + "apns-push-type: liveactivity",
                "apns-topic is \"com.example.app\"; expected \"com.example.app.push-type.liveactivity\" in a push of type liveactivity"
            ),
            (
                "apns-topic: com.example.app.voip\napns-push-type: alert",
                "apns-topic is \"com.example.app.voip\"; expected \"com.example.app\" in a push of type alert, or apns-push-type: voip"
            ),
            ("apns-topic: com example", "apns-topic is \"com example\"; expected letters, digits, -, . and _ only"),
            (topic + "apns-push-type: alrt", "apns-push-type is \"alrt\"; did you mean \"alert\"?"),
            (topic + "apns-id: 7", "apns-id is \"7\"; expected a UUID"),
            (
                "POST /3/device/abc\n" + topic,
                "the device token has 3 digits; expected an even number from 64 to 400 (--token-digits)"
            ),
        ] {
            let finished = try check(head.trimmingCharacters(in: .newlines) + "\n\n{\"aps\":{}}")
            #expect(finished.status == 1 && finished.output.contains("\n  \(words)\n"), "\(finished)")
        }
        #expect(try check(topic + "\n{}").output.contains("no \"aps\", which a push of type alert needs"))
        let disallowed = try check("apns-topic: com.other\n\n{\"aps\":{}}", ["--topic", "com.example"])
        #expect(disallowed.output.contains("the bundle id is \"com.other\"; the server is for com.example (--topic)"))
    }

    @Test("A payload where a header is expected is named as one")
    func noEmptyLine() throws {
        for payload in ["{\"aps\":{}}", "{\n\"aps\":{}}"] {
            let finished = try check("POST /3/device/\(ReasonTests.device)\napns-topic: com.example.app\n" + payload)
            #expect(
                finished.status == 64 && finished.error.hasPrefix("mock-apns: FILE:3: ")
                    && finished.error.hasSuffix("; is the empty line before the payload missing?\n"), "\(finished)")
        }
    }

    @Test("A background push without a priority is refused, or taken where that is asked for")
    func backgroundPriority() throws {
        let push = "apns-topic: com.example.app\napns-push-type: background\n\n{\"aps\":{\"content-available\":1}}"
        #expect(try check(push).output.hasPrefix("400 BadPriority\n"))
        #expect(try check(push, ["--background-priority", "lenient"]).output.hasPrefix("200 accepted\n"))
        let misspelt = try check(push, ["--background-priority", "loose"])
        #expect(
            misspelt.status == 64
                && misspelt.error == "mock-apns: --background-priority loose: expected strict or lenient\n")
    }

    @Test("A push that is to start a Live Activity and lacks what that needs has no effect")
    func liveActivityStart() throws {
        func judged(_ aps: String, _ arguments: [String] = []) throws -> Finished {
            try check(
                "apns-topic: com.example.app.push-type.liveactivity\napns-push-type: liveactivity\n\n{\"aps\":\(aps)}",
                arguments)
        }
        let bare = try judged("{\"event\":\"start\",\"attributes\":{}}")
        #expect(bare.status == 1)
        #expect(
            bare.output.hasPrefix(
                "200 accepted\n  no device starts a Live Activity for it: \"aps\" has no \"alert\", \"attributes-type\"\n"
            ),
            "\(bare.output)")
        #expect(try judged("{\"event\":\"start\"}", ["--json"]).output.contains("\"warnings\":[\"no device starts"))
        let whole = try judged("{\"event\":\"st\\u0061rt\",\"attributes-type\":\"A\",\"attributes\":{},\"alert\":{}}")
        #expect(whole.status == 0 && !whole.output.contains("no device"))
        #expect(try judged("{\"event\":\"update\"}").status == 0)
        #expect(try judged("{\"event\":\"update\"}", ["--json"]).output.contains("warnings") == false)
    }

    @Test("A wrong method is named as one")
    func method() throws {
        let finished = try check("GET /3/device/\(ReasonTests.device)\napns-topic: com.example.app\n\n{\"aps\":{}}")
        #expect(
            finished.output.hasPrefix("405 MethodNotAllowed\n") && finished.output.contains("\n  FILE:1: :method\n"))
    }

    @Test("A file that is a payload and nothing else is judged as one, with what is wrong with it")
    func payloadAlone() throws {
        for (text, problem) in [
            (
                "\u{FEFF}{\"aps\":{}}",
                "the payload begins with a byte order mark (bytes EF BB BF), which no JSON text may have (RFC 8259 section 8.1)"
            ),
            ("[{\"aps\": {}}]", "the payload is no JSON object, which begins with {: it begins with ["),
            ("\n \"aps: /\"", "the payload is no JSON object, which begins with {: it begins with \""),
            (" \n", "the payload is nothing but white space"),
            ("{\"aps\":{}", "the JSON ends with byte 9 of the payload, before its object does"),
            ("{\"aps\":{}}x", "the JSON is wrong at byte 11 of the payload (its line 1, column 11)"),
        ] {
            let finished = try check(text)
            let lines = finished.output.split(separator: "\n")
            #expect(finished.status == 1 && lines.first == "400 PayloadEmpty", "\(finished)")
            #expect(lines.count == 3 && lines[1] == "  \(problem)", "\(finished)")
        }
        #expect(try check("").output.hasPrefix("400 PayloadEmpty\n"))
        // A text editor's mark before a head is none of the request.
        #expect(try check("\u{FEFF}apns-topic: com.example.app\n\n{\"aps\":{}}").status == 0)
        #expect(try check("{\"\\u0061\\u0070s\":{}}").status == 0)
    }

    @Test("What is no push at all is refused with its place")
    func unreadable() throws {
        let finished = try check("apns-topic: x\nnonsense\n\n{}")
        #expect(
            finished.status == 64
                && finished.error == "mock-apns: FILE:2: expected a header such as apns-topic: com.example.app\n")
        let missing = try Programs.run("mock-apns", ["check", "/nonexistent"])
        #expect(
            missing.status == 64 && missing.error == "mock-apns: cannot read /nonexistent: No such file or directory\n")
    }

    @Test("-v logs connections and pushes with their fields, -vv every frame")
    func verbose() throws {
        let mock = try Mock(["-vv"])
        #expect(try ReasonTests.curl(mock, [.init()]) == [" 200"])
        _ = try mock.stop()
        let log = mock.running.errorText
        for part in [
            "TLSv1.3", "connection=1 ", "reason=- status=200", "push_type=alert",
            "received HEADERS stream 1", "received DATA stream 1 length 22 END_STREAM", "sent HEADERS stream 1",
            "sent SETTINGS stream 0", "maxConcurrentStreams=1",
        ] { #expect(log.contains(part), "\(part) in \(log)") }
    }
}

import Foundation
import Signing
import Testing

/// Provokes every reason of APNs with curl, a client that is not ours: once by a request that deserves it, once by a rule.
@Suite(.serialized, .waitsForPrograms) struct ReasonTests {
    static let device = String(repeating: "0a", count: 32)
    static let other = String(repeating: "0b", count: 32)
    static let topic = "com.example.app"

    /// What curl is told for one request.
    struct Request {
        var path = "/3/device/\(ReasonTests.device)"
        var method: String?
        var headers: [String] = ["apns-topic: \(ReasonTests.topic)"]
        /// nil: the mock's own, valid token.
        var authorization: String?
        var hasAuthorization = true
        var body: String? = "{\"aps\":{\"alert\":\"hi\"}}"
        var extra: [String] = []
        var port: String?

        static func with(_ change: (inout Request) -> Void) -> Request {
            var request = Request()
            change(&request)
            return request
        }
    }

    /// - Parameter token: nil: one of its own. Tokens of different seconds on one connection may be too many.
    static func arguments(_ mock: Mock, _ request: Request, token: String? = nil) throws -> [String] {
        var arguments = ["-s", "--http2", "--cacert", mock.folder + "/ca.pem", "-w", " %{http_code}\n"]
        for header in request.headers { arguments += ["-H", header] }
        if request.hasAuthorization {
            let token = try request.authorization ?? token ?? bearer(mock)
            arguments += ["-H", "authorization: \(token)"]
        }
        if let method = request.method { arguments += ["-X", method] }
        if let body = request.body { arguments += ["--data-binary", body] }
        return arguments + request.extra + ["https://127.0.0.1:\(request.port ?? mock.port)\(request.path)"]
    }

    private static func bearer(_ mock: Mock) throws -> String {
        try TokenSigner.bearer(mock.identity(), unixTime: Int64(Date().timeIntervalSince1970))
    }

    /// `{"reason":"…"} status`, a line a request; all on one connection.
    static func curl(_ mock: Mock, _ requests: [Request]) throws -> [String] {
        var arguments: [String] = []
        let token = try bearer(mock)
        for request in requests {
            arguments += (arguments.isEmpty ? [] : ["--next"]) + (try Self.arguments(mock, request, token: token))
        }
        return try Programs.run("/usr/bin/curl", arguments).output.split(separator: "\n").map(String.init)
    }

    private func check(_ mock: Mock, _ reason: String, _ status: Int, _ requests: [Request]) throws {
        let answer = try Self.curl(mock, requests).last ?? "nothing"
        #expect(
            answer.hasPrefix("{\"reason\":\"\(reason)\"") && answer.hasSuffix("} \(status)"), "\(reason): \(answer)")
    }

    @Test("A request that deserves it gets each reason that needs no special server")
    func plain() throws {
        let mock = try Mock()
        let now = Int64(Date().timeIntervalSince1970)
        let identity = try mock.identity()
        let rows: [(String, Int, [Request])] = [
            (
                "BadCollapseId", 400,
                [.with { $0.headers.append("apns-collapse-id: " + String(repeating: "x", count: 65)) }]
            ),
            ("BadDeviceToken", 400, [.with { $0.path = "/3/device/xyz" }]),
            ("BadExpirationDate", 400, [.with { $0.headers.append("apns-expiration: soon") }]),
            ("BadMessageId", 400, [.with { $0.headers.append("apns-id: 17") }]),
            ("BadPriority", 400, [.with { $0.headers.append("apns-priority: 7") }]),
            ("BadPriority", 400, [.with { $0.headers.append("apns-push-type: background") }]),
            (
                "BadPriority", 400,
                [.typed("liveactivity", "\(Self.topic).push-type.liveactivity", "apns-priority: 1")]
            ),
            ("BadTopic", 400, [.with { $0.headers.append("apns-push-type: voip") }]),
            ("BadTopic", 400, [.typed("alert", "\(Self.topic).voip")]),
            ("DuplicateHeaders", 400, [.with { $0.headers.append("apns-topic: \(Self.topic)") }]),
            ("InvalidPushType", 400, [.with { $0.headers.append("apns-push-type: alarm") }]),
            ("MissingDeviceToken", 400, [.with { $0.path = "/3/device/" }]),
            ("MissingTopic", 400, [.with { $0.headers = [] }]),
            ("PayloadEmpty", 400, [.with { $0.body = "" }]),
            (
                "ExpiredProviderToken", 403,
                [try .with(identity) { $0.authorization = try TokenSigner.bearer($1, unixTime: now - 3700) }]
            ),
            ("InvalidProviderToken", 403, [.with { $0.authorization = "bearer a.b.c" }]),
            ("MissingProviderToken", 403, [.with { $0.hasAuthorization = false }]),
            ("BadPath", 404, [.with { $0.path = "/3/devices/\(Self.device)" }]),
            ("MethodNotAllowed", 405, [.with { $0.method = "PUT" }]),
            (
                "PayloadTooLarge", 413,
                [.with { $0.body = "{\"aps\":{\"alert\":\"\(String(repeating: "x", count: 5000))\"}}" }]
            ),
            (
                "TooManyProviderTokenUpdates", 429,
                [Request(), try .with(identity) { $0.authorization = try TokenSigner.bearer($1, unixTime: now - 60) }]
            ),
        ]
        for (reason, status, requests) in rows { try check(mock, reason, status, requests) }
        // A call of before iOS 13 has no push type, and is one by its topic.
        let call = Request.with {
            $0.headers = ["apns-topic: \(Self.topic).voip"]
            $0.body = "{\"call\":\"\(String(repeating: "x", count: 5000))\"}"
        }
        let file = Request.with(.typed("fileprovider", "\(Self.topic).pushkit.fileprovider")) {
            $0.body = "{\"container-identifier\":\"c\",\"domain\":\"d\"}"
        }
        #expect(
            try Self.curl(mock, [call, file, .typed("background", Self.topic, "apns-priority: 5")]) == [
                " 200", " 200", " 200",
            ])
        _ = try mock.stop()
    }

    @Test("Devices, topics, keys and environments that are not right get theirs")
    func population() throws {
        let folder = try OutputFolder.made()
        func token(_ digit: String) -> String { String(repeating: digit, count: 64) }
        try """
        token,topic,environment,state,since
        \(Self.device),,,,
        \(token("1")),com.other,,,
        \(token("2")),,,unregistered,1700000000
        \(token("3")),,,expired,1700000001
        \(token("4")),,development,,
        \(token("5")),,,,
        \(token("6")),,,,
        """.write(toFile: folder.path + "/devices.csv", atomically: true, encoding: .utf8)
        let sandbox = try ProviderIdentity(key: .ephemeral(), keyID: "SANDBOX000", teamID: "TEAM567890")
        let second = try ProviderIdentity(key: .ephemeral(), keyID: "SECONDKEY0", teamID: "TEAM567890")
        try Data(sandbox.key.privateKeyPEM()).write(to: URL(fileURLWithPath: folder.path + "/sandbox.p8"))
        try Data(second.key.privateKeyPEM()).write(to: URL(fileURLWithPath: folder.path + "/second.p8"))
        let related = try ProviderIdentity(key: .ephemeral(), keyID: "RELATED000", teamID: "TEAM567890")
        try Data(related.key.privateKeyPEM()).write(to: URL(fileURLWithPath: folder.path + "/related.p8"))
        let team = try ["TEAMKEY000", "TEAMKEY111"].map {
            let identity = try ProviderIdentity(key: .ephemeral(), keyID: $0, teamID: "TEAM567890")
            try Data(identity.key.privateKeyPEM()).write(to: URL(fileURLWithPath: "\(folder.path)/\($0).p8"))
            return identity
        }
        try """
        - {key: related.p8, key_id: RELATED000, team_id: TEAM567890, environment: production, related: SECONDKEY0}
        - {key: TEAMKEY000.p8, key_id: TEAMKEY000, team_id: TEAM567890}
        - {key: TEAMKEY111.p8, key_id: TEAMKEY111, team_id: TEAM567890, environment: production}
        - {key: sandbox.p8, key_id: SANDBOX000, team_id: TEAM567890, environment: development}
        - {key: second.p8, key_id: SECONDKEY0, team_id: TEAM567890, environment: production, topics: [com.example.app]}
        """.write(toFile: folder.path + "/keys.yaml", atomically: true, encoding: .utf8)
        let mock = try Mock([
            "--device-file", folder.path + "/devices.csv", "--keys", folder.path + "/keys.yaml", "--topic", Self.topic,
            "--topic", "com.third", "--per-device", "2/1h", "--second-port", "0",
        ])
        let now = Int64(Date().timeIntervalSince1970)
        func device(_ digit: String) -> Request { .with { $0.path = "/3/device/" + token(digit) } }
        try check(mock, "DeviceTokenNotForTopic", 400, [device("1")])
        try check(mock, "Unregistered", 410, [device("2")])
        #expect(
            try Self.curl(mock, [device("2")]) == ["{\"reason\":\"Unregistered\",\"timestamp\":1700000000000} 410"])
        try check(mock, "ExpiredToken", 410, [device("3")])
        try check(mock, "BadDeviceToken", 400, [device("4")])
        try check(mock, "BadDeviceToken", 400, [device("9")])
        try check(mock, "TopicDisallowed", 400, [.with { $0.headers = ["apns-topic: com.fourth"] }])
        let bySandbox = try TokenSigner.bearer(sandbox, unixTime: now)
        let bySecond = try TokenSigner.bearer(second, unixTime: now)
        try check(mock, "BadEnvironmentKeyIdInToken", 403, [.with { $0.authorization = bySandbox }])
        try check(mock, "UnrelatedKeyIdInToken", 403, [Request(), .with { $0.authorization = bySecond }])
        try check(
            mock, "TopicDisallowed", 400,
            [
                .with {
                    $0.authorization = bySecond
                    $0.headers = ["apns-topic: com.third"]
                }
            ])
        // Keys that may share a connection do.
        func by(_ identity: ProviderIdentity, _ digit: String) throws -> Request {
            var request = device(digit)
            request.authorization = try TokenSigner.bearer(identity, unixTime: now)
            return request
        }
        #expect(try Self.curl(mock, [by(second, "5"), by(related, "5")]) == [" 200", " 200"])
        #expect(try Self.curl(mock, [by(team[0], "6"), by(team[1], "6")]) == [" 200", " 200"])
        try check(mock, "UnrelatedKeyIdInToken", 403, [by(team[0], "3"), by(second, "3")])
        // In the other environment, its key and its device are right, and there is an apns-unique-id.
        let development = try mock.port(of: "development")
        let answer = try Programs.run(
            "/usr/bin/curl",
            try Self.arguments(
                mock,
                .with {
                    $0.port = development
                    $0.authorization = bySandbox
                    $0.path = "/3/device/" + token("4")
                    $0.extra = ["-i"]
                })
        ).output
        #expect(answer.hasPrefix("HTTP/2 200") && answer.contains("apns-unique-id: "), "\(answer)")
        try check(mock, "TooManyRequests", 429, [Request(), Request(), Request()])
        _ = try mock.stop()
    }

    @Test("A server out of room, overloaded, slowly written to or about to end says so")
    func states() throws {
        let full = try Mock(["--offline", "100%", "--store-capacity", "1"])
        try check(full, "InternalServerError", 500, [Request(), .with { $0.path = "/3/device/\(Self.other)" }])
        #expect(try full.stop().output.contains("stored for devices that were offline 1:"))
        let loaded = try Mock(["--latency", "10ms", "--max-waiting", "0"])
        try check(loaded, "ServiceUnavailable", 503, [Request()])
        _ = try loaded.stop()
        let impatient = try Mock(["--request-timeout", "300ms"])
        // Standard input stays open, so that the end of the request never comes.
        var unfinished = Request()
        unfinished.body = nil
        unfinished.method = "POST"
        unfinished.extra = ["-T", "."]
        try check(impatient, "IdleTimeout", 400, [unfinished])
        _ = try impatient.stop()
        let ending = try Mock(["--shutdown-grace", "3s"])
        kill(ending.running.process.processIdentifier, SIGTERM)
        usleep(300_000)
        try check(ending, "Shutdown", 503, [Request()])
        _ = try ending.running.wait()
    }

    @Test("Client certificates are judged as token connections are")
    func certificates() throws {
        let folder = try OutputFolder.made()
        func make(_ name: String, _ subject: String, _ more: [String] = []) throws {
            try Self.certificate(name, subject, more, in: folder)
        }
        try make(
            "good", "/UID=\(Self.topic)/CN=Apple Push Services", ["-addext", "1.2.840.113635.100.6.3.2=ASN1:NULL"])
        try make("sandbox", "/UID=\(Self.topic)/CN=Sandbox", ["-addext", "1.2.840.113635.100.6.3.1=ASN1:NULL"])
        try make("nobody", "/CN=Somebody else")
        try make("stranger", "/UID=\(Self.topic)/CN=Stranger")
        try make(
            "calls", "/UID=\(Self.topic)/CN=Calls",
            ["-addext", "1.2.840.113635.100.6.3.4=ASN1:UTF8String:\(Self.topic).voip"])
        // SEQUENCE { UTF8String, UTF8String }, as Apple lists topics.
        func der(_ text: String) -> [UInt8] { [0x0C, UInt8(text.utf8.count)] + text.utf8 }
        let listed = der(Self.topic) + der("\(Self.topic).location-query")
        let hexadecimal = ([0x30, UInt8(listed.count)] + listed).map { String(format: "%02x", $0) }.joined()
        try make(
            "several", "/UID=\(Self.topic)/CN=Several", ["-addext", "1.2.840.113635.100.6.3.6=DER:\(hexadecimal)"])
        var trusted = ""
        for name in ["good", "sandbox", "nobody", "calls", "several"] {
            trusted += try String(contentsOfFile: "\(folder.path)/\(name).pem", encoding: .utf8)
        }
        try trusted.write(toFile: folder.path + "/trusted.pem", atomically: true, encoding: .utf8)
        func by(_ name: String, _ headers: [String] = []) -> Request {
            .with {
                $0.hasAuthorization = false
                $0.headers = headers
                $0.extra = ["--cert", "\(folder.path)/\(name).pem", "--key", "\(folder.path)/\(name).key"]
            }
        }
        let mock = try Mock(["--client-ca", folder.path + "/trusted.pem", "-v"])
        #expect(try Self.curl(mock, [by("good")]) == [" 200"])
        #expect(try Self.curl(mock, [by("good", ["apns-topic: \(Self.topic)"])]) == [" 200"])
        try check(mock, "TopicDisallowed", 400, [by("good", ["apns-topic: com.other"])])
        // Only topics and suffixes that a certificate lists.
        let call = ["apns-topic: \(Self.topic).voip", "apns-push-type: voip"]
        try check(mock, "TopicDisallowed", 400, [by("good", call)])
        #expect(try Self.curl(mock, [by("calls", call)]) == [" 200"])
        try check(mock, "MissingTopic", 400, [by("calls")])
        try check(mock, "MissingTopic", 400, [by("several", ["apns-topic;"])])
        #expect(try Self.curl(mock, [by("several", ["apns-topic: \(Self.topic)"])]) == [" 200"])
        let query = ["apns-topic: \(Self.topic).location-query", "apns-push-type: location"]
        try check(mock, "TopicDisallowed", 400, [by("several", query)])
        // Beside a certificate a token is not looked at.
        let both = Request.with(by("good")) {
            $0.hasAuthorization = true
            $0.authorization = "bearer nonsense"
        }
        #expect(try Self.curl(mock, [both]) == [" 200"])
        try check(mock, "BadCertificateEnvironment", 403, [by("sandbox")])
        try check(mock, "Forbidden", 403, [by("nobody")])
        try check(mock, "BadCertificate", 403, [by("stranger")])
        let log = try mock.stop().error
        #expect(log.contains("cause=the client certificate: self-signed certificate connection="), "\(log)")
        let strict = try Mock(["--client-ca", folder.path + "/trusted.pem", "--refuse-bad-certificates"])
        #expect(try Self.curl(strict, [by("stranger")]) == [" 000"])
        #expect(try strict.stop().output.contains("failed before HTTP/2 1"))
    }

    @Test("Every reason can be had by a rule too")
    func byRule() throws {
        let mock = try Mock(["--admin-port", "0"])
        let admin = "http://127.0.0.1:\(try mock.port(of: "admin"))"
        let statuses: [(String, Int)] = [
            ("BadCollapseId", 400), ("BadDeviceToken", 400), ("BadExpirationDate", 400), ("BadMessageId", 400),
            ("BadPriority", 400), ("BadTopic", 400), ("DeviceTokenNotForTopic", 400), ("DuplicateHeaders", 400),
            ("IdleTimeout", 400), ("InvalidPushType", 400), ("MissingDeviceToken", 400), ("MissingTopic", 400),
            ("PayloadEmpty", 400), ("TopicDisallowed", 400), ("BadCertificate", 403),
            ("BadCertificateEnvironment", 403), ("ExpiredProviderToken", 403), ("Forbidden", 403),
            ("InvalidProviderToken", 403), ("MissingProviderToken", 403), ("UnrelatedKeyIdInToken", 403),
            ("BadEnvironmentKeyIdInToken", 403), ("BadEnvironmentKeyInToken", 403), ("BadPath", 404),
            ("MethodNotAllowed", 405), ("ExpiredToken", 410),
            ("Unregistered", 410), ("PayloadTooLarge", 413), ("TooManyProviderTokenUpdates", 429),
            ("TooManyRequests", 429), ("InternalServerError", 500), ("ServiceUnavailable", 503), ("Shutdown", 503),
        ]
        for (reason, status) in statuses {
            let changed = try Programs.run(
                "/usr/bin/curl",
                ["-s", "-X", "PUT", "--data-binary", "rules: [{reject: \(reason)}]", admin + "/faults"])
            #expect(changed.output.hasPrefix("rules 1"), "\(reason): \(changed.output)")
            try check(mock, reason, status, [Request()])
        }
        let refused = try Programs.run(
            "/usr/bin/curl",
            ["-s", "-X", "PUT", "--data-binary", "rules: [{reject: BadDeviceTokn}]", admin + "/faults"])
        #expect(
            refused.output
                == "faults:1:18: rules[0].reject: \"BadDeviceTokn\" is not a reason of APNs; did you mean \"BadDeviceToken\"?\n"
        )
        _ = try mock.stop()
    }

    @Test("Broadcast channels are created, read, listed, sent to and deleted; each of their reasons can be had")
    func channels() throws {
        let mock = try Mock([
            "--management-port", "0", "--channel-limit", "2", "--broadcast-topic", Self.topic, "--broadcast-topic",
            "com.other",
        ])
        let port = try mock.port(of: "production management")
        func manage(_ method: String, _ path: String, _ headers: [String] = [], _ body: String? = nil) -> Request {
            .with {
                $0.port = port
                $0.method = method
                $0.path = "/1/apps/" + path
                $0.headers = headers
                $0.body = body
            }
        }
        let wish = "{\"message-storage-policy\":1,\"push-type\":\"LiveActivity\"}"
        var creation = manage("POST", "\(Self.topic)/channels", [], wish)
        creation.extra = ["-i"]
        let created = try Programs.run("/usr/bin/curl", try Self.arguments(mock, creation)).output
        #expect(created.hasPrefix("HTTP/2 201"), "\(created)")
        let line = try #require(created.split(whereSeparator: \.isNewline).first { $0.hasPrefix("apns-channel-id: ") })
        let id = String(line.dropFirst("apns-channel-id: ".count))
        let known = ["apns-channel-id: \(id)"]
        #expect(try Self.curl(mock, [manage("GET", "\(Self.topic)/channels", known)]) == ["\(wish) 200"])
        #expect(
            try Self.curl(mock, [manage("GET", "\(Self.topic)/all-channels")]) == ["{\"channels\":[\"\(id)\"]} 200"])
        func broadcast(_ headers: [String], body: String = "{\"aps\":{\"event\":\"update\"}}") -> Request {
            .with {
                $0.path = "/4/broadcasts/apps/\(Self.topic)"
                $0.headers = headers
                $0.body = body
            }
        }
        let live = ["apns-push-type: liveactivity", "apns-priority: 10", "apns-expiration: 0"]
        #expect(try Self.curl(mock, [broadcast(known + live)]) == [" 200"])
        try check(mock, "MissingChannelId", 400, [broadcast(live)])
        try check(mock, "BadChannelId", 400, [broadcast(live + ["apns-channel-id: !"])])
        try check(mock, "ChannelNotRegistered", 400, [broadcast(live + ["apns-channel-id: AAAAAAAAAAAAAAAAAAAAAA=="])])
        try check(mock, "MissingPushType", 400, [broadcast(known)])
        try check(mock, "InvalidPushType", 400, [broadcast(known + ["apns-push-type: alert"])])
        try check(
            mock, "PayloadTooLarge", 413,
            [broadcast(known + live, body: "{\"aps\":{},\"x\":\"\(String(repeating: "y", count: 5110))\"}")])
        try check(mock, "BadRequestPayload", 400, [manage("POST", "\(Self.topic)/channels", [], "[]")])
        try check(
            mock, "BadRequestParams", 400,
            [manage("POST", "\(Self.topic)/channels", [], wish.replacingOccurrences(of: "{", with: "{\"name\":1,"))])
        try check(mock, "BadRequestParams", 400, [broadcast(known + live, body: "{\"aps\":{\"event\":\"start\"}}")])
        try check(mock, "BadPriority", 400, [broadcast(known + live.map { $0 == live[1] ? "apns-priority: 1" : $0 })])
        let suffixed = "\(Self.topic).push-type.liveactivity"
        try check(mock, "TopicDisallowed", 400, [manage("GET", "\(suffixed)/all-channels")])
        try check(
            mock, "TopicDisallowed", 400,
            [.with(broadcast(known + live)) { $0.path = "/4/broadcasts/apps/\(suffixed)" }])
        try check(mock, "FeatureNotEnabled", 400, [manage("GET", "com.third/all-channels")])
        try check(mock, "BadPath", 404, [manage("GET", "\(Self.topic)/channel")])
        try check(mock, "MethodNotAllowed", 405, [manage("PUT", "\(Self.topic)/channels", known, wish)])
        #expect(try Self.curl(mock, [manage("POST", "\(Self.topic)/channels", [], wish)]) == [" 201"])
        try check(mock, "CannotCreateChannelConfig", 400, [manage("POST", "\(Self.topic)/channels", [], wish)])
        #expect(try Self.curl(mock, [manage("DELETE", "\(Self.topic)/channels", known)]) == [" 204"])
        try check(mock, "ChannelNotRegistered", 400, [manage("GET", "\(Self.topic)/channels", known)])
        // Each rejection above is counted, and none as a push.
        let report = try mock.stop().output
        #expect(
            report.contains(
                """
                requests 0: accepted 0, rejected 0
                channel requests and broadcasts 23, rejected 17: BadRequestParams 2, ChannelNotRegistered 2, \
                TopicDisallowed 2, BadChannelId 1, BadPath 1, BadPriority 1, BadRequestPayload 1, \
                CannotCreateChannelConfig 1, FeatureNotEnabled 1, InvalidPushType 1, MethodNotAllowed 1, \
                MissingChannelId 1, MissingPushType 1, PayloadTooLarge 1

                """), "\(report)")
    }

    @Test("Channels of bundle ids that a key or certificate is not for are refused with TopicMismatch")
    func topicMismatch() throws {
        let folder = try OutputFolder.made()
        let own = try ProviderIdentity(key: .ephemeral(), keyID: "OWNKEY0000", teamID: "OWNTEAM000")
        try Data(own.key.privateKeyPEM()).write(to: URL(fileURLWithPath: folder.path + "/own.p8"))
        try """
        teams: [{team_id: OWNTEAM000, topics: [com.own]}]
        keys: [{key: own.p8, key_id: OWNKEY0000, team_id: OWNTEAM000}]
        """.write(toFile: folder.path + "/keys.yaml", atomically: true, encoding: .utf8)
        try Self.certificate("app", "/UID=\(Self.topic)/CN=App", in: folder)
        let mock = try Mock([
            "--management-port", "0", "--keys", folder.path + "/keys.yaml", "--client-ca", folder.path + "/app.pem",
        ])
        let port = try mock.port(of: "production management")
        let token = try TokenSigner.bearer(own, unixTime: Int64(Date().timeIntervalSince1970))
        func list(_ bundleID: String, _ change: (inout Request) -> Void) -> Request {
            .with {
                $0.port = port
                $0.method = "GET"
                $0.path = "/1/apps/\(bundleID)/all-channels"
                $0.headers = []
                $0.body = nil
                change(&$0)
            }
        }
        #expect(try Self.curl(mock, [list("com.own") { $0.authorization = token }]) == ["{\"channels\":[]} 200"])
        try check(mock, "TopicMismatch", 403, [list(Self.topic) { $0.authorization = token }])
        // The key of the credentials folder is of another team, which owns all but that team's topics.
        #expect(try Self.curl(mock, [list(Self.topic) { _ in }]) == ["{\"channels\":[]} 200"])
        try check(mock, "TopicMismatch", 403, [list("com.own") { _ in }])
        try check(
            mock, "TopicDisallowed", 400, [.with { $0.headers = ["apns-topic: com.own", "apns-push-type: alert"] }])
        func byCertificate(_ request: inout Request) {
            request.hasAuthorization = false
            request.extra = ["--cert", "\(folder.path)/app.pem", "--key", "\(folder.path)/app.key"]
        }
        #expect(try Self.curl(mock, [list(Self.topic, byCertificate)]) == ["{\"channels\":[]} 200"])
        try check(mock, "TopicMismatch", 403, [list("com.other", byCertificate)])
        _ = try mock.stop()
    }
}

extension ReasonTests {
    /// Makes NAME.pem and NAME.key.
    static func certificate(
        _ name: String, _ subject: String, _ more: [String] = [], in folder: OutputFolder
    ) throws {
        let made = try Programs.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-keyout", "\(folder.path)/\(name).key", "-out", "\(folder.path)/\(name).pem", "-subj", subject,
            ] + more)
        #expect(made.status == 0, "\(made.error)")
    }
}

extension ReasonTests.Request {
    static func typed(_ type: String, _ topic: String, _ more: String...) -> Self {
        .with { $0.headers = ["apns-push-type: \(type)", "apns-topic: \(topic)"] + more }
    }

    static func with(_ request: ReasonTests.Request, _ change: (inout ReasonTests.Request) -> Void) -> Self {
        var request = request
        change(&request)
        return request
    }

    static func with(
        _ identity: ProviderIdentity, _ change: (inout ReasonTests.Request, ProviderIdentity) throws -> Void
    ) throws -> ReasonTests.Request {
        var request = ReasonTests.Request()
        try change(&request, identity)
        return request
    }
}

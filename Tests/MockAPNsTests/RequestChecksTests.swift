import Foundation
import Networking
import Payloads
import Testing

@testable import MockAPNs
@testable import Signing

@Suite struct RequestChecksTests {
    private let identity: ProviderIdentity
    private let now: Int64 = 1_700_000_000
    init() throws { identity = try ProviderIdentity(key: .ephemeral(), keyID: "ABC123DEFG", teamID: "TEAM567890") }

    private struct Given {
        var headers: [KnownHeader: String]
        var body = "{\"aps\":{\"alert\":\"hi\"},\"pushload-trace\":\"00000000000000ff-12\"}"
        var twice: KnownHeader?
    }

    private func good() throws -> Given {
        Given(headers: [
            .method: "POST", .path: "/3/device/" + String(repeating: "ab", count: 32),
            .authorization: try TokenSigner.bearer(identity, unixTime: now), .topic: "com.example.app",
            .pushType: "alert",
        ])
    }

    private func judge(
        _ given: Given, topics: Set<String>? = nil, devices: SyntheticDevices? = nil,
        client: RequestChecks.Client = .init()
    ) -> String {
        let state = RequestState()
        func set(_ header: KnownHeader, _ value: String) {
            Array(value.utf8).withUnsafeBufferPointer {
                state.set(header, $0.baseAddress ?? UnsafePointer(bitPattern: 1)!, $0.count)
            }
        }
        for (header, value) in given.headers { set(header, value) }
        if let twice = given.twice { set(twice, given.headers[twice] ?? "") }
        let body = Array(given.body.utf8)
        return body.withUnsafeBufferPointer { bytes in
            if !body.isEmpty { _ = state.append(bytes.baseAddress!, body.count) }
            let checks = RequestChecks(
                topics: topics,
                directory: DeviceDirectory(
                    devices.map { .synthetic($0) } ?? .everybody, startedAt: 0, startTime: now * 1000),
                tokens: TokenCache([ProviderAccount(identity)], updates: TokenUpdates(.connection)))
            var client = client
            switch checks.judge(state, client: &client, unixTime: now, now: 0) {
            case .accepted(let trace): return trace.map { "200 \($0.run) \($0.sequence)" } ?? "200"
            case .rejected(let answer): return "\(answer.reason!.status) \(answer.reason!.name)"
            }
        }
    }

    @Test("A good push is accepted and its trace tag read")
    func accepted() throws {
        #expect(judge(try good()) == "200 00000000000000ff 12")
    }

    @Test("Each rule that is broken has its status and reason")
    func rules() throws {
        func expect(_ answer: String, _ change: (inout Given) throws -> Void) throws {
            var given = try good()
            try change(&given)
            #expect(judge(given) == answer)
        }
        try expect("405 MethodNotAllowed") { $0.headers[.method] = "GET" }
        try expect("404 BadPath") { $0.headers[.path] = "/2/device/00" }
        try expect("404 BadPath") { $0.headers[.path] = "/" }
        try expect("400 MissingDeviceToken") { $0.headers[.path] = "/3/device/" }
        try expect("400 BadDeviceToken") { $0.headers[.path] = "/3/device/xyz" }
        try expect("400 BadDeviceToken") { $0.headers[.path] = "/3/device/" + String(repeating: "a", count: 65) }
        try expect("400 DuplicateHeaders") { $0.twice = .topic }
        try expect("403 MissingProviderToken") { $0.headers[.authorization] = nil }
        try expect("403 InvalidProviderToken") { $0.headers[.authorization] = "bearer x" }
        try expect("403 InvalidProviderToken") { $0.headers[.authorization] = "basic abc" }
        try expect("403 InvalidProviderToken") { $0.headers[.authorization]!.removeLast(3) }
        try expect("403 ExpiredProviderToken") {
            $0.headers[.authorization] = try TokenSigner.bearer(identity, unixTime: now - 3601)
        }
        for (time, reason) in [
            (Int64.min, "Expired"), (.min + 1, "Expired"), (.max, "Invalid"), (now + 3601, "Invalid"),
        ] {
            try expect("403 \(reason)ProviderToken") {
                $0.headers[.authorization] = try TokenSigner.bearer(identity, unixTime: time)
            }
        }
        try expect("200 00000000000000ff 12") {
            $0.headers[.authorization] = try TokenSigner.bearer(identity, unixTime: now - 3600)
        }
        try expect("400 BadMessageId") { $0.headers[.identifier] = "not-a-uuid" }
        try expect("400 BadExpirationDate") { $0.headers[.expiration] = "soon" }
        try expect("400 InvalidPushType") { $0.headers[.pushType] = "alarm" }
        try expect("400 BadPriority") { $0.headers[.priority] = "7" }
        try expect("400 BadPriority") {
            $0.headers[.pushType] = "background"
            $0.headers[.priority] = "10"
        }
        try expect("400 BadCollapseId") { $0.headers[.collapseID] = String(repeating: "x", count: 65) }
        try expect("200 00000000000000ff 12") { $0.headers[.collapseID] = String(repeating: "x", count: 64) }
        try expect("400 MissingTopic") { $0.headers[.topic] = nil }
        try expect("400 BadTopic") { $0.headers[.topic] = "com example" }
        try expect("400 BadTopic") { $0.headers[.pushType] = "voip" }
        try expect("200 00000000000000ff 12") {
            $0.headers[.pushType] = "voip"
            $0.headers[.topic] = "com.example.app.voip"
        }
        try expect("400 PayloadEmpty") { $0.body = "" }
        try expect("400 PayloadEmpty") { $0.body = "[]" }
        try expect("400 PayloadEmpty") { $0.body = "{\"mdm\":\"x\"}" }
        try expect("200") {
            $0.body = "{\"mdm\":\"x\"}"
            $0.headers[.pushType] = "mdm"
        }
        func sized(_ count: Int) -> String {
            "{\"aps\":{},\"x\":\"" + String(repeating: "y", count: count - 17) + "\"}"
        }
        try expect("200") { $0.body = sized(4096) }
        try expect("413 PayloadTooLarge") { $0.body = sized(4097) }
        try expect("200") {
            $0.body = sized(5120)
            $0.headers[.pushType] = "voip"
            $0.headers[.topic] = "com.example.app.voip"
        }
        try expect("413 PayloadTooLarge") {
            $0.body = sized(5121)
            $0.headers[.pushType] = "voip"
            $0.headers[.topic] = "com.example.app.voip"
        }
    }

    @Test("Times of issue that are fractions, texts or beyond all numbers are judged as the times they are")
    func issueTimes() throws {
        let writer = try TokenWriter(identity)
        func answer(_ iat: String) throws -> String {
            var given = try good()
            let token = try writer.write(
                header: "{\"alg\":\"ES256\",\"kid\":\"ABC123DEFG\"}", claims: "{\"iss\":\"TEAM567890\",\"iat\":\(iat)}")
            given.headers[.authorization] = "bearer " + String(decoding: token, as: UTF8.self)
            return judge(given)
        }
        let valid = "200 00000000000000ff 12"
        let (expired, invalid) = ("403 ExpiredProviderToken", "403 InvalidProviderToken")
        for (iat, expected) in [
            ("1700000000.987", valid), ("\"1700000000\"", valid), ("1.7e9", valid), ("1700000000.0", valid),
            ("1699996400", valid), ("1699996399.999999", expired), ("1699996400.000001", valid),
            ("1700003600.9", valid), ("1700003601", invalid), ("\"1700003601\"", invalid), ("\"0\"", expired),
            ("-1", expired), ("-1.5", expired), ("-1e300", expired), ("1e300", invalid),
            ("-9223372036854775808", expired),
            ("-9223372036854775809", expired), ("9223372036854775807", invalid), ("1e999", invalid),
            ("-1e999", invalid),
            ("NaN", invalid), ("Infinity", invalid), ("\"soon\"", invalid), ("true", invalid),
            ("[1700000000]", invalid),
            ("null", invalid), ("\"99999999999999999999\"", invalid),
        ] { #expect(try answer(iat) == expected, "\(iat)") }
    }

    @Test("aps is needed by the push types the system itself handles, and by no others")
    func dataOnly() throws {
        for type in PushType.allCases {
            var given = try self.good()
            given.headers[.pushType] = type.rawValue
            given.headers[.topic] = "com.example.app" + type.topicSuffix
            given.headers[.priority] = "5"
            let needs: Set<PushType> = [.alert, .background, .liveactivity, .widgets, .controls]
            for (body, isTaken) in [
                ("{\"aps\":{}}", true), ("{\"from\":\"somebody\"}", !needs.contains(type) && type != .mdm),
                ("{\"aps\":5}", !needs.contains(type) && type != .mdm), ("{}", !needs.contains(type) && type != .mdm),
                ("{\"mdm\":\"magic\"}", !needs.contains(type)), ("", false), ("[]", false), ("{", false),
                ("null", false),
            ] {
                given.body = body
                #expect(judge(given) == (isTaken ? "200" : "400 PayloadEmpty"), "\(type) \(body)")
            }
        }
    }

    @Test("Topics, device population and certificates limit who may be reached")
    func limits() throws {
        var given = try good()
        #expect(judge(given, topics: ["com.example.app"]).hasPrefix("200"))
        #expect(judge(given, topics: ["com.other"]) == "400 TopicDisallowed")
        let devices = SyntheticDevices(seed: 4, count: 10)
        #expect(judge(given, devices: devices) == "400 BadDeviceToken")
        given.headers[.path] = "/3/device/" + devices.token(9)
        #expect(judge(given, devices: devices).hasPrefix("200"))
        given.headers[.path] = "/3/device/" + devices.token(10)
        #expect(judge(given, devices: devices) == "400 BadDeviceToken")
        given = try good()
        given.headers[.authorization] = nil
        func client(
            _ uid: String?, problem: String? = nil, development: Bool = false, production: Bool = false,
            topics: [String] = []
        ) -> RequestChecks.Client {
            .init(
                certificate: PeerCertificate(
                    uid: uid, problem: problem, isForDevelopment: development, isForProduction: production,
                    topics: topics))
        }
        #expect(judge(given, client: client("com.example.app")).hasPrefix("200"))
        #expect(judge(given, client: client("com.other")) == "400 TopicDisallowed")
        #expect(judge(given, client: client("com.other", topics: ["com.other", "com.example.app"])).hasPrefix("200"))
        #expect(judge(given, client: client("com.example.app", problem: "expired")) == "403 BadCertificate")
        #expect(judge(given, client: client(nil)) == "403 Forbidden")
        #expect(
            judge(given, client: client("com.example.app", development: true)) == "403 BadCertificateEnvironment")
        #expect(judge(given, client: client("com.example.app", production: true)).hasPrefix("200"))
        given.headers[.topic] = nil
        #expect(judge(given, client: client("com.example.app")).hasPrefix("200"))
        #expect(
            judge(given, client: client("com.example.app", topics: ["com.example.app", "com.example.app.voip"]))
                == "400 MissingTopic")
    }

    @Test("A connection keeps to its first key and those related to it, and changes its token every 20 minutes at most")
    func connections() throws {
        let other = try ProviderIdentity(key: .ephemeral(), keyID: "OTHERKEY00", teamID: "TEAM567890")
        let sandbox = try ProviderIdentity(key: .ephemeral(), keyID: "SANDBOX000", teamID: "TEAM567890")
        let single = try ProviderIdentity(key: .ephemeral(), keyID: "TOPICKEY00", teamID: "OTHERTEAM0")
        let accounts = [
            ProviderAccount(identity), ProviderAccount(other), ProviderAccount(sandbox, environment: .development),
            ProviderAccount(single, topics: ["com.other"]),
        ]
        func checks(_ scope: TokenUpdates.Scope) -> RequestChecks {
            RequestChecks(
                topics: nil, directory: DeviceDirectory(.everybody, startedAt: 0, startTime: 0),
                tokens: TokenCache(accounts, updates: TokenUpdates(scope)))
        }
        func reason(
            _ checks: RequestChecks, _ client: inout RequestChecks.Client, _ signer: ProviderIdentity, issued: Int64,
            at time: Int64
        ) throws -> String {
            let state = RequestState()
            var given = try good()
            given.headers[.authorization] = try TokenSigner.bearer(signer, unixTime: issued)
            for (header, value) in given.headers {
                Array(value.utf8).withUnsafeBufferPointer { state.set(header, $0.baseAddress!, $0.count) }
            }
            let body = Array(given.body.utf8)
            return body.withUnsafeBufferPointer { bytes in
                _ = state.append(bytes.baseAddress!, body.count)
                switch checks.judge(state, client: &client, unixTime: time, now: 0) {
                case .accepted: return "accepted"
                case .rejected(let answer): return answer.reason!.name
                }
            }
        }
        let byConnection = checks(.connection)
        var client = RequestChecks.Client()
        #expect(try reason(byConnection, &client, identity, issued: now, at: now) == "accepted")
        #expect(try reason(byConnection, &client, single, issued: now, at: now) == "UnrelatedKeyIdInToken")
        #expect(try reason(byConnection, &client, other, issued: now, at: now) == "accepted")
        #expect(
            try reason(byConnection, &client, identity, issued: now + 60, at: now + 60)
                == "TooManyProviderTokenUpdates")
        #expect(try reason(byConnection, &client, identity, issued: now + 1200, at: now + 1200) == "accepted")
        #expect(
            try reason(byConnection, &client, identity, issued: now + 1300, at: now + 1300)
                == "TooManyProviderTokenUpdates")
        var second = RequestChecks.Client()
        #expect(try reason(byConnection, &second, identity, issued: now + 1300, at: now + 1300) == "accepted")
        let byKey = checks(.key)
        var third = RequestChecks.Client()
        var fourth = RequestChecks.Client()
        #expect(try reason(byKey, &third, identity, issued: now, at: now) == "accepted")
        #expect(
            try reason(byKey, &fourth, identity, issued: now + 60, at: now + 60) == "TooManyProviderTokenUpdates")
        #expect(try reason(byKey, &fourth, identity, issued: now + 1200, at: now + 1200) == "accepted")
        let off = checks(.off)
        var fifth = RequestChecks.Client()
        for step in Int64(0)..<5 {
            #expect(try reason(off, &fifth, identity, issued: now + step, at: now + step) == "accepted")
        }
        var sixth = RequestChecks.Client()
        #expect(try reason(off, &sixth, sandbox, issued: now, at: now) == "BadEnvironmentKeyIdInToken")
        sixth = RequestChecks.Client(environment: .development)
        #expect(try reason(off, &sixth, sandbox, issued: now, at: now) == "accepted")
        var seventh = RequestChecks.Client()
        #expect(try reason(off, &seventh, single, issued: now, at: now) == "TopicDisallowed")
    }

    @Test("The walk over a payload agrees with Foundation on what is a JSON object, also for damaged ones")
    func walk() {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let seeds = [
            "{\"aps\":{\"alert\":\"h\\u00e9\\n\",\"badge\":-1.5e+3},\"l\":[1,true,null,{}]}", "{\"a\":\"\u{1F600}é\"}",
            "{}",
            "{\"pushload-trace\":\"0000000000000001-5\",\"aps\":{}}",
        ]
        var agreed = 0
        for round in 0..<4000 {
            var bytes = Array(seeds[random(seeds.count)].utf8)
            for _ in 0..<random(3) where !bytes.isEmpty {
                switch random(3) {
                case 0: bytes[random(bytes.count)] = UInt8(truncatingIfNeeded: random(256))
                case 1: bytes.remove(at: random(bytes.count))
                default: bytes.insert(Array("{}[],:\"\\0e-.".utf8)[random(12)], at: random(bytes.count + 1))
                }
            }
            let ours = bytes.withUnsafeBytes { JSONWalk.over($0) } != nil
            // Foundation takes other encodings for JSON and, besides, lone surrogates differently: only clean UTF-8 counts.
            guard String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0) else {
                if String(validating: bytes, as: UTF8.self) == nil { #expect(!ours, "seed \(seed) round \(round)") }
                continue
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if text.contains("\\u") || text.hasPrefix("\u{FEFF}") { continue }
            // Foundation forgives a comma before a closing bracket; RFC 8259 does not.
            if text.contains(",}") || text.contains(",]") { continue }
            let theirs = (try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any]
            #expect(ours == theirs, "seed \(seed) round \(round): \(text)")
            agreed += 1
        }
        #expect(agreed > 1000)
        let deep = String(repeating: "{\"a\":", count: 70) + "1" + String(repeating: "}", count: 70)
        #expect(Array(deep.utf8).withUnsafeBytes { JSONWalk.over($0) } == nil)
    }

    @Test("A character that may not be in a string, or among digits, is found wherever it stands, however near the end")
    func everyPlace() {
        func isTaken(_ text: [UInt8]) -> Bool { text.withUnsafeBytes { JSONWalk.over($0) } != nil }
        for length in 0...40 {
            for tail in [0, 1, 7, 8, 15, 16, 17] {
                let end = Array("}".utf8) + [UInt8](repeating: 0x20, count: tail)
                let text = [UInt8](repeating: 0x61, count: length)
                let digits = [UInt8](repeating: 0x31, count: length)
                #expect(isTaken(Array("{\"k\":\"".utf8) + text + [0x22] + end))
                #expect(isTaken(Array("{\"k\":".utf8) + digits + end) == (length > 0))
                for place in 0..<length {
                    for byte: UInt8 in [0x00, 0x1F, 0x20, 0x21, 0x22, 0x2F, 0x3A, 0x5C, 0x7F, 0x80, 0xC2, 0xFF] {
                        var (text, digits) = (text, digits)
                        (text[place], digits[place]) = (byte, byte)
                        let isPlain = (0x20...0x7F).contains(byte) && byte != 0x22 && byte != 0x5C
                        let name: Comment = "\(length) characters, byte \(byte) at \(place), \(tail) behind"
                        #expect(isTaken(Array("{\"k\":\"".utf8) + text + [0x22] + end) == isPlain, name)
                        // Blanks before a number and behind it are none of it.
                        let isNumber = byte == 0x20 && (place == 0 || place == length - 1) && length > 1
                        #expect(isTaken(Array("{\"k\":".utf8) + digits + end) == isNumber, name)
                    }
                }
            }
        }
    }

    @Test("Keys with escapes are the keys that they stand for, and only those")
    func escapedKeys() throws {
        func walk(_ text: String) throws -> JSONWalk {
            try Array(text.utf8).withUnsafeBytes { try #require(JSONWalk.over($0), "\(text)") }
        }
        for key in ["\\u0061ps", "a\\u0070s", "ap\\u0073", "\\u0061\\u0070\\u0073"] {
            #expect(try walk("{\"\(key)\":{}}").hasAPS, "\(key)")
            #expect(try !walk("{\"aps\":{},\"\(key)\":1}").hasAPS, "the last one counts: \(key)")
        }
        #expect(try walk("{\"m\\u0064m\":\"x\"}").hasMDM)
        for key in [
            "\\u0041ps", "\\u0061p", "\\u0061pss", "ap\\u0173", "\\\\u0061ps", "\\taaaaaps", "aps\\u0000", "a\\/aaaaps",
        ] { #expect(try !walk("{\"\(key)\":{}}").hasAPS, "\(key)") }
        let traced = Array("{\"pushload\\u002Dtr\\u0061ce\":\"x-1\"}".utf8)
        traced.withUnsafeBytes {
            #expect(JSONWalk.over($0)?.trace.map { String(decoding: $0, as: UTF8.self) } == "x-1")
        }
    }

    @Test("A request keeps a bounded part of what it is sent")
    func bounded() {
        let state = RequestState()
        let chunk = [UInt8](repeating: 0x20, count: 4000)
        chunk.withUnsafeBufferPointer { bytes in
            for _ in 0..<10 { _ = state.append(bytes.baseAddress!, 4000) }
            for _ in 0..<10 { state.set(.topic, bytes.baseAddress!, 4000) }
        }
        #expect(state.bodyCount == 40_000 && state.body.count == RequestState.bodyCapacity && state.isOverflowing)
    }
}

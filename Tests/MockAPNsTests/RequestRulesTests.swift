import Networking
import Payloads
import Settings
import Testing

@testable import MockAPNs
@testable import Signing

/// Rules of Apple's pages that depend on push types, topics, certificates and settings.
@Suite struct RequestRulesTests {
    private static let app = "com.example.app"

    private func certificate(_ uid: String, topics: [String] = []) -> RequestChecks.Client {
        .init(
            certificate: PeerCertificate(
                uid: uid, problem: nil, isForDevelopment: false, isForProduction: false, topics: topics))
    }

    @Test("A background push has priority 5 or 1; without the header it has 10, which only strict rules refuse")
    func background() {
        let push = JudgedPush([.pushType: "background"])
        let (strict, lenient) = (RequestChecks.made(), RequestChecks.made { $0.backgroundPriority = .lenient })
        #expect(push.answer(strict) == "BadPriority" && push.answer(lenient) == "200")
        for (priority, answer) in [("10", "BadPriority"), ("5", "200"), ("1", "200")] {
            let push = JudgedPush([.pushType: "background", .priority: priority])
            #expect(push.answer(strict) == answer && push.answer(lenient) == answer, "\(priority)")
        }
    }

    @Test("A Live Activity has priority 5 or 10")
    func liveActivity() {
        for (priority, answer) in [("10", "200"), ("5", "200"), ("1", "BadPriority"), (nil, "200")] {
            let push = JudgedPush(
                [
                    .pushType: "liveactivity", .topic: Self.app + ".push-type.liveactivity", .priority: priority,
                ].compactMapValues(\.self))
            #expect(push.answer(.made()) == answer, "\(priority ?? "none")")
        }
    }

    @Test("Alerts and background pushes go to the bare bundle id, which one that was named is whatever it ends with")
    func bareTopic() {
        for type in PushType.allCases where !type.topicSuffix.isEmpty {
            for plain in ["alert", "background"] {
                let push = JudgedPush([.pushType: plain, .topic: Self.app + type.topicSuffix, .priority: "5"])
                #expect(push.answer(.made()) == "BadTopic", "\(plain) \(type)")
            }
        }
        let push = JudgedPush([.pushType: "alert", .topic: "com.example.voip"])
        #expect(push.answer(.made()) == "BadTopic")
        #expect(push.answer(.made(topics: ["com.example.voip"])) == "200")
        #expect(JudgedPush([.pushType: "alert", .topic: ".voip"]).answer(.made()) == "200")
        // The topic of a management server is its certificate's, and the suffix of another type is another type's.
        #expect(
            JudgedPush([.pushType: "mdm", .topic: "com.apple.mgmt.External.voip"], body: "{\"mdm\":\"m\"}").answer(
                .made()) == "200")
        #expect(JudgedPush([.pushType: "voip", .topic: Self.app + ".voip-ptt"]).answer(.made()) == "BadTopic")
    }

    @Test("Without a push type the topic says it: VoIP pushes have 5,120 bytes, and need no aps")
    func typeByTopic() {
        let large = "{\"x\":\"" + String(repeating: "y", count: 5120 - 8) + "\"}"
        #expect(JudgedPush([.topic: Self.app + ".voip"], body: large).answer(.made()) == "200")
        #expect(JudgedPush([.topic: Self.app + ".voip"], body: large + " ").answer(.made()) == "PayloadTooLarge")
        #expect(JudgedPush([.topic: Self.app + ".complication"], body: large).answer(.made()) == "PayloadTooLarge")
        #expect(JudgedPush([.topic: Self.app], body: "{\"x\":1}").answer(.made()) == "PayloadEmpty")
        let state = JudgedPush([.topic: Self.app + ".voip"]).state()
        var client = RequestChecks.Client()
        _ = RequestChecks.made().judge(state, client: &client, unixTime: 0, now: 0)
        #expect(state.pushType == .voip)
    }

    @Test("A file provider's payload is its container and domain")
    func fileProvider() {
        let push = JudgedPush(
            [.pushType: "fileprovider", .topic: Self.app + ".pushkit.fileprovider"],
            body: "{\"container-identifier\":\"NSFileProviderWorkingSetContainerItemIdentifier\",\"domain\":\"d\"}")
        #expect(push.answer(.made()) == "200")
    }

    @Test("A certificate is for the topics it lists and no others, and never for location pushes")
    func certificateTopics() {
        func answer(_ type: PushType, _ client: RequestChecks.Client) -> String {
            JudgedPush([
                .pushType: type.rawValue, .topic: Self.app + type.topicSuffix, .priority: "5",
            ]).answer(.made(), client)
        }
        let (plain, voip) = (certificate(Self.app), certificate(Self.app, topics: [Self.app + ".voip"]))
        #expect(answer(.alert, plain) == "200" && answer(.background, plain) == "200")
        for type in PushType.allCases where !type.topicSuffix.isEmpty {
            #expect(answer(type, plain) == "TopicDisallowed", "\(type)")
        }
        #expect(answer(.voip, voip) == "200" && answer(.complication, voip) == "TopicDisallowed")
        let location = certificate(Self.app, topics: [Self.app, Self.app + ".location-query"])
        #expect(answer(.location, location) == "TopicDisallowed")
        let push = JudgedPush([.pushType: "location", .topic: Self.app + ".location-query"])
        #expect(push.answer(.made()) == "200")
    }

    @Test("With a certificate a provider token is not looked at")
    func certificateAndToken() throws {
        let identity = try ProviderIdentity(key: .ephemeral(), keyID: "ABC123DEFG", teamID: "TEAM567890")
        let checks = RequestChecks.made([ProviderAccount(identity)])
        let nonsense = JudgedPush([.authorization: "bearer nonsense"])
        #expect(nonsense.answer(checks) == "InvalidProviderToken")
        #expect(nonsense.answer(checks, certificate(Self.app)) == "200")
        // Nor does a good one widen what the certificate is for.
        let other = try JudgedPush([.topic: "com.other"]).signed(identity)
        #expect(other.answer(checks) == "200")
        #expect(other.answer(checks, certificate(Self.app)) == "TopicDisallowed")
    }

    @Test("A missing or empty topic is taken from a certificate for one, for all that comes after")
    func defaultTopic() {
        var empty = JudgedPush([.topic: ""])
        func taken(_ client: RequestChecks.Client) -> String {
            var client = client
            let state = empty.state()
            switch RequestChecks.made().judge(state, client: &client, unixTime: 0, now: 0) {
            case .accepted: return "200 \(state.text(.topic))"
            case .rejected(let answer): return answer.reason?.name ?? "none"
            }
        }
        for _ in 0..<2 {
            #expect(taken(certificate(Self.app)) == "200 \(Self.app)")
            #expect(taken(certificate(Self.app, topics: [Self.app])) == "200 \(Self.app)")
            #expect(taken(certificate(Self.app + ".voip")) == "200 \(Self.app).voip")
            #expect(taken(certificate(Self.app, topics: [Self.app + ".voip"])) == "MissingTopic")
            #expect(taken(.init()) == "MissingTopic")
            empty.headers[.topic] = nil
        }
    }

    @Test("Device tokens have as many digits as is said")
    func tokenDigits() throws {
        func answer(_ digits: Int, _ range: ClosedRange<Int>) -> String {
            JudgedPush([.path: "/3/device/" + String(repeating: "a", count: digits)]).answer(
                .made { $0.tokenDigits = range })
        }
        for (digits, isTaken) in [(62, false), (64, true), (65, false), (160, true), (400, true), (402, false)] {
            #expect(answer(digits, 64...400) == (isTaken ? "200" : "BadDeviceToken"), "\(digits)")
        }
        #expect(answer(8, 8...8) == "200" && answer(10, 8...8) == "BadDeviceToken")
        #expect(answer(1024, 8...1024) == "200")
        // Fewer than the reader of digits takes are never taken.
        for digits in [1, 2, 4, 6, 7] { #expect(answer(digits, 0...4000) == "BadDeviceToken", "\(digits)") }
        #expect(try RequestRules.tokenDigits("8-400") == 8...400 && RequestRules.tokenDigits("64") == 64...64)
        for text in [
            "", "7", "9-20", "8-", "-8", "20-8", "8-1026", "6-8", "8-10-12", "8 - 10", "+8", "99999999999999999999",
        ] {
            #expect(throws: SettingsError.self, "\(text)") { try RequestRules.tokenDigits(text) }
        }
    }

    @Test("A key of the other environment is answered in the spelling of one's choice")
    func environmentSpelling() throws {
        let identity = try ProviderIdentity(key: .ephemeral(), keyID: "ABC123DEFG", teamID: "TEAM567890")
        let accounts = [ProviderAccount(identity, environment: .development)]
        let push = try JudgedPush().signed(identity)
        #expect(push.answer(.made(accounts)) == "BadEnvironmentKeyIdInToken")
        let reason = try RequestRules.keyEnvironmentReason("BadEnvironmentKeyInToken")
        #expect(push.answer(.made(accounts) { $0.keyEnvironmentReason = reason }) == "BadEnvironmentKeyInToken")
        #expect(reason.status == 403)
        #expect(throws: SettingsError.self) { try RequestRules.keyEnvironmentReason("BadTopic") }
    }
}

import Testing

@testable import MockAPNs
@testable import Signing

/// Which provider keys may share a connection, and what they may push to ("Establishing a token-based connection to APNs").
@Suite struct KeyRelationTests {
    private static let now = JudgedPush.now

    private func key(_ name: String, team: String = "TEAM567890") throws -> ProviderIdentity {
        try ProviderIdentity(key: .ephemeral(), keyID: name, teamID: team)
    }

    @Test("Team-scoped keys of one team share a connection; keys for topics only with the key they are related to")
    func sharing() throws {
        let (team, second, foreign) = (
            try key("TEAMKEY000"), try key("TEAMKEY111"), try key("FOREIGN000", team: "OTHERTEAM0")
        )
        let (topic, related, other) = (try key("TOPICKEY00"), try key("TOPICKEY11"), try key("TOPICKEY22"))
        let topics: Set<String> = ["com.example.app"]
        var single = ProviderAccount(topic, environment: .production, topics: topics)
        single.relatedKeyID = related.keyID
        let checks = RequestChecks.made([
            ProviderAccount(team), ProviderAccount(second, environment: .production), ProviderAccount(foreign), single,
            ProviderAccount(related, environment: .production, topics: topics),
            ProviderAccount(other, environment: .production, topics: topics),
        ])
        let unrelated = "UnrelatedKeyIdInToken"
        for (first, then, answer) in [
            (team, second, "200"), (team, foreign, unrelated), (team, topic, unrelated), (topic, team, unrelated),
            (topic, related, "200"), (related, topic, "200"), (topic, other, unrelated), (related, other, unrelated),
        ] {
            var client = RequestChecks.Client()
            #expect(try JudgedPush().signed(first).answer(checks, &client) == "200")
            #expect(try JudgedPush().signed(then).answer(checks, &client) == answer, "\(first.keyID) \(then.keyID)")
            #expect(try JudgedPush().signed(first).answer(checks, &client) == "200")
        }
    }

    @Test("A related team key is a relation too, and each key pushes to its own topics only")
    func scopes() throws {
        let (topic, team) = (try key("TOPICKEY00"), try key("TEAMKEY000"))
        var single = ProviderAccount(topic, environment: .production, topics: ["com.one"])
        single.relatedKeyID = team.keyID
        let checks = RequestChecks.made([single, ProviderAccount(team)])
        var client = RequestChecks.Client()
        for _ in 0..<2 {
            for (identity, name, answer) in [
                (topic, "com.one", "200"), (team, "com.two", "200"), (topic, "com.two", "TopicDisallowed"),
                (team, "com.one", "200"),
            ] {
                #expect(
                    try JudgedPush([.topic: name]).signed(identity).answer(checks, &client) == answer,
                    "\(identity.keyID) \(name)")
            }
        }
        // A request with the token that is known goes by the first key again.
        let known = JudgedPush([.topic: "com.two"]).state()
        known.note(.authorization)
        known.hasKnownToken = true
        guard case .rejected(let answer) = checks.judge(known, client: &client, unixTime: Self.now, now: 0) else {
            return #expect(Bool(false), "accepted")
        }
        #expect(answer.reason == .topicDisallowed)
    }

    @Test("Each key's token is renewed every 20 minutes at most, counted from when the one before was first seen")
    func renewals() throws {
        let (first, second) = (try key("TEAMKEY000"), try key("TEAMKEY111"))
        let checks = RequestChecks.made([ProviderAccount(first), ProviderAccount(second)])
        var client = RequestChecks.Client()
        func answer(_ identity: ProviderIdentity, issued: Int64, at time: Int64) throws -> String {
            try JudgedPush().signed(identity, at: Self.now + issued).answer(checks, &client, at: Self.now + time)
        }
        // Issued long before it is first seen: its age does not count.
        #expect(try answer(first, issued: -3000, at: 0) == "200")
        #expect(try answer(first, issued: 0, at: 60) == "TooManyProviderTokenUpdates")
        #expect(try answer(second, issued: 60, at: 60) == "200")
        #expect(try answer(second, issued: 60, at: 1199) == "200")
        #expect(try answer(first, issued: 1199, at: 1199) == "TooManyProviderTokenUpdates")
        #expect(try answer(first, issued: 1200, at: 1200) == "200")
        #expect(try answer(second, issued: 1200, at: 1200) == "TooManyProviderTokenUpdates")
        #expect(try answer(second, issued: 1260, at: 1260) == "200")
    }
}

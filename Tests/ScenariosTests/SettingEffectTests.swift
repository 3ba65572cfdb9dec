import Settings
import Testing

@testable import Scenarios

/// What settings depend on (`ScenarioKey.always`, `ScenarioKey.dependent`).
@Suite struct SettingEffectTests {
    @Test("Each row of the table of settings says what it depends on, once")
    func stated() {
        for name in ScenarioKey.allNames {
            let places = [ScenarioKey.always.contains(name), ScenarioKey.dependent[name] != nil].count { $0 }
            #expect(places == 1, "\(name): put it in ScenarioKey.always or in ScenarioKey.dependent")
        }
        let names = Set(ScenarioKey.allNames)
        #expect(ScenarioKey.always.union(ScenarioKey.dependent.keys).subtracting(names).isEmpty)
        #expect(Set(Self.cases.map(\.name)) == Set(ScenarioKey.dependent.keys), "add a case for each dependent setting")
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let value: String
        /// Settings beside which it has no effect, and beside which it has one, as `--set` takes them.
        let idle: [String]
        let effective: [String]
        /// What is said, from the beginning.
        let said: String

        var testDescription: String { "\(name) beside \(idle)" }

        init(_ name: String, _ value: String, idle: [String] = [], effective: [String], _ said: String) {
            self.name = name
            self.value = value
            self.idle = idle
            self.effective = effective
            self.said = said
        }
    }

    private static let plain = ["target=http://127.0.0.1:1"]
    private static let secure = ["target=https://127.0.0.1:1"]
    private static let people = ["registrations=r.csv", "audience=*"]

    static let cases: [Case] = [
        .init("budget", "5s", effective: ["until=p99 +- 2 %"], "budget: goes with until"),
        .init("connections", "1", idle: ["replay=a.pushes"], effective: [], "connections 1: beside replay it means"),
        .init("drain", "1s", effective: ["duration=5s"], "drain: goes with a duration"),
        .init("drain", "1s", effective: ["until=p99 +- 2 %"], "drain: goes with a duration"),
        .init("speed", "2", effective: ["replay=a.pushes"], "speed: goes with replay"),
        .init("replay_check", "ab", effective: ["replay=a.pushes"], "replay_check: goes with replay"),
        .init(
            "arrivals", "poisson", effective: ["rate=5"], "arrivals poisson: goes with a rate or stages; a closed loop"),
        .init(
            "arrivals", "poisson", idle: ["trace=t.csv"], effective: ["stages=hold 1k 2s"],
            "arrivals poisson: goes with a rate or stages; a trace has its own due times"),
        .init("backlog", "5", effective: ["trace=t.csv"], "backlog 5: goes with a rate or stages"),
        .init("pacing", "spin", effective: ["rate=5"], "pacing spin: goes with a rate or stages"),
        .init(
            "profile", "silent",
            idle: ["registrations=r.csv", "sends={name: a, audience: x, profile: alert}"], effective: [],
            "profile: each of the sends has its own"),
        .init(
            "priority", "5", idle: ["registrations=r.csv", "sends={name: a, audience: x, priority: 10}"],
            effective: ["registrations=r.csv", "sends={name: a, audience: x}"],
            "priority: each of the sends has its own"),
        .init(
            "collapse_id", "n", idle: ["registrations=r.csv", "sends={name: a, audience: x, collapse_id: c}"],
            effective: [], "collapse_id: each of the sends has its own"),
        .init("push_type", "voip", effective: ["template=t.json"], "push type voip: for a --template"),
        .init("audience", "*", effective: ["registrations=r.csv"], "audience: goes with registrations"),
        .init(
            "sends", "{name: a, audience: x}", effective: ["registrations=r.csv"], "sends: goes with registrations"),
        .init("templates", "t", effective: people, "templates: goes with registrations"),
        .init("properties", "a=b", effective: people, "properties: goes with registrations"),
        .init("environment", "any", effective: people, "environment: goes with registrations"),
        .init("feedback", "false", effective: people, "feedback: goes with registrations"),
        .init("abort_on_fail", "true", effective: ["threshold=p99 < 1s"], "abort on fail: there is no threshold"),
        .init(
            "abort_on_fail", "true", idle: ["threshold=queue.p99 < 1s; accepted == 100%; rss < 200MB"],
            effective: ["rate=5", "threshold=rate >= 0.95 * target"],
            "abort_on_fail: each threshold is judged at the end only"),
        .init(
            "abort_on_fail_window", "5s", idle: ["threshold=p99 < 1s"],
            effective: ["threshold=goodput > 5", "abort_on_fail=true"], "abort_on_fail_window: goes with abort_on_fail"),
        .init(
            "abort_on_fail_window", "5s", idle: ["threshold=failed == 0", "abort_on_fail=true"],
            effective: ["threshold=failed == 0; p99 < 1s", "abort_on_fail=true"],
            "abort_on_fail_window: goes with a threshold on total latency or a rate"),
        .init(
            "abort_on_fail_delay", "5s", idle: ["threshold=p99 < 1s"],
            effective: ["threshold=failed == 0", "abort_on_fail=true"], "abort_on_fail_delay: goes with abort_on_fail"),
        .init(
            "credentials", "c", idle: plain + ["no_auth=true"], effective: plain,
            "credentials: a target without provider tokens and TLS"),
        .init(
            "key", "k.p8", idle: ["cert=c.pem"], effective: ["key_id=ABCDEFGHIJ"],
            "key: goes with provider tokens, which cert takes the place of"),
        .init("no_auth", "true", idle: ["cert=c.pem"], effective: secure, "no_auth: cert is an authentication too"),
        .init("key_id", "ABCDEFGHIJ", effective: ["key=k.p8"], "key_id: goes with key"),
        .init("team_id", "ABCDEFGHIJ", idle: ["credentials=c"], effective: ["key=k.p8"], "team_id: goes with key"),
        .init(
            "cert", "c.pem", idle: plain, effective: secure, "cert is of TLS, which a target that starts with http://"),
        .init("cert_key", "k.pem", effective: ["cert=c.pem"], "cert_key: goes with cert"),
        .init("cacert", "c.pem", idle: plain, effective: secure, "cacert is of TLS, which a target"),
        .init("cacert", "c.pem", idle: ["plaintext=true"], effective: [], "cacert is of TLS, which plaintext"),
        .init(
            "sign_policy", "per-push", idle: ["no_auth=true"], effective: secure,
            "sign_policy: goes with provider tokens, which no_auth leaves out"),
        .init(
            "sign_policy", "per-push", idle: ["cert=c.pem"], effective: [],
            "sign_policy: goes with provider tokens, which cert takes the place of"),
        .init("plaintext", "true", idle: plain, effective: [], "plaintext is for the bundled mock"),
        .init("plaintext", "true", idle: secure, effective: [], "plaintext beside a target that starts with https://"),
        .init("mock_threads", "2", idle: secure, effective: [], "mock_threads are for the bundled mock"),
        .init("rtt", "80ms", idle: secure, effective: [], "rtt is for the bundled mock"),
        .init("mock_flags", "--latency 1ms", idle: secure, effective: [], "mock_flags are for the bundled mock"),
        .init("device_model", "on", idle: secure, effective: [], "device_model is for the bundled mock"),
        .init(
            "device_backend", "http://127.0.0.1:1", effective: ["device_model=on"],
            "device_backend: goes with device_model"),
        .init(
            "backend_flags", "--latency 1ms", effective: ["device_model=on"], "backend_flags: goes with device_model"),
        .init(
            "backend_flags", "--latency 1ms", idle: ["device_model=on", "device_backend=http://127.0.0.1:1"],
            effective: ["device_model=on"], "backend_flags are for the bundled backend"),
        .init("device_wait", "5s", effective: ["device_model=on"], "device_wait: goes with device_model"),
        .init("huffman", "true", idle: ["engine=nghttp2"], effective: [], "huffman is a tuning of engine wire"),
        .init("tls_min", "1.3", idle: plain, effective: secure, "tls_min is of TLS"),
        .init("tls_max", "1.2", idle: ["plaintext=true"], effective: [], "tls_max is of TLS"),
        .init("ciphers", "X", idle: plain, effective: secure, "ciphers is of TLS"),
        .init(
            "ciphers", "X", idle: ["tls_min=1.3"], effective: [], "ciphers are of TLS 1.2, which tls_min 1.3 leaves out"
        ),
        .init("ciphersuites", "X", idle: plain, effective: secure, "ciphersuites is of TLS"),
        .init("ciphersuites", "X", idle: ["tls_max=1.2"], effective: [], "ciphersuites are of TLS 1.3"),
        .init("ktls", "true", idle: plain, effective: secure, "ktls is of TLS"),
        .init("retry_attempts", "5", effective: ["retry=429"], "retry_attempts 5: goes with retry"),
        .init("retry_backoff", "1s", effective: ["retry=5xx"], "retry_backoff 1s: goes with retry"),
        .init("retry_budget", "10.4%", effective: ["retry=5xx"], "retry_budget 10.4%: goes with retry"),
    ]

    private func made(_ settings: [String]) throws -> Scenario {
        var scenario = Scenario()
        // One at a time, so that what excludes another takes its place.
        for setting in settings { try ScenarioFile.set([setting], in: &scenario) }
        return scenario
    }

    @Test("A setting without what it depends on is refused, and has an effect beside it", arguments: cases)
    func dependent(_ found: Case) throws {
        let key = try #require(ScenarioKey.named(found.name))
        func lines(_ beside: [String]) throws -> [String] {
            var scenario = try made(beside)
            try key.apply([found.value], to: &scenario)
            #expect(key.isChanged(in: scenario) || found.name == "connections")
            return key.lacking(in: scenario).map { [$0] } ?? []
        }
        let refused = try lines(found.idle)
        #expect(refused.count == 1 && refused[0].hasPrefix(found.said), "\(refused)")
        #expect(try lines(found.effective) == [])
        guard ScenarioKey.withoutSchedule.contains(where: { $0.name == found.name }), found.name != "connections" else {
            return
        }
        var scenario = try made(found.idle)
        try key.apply([found.value], to: &scenario)
        #expect(scenario.validate().contains(refused.first ?? ""))
    }

    @Test("A setting at its default is without effect nowhere")
    func standard() throws {
        let beside = [
            [], Self.plain, Self.secure, ["plaintext=true"], ["no_auth=true"], ["cert=c.pem"], ["engine=nghttp2"],
            ["trace=t.csv"], Self.people,
        ]
        for settings in beside {
            let given = Set(settings.map { String($0.prefix { $0 != "=" }) })
            let own = try made(settings).idle
            for key in ScenarioKey.all where !given.contains(key.name) {
                guard let standard = key.standard else { continue }
                var scenario = try made(settings)
                try key.apply([standard], to: &scenario)
                #expect(scenario.idle == own, "\(key.name): \(standard) beside \(settings)")
            }
        }
    }

    @Test("What only goes with a setting that a stronger source turns off or replaces goes with it")
    func companions() throws {
        func applied(_ file: String, _ flags: (key: String, texts: [String]?)...) throws -> Scenario {
            var scenario = Scenario()
            try ScenarioFile.apply(file, file: "s.yaml", folder: "/", depth: 0, to: &scenario)
            try scenario.apply(flags: flags)
            return scenario
        }
        let whole = try applied(
            "pushes: 9\nthreshold: p99 < 1s\nabort_on_fail: true\nabort_on_fail_window: 5s\nabort_on_fail_delay: 1s\n",
            ("abort_on_fail", ["false"]))
        #expect(whole.validate() == [] && whole.abortOnFailWindow == Scenario().abortOnFailWindow)
        let once = try applied("pushes: 9\nretry: 429\nretry_attempts: 9\nretry_budget: 50%\n", ("retry", ["off"]))
        #expect(once.validate() == [] && once.retryAttempts == Scenario().retryAttempts)
        let file = "pushes: 9\nkey: k.p8\nkey_id: ABCDEFGHIJ\nteam_id: ABCDEFGHIJ\nsign_policy: per-push\n"
        for flags in [[("no_auth", ["true"])], [("cert", ["c.pem"]), ("cert_key", ["k.pem"])]] {
            var scenario = Scenario()
            try ScenarioFile.apply(file, file: "s.yaml", folder: "/", depth: 0, to: &scenario)
            try scenario.apply(flags: flags)
            #expect(scenario.validate() == [] && scenario.key == nil && scenario.signPolicy == "cached:50m")
        }
        let back = try applied("pushes: 9\ncert: c.pem\ncert_key: k.pem\n", ("key", ["k.p8"]))
        #expect(back.cert == nil && back.certKey == nil && back.validate() == [])
        // Beside each other in one source nothing gives way.
        #expect(
            try applied("pushes: 9\nno_auth: true\nsign_policy: per-push\n").validate() == [
                "sign_policy: goes with provider tokens, which no_auth leaves out; leave one of them out"
            ])
        #expect(
            try applied("pushes: 9\nkey: k.p8\ncert: c.pem\n").validate() == [
                "key: goes with provider tokens, which cert takes the place of; leave one of them out"
            ])
    }
}

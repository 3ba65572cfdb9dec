import Payloads
import Settings

/// What each setting depends on. Every row of the table of settings (`all`) is either in `always` or in `dependent`.
///
/// A setting at its default changes nothing, and is never without effect. A flag of the command line is, even at its default.
extension ScenarioKey {
    /// Settings that have an effect in every run, or that `Scenario.exclusive` replaces, or whose place in a run is checked elsewhere.
    static let always: Set<String> = [
        "name", "pushes", "duration", "until", "streams", "threads", "pin", "rate", "stages", "trace",
        "replay", "warmup", "by", "measure", "template", "devices", "device_file", "registrations", "topic",
        "expiration", "apns_id", "seed", "threshold", "metrics_port", "expect_reasons", "engine", "target",
        "allowed_targets", "send_batch", "read_batch", "stream_window", "connection_window", "header_table",
        "encoder_table", "max_frame", "nodelay", "socket_send_buffer", "socket_receive_buffer", "timeout",
        "connect_timeout", "ping_interval", "ping_timeout", "give_up_after", "reconnect_delay",
        "reconnect_delay_max", "retry_limit", "retry",
    ]

    /// Why a setting has no effect in a scenario, one line that begins with the setting; nil: it has one.
    typealias Dependency = @Sendable (_ scenario: Scenario, _ name: String) -> String?

    /// Settings that only have an effect beside others.
    static let dependent: [String: Dependency] = [
        "budget": goes("with until, the figure that is to be known (p99 +- 2 %)") { $0.until != nil },
        "connections": { scenario, name in
            guard scenario.replay != nil, scenario.connections == 1 else { return nil }
            return "\(name) 1: beside replay it means as many as were recorded; leave it out, or give 2 or more"
        },
        "drain": goes("with a duration, after which it begins") { $0.duration != nil || $0.until != nil },
        "speed": goes("with replay, the recording that is sent again") { $0.replay != nil },
        "replay_check": goes("with replay, the recording that is sent again") { $0.replay != nil },
        "arrivals": { scenario, name in
            // A recording says so of more than these.
            guard scenario.rate == nil, scenario.stages.isEmpty, scenario.replay == nil else { return nil }
            let why = scenario.trace == nil ? "a closed loop sends when it can" : "a trace has its own due times"
            return "\(name) \(scenario.arrivals): goes with a rate or stages; \(why)"
        },
        "backlog": ofOpenLoop,
        "pacing": ofOpenLoop,
        "profile": eachSendHas { $0.profile != nil || $0.template != nil },
        "priority": eachSendHas { $0.priority != nil },
        "collapse_id": eachSendHas { $0.collapseID != nil },
        "push_type": { scenario, _ in
            // One that is none is refused for that.
            guard scenario.template == nil, PushType(rawValue: scenario.pushType) != nil else { return nil }
            return "push type \(scenario.pushType): for a --template; a --profile has its own"
        },
        "audience": ofRegistrations,
        "sends": ofRegistrations,
        "templates": ofRegistrations,
        "properties": ofRegistrations,
        "environment": ofRegistrations,
        "feedback": ofRegistrations,
        "abort_on_fail": { scenario, name in
            if scenario.thresholds.isEmpty {
                return "abort on fail: there is no threshold (--threshold) that could fail"
            }
            // Those that cannot be read are refused for that.
            guard scenario.parsedThresholds.count >= scenario.thresholds.count,
                !scenario.parsedThresholds.contains(where: \.isJudgedEarly)
            else { return nil }
            return
                "\(name): each threshold is judged at the end only; add one on total latency, a rate, failed or rejected"
        },
        "abort_on_fail_window": { scenario, name in
            guard scenario.abortOnFail else { return goesWithAborting(name) }
            guard scenario.parsedThresholds.contains(where: \.isJudgedEarly),
                !scenario.parsedThresholds.contains(where: \.isJudgedInWindow)
            else { return nil }
            return
                "\(name): goes with a threshold on total latency or a rate; failed and rejected are judged over the whole run"
        },
        "abort_on_fail_delay": { $0.abortOnFail ? nil : goesWithAborting($1) },
        "credentials": { scenario, name in
            guard scenario.target != nil, scenario.authentication != "token", !scenario.hasTLS else { return nil }
            return
                "\(name): a target without provider tokens and TLS needs neither its key nor its certificates; leave it out"
        },
        "no_auth": { scenario, name in
            scenario.cert == nil ? nil : "\(name): cert is an authentication too; leave one of them out"
        },
        "key": ofTokens,
        "key_id": goes("with key, the file of the provider key") { $0.key != nil },
        "team_id": goes("with key, the file of the provider key") { $0.key != nil },
        "cert": ofTLS,
        "cert_key": { scenario, name in
            scenario.cert == nil ? "\(name): goes with cert, the certificate it belongs to" : ofTLS(scenario, name)
        },
        "cacert": ofTLS,
        "sign_policy": ofTokens,
        "plaintext": { scenario, name in
            guard let target = scenario.target else { return nil }
            return target.hasTLS
                ? "plaintext beside a target that starts with https://; expected one that starts with http://, or no plaintext"
                : "\(name) is for the bundled mock; a target that starts with http:// is plaintext, leave it out"
        },
        "mock_threads": ofMock("are"),
        "rtt": ofMock("is"),
        "mock_flags": ofMock("are"),
        "device_model": ofMock("is"),
        "device_backend": ofDevices,
        "backend_flags": { scenario, name in
            if let why = ofDevices(scenario, name) { return why }
            return scenario.deviceBackend == nil
                ? nil : "backend_flags are for the bundled backend, not for a --device-backend"
        },
        "device_wait": ofDevices,
        "huffman": { scenario, name in
            guard scenario.engine != "wire", Scenario.engines.contains(scenario.engine) else { return nil }
            return
                "\(name) is a tuning of engine wire: engine \(scenario.engine) chooses for itself what it codes with Huffman"
        },
        "tls_min": ofTLS,
        "tls_max": ofTLS,
        "ciphers": { scenario, name in
            if let why = ofTLS(scenario, name) { return why }
            return scenario.tlsMinimum == "1.3"
                ? "\(name) are of TLS 1.2, which tls_min 1.3 leaves out; expected one of them" : nil
        },
        "ciphersuites": { scenario, name in
            if let why = ofTLS(scenario, name) { return why }
            return scenario.tlsMaximum == "1.2"
                ? "\(name) are of TLS 1.3, which tls_max 1.2 leaves out; expected one of them" : nil
        },
        "ktls": ofTLS,
        "retry_attempts": ofRetries,
        "retry_backoff": ofRetries,
        "retry_budget": ofRetries,
    ]

    /// Why the setting has no effect in a scenario, whatever its value: one line. nil: it has one.
    package func lacking(in scenario: Scenario) -> String? { Self.dependent[name]?(scenario, name) }

    /// Something other than its default is asked for.
    package func isChanged(in scenario: Scenario) -> Bool { text(in: scenario) != standard }

    /// What depends on when pushes are due: only a whole run says that, a search gives its own rates.
    private static let ofSchedule: Set<String> = ["arrivals", "backlog", "pacing"]
    static let withoutSchedule = all.filter { !ofSchedule.contains($0.name) }

    // MARK: What many depend on

    private static func goes(_ withWhat: String, if has: @escaping @Sendable (Scenario) -> Bool) -> Dependency {
        { has($0) ? nil : "\($1): goes \(withWhat)" }
    }

    private static let ofOpenLoop: Dependency = { scenario, name in
        // What is no value is refused for that.
        guard !scenario.isOpenLoop, name != "backlog" || scenario.backlog > 0 else { return nil }
        let value = ScenarioKey.named(name)?.text(in: scenario) ?? ""
        return "\(name) \(value): goes with a rate or stages; a closed loop sends when it can"
    }

    private static let ofRegistrations = goes("with registrations, the file that says who there is") {
        $0.registrations != nil
    }

    private static func eachSendHas(_ isOwn: @escaping @Sendable (SendSetting) -> Bool) -> Dependency {
        { scenario, name in
            guard !scenario.sends.isEmpty, scenario.sends.allSatisfy(isOwn) else { return nil }
            return "\(name): each of the sends has its own; leave it out, or leave that of a send out"
        }
    }

    private static func goesWithAborting(_ name: String) -> String {
        "\(name): goes with abort_on_fail, which ends a run at a crossed threshold"
    }

    private static let ofTokens: Dependency = { scenario, name in
        switch scenario.authentication {
        case "token": nil
        case "certificate": "\(name): goes with provider tokens, which cert takes the place of; leave one of them out"
        default: "\(name): goes with provider tokens, which no_auth leaves out; leave one of them out"
        }
    }

    private static let ofTLS: Dependency = { scenario, name in
        guard !scenario.hasTLS else { return nil }
        let side = scenario.target == nil ? "plaintext" : "a target that starts with http://"
        return "\(name) is of TLS, which \(side) is without; leave one of them out"
    }

    private static func ofMock(_ verb: String) -> Dependency {
        { $0.target == nil ? nil : "\($1) \(verb) for the bundled mock, not for a --target" }
    }

    private static let ofDevices = goes("with device_model, which says what devices ask; give --device-model on") {
        $0.deviceModel != nil
    }

    private static let ofRetries: Dependency = { scenario, name in
        guard let policy = try? RetryPolicy(parsing: scenario.retry), policy.isOff else { return nil }
        let value = ScenarioKey.named(name)?.text(in: scenario) ?? ""
        return "\(name) \(value): goes with retry (429, 5xx, connection), which says what is sent again"
    }
}

extension Scenario {
    /// TLS is spoken to the bundled mock, or to one of the targets.
    var hasTLS: Bool { target.map(\.hasTLS) ?? !plaintext }

    /// Settings that something other than their default is asked for and that have no effect, one line each.
    package var idle: [String] { idle(of: ScenarioKey.all) }

    func idle(of keys: [ScenarioKey]) -> [String] {
        keys.compactMap { key in key.lacking(in: self).flatMap { key.isChanged(in: self) ? $0 : nil } }
    }
}

extension TargetList {
    /// One of them is spoken to with TLS. What is no URL counts too: it is refused for that.
    var hasTLS: Bool { !urls.allSatisfy { $0.lowercased().hasPrefix("http://") } }
}

import Payloads
import Settings

/// One setting of a run as people give it: a key of a scenario file, and the flag of the same name (`push_type`,
/// `--push-type`). The one list of them: files, flags, `--set`, environment variables and the JSON Schema are made of it.
public struct ScenarioKey: Sendable {
    public enum Kind: Sendable {
        case text, count, number, rate, duration, bytes, flag
        /// Several texts.
        case list
        /// One of these.
        case choice([String])
    }

    public let name: String
    public let kind: Kind
    public let help: String
    /// What it may be: `1 to 256`; nil: its help says it.
    public let range: String?
    /// A value for keys that are not set unless asked for.
    public let example: String?
    /// Its value in a scenario as people write it; nil: not set.
    let write: @Sendable (Scenario) -> String?
    let set: @Sendable (inout Scenario, [String]) throws(SettingsError) -> Void

    /// What it is without being asked for; nil: not set.
    public var standard: String? { write(Scenario()) }
    /// Its value in a scenario as people write it; nil: not set.
    public func text(in scenario: Scenario) -> String? { write(scenario) }
    /// Among those that `--help` shows; the others are in `--help-all`.
    public var isEveryday: Bool { Self.everyday.contains(name) }
    private static let everyday: Set<String> = [
        "pushes", "duration", "rate", "stages", "connections", "streams", "threads", "warmup", "profile", "threshold",
        "credentials", "target", "allowed_targets", "rtt", "registrations", "audience",
    ]

    /// As a flag: `--push-type`. One that is given several times is called after one of its values.
    public var flag: String {
        "--" + (Self.ofOne[name] ?? name).replacing("_", with: "-")
    }
    private static let ofOne = ["allowed_targets": "allow-target", "properties": "property", "sends": "send"]
    /// As an environment variable: `PUSHLOAD_PUSH_TYPE`.
    public var variable: String { "PUSHLOAD_" + name.uppercased() }

    /// Reads the value's text (of a list: its texts) into a scenario.
    ///
    /// - Throws: what is wrong with the value and what would be right, without the place.
    public func apply(_ texts: [String], to scenario: inout Scenario) throws(SettingsError) {
        guard !isPath || !texts.contains("") else { throw SettingsError("expected a path, not an empty text") }
        try set(&scenario, texts)
    }

    /// Of several maps, which one is wrong: ` 2`; empty where there is but one, or where a value can be found by its text.
    package func number(ofWrong texts: [String]) -> String {
        guard name == "sends", texts.count > 1 else { return "" }
        let wrong = texts.firstIndex { (try? SendSetting.list(parsing: $0)) == nil }
        return wrong.map { " \($0 + 1)" } ?? ""
    }

    /// Its value is a file or folder, in a scenario file meant from where that lies.
    package var isPath: Bool { Self.paths.contains(name) }
    private static let paths: Set<String> = [
        "trace", "template", "device_file", "registrations", "templates", "credentials", "key", "cert", "cert_key",
        "cacert", "device_model",
    ]
    /// Its value where it is not a path after all.
    private static let noPaths = ["device_model": "on"]

    /// A value as it is meant in a scenario file in `folder`.
    package func resolved(_ text: String, in folder: String) -> String {
        isPath && Self.noPaths[name] != text ? ScenarioFile.resolve(text, folder) : text
    }

    public static func named(_ name: String) -> ScenarioKey? { byName[name] }
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    public static var allNames: [String] { all.map(\.name) }

    // MARK: Kinds

    private init(
        _ name: String, _ kind: Kind, _ help: String, range: String? = nil, example: String? = nil,
        write: @escaping @Sendable (Scenario) -> String?,
        _ set: @escaping @Sendable (inout Scenario, [String]) throws(SettingsError) -> Void
    ) {
        self.name = name
        self.kind = kind
        self.help = help
        self.range = range
        self.example = example
        self.write = write
        self.set = set
    }

    private static func one(_ texts: [String]) throws(SettingsError) -> String {
        guard texts.count == 1, let text = texts.first else { throw SettingsError("expected one value") }
        return text
    }

    private static func text(
        _ name: String, _ help: String, example: String? = nil, _ path: WritableKeyPath<Scenario, String> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(
            name, .text, help, example: example,
            write: { $0[keyPath: path].isEmpty ? nil : $0[keyPath: path] }
        ) { (scenario, texts) throws(SettingsError) in
            scenario[keyPath: path] = try one(texts)
        }
    }

    private static func optional(
        _ name: String, _ help: String, example: String, _ path: WritableKeyPath<Scenario, String?> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(name, .text, help, example: example, write: { $0[keyPath: path] }) {
            (scenario, texts) throws(SettingsError) in
            scenario[keyPath: path] = try one(texts)
        }
    }

    private static func choice(
        _ name: String, _ choices: [String], _ help: String, _ path: WritableKeyPath<Scenario, String> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(name, .choice(choices), help, write: { $0[keyPath: path] }) {
            (scenario, texts) throws(SettingsError) in
            let text = try one(texts)
            guard choices.contains(text) else {
                throw SettingsError("\"\(text)\"" + NearestName.hint(text, among: choices))
            }
            scenario[keyPath: path] = text
        }
    }

    private static func read<Value>(
        _ texts: [String], _ read: (String) throws(Units.ParseError) -> Value
    ) throws(SettingsError) -> Value {
        let text = try one(texts)
        do throws(Units.ParseError) { return try read(text) } catch { throw SettingsError(error.description) }
    }

    private static func count(
        _ name: String, _ help: String, range: String? = nil, _ path: WritableKeyPath<Scenario, UInt64> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(name, .count, help, range: range, write: { Units.written(count: $0[keyPath: path]) }) {
            (scenario, texts) throws(SettingsError) in
            scenario[keyPath: path] = try read(texts, Units.count)
        }
    }

    private static func whole(
        _ name: String, _ range: ClosedRange<Int>, _ help: String, _ path: WritableKeyPath<Scenario, Int> & Sendable
    ) -> ScenarioKey {
        func written(_ value: Int) -> String { Units.grouped(UInt64(value)) }
        return ScenarioKey(
            name, .count, help, range: "\(written(range.lowerBound)) to \(written(range.upperBound))",
            write: { Units.written(count: UInt64($0[keyPath: path])) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario[keyPath: path] = Int(clamping: try read(texts, Units.count))
        }
    }

    private static func duration(
        _ name: String, _ help: String, range: String? = nil, _ path: WritableKeyPath<Scenario, UInt64> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(name, .duration, help, range: range, write: { Units.written(duration: $0[keyPath: path]) }) {
            (scenario, texts) throws(SettingsError) in
            scenario[keyPath: path] = try read(texts, Units.duration)
        }
    }

    private static func bytes(
        _ name: String, _ range: ClosedRange<Int>, _ help: String, _ path: WritableKeyPath<Scenario, Int> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(
            name, .bytes, help,
            range: "\(Units.written(bytes: range.lowerBound)) to \(Units.written(bytes: range.upperBound))",
            write: { Units.written(bytes: $0[keyPath: path]) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario[keyPath: path] = try read(texts, Units.bytes)
        }
    }

    private static func flag(
        _ name: String, _ help: String, _ path: WritableKeyPath<Scenario, Bool> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(name, .flag, help, write: { "\($0[keyPath: path])" }) { (scenario, texts) throws(SettingsError) in
            switch try one(texts) {
            case "true", "yes", "on": scenario[keyPath: path] = true
            case "false", "no", "off": scenario[keyPath: path] = false
            default: throw SettingsError("\"\(texts[0])\": expected true or false")
            }
        }
    }

    private static func words(_ texts: [String]) -> [String] {
        texts.flatMap { $0.split(separator: ",").map { String($0).filter { $0 != " " } } }
    }

    /// nil for none.
    private static func listed(_ texts: [String]) -> String? {
        texts.isEmpty ? nil : "[\(texts.joined(separator: ", "))]"
    }

    /// A text of a list in YAML, in quotes where it would be something else without.
    private static func written(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D, 0x2E, 0x3D, 0x20: true
            default: false
            }
        }
        return isPlain && text.first?.isLetter == true && text.last != " " ? text : YAMLValue.quoted(text)
    }

    // MARK: The list

    /// In the order in which they are documented.
    public static let all: [ScenarioKey] = load + who + transport

    private static let load: [ScenarioKey] = [
        text("name", "Name of the run, part of the result's folder.", \.name),
        ScenarioKey(
            "pushes", .count, "Pushes to send, such as 5000, 10k or 1M.", range: "1 to 1,099,511,627,776",
            example: "100k",
            write: { $0.pushes.map(Units.written(count:)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.pushes = try read(texts, Units.count)
        },
        ScenarioKey(
            "duration", .duration, "Send for so long, such as 500ms, 10s, 5m or 1h.", range: "at most 30 days",
            example: "30s", write: { $0.duration.map(Units.written(duration:)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.duration = try read(texts, Units.duration)
        },
        duration(
            "drain",
            "After the duration: how long open pushes may still be answered; late ones may leave for a tenth of it.",
            \.drain),
        whole("connections", Scenario.Limits.connections, "Connections, over all threads.", \.connections),
        whole("streams", Scenario.Limits.streams, "Most streams open at once on a connection.", \.streams),
        whole("threads", Scenario.Limits.threads, "Worker threads.", \.threads),
        ScenarioKey(
            "rate", .rate, "Pushes a second, such as 500 or 20k; without it, as fast as the streams allow.",
            range: "0.000001 to 1G", example: "20k",
            write: { $0.rate.map { $0 == $0.rounded() ? Units.written(count: UInt64($0)) : "\($0)" } }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.rate = try read(texts, Units.rate)
        },
        ScenarioKey(
            "stages", .list,
            "Rates over time: ramp 1k 20k 10s, hold 20k 30s, burst 100k, pause 5s, sine 10k 5k 10s 60s, step 1k 9k 5 50s.",
            example: "[ramp 1k 20k 10s, hold 20k 30s]", write: { listed($0.stages.map(\.text)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.stages = []
            for text in texts { scenario.stages += try LoadStage.parse(text) }
        },
        ScenarioKey(
            "arrivals", .text, "How pushes are spread around the rate: constant, poisson, jitter or jitter:50%.",
            write: { $0.arrivals }
        ) { (scenario, texts) throws(SettingsError) in
            let text = try one(texts)
            _ = try Arrivals(parsing: text)
            scenario.arrivals = text
        },
        optional(
            "trace",
            "File of recorded due times to replay: one a line with its unit (1.5s, 20ms), or the first column of a CSV under "
                + "a header that names it (due_s, due_ms).",
            example: "due-times.csv", \.trace),
        count(
            "backlog", "Open loop: pushes that may wait although they are due; more overflow and are not sent.",
            range: "at least 1", \.backlog),
        choice(
            "pacing", Scenario.pacings,
            "Open loop: how a worker waits for a push to be due: sleep, spin (punctual, keeps its core busy), or auto (spin where a core is left over).",
            \.pacing),
        ScenarioKey(
            "warmup", .text,
            "Leave out of rate and latencies what is due within this time (5s), the first so many pushes (10k pushes), or what comes before rate and latency are steady (auto).",
            write: {
                $0.warmupAuto
                    ? "auto"
                    : $0.warmupPushes > 0
                        ? "\(Units.written(count: $0.warmupPushes)) pushes" : Units.written(duration: $0.warmup)
            }
        ) { (scenario, texts) throws(SettingsError) in
            let text = try one(texts)
            scenario.warmupAuto = text == "auto"
            if text == "auto" {
                (scenario.warmup, scenario.warmupPushes) = (0, 0)
            } else if text.hasSuffix("pushes") {
                scenario.warmupPushes = try read([text.dropLast(6).filter { $0 != " " }], Units.count)
            } else {
                do throws(SettingsError) { scenario.warmup = try read(texts, Units.duration) } catch {
                    // A number of pushes that does not say so.
                    guard (try? Units.duration(text)) == nil, (try? Units.count(text)) != nil else { throw error }
                    throw SettingsError("\(error), or \(text) pushes")
                }
            }
        },
        ScenarioKey(
            "by", .list,
            "Keep outcomes and latency apart by status, connection, or the device's tag that begins so (tag:location_).",
            example: "[status, tag:location_]", write: { listed($0.by) }
        ) { (scenario, texts) throws(SettingsError) in
            let words = words(texts)
            for word in words { _ = try BreakdownDimension(parsing: word) }
            scenario.by = words
        },
        flag("measure", "Time and record the stages of pushes; false only to find out what that costs.", \.measure),
        ScenarioKey(
            "profile", .text,
            "alert, silent, rich, rich-push, live-activity, voip, or a weighted mix such as alert:80,silent:15,rich:5.",
            write: { $0.profile.isEmpty ? nil : $0.profile }
        ) { (scenario, texts) throws(SettingsError) in
            let text = try one(texts)
            do throws(PayloadError) { _ = try ProfileMix(parsing: text) } catch {
                throw SettingsError(error.description)
            }
            scenario.profile = text
        },
        optional(
            "template", "File with a payload template instead of a profile: JSON with {{holes}}.",
            example: "push.json", \.template),
        text("push_type", "apns-push-type of the template.", \.pushType),
        ScenarioKey(
            "devices", .count,
            "Devices of the synthetic population, such as 1M; in a file also {registrations: FILE, audience: EXPRESSION}.",
            range: "at least 1", write: { Units.written(count: $0.devices) }
        ) { (scenario, texts) throws(SettingsError) in
            guard texts.first?.first != "{" else {
                throw SettingsError("a map only in a file: give --registrations and --audience instead")
            }
            scenario.devices = try read(texts, Units.count)
        },
        optional(
            "device_file", "File of device tokens, one a line, or CSV with token and tags.", example: "tokens.csv",
            \.deviceFile),
        optional(
            "registrations",
            "File of registrations, CSV or NDJSON: device tokens with tags; see pushload audience.",
            example: "registrations.csv", \.registrations),
        optional(
            "audience",
            "Which registrations are pushed to: tags with && || ! and parentheses, or * for all; each once, unless pushes, a duration, stages or a trace say otherwise.",
            example: "follows_RedSox && location_Boston", \.audience),
        choice(
            "environment", Scenario.environments,
            "Which registrations are pushed to, where their file says it: production, development or any.",
            \.environment),
        optional(
            "templates",
            "Notification Hubs templates that registrations or sends name: a folder of NAME.json, or a file.",
            example: "templates", \.templates),
        ScenarioKey(
            "properties", .list, "What goes into these templates: NAME=VALUE.", example: "[title=News]",
            write: { listed($0.properties.map(written)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.properties = texts
        },
        flag(
            "feedback",
            "Keep in a journal beside the registrations which devices are gone (410): later runs leave them out.",
            \.feedback),
        ScenarioKey(
            "sends", .list,
            "Several sends in one run: maps with name, audience and, where wanted, start, priority, profile or template, properties, collapse_id, repeat and every.",
            example: "[{name: news, audience: follows_RedSox, start: 2s, priority: 10}]",
            write: { listed($0.sends.map(\.text)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.sends = []
            for text in texts { scenario.sends += try SendSetting.list(parsing: text) }
        },
        text(
            "topic", "apns-topic: the app's bundle id; suffixes are added by push type.",
            example: "com.example.app", \.topic),
        ScenarioKey(
            "priority", .number, "apns-priority: 10, 5 or 1; without it, the push type's own.", example: "10",
            write: { $0.priority.map { "\($0)" } }
        ) { (scenario, texts) throws(SettingsError) in
            guard let value = Int(try one(texts)), [1, 5, 10].contains(value) else {
                throw SettingsError("\"\(texts[0])\": expected 10, 5 or 1")
            }
            scenario.priority = value
        },
        ScenarioKey(
            "expiration", .number, "apns-expiration: UNIX seconds, or 0 to try once.", example: "0",
            write: { $0.expiration.map { "\($0)" } }
        ) { (scenario, texts) throws(SettingsError) in
            guard let value = Int64(try one(texts)), value >= 0 else {
                throw SettingsError("\"\(texts[0])\": expected UNIX seconds, or 0")
            }
            scenario.expiration = value
        },
        optional("collapse_id", "apns-collapse-id, at most 64 bytes.", example: "news", \.collapseID),
        flag("apns_id", "Send an apns-id of our own with every push.", \.apnsID),
        count("seed", "Seed of everything random.", \.seed),
        ScenarioKey(
            "threshold", .list,
            """
            What the run must hold, else it exits 99: p99 < 50ms, accepted >= 99.9%, rate >= 10k. Rates: rate \
            (answered), goodput (accepted), sent_rate; in an open loop offered too, and shares of it: rate >= 0.95 * target.
            """, example: "[p99 < 50ms, accepted >= 99.9%]", write: { listed($0.thresholds) }
        ) { (scenario, texts) throws(SettingsError) in
            for text in texts { _ = try Threshold.list(parsing: text) }
            scenario.thresholds = texts
        },
        ScenarioKey(
            "metrics_port", .count, "Answer GET /metrics (Prometheus) at this loopback port while the run goes on.",
            range: "1 to 65535", example: "9100", write: { $0.metricsPort.map { "\($0)" } }
        ) { (scenario, texts) throws(SettingsError) in
            guard let port = UInt16(try one(texts)), port > 0 else {
                throw SettingsError("\"\(texts[0])\": expected a port from 1 to 65535")
            }
            scenario.metricsPort = port
        },
        flag(
            "abort_on_fail",
            "End the run as soon as a threshold on total latency, failed or rejected pushes is seen to be crossed.",
            \.abortOnFail),
        duration(
            "abort_on_fail_window", "How far back abort_on_fail judges latency.", range: "at least 1s",
            \.abortOnFailWindow),
        duration(
            "abort_on_fail_delay",
            "abort_on_fail judges nothing before so long after the start, and no latency of that time.",
            \.abortOnFailDelay),
        ScenarioKey(
            "expect_reasons", .list, "Reasons of rejections that are as wanted, such as BadDeviceToken,Unregistered.",
            example: "[BadDeviceToken, Unregistered]", write: { listed($0.expectedReasons) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.expectedReasons = words(texts)
        },
    ]

    private static let who: [ScenarioKey] = [
        optional(
            "credentials", "Folder with AuthKey.p8, credentials.json and ca.pem, as mock-apns --credentials makes it.",
            example: "credentials", \.credentials),
        optional("key", "File of the provider key (.p8).", example: "AuthKey.p8", \.key),
        optional("key_id", "Key id of --key, 10 characters.", example: "ABC123DEFG", \.keyID),
        optional("team_id", "Team id of --key, 10 characters.", example: "TEAM567890", \.teamID),
        optional(
            "cert", "File of a client certificate (PEM): certificate authentication instead of tokens.",
            example: "client.pem", \.cert),
        optional("cert_key", "File of the client certificate's key (PEM).", example: "client-key.pem", \.certKey),
        optional("cacert", "Trust the certificate authorities in this file (PEM).", example: "ca.pem", \.cacert),
        flag("no_auth", "Send no authorization at all.", \.noAuth),
        text(
            "sign_policy", "When provider tokens are signed: cached[:50m], per-connection, every:N or per-push.",
            \.signPolicy),
    ]

    private static let transport: [ScenarioKey] = [
        choice(
            "engine", Scenario.engines,
            "wire (frames written by pushload) or nghttp2.", \.engine),
        optional(
            "target", "URL to send to; without it, the bundled mock is started.", example: "https://127.0.0.1:2197",
            \.target),
        ScenarioKey(
            "allowed_targets", .list, "A host other than this machine that may be sent to, because it is yours.",
            example: "[push.test.example.com]", write: { listed($0.allowedTargets) }
        ) { (scenario, texts) throws(SettingsError) in
            let hosts = words(texts)
            for host in hosts where host.contains("/") || host.count(where: { $0 == ":" }) == 1 {
                throw SettingsError(
                    "\"\(host)\": expected a host without scheme and port, such as push.test.example.com")
            }
            scenario.allowedTargets = hosts
        },
        flag("plaintext", "Plaintext HTTP/2 with prior knowledge to the bundled mock.", \.plaintext),
        whole("mock_threads", Scenario.Limits.mockThreads, "Threads of the bundled mock.", \.mockThreads),
        ScenarioKey(
            "rtt", .duration, "Round-trip time of the link the bundled mock emulates, such as 80ms.", example: "80ms",
            write: { $0.rtt }
        ) { (scenario, texts) throws(SettingsError) in
            _ = try read(texts, Units.duration)
            scenario.rtt = texts[0]
        },
        optional(
            "mock_flags", "More flags of the bundled mock, as mock-apns serve --help lists them.",
            example: "--latency 20ms", \.mockFlagText),
        optional(
            "device_model",
            "What devices of the bundled mock do with pushes: on (the bundled model), or a file (docs/devices.md).",
            example: "on", \.deviceModel),
        optional(
            "device_backend",
            "URL of the backend that these devices ask; without it, the bundled one is started.",
            example: "http://127.0.0.1:8080", \.deviceBackend),
        optional(
            "backend_flags", "More flags of the bundled backend, as mock-apns backend --help lists them.",
            example: "--latency 20ms", \.backendFlagText),
        duration(
            "device_wait",
            "After the last push: how long devices that still fetch, decrypt or are about to show something are waited for.",
            range: "at most 1 hour", \.deviceWait),
        bytes(
            "send_batch", Scenario.Limits.sendBatch,
            "Bytes gathered before they are written, as TLS records of 16384 in one send.", \.sendBatch),
        bytes(
            "stream_window", Scenario.Limits.streamWindow, "Flow-control window of each stream towards us.",
            \.streamWindow),
        bytes(
            "connection_window", Scenario.Limits.connectionWindow, "Flow-control window of each connection towards us.",
            \.connectionWindow),
        bytes(
            "header_table", Scenario.Limits.headerTable, "HPACK table we offer for answers.", \.headerTableSize),
        bytes(
            "encoder_table", Scenario.Limits.encoderTable,
            "HPACK table we use for requests, as far as the peer allows.", \.encoderTableSize),
        flag(
            "huffman", "Engine wire: code header strings with Huffman where that makes them shorter.", \.huffman),
        bytes(
            "max_frame", Scenario.Limits.maxFrame, "Largest frame we take.", \.maxFrameSize),
        choice("tls_min", ["1.2", "1.3"], "Oldest TLS version.", \.tlsMinimum),
        choice("tls_max", ["1.2", "1.3"], "Newest TLS version.", \.tlsMaximum),
        optional("ciphers", "OpenSSL cipher list for TLS 1.2.", example: "ECDHE-ECDSA-AES128-GCM-SHA256", \.ciphers),
        optional(
            "ciphersuites", "OpenSSL cipher suites for TLS 1.3.", example: "TLS_AES_128_GCM_SHA256", \.ciphersuites),
        flag("nodelay", "TCP_NODELAY.", \.noDelay),
        flag("ktls", "Let the kernel seal and open TLS records (kTLS), where it can.", \.kernelTLS),
        ScenarioKey(
            "socket_send_buffer", .bytes, "SO_SNDBUF; without it, the kernel's own tuning.", example: "1MiB",
            write: { $0.socketSendBuffer.map(Units.written(bytes:)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.socketSendBuffer = try read(texts, Units.bytes)
        },
        ScenarioKey(
            "socket_receive_buffer", .bytes, "SO_RCVBUF; without it, the kernel's own tuning.", example: "1MiB",
            write: { $0.socketReceiveBuffer.map(Units.written(bytes:)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.socketReceiveBuffer = try read(texts, Units.bytes)
        },
        duration(
            "timeout",
            "A push unanswered for so long has failed; looked for each 20 ms, a shorter time each quarter of it.",
            range: "above 0", \.pushTimeout),
        duration(
            "connect_timeout", "TCP, TLS and SETTINGS must be there after so long.", range: "above 0", \.connectTimeout),
        duration("ping_interval", "Ask a silent connection with PING after so long.", \.pingInterval),
        duration("ping_timeout", "No byte for so long after a PING: the peer has vanished.", \.pingTimeout),
        duration("give_up_after", "With no connection for so long, all that is left has failed.", \.giveUpAfter),
        whole(
            "retry_limit", Scenario.Limits.retryLimit, "How often a push that was refused unprocessed is sent again.",
            \.retryLimit),
        ScenarioKey("retry", .text, "What else is sent again: off, or some of 429,5xx,connection.", write: { $0.retry })
        {
            (scenario, texts) throws(SettingsError) in
            let text = texts.joined(separator: ",")
            _ = try RetryPolicy(parsing: text)
            scenario.retry = text
        },
        count("retry_attempts", "How often one push is sent again for --retry, at most.", \.retryAttempts),
        duration(
            "retry_backoff", "The first wait before it is; it doubles each time, less a random half.", \.retryBackoff),
        ScenarioKey(
            "retry_budget", .text,
            "Retries for --retry at most this share of the pushes sent, but 10 a thread unless it is 0%.",
            range: "0% to 100%",
            write: { "\(Units.fixed($0.retryBudget * 100, places: 0))%" }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.retryBudget = try read(texts, Units.share)
        },
    ]
}

import Payloads
import Settings

/// The settings of one run; as people give them, `ScenarioKey`. Times are nanoseconds, sizes bytes.
public struct Scenario: Sendable, Equatable, Codable {
    public var name = "run"
    /// Pushes to send; nil: as many as `duration` allows.
    public var pushes: UInt64?
    public var duration: UInt64?
    /// What the run goes on for, instead of pushes or a duration; see `Precision`.
    public var until: String?
    /// How long it does at most; nil: `usualBudget`.
    public var budget: UInt64?
    /// Pushes a second in all; nil: as fast as the streams allow (closed loop), or what the stages say.
    public var rate: Double?
    /// An open loop's rates over time, one stage after the other.
    public var stages: [LoadStage] = []
    /// `constant`, `poisson`, `jitter:50%`: how pushes are spread around the rate.
    public var arrivals = "constant"
    /// A file of recorded due times, instead of a rate or stages.
    public var trace: String?
    /// A recording of what a provider sent (`mock-apns --record`), sent again instead of what else says what is sent and when.
    public var replay: String?
    /// As many times as fast as it was recorded.
    public var speed = 1.0
    /// Which recording it is, 16 hexadecimal digits; a run that has read it says so.
    public var replayCheck: String?
    /// Open loop: pushes that may wait although they are due; what comes due beyond it has overflowed and is not sent.
    public var backlog: UInt64 = 10_000_000
    /// How workers wait for a push to be due: `sleep`, `spin`, or `auto` (spin where a core is free for it).
    public var pacing = "sleep"
    /// Not measured: what is due within so long after the start, and the first so many pushes.
    public var warmup: UInt64 = 0
    public var warmupPushes: UInt64 = 0
    /// The warm-up ends when rate and latency are steady, at the latest after a quarter of the run.
    public var warmupAuto = false
    /// Keep outcomes and latency apart by these besides: `status`, `connection`, `tag:PREFIX`.
    public var by: [String] = []
    /// Time and record the stages of every push; false only to find out what that costs.
    public var measure = true
    /// In all workers together.
    public var connections = 1
    /// Most streams open at once on a connection.
    public var streams = 1000
    /// Workers: one thread each.
    public var threads = 1
    /// Cores that they are pinned to, one each in turn, as `CoreList` reads them; nil: they run where the system puts them.
    public var pin: String?
    /// The same, read; nil where it cannot be.
    package var pins: CoreList? { pin.flatMap { try? CoreList(parsing: $0) } }
    /// A profile or a weighted mix, or the template's file name.
    public var profile = "alert"
    public var template: String?
    public var pushType = "alert"
    public var devices: UInt64 = 1_000_000
    public var deviceFile: String?
    /// A registrations file: who there is, with tags.
    public var registrations: String?
    /// Which of them are pushed to: a tag expression; `*` is everyone.
    public var audience: String?
    /// Of which environment they are, where the file says it: `any`, or the target's.
    public var environment = "production"
    /// Hub templates that registrations and sends name: a folder or a file.
    public var templates: String?
    /// What goes into them, `NAME=VALUE` each.
    public var properties: [String] = []
    /// Keep what answers say of registrations (410, BadDeviceToken) in a journal beside them; who is gone is not pushed to again.
    public var feedback = true
    /// Several sends, each to an audience of its own.
    public var sends: [SendSetting] = []
    /// Empty: that of the credentials, or com.example.pushload.
    public var topic = ""
    public var priority: Int?
    public var expiration: Int64?
    public var collapseID: String?
    /// Send an `apns-id` of our own with every push.
    public var apnsID = false
    public var seed: UInt64 = 1
    public var signPolicy = "cached:50m"
    /// `token`, `certificate` or `none`.
    public var authentication: String { noAuth ? "none" : cert != nil ? "certificate" : "token" }
    public var noAuth = false
    /// Files and ids of who sends, and whom we trust.
    public var credentials: String?
    public var key: String?
    public var keyID: String?
    public var teamID: String?
    public var cert: String?
    public var certKey: String?
    public var cacert: String?
    public var engine = "wire"
    /// nil: the bundled mock.
    public var target: TargetList?
    /// Hosts besides this machine that may be sent to.
    public var allowedTargets: [String] = []
    /// What the run must hold, such as `p99 < 50ms`; see `Threshold`.
    public var thresholds: [String] = []
    /// End the run as soon as a threshold is seen to be crossed.
    public var abortOnFail = false
    /// How far back latency is judged for it.
    public var abortOnFailWindow: UInt64 = 10_000_000_000
    /// Nothing is judged for it before so long after the start.
    public var abortOnFailDelay: UInt64 = 0
    /// Rejections that do not make the run fail: reasons, statuses such as `503`, and `none` for answers without a reason.
    public var expectedReasons: [String] = []

    // Tunings.
    public var sendBatch = 65_536
    /// Answers gather for so long before they are read, while nothing is due, ns; 0: they are read as they come.
    public var readBatch: UInt64 = 0
    public var streamWindow = 65_535
    public var connectionWindow = 1_048_576
    public var headerTableSize = 4096
    public var encoderTableSize = 4096
    /// Engine `wire`: header strings coded with Huffman where that makes them shorter.
    public var huffman = false
    public var maxFrameSize = 16_384
    public var tlsMinimum = "1.2"
    public var tlsMaximum = "1.3"
    public var ciphers: String?
    public var ciphersuites: String?
    public var noDelay = true
    /// Let the kernel seal and open TLS records.
    public var kernelTLS = false
    public var socketSendBuffer: Int?
    public var socketReceiveBuffer: Int?
    public var plaintext = false

    // Patience.
    /// After the run's `duration`: how long what is open may still be answered.
    public var drain: UInt64 = 10_000_000_000
    public var pushTimeout: UInt64 = 30_000_000_000
    public var connectTimeout: UInt64 = 10_000_000_000
    public var pingInterval: UInt64 = 5_000_000_000
    public var pingTimeout: UInt64 = 5_000_000_000
    public var giveUpAfter: UInt64 = 10_000_000_000
    /// After the second attempt of a connection that failed, a random time of up to this; doubled with each further one that a server
    /// took.
    public var reconnectDelay: UInt64 = 50_000_000
    /// No longer than this.
    public var reconnectDelayMax: UInt64 = 5_000_000_000
    public var retryLimit = 10
    /// What is sent again besides: `off`, or some of `429,5xx,connection`; see `RetryPolicy`.
    public var retry = "off"
    /// How often one push is, at most.
    public var retryAttempts: UInt64 = 3
    /// The first wait; it doubles each time, and a random half is taken off.
    public var retryBackoff: UInt64 = 100_000_000
    /// Retries at most this share of the pushes sent, 0 to 1: a retry storm helps nobody.
    public var retryBudget = 0.1

    /// Answer `GET /metrics` at this loopback port while the run goes on.
    public var metricsPort: UInt16?
    /// Threads of the bundled mock.
    public var mockThreads = 1
    /// Round-trip time of the link the bundled mock emulates.
    public var rtt: String?
    /// Further flags of the bundled mock, as its `--help` lists them, in one text with quotes where needed.
    public var mockFlagText: String?
    /// The same, apart.
    public var mockFlags: [String] { (rtt.map { ["--rtt", $0] } ?? []) + (mockFlagText.map(Self.words) ?? []) }
    /// Whether a flag, such as `--pin`, is among them.
    package func mockIsGiven(_ flag: String) -> Bool {
        mockFlags.contains { $0 == flag || $0.hasPrefix(flag + "=") }
    }

    /// What the bundled mock's devices do with pushes: `on`, or a file; nil: nothing.
    public var deviceModel: String?
    /// Whom they ask; nil: the bundled backend.
    public var deviceBackend: String?
    /// Further flags of the bundled backend, in one text with quotes where needed.
    public var backendFlagText: String?
    /// The same, apart.
    public var backendFlags: [String] { backendFlagText.map(Self.words) ?? [] }
    /// After the last push: how long devices that still fetch, decrypt or wait to show something are waited for.
    public var deviceWait: UInt64 = 35_000_000_000

    /// What numbers may be; sizes in bytes.
    enum Limits {
        static let connections = 1...100_000
        /// A second.
        static let rate = 1e-6...1e9
        /// A connection.
        static let streams = 1...1_000_000
        static let threads = 1...256
        static let mockThreads = 1...256
        static let sendBatch = 1...65_536
        /// ns.
        static let readBatch: ClosedRange<UInt64> = 0...10_000_000
        static let streamWindow = 0...2_147_483_647
        static let connectionWindow = 65_535...2_147_483_647
        static let headerTable = 0...1_048_576
        static let encoderTable = 0...1_048_576
        static let maxFrame = 16_384...16_777_215
        static let retryLimit = 0...255
        static let speed = 0.01...1000
    }

    /// In all.
    package static let mostConnections = Limits.connections.upperBound
    /// Pushes a second.
    package static let mostRate = Limits.rate.upperBound

    /// The bundled mock is of the first unless told otherwise.
    public static let environments = ["production", "development", "any"]

    public static let engines = ["wire", "nghttp2"]

    public static let pacings = ["sleep", "spin", "auto"]

    public init() {}

    /// Open loop: pushes are due at their time, whatever the answers do. Closed loop: a push is due when a stream is free.
    public var isOpenLoop: Bool { rate != nil || !stages.isEmpty || trace != nil || replay != nil }

    /// When pushes are due; nil in closed loop. Poisson arrivals are counted through once, so that it is asked for once a run.
    ///
    /// - Throws: what is wrong with the trace's file.
    public func makeSchedule() throws(SettingsError) -> LoadSchedule? {
        if let trace { return LoadSchedule(trace: try ArrivalTrace.read(trace), limit: pushes, length: duration) }
        let process = try Arrivals(parsing: arrivals)
        func make(_ arrivals: Arrivals) -> LoadSchedule? {
            if !stages.isEmpty {
                return LoadSchedule(stages: stages, arrivals: arrivals, seed: seed, limit: pushes, length: duration)
            }
            return rate.map { LoadSchedule(rate: $0, arrivals: arrivals, seed: seed, limit: pushes, length: duration) }
        }
        if case .poisson = process, let expected = make(.constant)?.count, expected > Self.mostPoisson {
            throw SettingsError(
                "\(Units.grouped(expected)) pushes with Poisson arrivals: at most \(Units.grouped(Self.mostPoisson)), because each "
                    + "is drawn beforehand to count them; give fewer, or arrivals: jitter")
        }
        return make(process)
    }

    /// Pushes of a Poisson process: counting them takes about 20 ns each.
    static let mostPoisson: UInt64 = 500_000_000

    /// Settings of which only one can be in force.
    static let exclusive: [Set<String>] = [
        ["pushes", "until"], ["duration", "until"], ["rate", "stages", "trace", "replay"],
        ["profile", "template", "replay"],
        ["devices", "device_file", "registrations", "replay"],
        ["audience", "sends"], ["key", "credentials"],
        ["key", "no_auth"],
    ]

    /// Of the settings that exclude each other a source gives one, and it replaces what weaker sources gave.
    ///
    /// - Parameters:
    ///   - settings: the keys that the source gives, with the text of those that have one.
    ///   - wrong: the error for a problem with the key of that name.
    /// - Throws: when it gives several.
    package mutating func makeRoom(
        for settings: [(name: String, text: String?)], wrong: (_ problem: String, _ name: String) -> SettingsError
    ) throws(SettingsError) {
        // What goes with a setting that somebody else gave goes with it.
        for setting in settings where Self.isOff(setting.text) { clear(companionsOf: setting.name) }
        // Off is as good as not given.
        let names = settings.filter { $0.name != "no_auth" || ["true", "yes", "on"].contains($0.text) }.map(\.name)
        if names.contains("cert") { for name in ["key", "no_auth"] where !names.contains(name) { clear(name) } }
        if names.contains("key") || names.contains("no_auth"), !names.contains("cert") { clear("cert") }
        if names.contains("no_auth") || names.contains("cert") { signPolicy = Scenario().signPolicy }
        for group in Self.exclusive {
            let given = names.filter(group.contains)
            guard let first = given.first else { continue }
            if let other = given.first(where: { $0 != first }) {
                throw wrong("\(first) and \(other) exclude each other: give one of them", other)
            }
            for name in group where name != first { clear(name) }
        }
    }

    private static func isOff(_ text: String?) -> Bool { ["off", "false", "no"].contains(text) }

    /// Makes settings that only go with one that is turned off what they are without being given.
    private mutating func clear(companionsOf name: String) {
        let usual = Scenario()
        switch name {
        case "device_model": clear(name)
        case "abort_on_fail":
            (abortOnFailWindow, abortOnFailDelay) = (usual.abortOnFailWindow, usual.abortOnFailDelay)
        case "retry":
            (retryAttempts, retryBackoff, retryBudget) = (usual.retryAttempts, usual.retryBackoff, usual.retryBudget)
        default: break
        }
    }

    /// Makes a setting, and those that only go with it, what they are without being given.
    private mutating func clear(_ name: String) {
        let usual = Scenario()
        switch name {
        case "pushes": pushes = nil
        case "duration": duration = nil
        case "until": (until, budget) = (nil, nil)
        case "rate": rate = nil
        case "stages": stages = []
        case "trace": trace = nil
        case "replay": (replay, speed, replayCheck) = (nil, usual.speed, nil)
        case "profile": profile = usual.profile
        case "template": (template, pushType) = (nil, usual.pushType)
        case "devices": devices = usual.devices
        case "device_file": deviceFile = nil
        case "registrations":
            (registrations, audience, templates, properties, sends) = (nil, nil, nil, [], [])
            environment = usual.environment
        case "device_model":
            (deviceModel, deviceBackend, backendFlagText, deviceWait) = (nil, nil, nil, usual.deviceWait)
        case "audience": audience = nil
        case "sends": sends = []
        case "key": (key, keyID, teamID) = (nil, nil, nil)
        case "cert": (cert, certKey) = (nil, nil)
        case "credentials": credentials = nil
        default: noAuth = false
        }
    }

    /// Flags, by the names of their keys, with their texts where they were given.
    ///
    /// - Throws: `--rate: …`
    public mutating func apply(flags: [(key: String, texts: [String]?)]) throws(SettingsError) {
        let given = flags.filter { $0.texts != nil }
        try makeRoom(for: given.map { ($0.key, $0.texts?.first) }) { text, name in
            SettingsError("\(ScenarioKey.named(name)?.flag ?? name): \(text)")
        }
        for (name, texts) in given {
            guard let texts, let key = ScenarioKey.named(name) else { continue }
            do throws(SettingsError) { try key.apply(texts, to: &self) } catch {
                throw SettingsError("\(key.flag)\(key.number(ofWrong: texts)): \(error)")
            }
        }
    }

    /// With the topic a run without credentials has, for checking.
    public var withDefaultTopic: Scenario {
        var scenario = self
        // A recording has its own.
        if scenario.topic.isEmpty, scenario.replay == nil { scenario.topic = "com.example.pushload" }
        return scenario
    }

    /// The thresholds, read; those that cannot be are left out (`validate` names them).
    public var parsedThresholds: [Threshold] { thresholds.flatMap { (try? Threshold.list(parsing: $0)) ?? [] } }

    /// What does not go together of registrations, audience and sends.
    private var audienceProblems: [String] {
        var problems: [String] = []
        guard registrations != nil else { return [] }
        if audience == nil, sends.isEmpty {
            problems.append(
                "registrations: say who is pushed to: an audience (a tag expression, * for everyone) or sends")
        }
        guard !sends.isEmpty else { return problems }
        let each = sends.flatMap(\.each)
        if each.count > SendSetting.most {
            problems.append(
                "sends: \(each.count)\(each.count > sends.count ? " with repeats" : ""); at most \(SendSetting.most)")
        }
        var names: Set<String> = []
        for send in each where !names.insert(send.name).inserted {
            problems.append("sends: \"\(send.name)\" is there twice")
        }
        for (name, isGiven) in [
            ("pushes", pushes != nil), ("template", template != nil), ("warmup", warmupPushes > 0),
            ("trace", trace != nil),
        ] where isGiven {
            problems.append("\(name): does not go with sends, whose devices get one push each")
        }
        return problems
    }

    /// What does not go together with a recording.
    private var replayProblems: [String] {
        var problems: [String] = []
        if !Limits.speed.contains(speed) { problems.append("speed \(speed): expected 0.01 to 1000") }
        guard replay != nil else { return problems }
        let usual = Scenario()
        for (name, isGiven) in [
            ("rate", rate != nil), ("stages", !stages.isEmpty), ("trace", trace != nil),
            ("profile", profile != usual.profile), ("template", template != nil), ("device_file", deviceFile != nil),
            ("registrations", registrations != nil), ("arrivals", arrivals != usual.arrivals),
            ("priority", priority != nil), ("expiration", expiration != nil), ("collapse_id", collapseID != nil),
        ] where isGiven {
            problems.append("\(name): does not go with replay, the recording says it")
        }
        if threads != 1 {
            problems.append(
                "threads \(threads): a recording is sent by one, so that each push goes over its connection; leave it out"
            )
        }
        return problems
    }

    static let usualBudget: UInt64 = 60_000_000_000

    /// As it is run: one that goes on until a figure is known lasts as long as it may at most, and finds its warm-up where none is given.
    package var withLength: Scenario {
        guard until != nil, duration == nil else { return self }
        var scenario = self
        scenario.budget = budget ?? Self.usualBudget
        scenario.duration = scenario.budget
        if warmup == 0, warmupPushes == 0 { scenario.warmupAuto = true }
        return scenario
    }

    /// What does not go with a run that ends when a figure is known.
    private var untilProblems: [String] {
        guard let until else { return [] }
        do throws(SettingsError) { _ = try Precision(parsing: until) } catch { return ["until \(error)"] }
        var problems: [String] = []
        for (name, isGiven, why) in [
            ("pushes", pushes != nil, "the figure ends the run, or its budget"),
            ("duration", duration != nil && duration != budget, "give budget for how long it may take at most"),
            ("stages", !stages.isEmpty, "it needs a load that stays what it is"),
            ("trace", trace != nil, "it needs a load that stays what it is"),
            ("replay", replay != nil, "it needs a load that stays what it is"),
            ("sends", !sends.isEmpty, "whose audiences end the run"),
            ("measure false", !measure, "without latencies no figure is known"),
        ] where isGiven {
            problems.append("until: does not go with \(name): \(why)")
        }
        if let budget, budget < 1_000_000_000 || budget > 30 * 86_400 * 1_000_000_000 {
            problems.append("budget \(Units.written(duration: budget)): expected 1s to 30 days")
        }
        return problems
    }

    /// Every problem there is, one line each: what, its value, what would be right. Empty when the scenario can be run.
    public func validate() -> [String] {
        var problems: [String] = []
        func check(_ isRight: Bool, _ problem: @autoclosure () -> String) {
            if !isRight { problems.append(problem()) }
        }
        check(
            pushes != nil || duration != nil || until != nil || trace != nil || replay != nil || !stages.isEmpty
                || registrations != nil || audience != nil
                || !sends.isEmpty,
            "nothing says when to stop: give pushes (-n), a duration (-D), or both")
        problems += idle(of: ScenarioKey.withoutSchedule) + audienceProblems + untilProblems
        check(
            [rate != nil, !stages.isEmpty, trace != nil].count { $0 } <= 1,
            "a rate, stages and a trace exclude each other: give one of them")
        problems += replayProblems
        for stage in stages {
            if let problem = stage.problem { problems.append("stage \"\(stage.name)\": \(problem)") }
        }
        do throws(SettingsError) { _ = try Arrivals(parsing: arrivals) } catch { problems.append(error.description) }
        for text in thresholds {
            do throws(SettingsError) {
                for threshold in try Threshold.list(parsing: text) where !measure {
                    guard case .latency = threshold.metric else { continue }
                    problems.append(
                        "threshold \"\(threshold.text)\": with --no-measure no latency is recorded; leave out one of them"
                    )
                }
            } catch { problems.append("threshold \(error)") }
        }
        check(backlog >= 1, "backlog 0: expected at least 1 push")
        check(pushes != 0, "pushes 0: expected at least 1")
        check(pushes ?? 0 <= 1 << 40, "pushes \(pushes ?? 0): at most \(1 << 40)")
        // One that is the budget's is what the budget is.
        let length = until != nil && duration == budget ? nil : duration
        check(length != 0, "duration 0: expected more than 0")
        check(length ?? 0 <= 30 * 86_400 * 1_000_000_000, "duration: at most 30 days")
        check(
            Limits.rate.contains(rate ?? 1), "rate \(rate ?? 0): expected 0.000001 to 1000000000 pushes/s"
        )
        check(Limits.threads.contains(threads), "threads \(threads): expected 1 to 256")
        if let pin {
            do throws(Units.ParseError) { _ = try CoreList(parsing: pin) } catch { problems.append("pin \(error)") }
        }
        check(Limits.connections.contains(connections), "connections \(connections): expected 1 to 100000")
        if Limits.connections.contains(connections) {
            check(
                connections >= threads, "connections \(connections): each of the \(threads) threads needs at least one")
            let targets = target?.urls.count ?? 1
            check(
                connections >= targets, "connections \(connections): each of the \(targets) targets needs at least one")
        }
        check(Limits.streams.contains(streams), "streams \(streams): expected 1 to 1000000 a connection")
        check(devices >= 1, "devices 0: expected at least 1")
        check(Limits.sendBatch.contains(sendBatch), "send batch \(sendBatch): expected 1 to 65536 bytes")
        check(
            Limits.readBatch.contains(readBatch),
            "read batch \(Units.duration(nanoseconds: Double(readBatch))): expected 0 to 10ms")
        check(
            Limits.streamWindow.contains(streamWindow), "stream window \(streamWindow): expected 0 to 2147483647 bytes")
        check(
            Limits.connectionWindow.contains(connectionWindow),
            "connection window \(connectionWindow): expected 65535 to 2147483647 bytes")
        check(
            Limits.headerTable.contains(headerTableSize), "header table \(headerTableSize): expected 0 to 1048576 bytes"
        )
        check(
            Limits.encoderTable.contains(encoderTableSize),
            "encoder table \(encoderTableSize): expected 0 to 1048576 bytes"
        )
        check(
            Limits.maxFrame.contains(maxFrameSize), "frame size \(maxFrameSize): expected 16384 to 16777215 bytes"
        )
        check(["1.2", "1.3"].contains(tlsMinimum), "TLS version \(tlsMinimum): expected 1.2 or 1.3")
        check(["1.2", "1.3"].contains(tlsMaximum), "TLS version \(tlsMaximum): expected 1.2 or 1.3")
        check(
            tlsMinimum <= tlsMaximum,
            "TLS versions: the oldest (\(tlsMinimum)) is newer than the newest (\(tlsMaximum))")
        check(
            abortOnFailWindow >= 1_000_000_000,
            "abort_on_fail_window \(Units.duration(nanoseconds: Double(abortOnFailWindow))): expected at least 1s, because "
                + "thresholds are looked at once a second")
        if PushType(rawValue: pushType) == nil {
            let known = PushType.allCases.map(\.rawValue)
            let near = NearestName.of(pushType, among: known).map { "; did you mean \"\($0)\"?" }
            problems.append(
                "push type \"\(pushType)\": known types: \(known.joined(separator: ", "))\(near ?? "")")
        }
        check(pushTimeout > 0, "push timeout 0: expected more than 0")
        check(connectTimeout > 0, "connect timeout 0: expected more than 0")
        check(giveUpAfter > 0, "give up after 0: expected more than 0")
        check(Limits.retryLimit.contains(retryLimit), "retry limit \(retryLimit): expected 0 to 255")
        for (name, delay) in [("reconnect_delay", reconnectDelay), ("reconnect_delay_max", reconnectDelayMax)] {
            check(delay <= 3_600_000_000_000, "\(name): at most 1h")
        }
        check(
            reconnectDelay <= reconnectDelayMax,
            "reconnect_delay: expected at most reconnect_delay_max, which is \(Units.written(duration: reconnectDelayMax))"
        )
        check(
            Self.engines.contains(engine),
            "engine \"\(engine)\": known engines: \(Self.engines.joined(separator: ", "))")
        check(
            Self.pacings.contains(pacing),
            "pacing \"\(pacing)\": expected one of \(Self.pacings.joined(separator: ", "))")
        for flag in ["--device-model", "--device-log", "--device-backend"] where deviceModel != nil {
            check(
                !mockIsGiven(flag),
                "mock_flags: \(flag) is set by device_model; leave it out")
        }
        check(deviceWait <= 3_600_000_000_000, "device_wait: at most 1h")
        check(Limits.mockThreads.contains(mockThreads), "mock threads \(mockThreads): expected 1 to 256")
        return problems
    }

    /// Splits at spaces, except within quotes.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in text {
            if character == quote {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if quote == nil, character == " " {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return word.map { words + [$0] } ?? words
    }
}

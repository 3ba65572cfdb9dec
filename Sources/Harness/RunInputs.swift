import Foundation
import Measurement
import Networking
import Payloads
import Results
import Scenarios
import Settings
import Signing

/// A scenario with everything it names loaded and checked.
package struct RunInputs: Sendable {
    package let scenario: Scenario
    let mix: ProfileMix
    let headers: [PushHeaders]
    let population: DevicePopulation
    let policy: SigningPolicy
    package let run: RunID
    /// Which part of the run this process sends.
    package let place: RunPlace
    /// As `timePassed` says.
    private(set) var passed: UInt64 = 0
    /// When pushes are due; nil in closed loop.
    package let schedule: LoadSchedule?
    /// Where it goes to registrations: to which.
    package let sends: Sends?
    /// Open loop with several sends: whose turn it is when.
    let turns: SendTurns?
    /// A recording that is sent again; nil: what is sent is made.
    let replay: Replay?
    /// The number of pushes, where it is known beforehand; nil when it depends on how fast they go.
    package let planned: UInt64?
    /// What outcomes are kept apart by besides.
    package let breakdown: [BreakdownDimension]
    /// The notification that was stored in the devices' backend for it; 0: none.
    var notification: UInt64 = 0
    /// What the run goes on for; nil: it ends otherwise.
    var precision: Precision? { scenario.until.flatMap { try? Precision(parsing: $0) } }
    /// CPU time that every push costs besides, ns; for finding out what would be noticed.
    var injectedCPU: UInt64 = 0

    /// - Parameter run: nil: what all workers have, or drawn.
    /// - Throws: one line for each problem of the scenario and of what it names.
    package init(_ scenario: Scenario, run: RunID? = nil, place: RunPlace = .alone) throws(HarnessError) {
        let scenario = scenario.withDefaultTopic.withLength
        guard scenario.validate().isEmpty else {
            throw HarnessError(Self.problems(scenario).joined(separator: "\n"))
        }
        do { try self.init(loading: scenario, run: run, place: place) } catch {
            let all = Self.problems(scenario)
            guard !all.contains("\(error)") else { throw HarnessError(all.joined(separator: "\n")) }
            throw (error as? HarnessError ?? HarnessError("\(error)")).and(all)
        }
    }

    /// - Parameter scenario: one without problems of its own.
    private init(loading scenario: Scenario, run: RunID? = nil, place: RunPlace = .alone) throws {
        var scenario = scenario
        self.place = place
        replay = try scenario.replay.map {
            try Replay($0, speed: scenario.speed, topic: scenario.topic, now: Int64(Date().timeIntervalSince1970))
        }
        if let replay { try Self.take(replay, into: &scenario, place) }
        policy = try SigningPolicy(parsing: scenario.signPolicy)
        sends = try scenario.registrations.map { try Sends(scenario, $0, now: place.common?.created) }
        if let sends, !sends.isOnce, scenario.pushes == nil, scenario.duration == nil, scenario.stages.isEmpty,
            scenario.trace == nil
        {
            scenario.pushes = sends.count
        }
        self.scenario = scenario
        if let sends {
            population = .listed(sends.all[0].devices)
        } else if let path = scenario.deviceFile {
            population = .listed(try DeviceFile(path: path))
        } else {
            population = .synthetic(SyntheticDevices(seed: scenario.seed, count: scenario.devices))
        }
        let longestToken = population.longestToken
        mix = try sends?.mix ?? replay?.mix ?? Self.mix(scenario, longestToken: longestToken)
        var headers = replay?.headers ?? []
        let owners = sends?.all.flatMap { send in send.mix.entries.map { _ in send } }
        for (place, entry) in mix.entries.enumerated() where replay == nil {
            // An explicit priority is for every profile, whether APNs takes it or not.
            let wanted = owners.map { $0[place].priority } ?? scenario.priority
            headers.append(
                try PushHeaders(
                    pushType: entry.profile.pushType, bundleID: scenario.topic,
                    priority: wanted ?? entry.profile.priority, expiration: scenario.expiration,
                    collapseID: owners.map { $0[place].collapseID } ?? scenario.collapseID))
        }
        self.headers = headers
        let order = sends.flatMap { $0.isOnce ? Self.order($0) : nil }
        (schedule, turns) =
            try replay.map {
                (LoadSchedule(trace: $0.dues, limit: scenario.pushes, length: scenario.duration), nil)
            } ?? Self.schedule(scenario, order)
        breakdown = try scenario.by.map(BreakdownDimension.init(parsing:))
        planned = schedule?.count ?? (order != nil ? sends?.count : scenario.duration == nil ? scenario.pushes : nil)
        self.run = run ?? place.common?.run ?? RunID(UInt64.random(in: 1 ... .max))
        passed = timePassed()
    }

    /// Starts, priorities, first numbers and counts of several sends; nil where there is one, or none.
    var sendOrder: [(start: UInt64, priority: Int, first: UInt64, count: UInt64)]? {
        sends.flatMap { $0.isOnce ? Self.order($0) : nil }
    }

    private static func order(_ sends: Sends) -> [(start: UInt64, priority: Int, first: UInt64, count: UInt64)] {
        sends.all.map { ($0.start, $0.priority ?? $0.mix.entries[0].profile.priority, $0.first, $0.count) }
    }

    /// - Throws: when the schedule has not enough for all sends.
    private static func schedule(
        _ scenario: Scenario, _ order: [(start: UInt64, priority: Int, first: UInt64, count: UInt64)]?
    ) throws -> (LoadSchedule?, SendTurns?) {
        guard let order, let whole = try bounded(scenario, order).makeSchedule() else {
            return (try scenario.makeSchedule(), nil)
        }
        guard let turns = SendTurns(whole, order) else {
            throw HarnessError(
                "sends: their \(Units.grouped(order.reduce(0) { $0 + $1.count })) pushes do not all come due within the schedule; "
                    + "give a higher rate, more time or smaller audiences")
        }
        var cut = scenario
        cut.pushes = turns.slots
        return (
            try cut.makeSchedule()?.leavingOut(turns.gaps, count: order.reduce(0) { $0 + $1.count }), turns
        )
    }

    /// Poisson arrivals are counted through, and a rate alone has no end: as many as all sends can come to need.
    ///
    /// - Throws: when that is more than can be drawn in a second or two.
    private static func bounded(
        _ scenario: Scenario, _ order: [(start: UInt64, priority: Int, first: UInt64, count: UInt64)]
    ) throws -> Scenario {
        guard scenario.arrivals == "poisson" else { return scenario }
        var steady = scenario
        steady.arrivals = "constant"
        guard let schedule = try steady.makeSchedule() else { return scenario }
        let begun = schedule.expected(by: Double(order.map(\.start).max() ?? 0) / 1e9)
        let needed = begun + Double(order.reduce(0) { $0 + $1.count })
        guard needed <= Double(mostPoisson) else {
            throw HarnessError(
                "sends: with Poisson arrivals up to \(Units.grouped(UInt64(min(needed, 1e18)))) due times pass until the last of "
                    + "them has had its turn: at most \(Units.grouped(mostPoisson)), because each is drawn beforehand; give a "
                    + "lower rate, earlier starts or smaller audiences, or arrivals: jitter")
        }
        var bounded = scenario
        bounded.pushes = UInt64(1.1 * needed + 10_000)
        return bounded
    }

    /// Due times of several sends with Poisson arrivals: each is drawn three times, about 10 ns each.
    private static let mostPoisson: UInt64 = 50_000_000

    /// What pushes are made by.
    ///
    /// - Parameter profile: instead of the scenario's.
    static func mix(_ scenario: Scenario, profile: String? = nil, longestToken: Int) throws -> ProfileMix {
        if profile == nil, let path = scenario.template {
            return ProfileMix(try template(path, scenario, longestToken: longestToken))
        }
        return try ProfileMix(parsing: profile ?? scenario.profile, longestToken: longestToken)
    }

    /// Keys that say whether others make sense.
    package static let shaping: Set<String> = [
        "pushes", "duration", "rate", "stages", "trace", "replay", "speed", "arrivals", "measure", "warmup", "target",
        "no_auth", "cert",
        "threads", "connections", "tls_min", "tls_max", "retry", "rtt", "plaintext", "devices", "registrations",
        "audience",
        "sends", "templates", "properties",
    ]

    /// Everything that is wrong with a scenario, one line each: what it says, what it names, and what it would not mean.
    package static func problems(_ scenario: Scenario) -> [String] {
        let scenario = scenario.withLength
        // Settings that only lack others come last.
        let idle = scenario.idle
        var problems = scenario.validate().filter { !idle.contains($0) }
        // Arrivals and thresholds are among both.
        for problem in unusable(scenario) + misunderstood(scenario) where !problems.contains(problem) {
            problems.append(problem)
        }
        return problems + idle
    }

    /// What `checkMeaning` says of as much of a scenario as can be used.
    private static func misunderstood(_ scenario: Scenario) -> [String] {
        let independent = misnamed(scenario)
        var usable = Scenario().withDefaultTopic
        (usable.pushes, usable.duration) = (scenario.pushes, scenario.duration)
        (usable.rate, usable.stages, usable.trace) = (scenario.rate, scenario.stages, scenario.trace)
        usable.replay = scenario.replay
        if scenario.replay != nil { usable.speed = scenario.speed }
        usable.measure = scenario.measure
        if scenario.rate != nil || !scenario.stages.isEmpty { usable.arrivals = scenario.arrivals }
        if scenario.target == nil {
            (usable.rtt, usable.mockFlagText, usable.plaintext) = (
                scenario.rtt, scenario.mockFlagText, scenario.plaintext
            )
            if !scenario.plaintext { usable.tlsMaximum = scenario.tlsMaximum }
        }
        usable.deviceModel = scenario.target == nil ? scenario.deviceModel : nil
        usable.by = scenario.by.filter { (try? BreakdownDimension(parsing: $0)) != nil }
        if (1...Scenario.mostConnections).contains(scenario.connections) { usable.connections = scenario.connections }
        if scenario.connectTimeout > 0 { usable.connectTimeout = scenario.connectTimeout }
        (usable.warmup, usable.warmupPushes) = (scenario.warmup, scenario.warmupPushes)
        // Several need as many connections, which are not looked at here.
        usable.target = scenario.target.map { TargetList($0.urls[0]) }
        (usable.noAuth, usable.cert) = (scenario.noAuth, scenario.cert)
        // Which devices there are, and what is sent, may be known of the whole run only.
        var isApart = Set(["tag", "profile", "send"])
        if scenario.registrations == nil, scenario.deviceFile == nil, scenario.sends.isEmpty { isApart = [] }
        if let path = scenario.template {
            if (try? template(path, scenario, longestToken: SyntheticDevices.tokenLength)) != nil {
                (usable.template, usable.pushType) = (path, scenario.pushType)
            } else {
                isApart.insert("profile")
            }
        } else if (try? ProfileMix(parsing: scenario.profile)) != nil {
            usable.profile = scenario.profile
        } else {
            isApart.insert("profile")
        }
        usable.thresholds = scenario.thresholds.filter { (try? Threshold.list(parsing: $0)) != nil }
        guard usable.validate().isEmpty, let inputs = try? RunInputs(loading: usable) else { return independent }
        // The templates of registrations, which say what devices have of pushes, are not looked at here.
        return independent
            + inputs.meaningless { threshold in
                guard case .latency(let stage, _, let part) = threshold.metric else { return true }
                let isOfPayload = Stage.ofDevices.contains { $0.key == stage } && usable.deviceModel != nil
                let isKnown = part.map { !isApart.contains($0.dimension.prefix { $0 != ":" }.description) } ?? true
                return isKnown && !(isOfPayload && scenario.registrations != nil)
            }
    }

    /// Pushes that are sent as asked although APNs refuses them, a sentence for each push type and priority.
    var refusals: [String] {
        guard replay == nil else { return [] }
        var seen: Set<String> = []
        return headers.filter { !$0.pushType.priorities.contains($0.priority) }.compactMap { headers in
            let taken = headers.pushType.priorities.map(String.init).joined(separator: " or ")
            let note =
                "priority \(headers.priority): sent as asked with pushes of type \(headers.pushType.rawValue), which APNs refuses with it "
                + "(400 BadPriority); it takes \(taken)"
            return seen.insert(note).inserted ? note : nil
        }
    }

    /// What of that which a scenario names cannot be used: sign policy, headers, devices, profile or template, schedule, parts; one
    /// line each.
    package static func unusable(_ scenario: Scenario) -> [String] {
        var problems: [String] = []
        func attempt<Value>(_ make: () throws -> Value) -> Value? {
            do { return try make() } catch {
                problems.append("\(error)")
                return nil
            }
        }
        _ = attempt { try SigningPolicy(parsing: scenario.signPolicy) }
        // A recording has its own, and a topic that is not given comes with the credentials.
        if scenario.replay == nil {
            problems += PushHeaders.problems(
                bundleID: scenario.withDefaultTopic.topic, priority: scenario.priority,
                expiration: scenario.expiration, collapseID: scenario.collapseID)
        }
        let devices = scenario.deviceFile.flatMap { path in attempt { try DeviceFile(path: path) } }
        let longestToken = devices.map { DevicePopulation.listed($0).longestToken } ?? SyntheticDevices.tokenLength
        if let path = scenario.template {
            _ = attempt { try template(path, scenario, longestToken: longestToken) }
        } else {
            _ = attempt { try ProfileMix(parsing: scenario.profile, longestToken: longestToken) }
        }
        // A schedule without an end, or with a rate that is none, is not made; nor one that ends with an audience, which is not known.
        let endsWithAudience =
            scenario.registrations != nil && scenario.trace == nil && scenario.stages.isEmpty
            && scenario.pushes == nil && scenario.duration == nil
        if endsWithAudience {
            _ = attempt { try Arrivals(parsing: scenario.arrivals) }
        } else if let replay = scenario.replay {
            _ = attempt { try Replay(replay, speed: 1000, topic: scenario.topic, now: 0) }
        } else if scenario.validate().isEmpty {
            _ = attempt { try scenario.makeSchedule() }
        } else if let trace = scenario.trace {
            _ = attempt { try ArrivalTrace.read(trace) }
        }
        _ = attempt { try scenario.by.map(BreakdownDimension.init(parsing:)) }
        return problems
    }

    /// Pushes that client and mock each keep a bit of. A closed loop for a time has no bound: 2^36 are 19 hours of a million a
    /// second, and 8 GB of address space, touched as used.
    var ledgerCapacity: UInt64 { planned ?? scenario.pushes ?? 1 << 36 }

    /// About the most pushes there may be; nil when nothing tells.
    var most: UInt64? {
        planned ?? scenario.pushes ?? scenario.duration.map { Self.perSecond * ($0 / 1_000_000_000 + 1) }
    }
    private static let perSecond: UInt64 = 1_000_000

    /// What can be run, but would not mean what was meant.
    ///
    /// - Throws: one line each when the whole run would be warm-up, when a threshold is about a part or figure that there is
    ///   not, when no connection can be made in its time, when a reason is expected that APNs has not, or when the target is not
    ///   for us.
    package func checkMeaning() throws(HarnessError) {
        var problems = Self.misnamed(scenario) + meaningless { _ in true } + scenario.idle
        if let model = Self.problemOfDeviceModel(scenario), let place = problems.firstIndex(of: model) {
            problems.remove(at: place)
            throw HarnessError(model, of: SettingPart("device_model")).and(problems)
        }
        guard problems.isEmpty else { throw HarnessError(problems.joined(separator: "\n")) }
    }

    /// Reasons that APNs has not, a target that is not for us.
    private static func misnamed(_ scenario: Scenario) -> [String] {
        var problems: [String] = []
        for name in scenario.expectedReasons {
            if let problem = problem(ofExpected: name, scenario) {
                problems.append("expect_reasons \(name): \(problem)")
            }
        }
        if let targets = scenario.target {
            problems += Self.problems(of: targets, allowed: scenario.allowedTargets)
        }
        if let backend = scenario.deviceBackend {
            do throws(HarnessError) {
                try AllowedTargets(scenario.allowedTargets, ProcessInfo.processInfo.environment).check(
                    try origin(backend), as: "device_backend")
            } catch { problems.append(error.description) }
        }
        if let problem = scenario.pins?.problem(allowed: CoreAffinity.allowed()) { problems.append("pin \(problem)") }
        if let problem = problemOfDeviceModel(scenario) { problems.append(problem) }
        return problems
    }

    /// Other servers have reasons of their own; the bundled mock has those of APNs.
    private static func problem(ofExpected name: String, _ scenario: Scenario) -> String? {
        if let status = Int(name) {
            return (100...599).contains(status) && status != 200 && name.count == 3
                ? nil : "not a status of a rejection; expected one such as 503"
        }
        if scenario.target != nil || name == ResultDocument.expectedNoReason || Reason.allNames.contains(name) {
            return nil
        }
        return "not a reason of APNs" + NearestName.hint(name, among: Reason.allNames)
    }

    /// A backend's scheme, host and port.
    private static func origin(_ backend: String) throws(HarnessError) -> String {
        guard let url = URLComponents(string: backend), let scheme = url.scheme, ["http", "https"].contains(scheme),
            let host = url.host, !host.isEmpty, url.query == nil, url.fragment == nil
        else {
            throw HarnessError("device_backend \(backend): expected a URL such as http://127.0.0.1:8080")
        }
        return "\(scheme)://\(host):\(url.port ?? (scheme == "https" ? 443 : 80))"
    }

    /// Thresholds and a warm-up that say nothing of this run, and a time that is too short to connect in.
    private func meaningless(_ isLookedAt: (Threshold) -> Bool) -> [String] {
        var problems: [String] = []
        if let problem = slowLink { problems.append(problem) }
        for threshold in scenario.parsedThresholds where isLookedAt(threshold) {
            do throws(HarnessError) { try check(threshold) } catch { problems.append(error.description) }
        }
        do throws(HarnessError) { try checkWarmup() } catch { problems.append(error.description) }
        return problems
    }

    /// The emulated link has one round trip for TCP's handshake, one or two for TLS', and half a one for the mock's SETTINGS.
    private var slowLink: String? {
        guard let rtt = Self.linkRoundTrip(scenario.mockFlags), let roundTrip = try? Units.duration(rtt) else {
            return nil
        }
        let handshakes: UInt64 = scenario.plaintext ? 1 : scenario.tlsMaximum == "1.2" ? 3 : 2
        let needed = handshakes * roundTrip + roundTrip / 2
        guard scenario.connectTimeout < needed else { return nil }
        func written(_ time: UInt64) -> String { Units.duration(nanoseconds: Double(time)) }
        return "connect_timeout \(written(scenario.connectTimeout)): with rtt \(rtt) a connection takes "
            + "\(written(needed)); expected more"
    }

    /// As the mock's flags give it: `--rtt`, or else `link.rtt` of its fault file; nil when neither says it.
    private static func linkRoundTrip(_ flags: [String]) -> String? {
        func value(_ name: String) -> String? {
            guard let place = flags.lastIndex(where: { $0 == name || $0.hasPrefix(name + "=") }) else { return nil }
            if flags[place] != name { return String(flags[place].dropFirst(name.count + 1)) }
            return place + 1 < flags.count ? flags[place + 1] : nil
        }
        if let rtt = value("--rtt") { return rtt }
        guard let file = value("--faults"), let text = try? FileContents.text(file, "fault file", limit: 16 << 20),
            var plan = try? YAMLValue(parsing: text, file: file).map(), var link = try? plan.take("link")?.map()
        else { return nil }
        // What is no time is the mock's to refuse.
        return try? link.take("rtt")?.text()
    }

    private func checkWarmup() throws(HarnessError) {
        let length = schedule.flatMap { $0.duration > 0 ? $0.duration : nil } ?? scenario.duration
        if let length, scenario.warmup >= length {
            func written(_ time: UInt64) -> String { Units.duration(nanoseconds: Double(time)) }
            throw HarnessError(
                "warmup \(written(scenario.warmup)): the run is \(written(length)) long, nothing would be measured")
        }
        if planned == 0 {
            throw HarnessError(
                scenario.stages.isEmpty
                    ? "rate: no push comes due in the time there is; give a higher rate or a longer duration"
                    : "stages: none of them sends a push; expected a rate or a burst in at least one")
        }
        if let planned, scenario.warmupPushes >= planned {
            throw HarnessError(
                "warmup of \(Units.counted(scenario.warmupPushes, "push")): the run has \(planned), nothing would be measured"
            )
        }
    }

    private static func template(_ path: String, _ scenario: Scenario, longestToken: Int) throws -> Profile {
        // What is none has been refused with the rest of the scenario.
        guard let pushType = PushType(rawValue: scenario.pushType) else {
            throw HarnessError("push type \"\(scenario.pushType)\"")
        }
        let json = try FileContents.text(path, "template")
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        return Profile(
            name: name, pushType: pushType,
            template: try PayloadTemplate(json: json, name: path, pushType: pushType, longestToken: longestToken))
    }
}

import Foundation
import Measurement
import Networking
import Payloads
import PlainHTTP
import Settings

/// What the admin listener answers.
struct AdminPages {
    let server: MockServer
    let watchers: StatsDocument.Watchers

    /// Every page: a path, or the kind of path that it has (`kind`); its methods; its query.
    private static let pages: [(path: String, methods: [String], query: [String], text: String)] = [
        ("/stats", ["GET"], ["namespace"], "GET /stats"), ("/metrics", ["GET"], [], "GET /metrics"),
        ("/", ["GET"], PushQuery.filters + ["follow"], "GET /, the pushes as they come, in a browser"),
        ("/pushes", ["GET"], PushQuery.names, "GET /pushes?token=&topic=&status=&wait=&count=&…"),
        ("/unique/", ["GET"], [], "GET /unique/<apns-unique-id>"), ("/ledger", ["GET"], [], "GET /ledger"),
        ("/events", ["GET"], ["token", "channel", "namespace"], "GET /events?token=|channel="),
        ("/devices/", ["GET", "PUT"], ["namespace"], "GET|PUT /devices/<token>"),
        (ofDevice, ["GET", "POST"], [], DevicePages.pages),
        ("/faults", ["GET", "PUT", "DELETE"], ["namespace"], "GET|PUT|DELETE /faults"),
        ("/reset", ["POST"], ["namespace"], "POST /reset"), ("/healthz", ["GET"], [], "GET /healthz"),
    ]

    private static let ofDevice = "/devices/<token>/"

    /// The path among those above that a request is for.
    private static func kind(_ path: String) -> String {
        if path.hasPrefix("/unique/") { return "/unique/" }
        guard path.hasPrefix("/devices/") else { return path }
        return path.dropFirst("/devices/".count).contains("/") ? ofDevice : "/devices/"
    }

    /// What is wrong with a request before its page looks at it; nil when there is such a page and it takes this.
    static func refusal(_ request: PlainRequest, _ rules: RequestRules) -> PlainResponse? {
        let kind = kind(request.path)
        let page = pages.first { $0.path == kind }
        guard let page else {
            return .text("not found; there are:\n  " + pages.map(\.text).joined(separator: "\n  "), status: 404)
        }
        guard page.methods.contains(request.method) else {
            return .wrongMethod(request, allowed: page.methods)
        }
        if let name = request.repeated {
            return .text("\(request.path): \(name.prefix(80)) is given twice", status: 400)
        }
        for name in request.query.keys.sorted() where !page.query.contains(name) {
            let hint = page.query.isEmpty ? "; this page takes none" : NearestName.hint(name, among: page.query)
            return .text("\(request.path): unknown query \"\(name)\"\(hint)", status: 400)
        }
        if let token = request.query["token"], !rules.isToken(token) {
            return .text(
                "\(request.path): token \"\(token.prefix(80))\": expected a device token, at least "
                    + "\(rules.tokenDigits.lowerBound) hexadecimal digits", status: 400)
        }
        return nil
    }

    /// To a request that is not refused.
    func answer(_ request: PlainRequest) -> PlainResponse {
        do throws(SettingsError) { return try page(request) } catch {
            return .text("\(request.path): \(error)", status: 400)
        }
    }

    /// - Throws: what is wrong with the query.
    private func page(_ request: PlainRequest) throws(SettingsError) -> PlainResponse {
        switch (request.method, request.path) {
        case (_, "/healthz"): return .text("ok")
        case (_, "/"): return LivePage.answer(hasDevices: server.shared.fleets != nil)
        case (_, "/stats"):
            let choice = try namespaces(request, isRead: true)
            return choice.missing("/stats", server.shared) ?? Self.encoded(StatsDocument(server, watchers, of: choice))
        case (_, "/metrics"):
            return PlainResponse(
                status: 200, type: MetricsText.contentType,
                body: Array(Metrics.text(StatsDocument(server, watchers)).utf8))
        case (_, "/pushes"):
            return KeptPushes(server: server).answer(try PushQuery(request, of: server))
        case (_, let path) where path.hasPrefix("/unique/"):
            return FateDocument.answer(String(path.dropFirst("/unique/".count)), server)
        case (_, "/ledger"): return Self.encoded(server.book.runs.map(LedgerEntry.init))
        case ("GET", "/faults"): return try faults(request)
        case (let method, "/faults"):
            let choice = try namespaces(request, isRead: false)
            let whose = ofDefault(request, "?namespace=* for all")
            guard method == "DELETE" else { return changeFaults(request.body, choice, whose) }
            let plan = server.dropPlan(of: choice)
            return .text("rules \(plan.rules.count), seed \(plan.seed)\(whose)")
        case (_, "/reset"):
            // Without namespaces all there is.
            let choice = try namespaces(request, isRead: server.shared.namespaces == nil)
            server.reset(choice)
            return .text("reset" + ofDefault(request, "?namespace=* for all"))
        case (_, let path) where Self.kind(path) == Self.ofDevice: return DevicePages(server: server).answer(request)
        case (let method, let path):
            let choice = try namespaces(request, isRead: method == "GET" && request.query["namespace"] != nil)
            if let missing = choice.missing(path, server.shared) { return missing }
            guard case .one(let name) = choice, let namespace = server.shared.namespace(name) else {
                throw SettingsError("namespace \"*\": expected the name of one")
            }
            return method == "GET"
                ? device(path, namespace)
                : changeDevice(
                    path, request.body, namespace, "changed" + ofDefault(request, "?namespace=NAME for another"))
        }
    }

    private func namespaces(_ request: PlainRequest, isRead: Bool) throws(SettingsError) -> NamespaceChoice {
        try NamespaceChoice(request.query["namespace"], isRead: isRead, of: server)
    }

    /// Says what a change that names no namespace is about, where there are several.
    private func ofDefault(_ request: PlainRequest, _ hint: String) -> String {
        server.shared.namespaces == nil || request.query["namespace"] != nil ? "" : ": the default namespace (\(hint))"
    }

    /// A body that is YAML.
    private static func parsed(_ body: [UInt8], _ name: String, expected: String) throws(SettingsError) -> YAMLValue {
        if body.isEmpty { throw SettingsError("\(name): the request has no body; expected \(expected)") }
        do throws(SettingsError) {
            return try YAMLValue(parsing: try FileContents.text(body, file: name), file: name)
        } catch {
            // In braces a line is as good as several.
            let isFlow = body.first == 0x7B || body.first == 0x5B
            throw !isFlow && !body.contains(0x0A)
                ? SettingsError("\(error); did curl -d @FILE take its line ends? use --data-binary @FILE") : error
        }
    }

    static func encoded(_ value: some Encodable) -> PlainResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return .text("cannot be encoded", status: 500) }
        return .json(String(decoding: data, as: UTF8.self))
    }

    private struct FaultsDocument: Encodable {
        struct Rule: Encodable {
            /// In the list of rules, from 0.
            let rule: Int
            let matched: UInt64?
            let acted: UInt64?
            let left: Bool
        }
        let seed: UInt64
        let rules: Int
        let counted: [Rule]
        /// As it was put; nil: it is of the command line.
        let plan: String?
    }

    /// The plan in force, of the default namespace where none is named.
    private func faults(_ request: PlainRequest) throws(SettingsError) -> PlainResponse {
        let choice = try namespaces(request, isRead: request.query["namespace"] != nil)
        if let missing = choice.missing(request.path, server.shared) { return missing }
        guard case .one(let name) = choice, let script = server.shared.namespace(name)?.script else {
            throw SettingsError("namespace \"*\": expected the name of one")
        }
        let counted = script.plan.rules.indices.compactMap { number -> FaultsDocument.Rule? in
            let uses = script.uses(number)
            guard uses.matched != nil || uses.acted != nil else { return nil }
            return .init(rule: number, matched: uses.matched, acted: uses.acted, left: script.isLeft(number))
        }
        return Self.encoded(
            FaultsDocument(
                seed: script.plan.seed, rules: script.plan.rules.count, counted: counted, plan: script.text))
    }

    private func changeFaults(_ body: [UInt8], _ choice: NamespaceChoice, _ whose: String) -> PlainResponse {
        do throws(SettingsError) {
            let value = try Self.parsed(body, "faults", expected: "a fault plan (YAML or JSON)")
            var name: String?
            if case .one(let own) = choice { name = own }
            let isOfApp = server.shared.namespaces?.rule == .topic
            let plan = try FaultFile.parse(value, bundleID: isOfApp ? name : nil)
            if name != nil,
                let of = try value.map().entries.first(where: { ["link", "connections"].contains($0.name) })
            {
                throw of.key.error("\"\(of.name)\" is the server's: it belongs into the plan of the default namespace")
            }
            let text = String(decoding: body, as: UTF8.self)
            let planned = server.planned(with: plan, text: text, in: choice)
            guard planned <= MockServer.mostPlanned else {
                return .text(
                    "faults: the plans of all namespaces would take about \(planned >> 20) MiB; expected at most \(MockServer.mostPlanned >> 20)",
                    status: 400)
            }
            server.use(plan, text: text, in: choice)
            return .text("rules \(plan.rules.count), seed \(plan.seed)\(whose)")
        } catch { return .text(error.description, status: 400) }
    }

    // MARK: Devices

    private struct DeviceEntry: Encodable {
        let state: String
        let offline: Bool
        let topic: String?
        let environment: String?
        let since: Int64?
    }

    private func key(_ path: String) -> TokenKey? {
        let token = String(path.dropFirst("/devices/".count))
        return server.shared.configuration.rules.isToken(token) ? TokenKey(token) : nil
    }

    static func badToken(_ rules: RequestRules) -> PlainResponse {
        .text(
            "expected a device token after /devices/, at least \(rules.tokenDigits.lowerBound) hexadecimal digits",
            status: 400)
    }

    private func device(_ path: String, _ namespace: Namespace) -> PlainResponse {
        guard let key = key(path) else { return Self.badToken(server.shared.configuration.rules) }
        guard let record = namespace.directory.record(key) else {
            return .text("nothing is known of this device beyond the population's rules", status: 404)
        }
        return Self.encoded(
            DeviceEntry(
                state: record.state.rawValue, offline: record.isOffline, topic: record.topic,
                environment: record.environment?.rawValue, since: record.since == 0 ? nil : record.since / 1000))
    }

    /// `state: unregistered`, `offline: true`, `topic:`, `environment:`, `since:` (UNIX seconds; now when not given).
    ///
    /// - Parameter done: what it answers then.
    private func changeDevice(
        _ path: String, _ body: [UInt8], _ namespace: Namespace, _ done: String
    ) -> PlainResponse {
        guard let key = key(path) else { return Self.badToken(server.shared.configuration.rules) }
        let token = String(path.dropFirst("/devices/".count))
        do throws(SettingsError) {
            let value = try Self.parsed(body, "device", expected: "what to change, as in {state: unregistered}")
            var map = try value.map()
            var record = namespace.directory.record(key) ?? DeviceRecord()
            if let state = map.take("state") {
                record.state = try state.reading { (text) throws(SettingsError) -> DeviceRecord.State in
                    guard let state = DeviceRecord.State(rawValue: text) else {
                        throw SettingsError(
                            "\"\(text)\": expected registered, unregistered, expired or disabled"
                                + (text == "offline" ? "; being offline is said apart, as in {offline: true}" : ""))
                    }
                    return state
                }
                record.since = MonotonicClock.unixMilliseconds()
            }
            let isOffline = try map.take("offline")?.flag()
            if let isOffline { record.isOffline = isOffline }
            if let topic = map.take("topic") {
                record.topic = try topic.reading { (text) throws(SettingsError) -> String in
                    try FaultText.checkBundleID(text)
                    return text
                }
            }
            if let environment = map.take("environment") {
                record.environment = try environment.reading(FaultText.environment)
            }
            if let since = map.take("since") {
                let seconds = try since.reading { (text) throws(SettingsError) -> UInt64 in
                    guard let seconds = try? Units.count(text), seconds < 1 << 40 else {
                        throw SettingsError("\"\(text)\": expected UNIX seconds")
                    }
                    return seconds
                }
                record.since = Int64(seconds) * 1000
            }
            try map.finish()
            if map.entries.isEmpty {
                throw value.error("nothing to change; expected state, offline, topic, environment or since")
            }
            namespace.directory.change(key, to: record)
            let now = MonotonicClock.now()
            namespace.desk.lookAgain(key, now: now)
            if let isOffline, let fleets = server.shared.fleets {
                fleets.use(token, now: now) { $0.set(.online(!isOffline), on: $1, number: $2, at: $3) }
            }
            return .text(done)
        } catch { return .text(error.description, status: 400) }
    }
}

/// What arrived of one run.
public struct LedgerEntry: Encodable, Sendable {
    public let run: String
    public let delivered: UInt64
    public let duplicated: UInt64
    public let outOfRange: UInt64

    public init(_ entry: LedgerBook.Entry) {
        run = RunID(entry.run).description
        delivered = entry.ledger.delivered
        duplicated = entry.ledger.duplicated
        outOfRange = entry.ledger.outOfRange
    }

    enum CodingKeys: String, CodingKey {
        case run, delivered, duplicated
        case outOfRange = "out_of_range"
    }
}

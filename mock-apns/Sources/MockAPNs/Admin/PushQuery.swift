import Payloads
import PlainHTTP
import Settings

/// What a request for `/pushes` asks for.
struct PushQuery: Sendable {
    /// What tells pushes apart.
    static let filters = [
        "token", "topic", "apns_id", "unique_id", "push_type", "status", "reason", "since", "namespace",
    ]
    static let names = filters + ["after", "limit", "wait", "count", "format"]
    /// Longest wait, ns.
    private static let longestWait: UInt64 = 300_000_000_000

    var filter = PushFilter()
    var namespaces: NamespaceChoice
    /// Most pushes in the answer.
    var limit = 1000
    /// How long to wait until there are `count`, ns; nil: not at all.
    var wait: UInt64?
    var count = 1
    /// One JSON object a line, instead of a list.
    var isLines: Bool

    /// - Throws: what is wrong with the query.
    init(_ request: PlainRequest, of server: MockServer) throws(SettingsError) {
        let query = request.query
        namespaces = try NamespaceChoice(query["namespace"], isRead: true, of: server)
        isLines = request.accept?.lowercased().contains("application/x-ndjson") == true
        if let format = query["format"] {
            guard format == "json" || format == "ndjson" else { throw Self.wrong("format", format, "json or ndjson") }
            isLines = format == "ndjson"
        }
        filter.token = query["token"]?.lowercased()
        filter.topic = query["topic"]
        if let identifier = query["apns_id"] {
            guard RandomUUID(identifier) != nil else { throw Self.wrong("apns_id", identifier, "a UUID") }
            filter.identifier = identifier.lowercased()
        }
        if let unique = query["unique_id"] {
            guard let uuid = RandomUUID(unique) else { throw Self.wrong("unique_id", unique, "a UUID") }
            filter.unique = uuid
        }
        do throws(SettingsError) { filter.pushType = try query["push_type"].map(FaultText.pushType) } catch {
            throw SettingsError("push_type \(error)")
        }
        if let reason = query["reason"] {
            guard Reason(name: reason) != nil else {
                throw SettingsError(
                    "reason \"\(reason.prefix(80))\" is not a reason of APNs"
                        + NearestName.hint(reason, among: Reason.allNames))
            }
            filter.reason = reason
        }
        filter.isUnanswered = query["status"] == "none"
        if !filter.isUnanswered {
            filter.status = try Self.number("status", query, 100...599, "an HTTP status, 100 to 599, or none")
        }
        filter.since = try Self.number("since", query, 0...Int64.max, "UNIX milliseconds")
        filter.after = try Self.number("after", query, 0...UInt64.max, "the id of a push")
        limit = try Self.number("limit", query, 1...Int.max, "a number from 1") ?? limit
        if let text = query["wait"] {
            guard let time = try? Units.duration(text), time <= Self.longestWait else {
                throw Self.wrong("wait", text, "a time up to 5m, as in 5s")
            }
            wait = time
        }
        let kept = server.shared.configuration.keptPushes
        if let count = try Self.number("count", query, 1...kept, "1 to \(kept), as many as are kept") {
            guard wait != nil else { throw SettingsError("count needs wait, as in wait=5s&count=\(count)") }
            self.count = count
        }
    }

    private static func wrong(_ name: String, _ text: String, _ expected: String) -> SettingsError {
        SettingsError("\(name) \"\(text.prefix(80))\": expected \(expected)")
    }

    private static func number<Number: FixedWidthInteger>(
        _ name: String, _ query: [String: String], _ range: ClosedRange<Number>, _ expected: String
    ) throws(SettingsError) -> Number? {
        guard let text = query[name] else { return nil }
        guard let number = Number(text), range.contains(number) else { throw wrong(name, text, expected) }
        return number
    }
}

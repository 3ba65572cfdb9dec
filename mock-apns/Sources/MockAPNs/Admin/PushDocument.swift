import Payloads
import PlainHTTP

/// One of `GET /pushes`: what came, and how it was answered (docs/schemas/push.json).
struct PushDocument: Encodable {
    let entry: RecentPushes.Entry

    enum CodingKeys: String, CodingKey {
        case namespace, time, status, reason, unanswered, token, topic, priority, expiration, connection, environment,
            headers,
            payload
        case number = "id"
        case identifier = "apns_id"
        case unique = "unique_id"
        case pushType = "push_type"
        case collapseID = "collapse_id"
        case lostHeaders = "headers_lost"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(entry.number, forKey: .number)
        try container.encodeIfPresent(entry.namespace, forKey: .namespace)
        try container.encode(entry.time, forKey: .time)
        try container.encodeIfPresent(entry.status, forKey: .status)
        try container.encodeIfPresent(entry.reason, forKey: .reason)
        try container.encodeIfPresent(entry.unanswered?.rawValue, forKey: .unanswered)
        try container.encode(entry.identifier, forKey: .identifier)
        try container.encode(entry.unique.text, forKey: .unique)
        try container.encode(entry.token, forKey: .token)
        try container.encode(entry.topic, forKey: .topic)
        try container.encode(entry.pushType.rawValue, forKey: .pushType)
        try container.encode(entry.priority, forKey: .priority)
        try container.encodeIfPresent(entry.collapseID, forKey: .collapseID)
        try container.encodeIfPresent(entry.expiration, forKey: .expiration)
        try container.encode(entry.connection, forKey: .connection)
        try container.encode(entry.environment.rawValue, forKey: .environment)
        try container.encode(entry.headers.fields.map { [$0.name, $0.value] }, forKey: .headers)
        if entry.headers.lost > 0 { try container.encode(entry.headers.lost, forKey: .lostHeaders) }
        try container.encode(String(decoding: entry.payload, as: UTF8.self), forKey: .payload)
    }

    /// - Parameter isLines: one object a line instead of a list.
    static func answer(_ entries: [RecentPushes.Entry], isLines: Bool) -> PlainResponse {
        guard isLines else { return AdminPages.encoded(entries.map(PushDocument.init)) }
        let lines = entries.flatMap { AdminPages.encoded(PushDocument(entry: $0)).body }
        return PlainResponse(status: 200, type: "application/x-ndjson", body: lines)
    }
}

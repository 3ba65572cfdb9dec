import PlainHTTP

/// What became of one push: `GET /unique/<apns-unique-id>`, as the delivery log of Apple's push console (docs/schemas/unique.json).
struct FateDocument: Encodable {
    struct Event: Encodable {
        /// UNIX milliseconds.
        let time: Int64
        let event: String
        let outcome: String?
    }

    let push: PushDocument
    let log: [Event]

    /// - Parameter text: the `apns-unique-id`.
    static func answer(_ text: String, _ server: MockServer) -> PlainResponse {
        guard let unique = RandomUUID(text) else {
            return .text("/unique/\(text.prefix(80)): expected a UUID, as apns-unique-id is", status: 400)
        }
        guard let entry = KeptPushes(server: server).find(unique) else {
            return .text("no push with this apns-unique-id is kept", status: 404)
        }
        return AdminPages.encoded(
            FateDocument(
                push: PushDocument(entry: entry), log: log(entry, server.shared.log?.entries(of: unique) ?? [])))
    }

    private static func log(_ entry: RecentPushes.Entry, _ entries: [DeliveryLog.Entry]) -> [Event] {
        let verdict =
            entry.unanswered != nil ? "unanswered" : entry.status == 200 ? "accepted" : "rejected"
        let accepted = Event(time: entry.time, event: verdict, outcome: nil)
        // What a rule leaves without an answer may be delivered.
        guard entry.status == 200 || entry.unanswered == .silent else { return [accepted] }
        // With nothing between accepting and delivering nobody notes it.
        if entries.isEmpty { return [accepted, Event(time: entry.time, event: "delivered", outcome: nil)] }
        return [accepted] + entries.map { Event(time: $0.time, event: $0.event.rawValue, outcome: $0.outcome) }
    }
}

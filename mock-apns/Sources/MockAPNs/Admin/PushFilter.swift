import Payloads

/// Which of the pushes that are kept somebody asks for; what is nil matches all.
struct PushFilter: Sendable {
    /// Lower case.
    var token: String?
    /// One that ends with `*` is a prefix.
    var topic: String?
    /// An `apns-id`, lower case.
    var identifier: String?
    /// An `apns-unique-id`.
    var unique: RandomUUID?
    var pushType: PushType?
    var status: Int?
    /// Those that were not answered.
    var isUnanswered = false
    var reason: String?
    /// UNIX milliseconds: then or later.
    var since: Int64?
    /// Later than the push of this number.
    var after: UInt64?

    func matches(_ entry: RecentPushes.Entry) -> Bool {
        if let after, entry.number <= after { return false }
        if let since, entry.time < since { return false }
        if let status, entry.status != status { return false }
        if isUnanswered, entry.unanswered == nil { return false }
        if let pushType, entry.pushType != pushType { return false }
        if let unique, entry.unique != unique { return false }
        if let reason, entry.reason != reason { return false }
        if let token, entry.token != token { return false }
        if let identifier, entry.identifier.lowercased() != identifier { return false }
        guard let topic else { return true }
        return topic.hasSuffix("*") ? entry.topic.hasPrefix(topic.dropLast()) : entry.topic == topic
    }
}

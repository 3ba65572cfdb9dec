import Payloads

/// The last requests a worker judged, for people to look at; kept only while somebody can ask (the admin listener is on).
struct RecentPushes {
    struct Entry: Sendable {
        let time: Int64
        let status: Int
        let reason: String?
        let identifier: String
        let token: String
        let topic: String
        let pushType: PushType
        let priority: Int
        let collapseID: String?
        let expiration: String?
        let connection: UInt64
        let payload: [UInt8]
    }

    private let capacity: Int
    private var entries: [Entry] = []
    private var next = 0

    init(capacity: Int) { self.capacity = capacity }

    var isOn: Bool { capacity > 0 }

    mutating func add(_ entry: Entry) {
        if entries.count < capacity {
            entries.append(entry)
        } else {
            entries[next] = entry
        }
        next = (next + 1) % capacity
    }

    /// Oldest first; of one device token (lower case) when one is given.
    func list(token: String?) -> [Entry] {
        let ordered = entries.count < capacity ? entries : Array(entries[next...] + entries[..<next])
        return token.map { token in ordered.filter { $0.token == token } } ?? ordered
    }

    mutating func reset() {
        entries = []
        next = 0
    }
}

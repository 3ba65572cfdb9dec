import Payloads

/// The last requests a worker judged, for people to look at; kept only while somebody can ask (the admin listener is on).
struct RecentPushes {
    struct Entry: Sendable {
        let time: Int64
        let status: Int
        let reason: String?
        let identifier: String
        let unique: RandomUUID
        let token: String
        let topic: String
        let pushType: PushType
        let priority: Int
        let collapseID: String?
        let expiration: String?
        let connection: UInt64
        let environment: PushEnvironment
        let headers: HeaderRecord
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

extension RecentPushes.Entry {
    /// - Parameters:
    ///   - identifier: the `apns-id` of the answer; `unique`: its `apns-unique-id`.
    ///   - time: UNIX milliseconds.
    init(
        _ state: RequestState, _ answer: PushAnswer, identifier: String, unique: RandomUUID, connection: UInt64,
        _ environment: PushEnvironment, time: Int64
    ) {
        self.init(
            time: time, status: answer.status, reason: answer.reason?.name, identifier: identifier,
            unique: unique,
            token: state.deviceTokenText.lowercased(), topic: state.text(.topic), pushType: state.pushType,
            priority: state.priority, collapseID: state.has(.collapseID) ? state.text(.collapseID) : nil,
            expiration: state.has(.expiration) ? state.text(.expiration) : nil, connection: connection,
            environment: environment, headers: state.headers, payload: Array(state.body))
    }
}

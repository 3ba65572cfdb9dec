import Payloads

/// The last requests a worker judged of a namespace, for people and tests to look at; kept only while somebody can ask (the admin
/// listener is on).
struct RecentPushes {
    /// How many requests one worker may keep of all its namespaces, beyond the last `least` of each: memory is bounded by it.
    final class Room {
        fileprivate var left: Int

        init(_ count: Int) { left = count }
    }

    /// Why a request was not answered: a fault rule's doing, or its stream ended while one let it wait.
    enum Unanswered: String, Sendable {
        /// Given to its device all the same.
        case silent
        /// Its stream was reset.
        case reset
        /// Its connection was closed.
        case closed
        /// Beyond what a GOAWAY named.
        case unhandled
        /// Its stream or connection ended while its answer waited, for its time or for the others of its batch.
        case abandoned
    }

    struct Entry: Sendable {
        /// Of the server: later ones have higher numbers.
        let number: UInt64
        /// nil: the default one.
        let namespace: String?
        /// UNIX milliseconds.
        let time: Int64
        /// nil: there was no answer.
        var status: Int?
        var reason: String?
        var unanswered: Unanswered?
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

    private static let least = 16
    private let capacity: Int
    private let room: Room
    private var entries: [Entry] = []
    /// The oldest, once new ones take the place of old ones.
    private var oldest = 0
    private var isFull = false

    /// - Parameter capacity: most requests kept; 0: none.
    init(capacity: Int, room: Room) {
        self.capacity = capacity
        self.room = room
    }

    var isOn: Bool { capacity > 0 }

    mutating func add(_ entry: Entry) {
        if !isFull, entries.count < capacity, room.left > 0 || entries.count < Self.least {
            entries.append(entry)
            room.left -= 1
            return
        }
        isFull = true
        entries[oldest] = entry
        oldest = (oldest + 1) % entries.count
    }

    /// Oldest first.
    func list(_ filter: PushFilter) -> [Entry] {
        (entries[oldest...] + entries[..<oldest]).filter(filter.matches)
    }

    /// How many of the pushes after one and up to another there are, by their numbers.
    func count(_ filter: PushFilter, after first: UInt64, through last: UInt64) -> Int {
        var count = 0
        for step in stride(from: 1, through: entries.count, by: 1) {
            let entry = entries[(oldest + entries.count - step) % entries.count]
            guard entry.number > first else { break }
            if entry.number <= last, filter.matches(entry) { count += 1 }
        }
        return count
    }

    /// The answer that the push of this number was to get is not given.
    mutating func abandon(_ number: UInt64) {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[(oldest + middle) % entries.count].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < entries.count else { return }
        let place = (oldest + low) % entries.count
        guard entries[place].number == number else { return }
        (entries[place].status, entries[place].reason, entries[place].unanswered) = (nil, nil, .abandoned)
    }

    mutating func reset() {
        room.left += entries.count
        entries = []
        oldest = 0
        isFull = false
    }
}

extension RecentPushes.Entry {
    /// What its worker says of a push beside the request and its answer.
    struct Origin {
        let number: UInt64
        let namespace: String?
        let connection: UInt64
        let environment: PushEnvironment
        /// UNIX milliseconds.
        let time: Int64
    }

    /// - Parameter identifier: the `apns-id` of the answer; `unique`: its `apns-unique-id`.
    init(
        _ state: RequestState, _ answer: PushAnswer, _ unanswered: RecentPushes.Unanswered?, identifier: String,
        unique: RandomUUID, _ origin: Origin
    ) {
        self.init(
            number: origin.number, namespace: origin.namespace, time: origin.time,
            status: unanswered == nil ? answer.status : nil, reason: answer.reason?.name, unanswered: unanswered,
            identifier: identifier, unique: unique,
            token: state.deviceTokenText.lowercased(), topic: state.text(.topic), pushType: state.pushType,
            priority: state.priority, collapseID: state.has(.collapseID) ? state.text(.collapseID) : nil,
            expiration: state.has(.expiration) ? state.text(.expiration) : nil, connection: origin.connection,
            environment: origin.environment, headers: state.headers, payload: Array(state.body))
    }
}

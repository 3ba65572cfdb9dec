import Networking
import Synchronization

/// What became of the pushes that are kept, beyond being accepted: when each was stored, held back, delivered or dropped. Bounded: of
/// the last `capacity` pushes that something happened to, the last `mostEvents` each.
final class DeliveryLog: Sendable {
    enum Event: String, Sendable {
        /// Put in store because the device was offline.
        case stored
        /// The app had used up the hour's background pushes: until it is over.
        case heldBack = "held_back"
        /// Waits for the time at which pushes of its priority are delivered together.
        case grouped
        case delivered
        /// A newer push of the same app took its place in the store.
        case replaced
        /// The same, by the same collapse id.
        case collapsed
        /// Its `apns-expiration` passed.
        case expired
        /// Notifications are disabled on the device.
        case discarded
        /// The device was offline and `apns-expiration` 0.
        case notStored = "not_stored"
    }

    struct Entry: Sendable {
        /// UNIX milliseconds.
        let time: Int64
        let event: Event
        /// What the device did with it at once, where there is a device model.
        var outcome: String?
    }

    private struct State: Sendable {
        var entries: [RandomUUID: [Entry]] = [:]
        /// In the order in which they came.
        var known: [RandomUUID] = []
        var oldest = 0
    }

    private static let mostEvents = 16
    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: pushes, from 1.
    init(capacity: Int) { self.capacity = capacity }

    /// - Parameter unique: the push; nil: one that is not kept.
    func note(_ event: Event, _ unique: RandomUUID?, outcome: String? = nil) {
        guard let unique else { return }
        let entry = Entry(time: MonotonicClock.unixMilliseconds(), event: event, outcome: outcome)
        state.withLock { state in
            if state.entries[unique] == nil {
                if state.known.count < capacity {
                    state.known.append(unique)
                } else {
                    state.entries[state.known[state.oldest]] = nil
                    state.known[state.oldest] = unique
                    state.oldest = (state.oldest + 1) % capacity
                }
            }
            state.entries[unique, default: []].append(entry)
            if state.entries[unique]!.count > Self.mostEvents { state.entries[unique]!.removeFirst() }
        }
    }

    /// In the order in which it happened.
    func entries(of unique: RandomUUID) -> [Entry] { state.withLock { $0.entries[unique] ?? [] } }

    func reset() { state.withLock { $0 = State() } }
}

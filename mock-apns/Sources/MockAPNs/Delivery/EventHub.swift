import Networking
import Synchronization

/// Takes deliveries from the workers to the thread that shows them to subscribers.
final class EventHub: Sendable {
    /// Deliveries that wait to be shown; beyond it they are counted as dropped.
    private static let capacity = 100_000
    private let pending = Mutex<[DeliveredPush]>([])
    private let droppedCount = Atomic<UInt64>(0)
    private let subscribers = Atomic<Int>(0)
    private let wakeUp: WakeUp

    init(wakeUp: WakeUp) { self.wakeUp = wakeUp }

    var isWatched: Bool { subscribers.load(ordering: .relaxed) > 0 }
    var dropped: UInt64 { droppedCount.load(ordering: .relaxed) }

    func setSubscribers(_ count: Int) { subscribers.store(count, ordering: .relaxed) }
    func countDropped(_ count: UInt64 = 1) { droppedCount.add(count, ordering: .relaxed) }

    func post(_ pushes: [DeliveredPush]) {
        guard !pushes.isEmpty, isWatched else { return }
        let (wasEmpty, lost) = pending.withLock { pending in
            let wasEmpty = pending.isEmpty
            let room = max(0, Self.capacity - pending.count)
            pending += pushes.prefix(room)
            return (wasEmpty, max(0, pushes.count - room))
        }
        if lost > 0 { countDropped(UInt64(lost)) }
        if wasEmpty { wakeUp.signal() }
    }

    /// Something was planned: the thread must look at its next time again.
    func wake() { wakeUp.signal() }

    func take() -> [DeliveredPush] {
        pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
    }
}

import Networking
import Synchronization

/// Numbers the pushes that are kept, over all workers, and tells the admin thread of new ones while somebody waits for them.
final class PushWatch: Sendable {
    private let numbers = Atomic<UInt64>(0)
    private let resetCount = Atomic<UInt64>(0)
    private let isAwaited = Atomic<Bool>(false)
    private let wakeUp: WakeUp

    init(wakeUp: WakeUp) { self.wakeUp = wakeUp }

    /// The number of the next push: from 1 on, going on after a reset.
    func next() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }
    /// Of the last push.
    var last: UInt64 { numbers.load(ordering: .relaxed) }

    /// How often what is kept has begun anew, of one namespace or of all.
    var resets: UInt64 { resetCount.load(ordering: .relaxed) }
    func noteReset() { resetCount.add(1, ordering: .relaxed) }

    /// A push was kept.
    @inline(__always)
    func tell() {
        guard isAwaited.load(ordering: .relaxed) else { return }
        if isAwaited.exchange(false, ordering: .relaxed) { wakeUp.signal() }
    }

    /// Asks to be woken by the next push that is kept.
    ///
    /// - Returns: true when one was kept since the last call, or there was none.
    func await() -> Bool { !isAwaited.exchange(true, ordering: .relaxed) }
}

import Measurement
import Synchronization

/// What all workers of a run share: touched when the first push is taken and for each accepted one's ledger bit.
final class RunState: Sendable {
    /// Start of the schedule, ns of the monotonic clock; 0 until the first connection is ready.
    let start = Atomic<UInt64>(0)
    /// Which pushes were accepted, one bit each.
    let accepted: DeliveryLedger

    init(accepted: DeliveryLedger) { self.accepted = accepted }

    /// The start, set by whoever asks first.
    func begin(_ now: UInt64) -> UInt64 {
        let (_, original) = start.compareExchange(expected: 0, desired: now, ordering: .relaxed)
        return original == 0 ? now : original
    }
}

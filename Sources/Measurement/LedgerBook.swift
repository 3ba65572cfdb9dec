import Synchronization

/// The ledgers of the runs a mock has seen, at most `runLimit`. Asked under a lock only when a thread meets another run
/// than before.
public final class LedgerBook: Sendable {
    public static let runLimit = 64
    private let capacity: UInt64
    private let ledgers = Mutex<[(run: UInt64, ledger: DeliveryLedger)]>([])
    private let untracked = Atomic<UInt64>(0)

    /// - Parameter capacity: pushes tracked of each run.
    public init(capacity: UInt64) { self.capacity = capacity }

    /// The ledger of `run`; nil when there are too many runs already.
    public func ledger(run: UInt64) -> DeliveryLedger? {
        ledgers.withLock { list in
            if let known = list.first(where: { $0.run == run }) { return known.ledger }
            guard list.count < Self.runLimit, let ledger = DeliveryLedger(capacity: capacity) else { return nil }
            list.append((run, ledger))
            return ledger
        }
    }

    /// A push without a trace tag, or of a run too many.
    public func countUntracked() { untracked.add(1, ordering: .relaxed) }
    public var untrackedCount: UInt64 { untracked.load(ordering: .relaxed) }

    /// Forgets all runs.
    public func reset() {
        ledgers.withLock { $0 = [] }
        untracked.store(0, ordering: .relaxed)
    }

    public var runs: [(run: UInt64, ledger: DeliveryLedger)] { ledgers.withLock { $0 } }
}

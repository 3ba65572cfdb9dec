import Synchronization

/// What a mock keeps of the runs it has seen, at most `runLimit`. Asked under a lock only when a thread meets another run
/// than before.
public final class LedgerBook: Sendable {
    /// One run's part.
    public struct Entry: Sendable {
        public let run: UInt64
        /// In the list of runs, from 0.
        public let place: Int
        /// Which pushes arrived.
        public let ledger: DeliveryLedger
        /// When some of them did; the first run only, where it was asked for.
        public let times: PushTimes?
    }

    public static let runLimit = 64
    private let capacity: UInt64
    private let timesInterval: UInt64?
    private let entries = Mutex<[Entry]>([])

    /// - Parameters:
    ///   - capacity: pushes tracked of each run.
    ///   - timesInterval: note when one push in so many came and was answered; nil: of none.
    public init(capacity: UInt64, timesInterval: UInt64? = nil) {
        self.capacity = capacity
        self.timesInterval = timesInterval
    }

    /// The entry of `run`; nil when there are too many runs already.
    public func entry(run: UInt64) -> Entry? {
        entries.withLock { list in
            if let known = list.first(where: { $0.run == run }) { return known }
            guard list.count < Self.runLimit, let ledger = DeliveryLedger(capacity: capacity) else { return nil }
            let times = list.isEmpty ? timesInterval.flatMap { PushTimes(interval: $0) } : nil
            list.append(Entry(run: run, place: list.count, ledger: ledger, times: times))
            return list.last
        }
    }

    /// Forgets all runs.
    public func reset() { entries.withLock { $0 = [] } }

    public var runs: [Entry] { entries.withLock { $0 } }
}

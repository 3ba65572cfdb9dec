import Synchronization

/// How many connections each worker has, so that whoever accepts one knows whose turn it is: the kernel spreads them over listeners
/// by a hash, of which a few connections may all fall to one. Asked when a connection comes, for its number too, and when it ends.
final class ConnectionSpread: Sendable {
    private let open: Mutex<[Int]>
    private let lastNumber = Atomic<UInt64>(0)
    /// Workers whose listeners found no descriptor, and how often in all since all of them had one.
    private let shortage = Mutex<(workers: Set<Int>, tries: UInt64)>(([], 0))

    init(workers: Int) { open = Mutex([Int](repeating: 0, count: workers)) }

    /// Counts a connection to the worker with the fewest: the one that accepted it, where that has no more than another.
    ///
    /// - Returns: that worker.
    func place(acceptedBy worker: Int) -> Int {
        open.withLock { open in
            var least = worker
            for (other, count) in open.enumerated() where count < open[least] { least = other }
            open[least] += 1
            return least
        }
    }

    /// The number of a connection that a worker serves from now on: they count from 1, over all workers.
    func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

    /// A connection of this worker has ended.
    func ended(_ worker: Int) { open.withLock { $0[worker] -= 1 } }

    /// A worker had no descriptor for a connection.
    ///
    /// - Returns: true when no other one lacked one already.
    func noteShortage(_ worker: Int) -> Bool {
        shortage.withLock { shortage in
            let isFirst = shortage.workers.isEmpty
            shortage.workers.insert(worker)
            shortage.tries += 1
            return isFirst
        }
    }

    /// All that waited for a worker that lacked descriptors are accepted.
    ///
    /// - Returns: how often there was none, when no other worker lacks one; else nil.
    func endShortage(_ worker: Int) -> UInt64? {
        shortage.withLock { shortage in
            guard shortage.workers.remove(worker) != nil, shortage.workers.isEmpty else { return nil }
            defer { shortage.tries = 0 }
            return shortage.tries
        }
    }
}

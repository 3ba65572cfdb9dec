import Analysis
import Dispatch
import Harness
import Synchronization

/// Reads what many workers brought home, some of them at once: reading is most of a merge's work.
struct ShardReader {
    /// Read at once, by as many threads as there are cores; so many are in memory.
    private static let together = 16

    let folder: RendezvousFolder
    /// What workers have loaded; nil: not known.
    let content: RunContent?
    /// How many there are in all.
    let workers: Int

    /// - Parameter body: called for each in the order given.
    /// - Throws: what `body` throws, or one line when a result that is whole cannot be read.
    func each(
        _ indexes: [Int], _ body: (Int, [WorkerShard]) throws(HarnessError) -> Void
    ) throws(HarnessError) {
        for first in stride(from: 0, to: indexes.count, by: Self.together) {
            let some = indexes[first..<min(first + Self.together, indexes.count)]
            for (index, parts) in zip(some, read(Array(some))) { try body(index, parts.get()) }
        }
    }

    private func read(_ indexes: [Int]) -> [Result<[WorkerShard], HarnessError>] {
        let (folder, content, workers) = (folder, content, workers)
        let read = Mutex<[Int: Result<[WorkerShard], HarnessError>]>([:])
        DispatchQueue.concurrentPerform(iterations: indexes.count) { place in
            let index = indexes[place]
            let parts = Result { () throws(HarnessError) in
                try ShardFolder(folder: folder, index: index).shards(
                    planned: content?.planned(worker: index, of: workers))
            }
            read.withLock { $0[place] = parts }
        }
        return read.withLock { read in indexes.indices.compactMap { read[$0] } }
    }
}

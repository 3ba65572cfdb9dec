import Networking

/// Who of a run's workers is there: one whose status file changes, by the observer's own clock and no other.
struct Presence {
    private struct Seen {
        var status: StatusFile
        /// When it was seen to have changed, ns.
        var changed: UInt64
        /// It has changed since it was first seen.
        var isLive = false
    }

    private let folder: RendezvousFolder
    private let began: UInt64
    private var seen: [Int: Seen] = [:]
    /// Of each worker the beat with the least time from its being written to its being seen, by two clocks.
    private(set) var soonest: [Int: StartFile.Seen] = [:]

    init(_ folder: RendezvousFolder, now: UInt64) {
        self.folder = folder
        began = now
    }

    /// Looks at these workers' files.
    mutating func look(_ workers: some Sequence<Int>, now: UInt64) {
        for worker in workers {
            guard let status: StatusFile = folder.read(RendezvousFolder.worker(worker) + "/status.json") else {
                continue
            }
            let before = seen[worker]
            guard before?.status.beat != status.beat || before?.status.attempt != status.attempt else { continue }
            seen[worker] = Seen(status: status, changed: now, isLive: before != nil)
            guard before != nil else { continue }
            let beat = StartFile.Seen(worker: worker, at: status.at, seen: WorkerClock.now())
            if let best = soonest[worker], best.seen - best.at <= beat.seen - beat.at { continue }
            soonest[worker] = beat
        }
    }

    func status(_ worker: Int) -> StatusFile? { seen[worker]?.status }

    /// For how long nothing has been heard of it, ns.
    func silence(_ worker: Int, now: UInt64) -> UInt64 { now - min(now, seen[worker]?.changed ?? began) }

    /// Its file has changed while somebody looked.
    func isLive(_ worker: Int) -> Bool { seen[worker]?.isLive ?? false }
}

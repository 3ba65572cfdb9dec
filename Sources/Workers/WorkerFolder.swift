import Foundation
import Harness
import Results
import Settings

/// The folder of a run of several workers that has ended, for who merges it anew.
package enum WorkerFolder {
    /// Whether a path is one, rather than a result or a folder of runs.
    package static func isOne(_ path: String) -> Bool {
        let names = RendezvousFolder(path).names()
        return names.contains(RendezvousFolder.run) && names.contains { $0.hasPrefix("worker-") }
    }

    /// How many workers of a run have begun together, and how many it has; nil where there was no start yet.
    package static func begun(_ path: String) -> (workers: Int, all: Int)? {
        let folder = RendezvousFolder(path)
        guard let run: RunFile = folder.read(RendezvousFolder.run),
            let start: StartFile = folder.read(RendezvousFolder.start)
        else { return nil }
        return (run.workers - min(run.workers, Set(start.without).count), run.workers)
    }

    /// What all workers brought home, as one result; those whose result never became final are lost.
    ///
    /// - Throws: one line where the run goes on, or a worker's result cannot be read.
    package static func merged(_ path: String) throws(HarnessError) -> ResultDocument {
        let folder = RendezvousFolder(path)
        if let stop: StopFile = folder.read(RendezvousFolder.stop), !folder.names().contains(RendezvousFolder.start) {
            throw HarnessError(
                "\(path): the run was given up before it began, and nothing was sent: \(stop.reason)", .failed)
        }
        var whole = try WholeRun(folder)
        _ = try whole.look()
        let lost = whole.awaited
        // Who ended the run waited for those that it names; one that comes back after that takes the file away first.
        let end: EndFile? = folder.read(RendezvousFolder.end)
        let awaited = lost.filter { end?.lost.contains($0) != true }
        if !awaited.isEmpty {
            var watch = FolderWatch(path)
            let workers = watch.look(now: 0).workers
            let alive = awaited.compactMap { $0 < workers.count ? workers[$0] : nil }.first {
                $0.status != nil && $0.status?.state != .done && $0.silence < whole.run.patience
            }
            if let alive {
                throw HarnessError(
                    "\(path): worker \(alive.index) wrote \(Units.fixed(alive.silence, places: 0)) s ago, so that the run may go on: "
                        + "merge it when it has ended (pushload watch \(path)), or when nothing was written for "
                        + "\(Units.duration(nanoseconds: whole.run.patience * 1e9)) (--lost-after)")
            }
        }
        return try whole.document(lost: lost)
    }
}

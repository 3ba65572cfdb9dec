import Foundation
import Glibc
import Results

/// Looks into the folder of a run of several workers again and again; writes nothing there.
struct FolderWatch {
    private struct Seen {
        var status: StatusFile
        /// When it was seen to have changed, seconds of the clock that looks are given.
        var changed: Double
    }

    private let folder: RendezvousFolder
    private var path: String { folder.path }
    private var seen: [Int: Seen] = [:]

    init(_ path: String) { folder = RendezvousFolder(path) }

    /// - Parameter now: seconds of a clock that only goes on.
    mutating func look(now: Double) -> WatchedRun {
        if let what = Self.obstacle(path) {
            return WatchedRun(path: path, phase: .absent("waiting for \(path): \(what)"))
        }
        let names = folder.names()
        guard names.contains(RendezvousFolder.run) else {
            return WatchedRun(path: path, phase: .absent("waiting for \(path)/run.json: no worker has come yet"))
        }
        guard let run: RunFile = folder.read(RendezvousFolder.run), (1...WorkerRank.most).contains(run.workers) else {
            return WatchedRun(path: path, phase: .absent("waiting for \(path)/run.json: \(Self.unreadable)"))
        }
        var watched = WatchedRun(path: path, phase: names.contains(RendezvousFolder.start) ? .running : .gathering)
        watched.id = run.id
        noteStop(names, &watched)
        noteStart(names, &watched)
        noteEnd(names, &watched)
        var lost: Set<Int>?
        if case .ended(_, _, let indexes) = watched.phase { lost = Set(indexes) }
        var unreadable: [String] = []
        watched.workers = (0..<run.workers).map { index in
            var worker = WatchedWorker(index: index)
            if names.contains(RendezvousFolder.worker(index)) {
                let problem = look(at: &worker, of: run.workers, now: now)
                if let problem { unreadable.append(problem) }
            }
            worker.isLost =
                lost?.contains(index) ?? (worker.isSilent && worker.silence > run.patience)
            return worker
        }
        noteResult(names, &watched)
        watched.remarks += unreadable.prefix(Self.mostNamed)
        if unreadable.count > Self.mostNamed {
            watched.remarks.append("and \(unreadable.count - Self.mostNamed) more status files that cannot be read")
        }
        return watched
    }

    /// The most that a result has, bytes.
    private static let mostOfResult = 256 << 20

    private func noteStop(_ names: Set<String>, _ watched: inout WatchedRun) {
        guard names.contains(RendezvousFolder.stop) else { return }
        guard let stop: StopFile = folder.read(RendezvousFolder.stop) else {
            return watched.remarks.append("stop.json: \(Self.unreadable)")
        }
        watched.remarks.append("worker \(stop.worker) asked all to stop: \(stop.reason)")
        if watched.phase == .gathering { watched.phase = .givenUp }
    }

    private func noteStart(_ names: Set<String>, _ watched: inout WatchedRun) {
        guard names.contains(RendezvousFolder.start) else { return }
        guard let start: StartFile = folder.read(RendezvousFolder.start) else {
            return watched.remarks.append("start.json: \(Self.unreadable)")
        }
        let without = start.without.prefix(10).map(String.init).joined(separator: ", ")
        if !without.isEmpty { watched.remarks.append("begun without workers that had not come: \(without)") }
    }

    private func noteEnd(_ names: Set<String>, _ watched: inout WatchedRun) {
        guard names.contains(RendezvousFolder.end) else { return }
        guard let end: EndFile = folder.read(RendezvousFolder.end) else {
            return watched.remarks.append("end.json: \(Self.unreadable)")
        }
        watched.phase = .ended(isComplete: end.complete, status: end.status, lost: end.lost)
    }

    /// What a run that has ended came to, as its result has it.
    private func noteResult(_ names: Set<String>, _ watched: inout WatchedRun) {
        guard case .ended = watched.phase, names.contains(RendezvousFolder.result) else { return }
        guard let data = folder.contents(RendezvousFolder.result, atMost: Self.mostOfResult),
            let result = try? ResultFile.decode(Array(data), origin: RendezvousFolder.result)
        else {
            return watched.remarks.append("result.json: \(Self.unreadable)")
        }
        guard result.run.id == watched.id, let rows = result.workers else {
            return watched.remarks.append("result.json: it is of another run")
        }
        watched.outcome = .init(result)
        for row in rows where watched.workers.indices.contains(row.index) { watched.workers[row.index].row = row }
    }

    private static let unreadable = "cannot be read: half written, or of something else"
    private static let mostNamed = 3

    /// Reads what a worker said last.
    ///
    /// - Returns: what is wrong with its file.
    private mutating func look(at worker: inout WatchedWorker, of workers: Int, now: Double) -> String? {
        let index = worker.index
        let name = RendezvousFolder.worker(index) + "/status.json"
        var problem: String?
        if let status: StatusFile = folder.read(name) {
            if status.worker != index || status.workers != workers {
                problem = "\(name): it is of worker \(status.worker) of \(status.workers)"
            } else if seen[index].map({ $0.status.beat != status.beat || $0.status.attempt != status.attempt }) ?? true
            {
                // When it was written is asked of the file only where nobody saw it: by another machine's clock.
                let age = seen[index] == nil ? Self.age("\(path)/\(name)") : 0
                seen[index] = Seen(status: status, changed: now - age)
            } else {
                seen[index]?.status = status
            }
        } else if FileManager.default.fileExists(atPath: "\(path)/\(name)") {
            problem = "\(name): \(Self.unreadable)"
        }
        guard let seen = seen[index] else { return problem }
        worker.status = seen.status
        worker.silence = max(0, now - seen.changed)
        worker.before = before(seen.status)
        worker.hasLeft =
            seen.status.state == .done
            && !folder.names(in: RendezvousFolder.worker(index)).contains(ShardFolder.shard)
        return problem
    }

    /// Of a part that was taken up again, the pushes that are not this attempt's.
    private func before(_ status: StatusFile) -> UInt64 {
        guard status.attempt > 1, let planned = status.planned else { return 0 }
        let name = RendezvousFolder.worker(status.worker)
        let attempts = folder.names(in: name).filter { $0.hasPrefix("begun-") && $0.hasSuffix(".json") }
            .compactMap { Int($0.dropFirst(6).dropLast(5)) }
        guard let first = attempts.min(), first < status.attempt,
            let begun: BegunFile = folder.read("\(name)/begun-\(first).json"), let all = begun.planned
        else { return 0 }
        return all - min(all, planned)
    }

    /// Seconds since a file was written; 0 where nobody knows.
    private static func age(_ path: String) -> Double {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return 0 }
        let written = Double(facts.st_mtim.tv_sec) + Double(facts.st_mtim.tv_nsec) / 1e9
        return max(0, Date().timeIntervalSince1970 - written)
    }

    /// Why a folder cannot be looked into; nil where it can.
    private static func obstacle(_ path: String) -> String? {
        guard let listing = opendir(path) else {
            switch errno {
            case ENOENT: return "no such folder yet"
            case ENOTDIR: return "it is no folder"
            case let problem: return "cannot look into it: \(String(cString: strerror(problem)))"
            }
        }
        closedir(listing)
        return nil
    }
}

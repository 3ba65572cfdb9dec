import Foundation
import Glibc
import Reports
import Settings

/// Looks into the folder of a run of several workers again and again; writes nothing there.
struct FolderWatch {
    private struct Seen {
        var status: StatusFile
        /// When it was seen to have changed, seconds of the clock that looks are given.
        var changed: Double
    }

    private let path: String
    private var seen: [Int: Seen] = [:]

    init(_ path: String) { self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path }

    /// - Parameter now: seconds of a clock that only goes on.
    mutating func look(now: Double) -> WatchedRun {
        guard let names = Self.names(path) else {
            let what = FileManager.default.fileExists(atPath: path) ? "it is no folder" : "no such folder yet"
            return WatchedRun(path: path, phase: .absent("waiting for \(path): \(what)"))
        }
        guard names.contains("run.json") else {
            return WatchedRun(path: path, phase: .absent("waiting for \(path)/run.json: no worker has come yet"))
        }
        guard let run: RunFile = read("run.json"), (1...WorkerRank.most).contains(run.workers) else {
            return WatchedRun(path: path, phase: .absent("waiting for \(path)/run.json: \(Self.unreadable)"))
        }
        var watched = WatchedRun(path: path, phase: names.contains("start.json") ? .running : .gathering)
        watched.id = run.id
        var unreadable: [String] = []
        watched.workers = (0..<run.workers).map { index in
            guard names.contains("worker-\(index)") else { return WatchedWorker(index: index) }
            let (worker, problem) = self.worker(index, of: run.workers, now: now)
            if let problem { unreadable.append(problem) }
            return worker
        }
        if names.contains("stop.json") {
            let stop: StopFile? = read("stop.json")
            watched.remarks.append(
                stop.map { "worker \($0.worker) asked all to stop: \($0.reason)" } ?? "stop.json: \(Self.unreadable)")
        }
        if names.contains("start.json") {
            if let start: StartFile = read("start.json") {
                let without = start.without.prefix(10).map(String.init).joined(separator: ", ")
                if !without.isEmpty { watched.remarks.append("begun without workers that had not come: \(without)") }
            } else {
                watched.remarks.append("start.json: \(Self.unreadable)")
            }
        }
        if names.contains("end.json") {
            if let end: EndFile = read("end.json") {
                watched.phase = .ended(isComplete: end.complete, status: end.status, lost: end.lost)
            } else {
                watched.remarks.append("end.json: \(Self.unreadable)")
            }
        }
        watched.remarks += unreadable.prefix(Self.mostNamed)
        if unreadable.count > Self.mostNamed {
            watched.remarks.append("and \(unreadable.count - Self.mostNamed) more status files that cannot be read")
        }
        return watched
    }

    private static let unreadable = "cannot be read: half written, or of something else"
    private static let mostNamed = 3

    /// What worker `index` said last, and what is wrong with its file.
    private mutating func worker(_ index: Int, of workers: Int, now: Double) -> (WatchedWorker, problem: String?) {
        let name = "worker-\(index)/status.json"
        var worker = WatchedWorker(index: index)
        var problem: String?
        if let status: StatusFile = read(name) {
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
        if let seen = seen[index] {
            worker.status = seen.status
            worker.silence = max(0, now - seen.changed)
        }
        return (worker, problem)
    }

    /// nil where it is not there, or cannot be read.
    private func read<Value: Decodable>(_ name: String) -> Value? {
        FileManager.default.contents(atPath: "\(path)/\(name)")
            .flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }

    /// Seconds since a file was written; 0 where nobody knows.
    private static func age(_ path: String) -> Double {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return 0 }
        let written = Double(facts.st_mtim.tv_sec) + Double(facts.st_mtim.tv_nsec) / 1e9
        return max(0, Date().timeIntervalSince1970 - written)
    }

    /// What is in a folder; nil where there is none.
    private static func names(_ path: String) -> Set<String>? {
        (try? FileManager.default.contentsOfDirectory(atPath: path)).map(Set.init)
    }
}

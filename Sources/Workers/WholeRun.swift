import Analysis
import Foundation
import Harness
import Results
import Scenarios
import Settings

/// The run of all workers, made of the shards that are there: added up as they arrive.
package struct WholeRun {
    let folder: RendezvousFolder
    package let run: RunFile
    private let start: StartFile?
    /// What workers have loaded; nil while none is ready.
    private let content: RunContent?
    private var merge: WorkerMerge
    /// As the first of the shards that are whole has them, with what only a worker that has loaded everything knows.
    private var settings: (worker: Int, scenario: [String: JSONValue])?
    /// Workers whose shards are in it.
    private(set) var done: Set<Int> = []

    /// - Throws: one line when the folder is no rendezvous.
    package init(_ folder: RendezvousFolder) throws(HarnessError) {
        guard let run: RunFile = folder.read(RendezvousFolder.run), run.workers >= 1, run.workers <= WorkerRank.most
        else {
            throw HarnessError("\(folder.path): no rendezvous: run.json is missing, or cannot be read")
        }
        self.folder = folder
        self.run = run
        start = folder.read(RendezvousFolder.start)
        content =
            (0..<run.workers).lazy.compactMap { worker -> RunContent? in
                let name = RendezvousFolder.worker(worker) + "/" + ShardFolder.ready
                return (folder.read(name) as ReadyFile?)?.content
            }.first
        merge = WorkerMerge(
            id: run.id, workers: run.workers, scenario: run.scenario,
            startedAt: start.map { ResultDocument.Run.timestamp(Date(timeIntervalSince1970: $0.at)) } ?? "")
    }

    /// Those whose shard has not been added.
    var awaited: [Int] { (0..<run.workers).filter { !done.contains($0) } }

    /// Adds the shards that have become whole.
    ///
    /// - Returns: whether there were any.
    mutating func look() throws(HarnessError) -> Bool {
        let whole = awaited.filter { shard($0).isDone }
        try reader.each(whole) { worker, parts throws(HarnessError) in
            try Self.add(parts, to: &merge)
            noteSettings(parts)
            done.insert(worker)
        }
        return !whole.isEmpty
    }

    private var reader: ShardReader { ShardReader(folder: folder, content: content, workers: run.workers) }

    private func shard(_ worker: Int) -> ShardFolder {
        ShardFolder(folder: folder, index: worker)
    }

    private static func add(_ parts: [WorkerShard], to merge: inout WorkerMerge) throws(HarnessError) {
        do throws(ResultMerge.Failure) { try merge.add(parts) } catch { throw HarnessError("\(error)", .failed) }
    }

    private mutating func noteSettings(_ parts: [WorkerShard]) {
        for part in parts where part.state != .lost && part.index < settings?.worker ?? .max {
            settings = (part.index, part.result.scenario)
        }
    }

    /// The result of what is there.
    ///
    /// - Parameter lost: workers that are not waited for any more; what they wrote last is in it, and the rest of their parts counts as
    ///   failed or not sent. nil: the run goes on, and only whole shards count.
    package func document(lost: [Int]?) throws(HarnessError) -> ResultDocument {
        var this = self
        var whole = merge
        var notes: [String] = []
        try reader.each(lost ?? []) { _, parts throws(HarnessError) in
            try Self.add(parts, to: &whole)
            this.noteSettings(parts)
        }
        if let lost, !lost.isEmpty {
            notes.append(
                ResultDocument.partialMark
                    + "\(WorkerMerge.named(lost)) of \(run.workers) \(lost.count == 1 ? "was" : "were") lost: "
                    + (lost.count == 1
                        ? "what it may have sent since it last wrote counts as failed, the rest of its part as not sent "
                        : "what they may have sent since they last wrote counts as failed, the rest of their parts as not sent ")
                    + "(\(ClosedShard.cause))")
        } else if lost == nil {
            notes.append(
                ResultDocument.partialMark
                    + "\(done.count) of \(run.workers) workers have ended so far, and only their pushes are in it")
        }
        do throws(ResultMerge.Failure) {
            var result = try whole.document(notes: notes)
            if let settings = this.settings { result.scenario = settings.scenario }
            return result
        } catch {
            throw HarnessError("\(error)", .failed)
        }
    }

    /// The exit status that all workers have.
    static func status(_ result: ResultDocument, _ thresholds: [Threshold]) -> Int32 {
        RunVerdict(result, thresholds: thresholds).exitCode
    }
}

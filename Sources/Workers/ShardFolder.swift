import Analysis
import Foundation
import Glibc
import Harness
import Results
import Settings

/// A worker's folder: what its attempts have brought home so far.
struct ShardFolder {
    let folder: RendezvousFolder
    let index: Int
    /// The folder's name in the rendezvous.
    var name: String { RendezvousFolder.worker(index) }

    static let shard = "shard.json"
    static let ready = "ready.json"
    private static let result = "result.json"

    static func claim(_ attempt: Int) -> String { "claim-\(attempt)" }
    private static func begun(_ attempt: Int) -> String { "begun-\(attempt).json" }
    /// What an attempt that was lost wrote last, once another one has taken its place.
    private static func partial(_ attempt: Int) -> String { "partial-\(attempt).json" }

    func place(_ file: String) -> String { folder.place(name + "/" + file) }

    /// Larger numbers are nobody's.
    private static let mostAttempts = 1_000_000

    /// The last attempt that somebody claimed; 0: nobody has.
    func claimed() -> Int { Self.numbers(folder.names(in: name), "claim-", "").last ?? 0 }

    private static func numbers(_ names: Set<String>, _ prefix: String, _ suffix: String) -> [Int] {
        names.compactMap { name in
            guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
            return Int(name.dropFirst(prefix.count).dropLast(suffix.count))
        }.filter { $0 > 0 && $0 <= mostAttempts }.sorted()
    }

    /// Its result is whole, and that of its last attempt.
    var isDone: Bool {
        let names = folder.names(in: name)
        guard names.contains(Self.shard), let file: ShardFile = folder.read(name + "/" + Self.shard) else {
            return false
        }
        return Self.numbers(names, "begun-", ".json").last == file.attempt && file.worker ?? index == index
    }

    /// Where it goes on if it is taken up; nil: it has not begun.
    ///
    /// - Parameter since: how long ago all workers started, ns.
    func resumed(since: UInt64) -> RunPlace.Resumed? {
        guard !Self.numbers(folder.names(in: name), "begun-", ".json").isEmpty else { return nil }
        return RunJournal.read(place(RunOutput.journal)).map {
            .init(positions: $0.positions, elapsed: $0.elapsed, since: since)
        }
    }

    /// An attempt begins: what one before it wrote last is kept beside it.
    func begin(_ attempt: Int, _ file: BegunFile) throws(HarnessError) {
        if let last = Self.numbers(folder.names(in: name), "begun-", ".json").last {
            rename(place(Self.result), place(Self.partial(last)))
        }
        try folder.write(file, to: name + "/" + Self.begun(attempt))
    }

    /// Its result is whole, and in its place.
    func end(_ attempt: Int) throws(HarnessError) {
        try folder.write(ShardFile(worker: index, attempt: attempt), to: name + "/" + Self.shard)
    }

    /// What its attempts brought home, the books of those that were lost closed.
    ///
    /// - Parameter planned: pushes of its part; nil: not known.
    /// - Throws: one line when a result that is whole cannot be read.
    func shards(planned: UInt64?) throws(HarnessError) -> [WorkerShard] {
        let names = folder.names(in: name)
        let attempts = Self.numbers(names, "begun-", ".json").compactMap { number in
            (folder.read(name + "/" + Self.begun(number)) as BegunFile?).map { (number: number, file: $0) }
        }
        var shards: [WorkerShard] = []
        for (number, attempt) in attempts.enumerated() {
            let next = number + 1 < attempts.count ? attempts[number + 1].file : nil
            let isDone = next == nil && self.isDone
            guard attempt.file.isPlausible else {
                throw HarnessError(
                    "\(place(Self.begun(attempt.number))): times that cannot be; the file is damaged", .failed)
            }
            let state: ResultDocument.Worker.State = !isDone ? .lost : attempts[0].file.late == nil ? .done : .late
            shards.append(
                WorkerShard(
                    index: index, host: attempt.file.host, state: state, attempt: attempt.number,
                    result: isDone ? try whole() : closed(attempt, next: next), begun: attempt.file.begun,
                    lateSeconds: attempt.file.late,
                    clockOffset: attempt.file.clockOffset.map { Int64($0) },
                    clockBound: attempt.file.clockBound.map { UInt64($0) }))
        }
        if shards.isEmpty {
            shards.append(
                WorkerShard(
                    index: index, host: "", state: .lost,
                    result: ClosedShard.close(nil, planned: planned, reserved: 0)))
        }
        return shards
    }

    private func whole() throws(HarnessError) -> ResultDocument {
        do throws(ResultError) { return try ResultFile.read(place(Self.result)) } catch {
            throw HarnessError("worker \(index): \(error)", .failed)
        }
    }

    /// The books of an attempt that was lost, by what it wrote last.
    ///
    /// - Parameter next: the attempt that took its place.
    private func closed(_ attempt: (number: Int, file: BegunFile), next: BegunFile?) -> ResultDocument {
        let kept = place(Self.partial(attempt.number))
        // Another one may have been about to begin.
        let partial = (try? ResultFile.read(kept)) ?? (next == nil ? try? ResultFile.read(place(Self.result)) : nil)
        let end = next?.positions ?? RunJournal.read(place(RunOutput.journal))?.positions ?? attempt.file.positions
        let reserved = zip(end, attempt.file.positions).reduce(0 as UInt64) { $0 &+ ($1.0 - min($1.0, $1.1)) }
        var result = ClosedShard.close(
            partial, planned: attempt.file.planned, reserved: reserved, left: next?.planned ?? 0)
        let lost = result.failures[ClosedShard.cause] ?? 0
        if next != nil, lost > 0 {
            result.notes.append(
                "lost in attempt \(attempt.number), and taken up again: \(Units.counted(lost, "push")) that it may have sent since it last wrote "
                    + "were not sent again, and count as failed (\(ClosedShard.cause)); of its connections, reasons and costs nothing is known"
            )
        }
        return result
    }
}

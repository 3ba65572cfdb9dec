import Analysis
import Foundation
import Harness
import Measurement
import Networking
import Results
import Scenarios
import Settings
import Synchronization

/// One worker of a run of several, from joining to the end of the whole run.
package final class WorkerSession: Sendable {
    /// What a user says of it.
    package struct Options: Sendable {
        package var startTimeout: UInt64
        package var startsWithoutMissing: Bool
        /// A worker that has written nothing for so long is lost, ns.
        package var lostAfter: UInt64

        package init(startTimeout: UInt64, startsWithoutMissing: Bool, lostAfter: UInt64) {
            (self.startTimeout, self.lostAfter) = (startTimeout, lostAfter)
            self.startsWithoutMissing = startsWithoutMissing
        }
    }

    /// How the whole run ended.
    package struct End: Sendable {
        package let result: ResultDocument
        package let file: EndFile
        /// This worker put it together.
        package let isOwn: Bool
    }

    package let rank: WorkerRank
    /// Which part of the run is this worker's.
    package let place: RunPlace
    /// Its folder.
    package let shardPath: String
    /// Its part was brought home before; it only waits for the others.
    package let isDone: Bool
    package let attempt: Int
    private let options: Options
    private let folder: RendezvousFolder
    private let shard: ShardFolder
    private let heartbeat: Heartbeat
    private let host: String
    private let leaving = Atomic<Bool>(false)

    /// Joins the run that has the folder, or begins one.
    ///
    /// - Parameters:
    ///   - settings: of the whole run, as its result has them.
    ///   - hear: told what others ask of it, one line each, and whether it must stop.
    /// - Throws: one line: another run has the folder, or another process is this worker.
    package init(
        _ rank: WorkerRank, in path: String, _ settings: [String: JSONValue], options: Options,
        hear: @escaping @Sendable (_ line: String, _ mustStop: Bool) -> Void
    ) async throws(HarnessError) {
        self.rank = rank
        self.options = options
        folder = RendezvousFolder(path)
        try folder.make()
        let run = try await Self.join(folder, rank, settings, lostAfter: options.lostAfter)
        shard = ShardFolder(folder: folder, index: rank.index)
        shardPath = folder.place(shard.name)
        try folder.make(shard.name)
        host = MachineFacts().host
        isDone = shard.isDone
        attempt = try await Self.claim(shard, rank, host)
        guard let common = RunPlace.Common(id: run.id, created: run.created) else {
            throw HarnessError("\(folder.place(RendezvousFolder.run)): id \"\(run.id)\" is none", .failed)
        }
        place = RunPlace(
            index: rank.index, workers: rank.workers, common: common,
            resumed: isDone ? nil : shard.resumed(since: UInt64(Self.sinceStart(folder, rank) * 1e9)))
        // Whoever comes back to a run that ended without all of it opens it again.
        if let end: EndFile = folder.read(RendezvousFolder.end), !end.complete { folder.remove(RendezvousFolder.end) }
        let status = StatusFile(
            worker: rank.index, workers: rank.workers, host: host, pid: getpid(), attempt: attempt,
            state: isDone ? .waiting : .ready)
        let index = rank.index
        heartbeat = Heartbeat(folder, status) { news in
            switch news {
            case .stop(let file):
                if file.worker != index { hear("worker \(file.worker) asks all to stop: \(file.reason)", true) }
            case .replaced:
                hear("worker \(index) was taken up by another process: this one stops", true)
            case .mute(let silence, let problem):
                hear(
                    "\(problem) (for \(Units.duration(nanoseconds: Double(silence))) now): the others cannot know that this "
                        + "worker goes on", false)
            }
        }
        if isDone { heartbeat.start() }
    }

    /// How long ago all workers started, seconds: as those that are there say by their own steady clocks, or else by the clocks of the day.
    private static func sinceStart(_ folder: RendezvousFolder, _ rank: WorkerRank) -> Double {
        let elapsed = (0..<rank.workers).lazy.filter { $0 != rank.index }.prefix(64).compactMap { worker -> Double? in
            guard let status: StatusFile = folder.read(RendezvousFolder.worker(worker) + "/status.json"),
                status.state == .running, abs(WorkerClock.now() - status.at) < 60
            else { return nil }
            return status.elapsed
        }.max()
        let start: StartFile? = folder.read(RendezvousFolder.start)
        return min(max(0, elapsed ?? start.map { WorkerClock.now() - $0.at } ?? 0), 1e8)
    }

    // MARK: Joining

    /// Settings that are a machine's own, or a file whose contents count (`RunContent`).
    private static let own: Set<String> = [
        "threads", "pin", "metrics_port", "credentials", "key", "cert", "cert_key", "cacert", "template", "templates",
        "device_file", "registrations", "trace", "mock_flags", "mock_threads",
    ]

    private static func join(
        _ folder: RendezvousFolder, _ rank: WorkerRank, _ settings: [String: JSONValue], lostAfter: UInt64
    ) async throws(HarnessError) -> RunFile {
        let names = folder.names()
        if !names.contains(RendezvousFolder.run) {
            guard !names.contains(RendezvousFolder.result) else {
                throw HarnessError(
                    "\(folder.path): holds the result of a run that had no workers; give an empty folder")
            }
            let new = RunFile(
                id: RunPlace.Common.newID, workers: rank.workers,
                created: WorkerClock.now(), scenario: settings, lostAfter: Double(lostAfter) / 1e9)
            _ = try folder.writeOnce(new, to: RendezvousFolder.run)
        }
        guard let run = await read(folder) else {
            throw HarnessError("\(folder.place(RendezvousFolder.run)): cannot be read; give an empty folder")
        }
        guard run.workers == rank.workers else {
            throw HarnessError(
                "\(folder.path): belongs to a run of \(Units.counted(UInt64(clamping: run.workers), "worker")), and this is worker \(rank.index) of "
                    + "\(rank.workers) (\(rank.source)); give an empty folder")
        }
        let keys = Set(run.scenario.keys).union(settings.keys).subtracting(own)
        if let key = keys.sorted().first(where: { run.scenario[$0] != settings[$0] }) {
            func text(_ value: JSONValue?) -> String { value.map { "\($0)" } ?? "nothing" }
            throw HarnessError(
                "\(folder.path): belongs to a run in which \(key) is \(text(run.scenario[key])), and here it is \(text(settings[key])); "
                    + "give all workers the same, or another run an empty folder")
        }
        if let end: EndFile = folder.read(RendezvousFolder.end), end.complete {
            throw HarnessError(
                "\(folder.path): holds a run that has ended (\(run.id)); nothing was sent; give an empty folder")
        }
        if let stop: StopFile = folder.read(RendezvousFolder.stop), !folder.names().contains(RendezvousFolder.start) {
            throw HarnessError(
                "\(folder.path): holds a run that was given up before it began: \(stop.reason); give an empty folder")
        }
        return run
    }

    /// What another one is just writing is waited for.
    private static func read(_ folder: RendezvousFolder) async -> RunFile? {
        for _ in 0..<100 {
            if let run: RunFile = folder.read(RendezvousFolder.run) { return run }
            try? await Task.sleep(nanoseconds: 50_000_000)
        }
        return nil
    }

    /// How long a status that does not change says that nobody is there, ns.
    private static let quiet: UInt64 = 3_000_000_000

    /// Becomes worker `index`.
    ///
    /// - Returns: which attempt this is, from 1 on.
    private static func claim(_ shard: ShardFolder, _ rank: WorkerRank, _ host: String) async throws(HarnessError)
        -> Int
    {
        let last = shard.claimed()
        if last > 0 {
            let status = shard.name + "/status.json"
            let before: StatusFile? = shard.folder.read(status)
            let began = MonotonicClock.now()
            while before?.state != .done, before?.state != .left, MonotonicClock.now() - began < quiet {
                try? await Task.sleep(nanoseconds: 100_000_000)
                guard let now: StatusFile = shard.folder.read(status),
                    now.beat != before?.beat || now.attempt != before?.attempt
                else { continue }
                throw HarnessError(
                    "\(shard.folder.path): worker \(rank.index) of \(rank.workers) is running already, on \(now.host) as process \(now.pid)"
                )
            }
        }
        let claim = ClaimFile(host: host, pid: getpid(), at: WorkerClock.now())
        guard try shard.folder.writeOnce(claim, to: shard.name + "/" + ShardFolder.claim(last + 1)) else {
            throw HarnessError(
                "\(shard.folder.path): worker \(rank.index) of \(rank.workers) was started by somebody else at the same moment"
            )
        }
        return last + 1
    }

    // MARK: Running

    /// Says that everything is loaded, and waits for the start.
    ///
    /// - Parameters:
    ///   - planned: pushes this attempt plans.
    ///   - threads: of this worker.
    ///   - isStopped: somebody wants this process to end.
    ///   - tell: told whom it waits for, one line.
    /// - Returns: when the run starts.
    package func begin(
        _ content: RunContent, planned: UInt64?, threads: Int, isStopped: @Sendable () -> Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(HarnessError) -> Run.Start {
        heartbeat.update { $0.planned = planned }
        try folder.write(
            ReadyFile(host: host, attempt: attempt, content: content), to: shard.name + "/" + ShardFolder.ready)
        heartbeat.start()
        let gate = StartGate(
            folder: folder, rank: rank, content: content, timeout: options.startTimeout,
            missing: options.startsWithoutMissing ? .start : .stop, tell: tell, lostAfter: options.lostAfter)
        let start: StartGate.Start
        do throws(HarnessError) { start = try await gate.wait(isStopped: isStopped) } catch {
            heartbeat.end()
            throw error
        }
        let now = MonotonicClock.now()
        // Of a start that was there before, the clock of the day tells nothing that others do not tell better.
        let ahead = start.isFresh ? start.at - WorkerClock.now() : -Self.sinceStart(folder, rank)
        guard ahead.isFinite, ahead < Self.farthest else {
            throw HarnessError(
                "\(folder.place(RendezvousFolder.start)): says a start that is \(Units.fixed(ahead, places: 0)) s ahead; the file is damaged, "
                    + "or this machine's clock is wrong", .failed)
        }
        // One that is only a little late keeps the common schedule; for another everything comes due later.
        let isLate = ahead < -Self.noticed
        let keepsTime = place.resumed == nil && ahead > -Self.tolerated
        let begins = keepsTime ? now &+ UInt64(bitPattern: Int64(ahead * 1e9)) : now + Self.ahead
        let begun = keepsTime ? 0 : max(0, Double(Self.ahead) / 1e9 - ahead)
        try shard.begin(
            attempt,
            BegunFile(
                host: host, positions: place.resumed?.positions ?? [UInt64](repeating: 0, count: threads),
                planned: planned,
                late: isLate ? -ahead : nil, begun: begun, clockOffset: start.clock.map { $0.offset * 1e9 },
                clockBound: start.clock.map { $0.bound * 1e9 }))
        heartbeat.update { $0.state = .running }
        return Run.Start(at: begins, begun: UInt64(begun * 1e9))
    }

    /// A start this long ago is said, and is kept no more, seconds.
    private static let noticed = 0.1
    private static let tolerated = 1.0
    /// No start lies farther ahead, seconds.
    private static let farthest = 600.0
    /// Time to connect for one that starts on its own, ns.
    private static let ahead: UInt64 = 500_000_000

    package func note(_ progress: RunProgress) {
        heartbeat.update {
            $0.elapsed = progress.elapsed
            let counts = progress.counts
            ($0.sent, $0.accepted, $0.rejected) = (counts.sent, counts.accepted, counts.rejected)
            ($0.failed, $0.notSent) = (counts.failed, counts.notSent)
            ($0.inFlight, $0.backlog) = (progress.inFlight, progress.backlog)
            ($0.perSecond, $0.targetPerSecond) = (progress.perSecond, progress.target)
            ($0.p50, $0.p99) = (progress.p50, progress.p99)
        }
    }

    /// Asks all workers to stop.
    package func stopAll(_ reason: String) {
        _ = try? folder.writeOnce(StopFile(worker: rank.index, reason: reason), to: RendezvousFolder.stop)
    }

    package func note(problem: String) { heartbeat.update { $0.problem = problem } }

    /// Another process has taken this worker's part up: what is in its folder is that one's.
    package var isReplaced: Bool { heartbeat.isReplaced }

    /// Nobody waits for this worker any more.
    ///
    /// - Parameter comesAgain: it was told to end, and may be started again: the others wait for that as for one that is silent.
    package func leave(comesAgain: Bool = false) {
        leaving.store(true, ordering: .relaxed)
        heartbeat.end(comesAgain ? .left : .done)
    }

    // MARK: The whole run

    /// Its own pushes have ended, and what it has is in its folder: waits until the whole run is over. Of those that are there the
    /// first one puts the result together.
    ///
    /// - Parameters:
    ///   - result: its own.
    ///   - tell: told whom it waits for, one line.
    /// - Throws: one line when the whole cannot be put together, or this process is to leave.
    package func finish(
        _ result: ResultDocument?, _ thresholds: [Threshold], tell: @Sendable (String) -> Void
    ) async throws(HarnessError) -> End {
        heartbeat.update {
            $0.state = .waiting
            guard let result else { return }
            ($0.sent, $0.accepted, $0.rejected) = (result.pushes.sent, result.pushes.accepted, result.pushes.rejected)
            ($0.failed, $0.notSent) = (result.pushes.failed, result.pushes.notSent)
            ($0.inFlight, $0.backlog, $0.perSecond) = (0, 0, 0)
        }
        if !isDone { try shard.end(attempt) }
        // The others may have given it up, and ended the run meanwhile.
        if let end: EndFile = folder.read(RendezvousFolder.end), end.lost.contains(rank.index) {
            folder.remove(RendezvousFolder.end)
        }
        defer { heartbeat.end() }
        let began = MonotonicClock.now()
        var presence = Presence(folder, now: began)
        var whole = try WholeRun(folder)
        let start: StartFile? = folder.read(RendezvousFolder.start)
        var isTold = false
        var lastWrite: UInt64 = 0
        var isNew = false
        while true {
            guard !leaving.load(ordering: .relaxed) else {
                throw HarnessError(
                    "left before all workers had ended: \(folder.place(RendezvousFolder.result)) is not whole", .failed)
            }
            let now = MonotonicClock.now()
            if folder.names().contains(RendezvousFolder.end), let end: EndFile = folder.read(RendezvousFolder.end) {
                guard end.lost.contains(rank.index) else { return End(result: try read(), file: end, isOwn: false) }
                // It was taken for lost, and is not: the end comes once more, with its part.
                folder.remove(RendezvousFolder.end)
            }
            presence.look(0..<rank.workers, now: now)
            let isFirst = !(0..<rank.index).contains { isThere($0, presence, now, start) }
            if isFirst {
                isNew = try whole.look() || isNew
                let awaited = whole.awaited
                let lost = awaited.filter { !isThere($0, presence, now, start) }
                if lost.count == awaited.count { return try end(whole, lost, thresholds) }
                if isNew, now - lastWrite >= 2_000_000_000 {
                    try write(try whole.document(lost: nil))
                    (isNew, lastWrite) = (false, now)
                }
            }
            if !isTold, now - began > 3_000_000_000 {
                isTold = true
                let awaited = (0..<rank.workers).filter {
                    ![.waiting, .done].contains(presence.status($0)?.state) && isThere($0, presence, now, start)
                }
                if !awaited.isEmpty {
                    tell("its own pushes have ended; waiting for \(WorkerMerge.named(awaited)) of \(rank.workers)")
                }
            }
            try? await Task.sleep(nanoseconds: min(1_000_000_000, 50_000_000 * UInt64(1 + rank.workers / 50)))
        }
    }

    /// One that has never been seen may still come.
    private func isThere(_ worker: Int, _ presence: Presence, _ now: UInt64, _ start: StartFile?) -> Bool {
        guard worker != rank.index else { return true }
        if let status = presence.status(worker) {
            if status.state == .done { return false }
        } else if start?.without.contains(worker) == true {
            return false
        }
        let patience =
            presence.isLive(worker) ? options.lostAfter : max(options.lostAfter, isDone ? options.startTimeout : 0)
        return presence.silence(worker, now: now) < patience
    }

    private func end(_ whole: WholeRun, _ lost: [Int], _ thresholds: [Threshold]) throws(HarnessError) -> End {
        let result = try whole.document(lost: lost)
        try write(result)
        let file = EndFile(complete: lost.isEmpty, status: WholeRun.status(result, thresholds), lost: lost)
        _ = try folder.writeOnce(file, to: RendezvousFolder.end)
        return End(result: result, file: folder.read(RendezvousFolder.end) ?? file, isOwn: true)
    }

    /// Two workers may take themselves for the first at once: each writes under a name of its own, and the last one stays.
    private func write(_ result: ResultDocument) throws(HarnessError) {
        let (own, target) = (folder.place("result-\(rank.index).json"), folder.place(RendezvousFolder.result))
        do throws(ResultError) { try ResultFile.write(result, to: own) } catch {
            throw HarnessError(error.description, .unwritable)
        }
        guard rename(own, target) == 0 else {
            let problem = String(cString: strerror(errno))
            folder.remove("result-\(rank.index).json")
            throw HarnessError("cannot write \(target): \(problem)", .unwritable)
        }
    }

    private func read() throws(HarnessError) -> ResultDocument {
        let path = folder.place(RendezvousFolder.result)
        do throws(ResultError) {
            let result = try ResultFile.read(path)
            let run: RunFile? = folder.read(RendezvousFolder.run)
            guard result.run.id == run?.id else {
                throw ResultError("\(path): the result of another run, \(result.run.id)")
            }
            return result
        } catch { throw HarnessError(error.description, .failed) }
    }
}

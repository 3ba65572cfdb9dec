import ArgumentParser
import Flags
import Foundation
import Harness
import Reports
import Results
import Scenarios
import Settings
import Synchronization
import Workers

extension RunCommand {
    /// One worker of a run of several: joins the others, sends its part, and waits until the whole run is over.
    func run(_ scenario: Scenario, as rank: WorkerRank) async throws {
        let options = try workers.options()
        let display = RunDisplay(name: scenario.name, isQuiet: quiet, isLive: live)
        defer { display.close() }
        let prefix = rank.workers > 1 ? "worker \(rank.index): " : ""
        let ending = Ending()
        let identity = try source.locating(scenario, given) { try scenario.identity() }
        try check(scenario, identity, as: rank)
        let session: WorkerSession
        do throws(HarnessError) {
            session = try await WorkerSession(
                rank, in: workers.rendezvous ?? "", Run.settings(of: scenario), options: options
            ) { line, mustStop in
                display.say(prefix + line)
                if mustStop { ending.stop() }
            }
        } catch {
            // One line, whatever somebody else has written into the folder.
            throw HarnessError(TextLines.plain(error.description), error.kind)
        }
        let signals = StopSignals(StopSignals.usual.filter { $0 != SIGTERM }) { [quiet] in
            if ending.stop(), !quiet {
                display.say(
                    prefix + "stopping: open pushes may still be answered, for 5 s; once more ends this worker at once")
            }
        }
        defer { signals.cancel() }
        // Schedulers say so to what they start again elsewhere.
        let dismissals = StopSignals([SIGTERM]) { [quiet] in
            if ending.stop(isDismissal: true), !quiet {
                display.say(prefix + "told to end (SIGTERM): open pushes may still be answered, for 5 s")
            }
        }
        defer { dismissals.cancel() }
        var product: RunProduct?
        if !session.isDone {
            do {
                product = try await send(session, scenario, identity, ending, display, prefix)
            } catch {
                session.leave()
                throw error as? HarnessError ?? HarnessError("\(error)", .failed)
            }
        }
        display.close()
        if ending.isDismissed, let product, !product.result.run.complete {
            session.leave(comesAgain: true)
            throw HarnessError(
                prefix
                    + "told to end (SIGTERM) before its part was sent; started again with the same --rendezvous it goes on there",
                .failed)
        }
        ending.wait(for: session)
        try await finish(session, product, scenario, display, prefix)
    }

    /// What is ended by Ctrl-C, and by what others ask: first the run, and once that is over the wait for the others.
    private final class Ending: Sendable {
        private struct State {
            var run: Run?
            var session: WorkerSession?
            var stops = 0
            var isDismissed = false
        }
        private let state = Mutex(State())

        /// This process is to end, and the run is not: another one may take its part up.
        var isDismissed: Bool { state.withLock { $0.isDismissed } }

        /// - Returns: whether a run goes on that is stopped for the first time.
        @discardableResult
        func stop(isDismissal: Bool = false) -> Bool {
            state.withLock {
                $0.stops += 1
                if isDismissal { $0.isDismissed = true }
                if let session = $0.session {
                    session.leave()
                    return false
                }
                $0.run?.stop()
                return $0.stops == 1
            }
        }

        func begin(_ run: Run) {
            state.withLock {
                $0.run = run
                if $0.stops > 0 { run.stop() }
            }
        }

        func wait(for session: WorkerSession) {
            state.withLock {
                $0.session = session
                if $0.isDismissed { session.leave() }
            }
        }
    }

    /// What is wrong with a run is found before its folder is taken: the first worker says for all what the run is.
    private func check(_ scenario: Scenario, _ identity: Run.Identity, as rank: WorkerRank) throws {
        guard !RendezvousFolder(workers.rendezvous ?? "").isTaken else { return }
        let common = RunPlace.Common(id: RunPlace.Common.newID, created: Date().timeIntervalSince1970)
        let place = RunPlace(index: rank.index, workers: rank.workers, common: common)
        _ = try source.locating(scenario, given) { try Run(scenario, identity: identity, place: place) }
    }

    /// Sends the worker's part, and leaves what it has in its folder.
    private func send(
        _ session: WorkerSession, _ scenario: Scenario, _ identity: Run.Identity, _ ending: Ending,
        _ display: RunDisplay, _ prefix: String
    ) async throws -> RunProduct {
        let run = try source.locating(scenario, given) {
            try Run(scenario, identity: identity, place: session.place)
        }
        ending.begin(run)
        try checkRoom(session.shardPath)
        let output = RunOutput(
            folder: session.shardPath, isShard: true, isCurrent: { !session.isReplaced },
            warn: { problem in
                session.note(problem: problem)
                display.say(prefix + problem)
            },
            tell: { [quiet] words in if !quiet { display.say(prefix + words) } })
        let workers = session.rank.workers
        // Where many write into one stream of lines, `pushload watch` shows them.
        let isShown = display.isRedrawn || workers == 1
        let product = try await run.execute(
            isTerminal: display.isRedrawn, judge: judge(scenario, workers: workers), output: output,
            keepsFeedback: false,
            begin: { [quiet, folder = self.workers.rendezvous ?? ""] in
                let start = try await session.begin(
                    run.content, planned: run.planned, threads: run.threads, isStopped: { run.isStopped },
                    tell: { words in if !quiet { display.say(prefix + words) } })
                if !quiet, session.rank.index == 0, workers > 1 {
                    let begun = WorkerFolder.begun(folder)?.workers ?? workers
                    let some = begun < workers ? "\(begun) of \(workers)" : "\(workers)"
                    display.say(
                        prefix
                            + "\(some) workers \(begun == 1 ? "starts" : "start"); pushload watch \(folder) shows them")
                }
                return start
            },
            progress: { progress in
                session.note(progress)
                if isShown { display.show(.init(progress)) }
            })
        guard !session.isReplaced else {
            throw HarnessError(
                prefix + "another process has taken its part up: what this one sent counts as far as it had written it",
                .failed)
        }
        if let reason = product.abortedFor { session.stopAll(reason) }
        try write(product, session.shardPath, worker: session.rank.index)
        return product
    }

    /// - Throws: the whole run's exit status.
    private func finish(
        _ session: WorkerSession, _ product: RunProduct?, _ scenario: Scenario, _ display: RunDisplay, _ prefix: String
    ) async throws {
        let end = try await session.finish(product?.result, scenario.parsedThresholds) { [quiet] words in
            if !quiet { display.say(prefix + words) }
        }
        let folder = workers.rendezvous ?? ""
        if session.rank.index == 0 {
            _ = try show(end.result, folder, scenario.parsedThresholds)
            try writeReport(end.result, folder)
        } else if !quiet {
            let row = end.result.workers?.first { $0.index == session.rank.index }
            let own = row.map { Self.words($0) + "; " } ?? ""
            Console.error(
                prefix + own + "the whole run: \(folder)/result.json"
                    + (end.file.status == 0 ? "" : ", exit status \(end.file.status)"))
        }
        // Nobody reads the registrations any more.
        if let feedback = product?.feedback?.write() {
            for note in feedback.notes where feedback.isLost || !quiet { Console.error(prefix + note) }
            if feedback.isLost, end.file.status == 0 { throw ExitCode(HarnessError.Kind.unwritable.rawValue) }
        }
        guard end.file.status == 0 else { throw ExitCode(end.file.status) }
    }

    /// `6,737 of 8,000 pushes accepted, 1,263 failed, in 2 attempts`.
    private static func words(_ worker: ResultDocument.Worker) -> String {
        var parts = ["\(Units.grouped(worker.accepted)) of \(Units.counted(worker.pushes, "push")) accepted"]
        for (name, count) in [
            ("rejected", worker.rejected), ("failed", worker.failed), ("not sent", worker.notSent),
        ] where count > 0 {
            parts.append("\(Units.grouped(count)) \(name)")
        }
        if worker.attempts > 1 { parts.append("in \(worker.attempts) attempts") }
        return parts.joined(separator: ", ")
    }
}

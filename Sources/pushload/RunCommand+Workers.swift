import ArgumentParser
import Flags
import Foundation
import Harness
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
        // What is asked of this worker before there is a run to stop is asked of the run then.
        let asked = Mutex<(run: Run?, isStopped: Bool)>((nil, false))
        let session = try await WorkerSession(
            rank, in: workers.rendezvous ?? "", Run.settings(of: scenario), options: options
        ) { line, mustStop in
            display.say(prefix + line)
            guard mustStop else { return }
            asked.withLock {
                $0.isStopped = true
                $0.run?.stop()
            }
        }
        guard !session.isDone else { return try await finish(session, nil, scenario, display, prefix) }
        let product: RunProduct
        do {
            let run = try source.locating(scenario, given) {
                try Run(scenario, identity: try scenario.identity(), place: session.place)
            }
            asked.withLock {
                $0.run = run
                if $0.isStopped { run.stop() }
            }
            let signals = stopSignals(run, display)
            defer { signals.cancel() }
            try checkRoom(session.shardPath)
            product = try await execute(run, session, scenario, display, prefix)
        } catch {
            session.leave()
            throw error as? HarnessError ?? HarnessError("\(error)", .failed)
        }
        display.close()
        do {
            try write(product, session.shardPath)
        } catch {
            session.leave()
            throw error
        }
        try await finish(session, product, scenario, display, prefix)
    }

    private func execute(
        _ run: Run, _ session: WorkerSession, _ scenario: Scenario, _ display: RunDisplay, _ prefix: String
    ) async throws -> RunProduct {
        let output = RunOutput(
            folder: session.shardPath, isShard: true,
            warn: { problem in
                session.note(problem: problem)
                display.say(prefix + problem)
            },
            tell: { [quiet] words in if !quiet { display.say(prefix + words) } })
        return try await run.execute(
            isTerminal: display.isRedrawn, judge: judge(scenario), output: output, keepsFeedback: false,
            begin: {
                try await session.begin(
                    run.content, planned: run.planned, threads: run.threads, isStopped: { run.isStopped })
            },
            progress: { progress in
                session.note(progress)
                display.show(.init(progress))
            })
    }

    /// - Throws: the whole run's exit status.
    private func finish(
        _ session: WorkerSession, _ product: RunProduct?, _ scenario: Scenario, _ display: RunDisplay, _ prefix: String
    ) async throws {
        let signals = StopSignals { session.leave() }
        defer { signals.cancel() }
        let end = try await session.finish(product?.result, scenario.parsedThresholds) { [quiet] words in
            if !quiet { display.say(prefix + words) }
        }
        let folder = workers.rendezvous ?? ""
        if session.rank.index == 0 {
            _ = try show(end.result, folder, scenario.parsedThresholds)
            try writeReport(end.result, folder)
        } else if !quiet {
            let pushes = product.map { "\(Units.grouped($0.result.pushes.accepted)) of \(Units.counted($0.result.pushes.planned, "push")) accepted" }
            Console.error(
                prefix + (pushes.map { $0 + "; " } ?? "") + "the whole run: \(folder)/result.json"
                    + (end.file.status == 0 ? "" : ", exit status \(end.file.status)"))
        }
        guard end.file.status == 0 else { throw ExitCode(end.file.status) }
    }
}

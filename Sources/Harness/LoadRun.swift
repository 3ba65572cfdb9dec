import Foundation
import Measurement
import Networking
import Scenarios
import Settings
import Signing
import Synchronization
import Transport

/// Runs the workers of one run against its targets and watches them.
final class LoadRun: Sendable {
    let inputs: RunInputs
    let state: RunState
    let control = RunControl()
    let targets: [Target]
    let identity: ProviderIdentity?
    let boxes: [SnapshotBox]
    /// What the metrics show.
    private let shown = Mutex(RunSnapshot())
    /// The token all connections share, where the policy says so.
    let shared = SharedToken()
    /// Of a worker among several.
    let journal: RunJournal?
    /// How many the process may use: asked before a thread is pinned to one.
    let cores = CoreAffinity.allowed().count

    /// - Parameters:
    ///   - times: filled with the moments of some pushes, as the client sees them.
    ///   - shard: where a worker among several keeps its journal; nil: it keeps none.
    /// - Throws: when the ledger's address space cannot be had.
    init(
        inputs: RunInputs, targets: [Target], identity: ProviderIdentity?, times: PushTimes?, shard: RunOutput? = nil
    ) throws(HarnessError) {
        self.inputs = inputs
        self.targets = targets
        self.identity = identity
        let capacity = inputs.ledgerCapacity
        guard let ledger = DeliveryLedger(capacity: capacity) else {
            throw HarnessError("not enough address space for a ledger of \(capacity) pushes", .failed)
        }
        var intended: IntendedTimes?
        if inputs.scenario.deviceModel != nil {
            intended = IntendedTimes(capacity: capacity)
            guard intended != nil else {
                throw HarnessError("not enough address space for the times of \(capacity) pushes", .failed)
            }
        }
        journal = shard.map { RunJournal($0, inputs: inputs) }
        state = RunState(
            accepted: ledger, times: times, intended: intended, reservations: journal?.reservations,
            workers: inputs.scenario.threads)
        if let shard, inputs.place.resumed != nil {
            // What was accepted before it was lost, as far as it was written down.
            _ = try? AcceptedFile.read(
                shard.folder + "/" + RunOutput.accepted, run: inputs.run.rawValue, into: ledger)
        }
        boxes = (0..<inputs.scenario.threads).map { _ in SnapshotBox() }
    }

    /// Sends everything; returns when every push has ended.
    ///
    /// - Parameter progress: called about once a second (`isTerminal`: four times) with how far it is.
    ///   - judge: called each second; a reason ends the run early.
    ///   - record: where the run leaves what it has while it goes on.
    func run(
        isTerminal: Bool, judge: LiveJudge?, record: RunRecord?, progress: @escaping @Sendable (RunProgress) -> Void
    ) async throws -> LoadOutcome {
        record?.state = state
        let gathering = Gathering()
        let begun = MonotonicClock.now()
        let cpuBefore = ProcessCost.sample()?.cpu ?? 0
        let machineBefore = MachineTime.sample()
        let limitBefore = CPULimit.sample()
        let allocationsBefore = AllocationCount.current()
        let scenario = inputs.scenario
        let metrics = try scenario.metricsPort.map { port in
            try MetricsServer(port: port) { [self] in
                RunMetrics.text(shown.withLock { $0 }, inputs: inputs, target: shownTarget)
            }
        }
        defer { metrics?.stop() }
        let watcher = await withTaskGroup(of: Void.self, returning: RunWatcher.self) { group in
            let pins = scenario.pins
            for worker in 0..<scenario.threads {
                group.addTask {
                    let core = pins?.core(ofThread: worker)
                    await ThreadTask.run(name: "worker \(worker)", core: core) { [self] isKept in
                        do {
                            if let core, !isKept {
                                throw HarnessError("worker \(worker) cannot be pinned to core \(core)", .failed)
                            }
                            let ended = Gathering.Ended(worker: try RunWorker(worker, of: self))
                            ended.worker.run()
                            gathering.workers.withLock { $0.append(ended) }
                        } catch {
                            gathering.failures.withLock { $0.append("\(error)") }
                            state.leave()
                        }
                        AllocationCount.flushThread()
                    }
                }
            }
            let watching = Task { [self] in
                let watcher = RunWatcher(
                    inputs: inputs, state: state, control: control, boxes: boxes, isTerminal: isTerminal,
                    judge: judge, record: record, journal: journal, progress: progress)
                if metrics != nil { watcher.publishes = { [self] snapshot in shown.withLock { $0 = snapshot } } }
                // A thread of its own: it may wait for a disk, and its memory stays in one arena.
                await ThreadTask.run(name: "watcher") { _ in
                    // What it writes grows with the run's time, not with its pushes.
                    AllocationCount.leaveThreadOut()
                    while !gathering.isDone.load(ordering: .relaxed) {
                        Thread.sleep(
                            forTimeInterval: Double(watcher.untilNextLook(clock: MonotonicClock.now())) / 1e9)
                        watcher.look(clock: MonotonicClock.now())
                    }
                }
                return watcher
            }
            await group.waitForAll()
            gathering.isDone.store(true, ordering: .relaxed)
            return await watching.value
        }
        // What the end of the run takes is not the pushes'.
        let allocationsAfter = AllocationCount.current()
        if let failure = gathering.failures.withLock({ $0.first }) { throw HarnessError(failure, .failed) }
        let workers = gathering.workers.withLock { $0.map(\.worker) }
        var outcome = collect(workers, watcher)
        journal?.end(
            workers.sorted { $0.driver.share.worker < $1.driver.share.worker }.map(\.driver.position),
            elapsed: UInt64(outcome.run.durationSeconds * 1e9))
        // Nothing could be sent: how long that was tried for.
        if outcome.run.startedAt.isEmpty { outcome.run.durationSeconds = Double(MonotonicClock.now() - begun) / 1e9 }
        outcome.cpu = (ProcessCost.sample()?.cpu ?? 0) - cpuBefore
        outcome.generator.steal = MachineTime.sample().stealShare(since: machineBefore)
        outcome.generator.cpuLimit = CPULimit.most(CPULimit.sample(), since: limitBefore)
            .map { .init(periods: $0.periods, throttled: $0.throttled, seconds: Double($0.time) / 1e9) }
        if let before = allocationsBefore, let after = allocationsAfter {
            outcome.allocations = after - min(before, after)
        }
        return outcome
    }

    /// As metrics name it.
    private var shownTarget: String {
        targets.count == 1 ? targets[0].authority : inputs.scenario.target?.shown ?? ""
    }

    // MARK: Workers

    /// What the workers' threads leave for the run.
    private final class Gathering: Sendable {
        /// Handed over by their threads, which have ended.
        struct Ended: @unchecked Sendable { let worker: RunWorker }
        let workers = Mutex<[Ended]>([])
        let failures = Mutex<[String]>([])
        let isDone = Atomic<Bool>(false)
    }

    /// From when to when pushes were measured, ns since the start; without an end where the last answer is it.
    private static func span(_ windows: [RateWindow], start: UInt64) -> Range<UInt64> {
        let known = windows.filter { $0.from != .max }
        let from = known.map(\.from).min() ?? start
        let to = known.map(\.to).max() ?? .max
        let begin = from - min(from, start)
        return begin..<max(begin, to - min(to, start))
    }

    /// What the workers brought home, who all have ended.
    func collect(_ workers: [RunWorker], _ watcher: RunWatcher) -> LoadOutcome {
        var outcome = LoadOutcome()
        var lastEnd: UInt64 = 0
        var cooldownFrom: UInt64 = 0
        for worker in workers {
            let driver = worker.driver
            outcome.measurements.add(driver.recorder)
            for breakdown in driver.breakdowns.all { outcome.breakdowns.add(breakdown) }
            for (send, times) in (driver.fanOut?.all ?? []).enumerated() {
                if send < outcome.fanOut.count { outcome.fanOut[send].add(times) } else { outcome.fanOut.append(times) }
            }
            outcome.feedback.add(driver.feedback)
            outcome.loopLag.add(driver.recorder.loopLag)
            outcome.retries.add(driver.retries.counts)
            outcome.connections.add(driver.connections)
            outcome.lateConnections.add(driver.lateConnections)
            outcome.noConnection.add(driver.noConnection)
            outcome.addTargets(of: worker)
            outcome.movedPushes += driver.movedPushes
            outcome.tokensSigned += driver.composer.tokensSigned
            outcome.tokensReplaced += driver.composer.tokensReplaced
            outcome.sentAnew += driver.sentAnew
            outcome.refusedAnew += driver.refusedAnew
            outcome.retriesTooLong += driver.retries.tooLong
            cooldownFrom = max(cooldownFrom, driver.cooldownFrom)
            outcome.cooldown.pushes += driver.cooldownPushes
            outcome.workerTime.add(worker.time)
            lastEnd = max(lastEnd, driver.lastEnd)
            outcome.isAbandoned = outcome.isAbandoned || driver.abandonedBy != nil
            outcome.run.tls = outcome.run.tls ?? worker.engine.tlsDescription
            if !worker.problem.isEmpty { outcome.lastProblem = worker.problem }
            if outcome.streamFault.isEmpty { outcome.streamFault = driver.streamFault }
            outcome.unexplained = outcome.unexplained ?? driver.unexplained
        }
        outcome.generator.overflowed = workers.reduce(0) { $0 + $1.driver.ownOverflows }
        let start = state.start.load(ordering: .relaxed)
        outcome.start = start
        if start > 0 { outcome.noteStart(start, now: MonotonicClock.now()) }
        outcome.run.durationSeconds = start > 0 && lastEnd > start ? Double(lastEnd - start) / 1e9 : 0
        var windows = workers.map(\.driver.window)
        let interruptedAt = workers.map(\.driver.interruptedAt).max() ?? 0
        if interruptedAt > 0 {
            // A worker that had ended before was not told.
            for index in windows.indices { windows[index].cut(interruptedAt) }
        }
        outcome.throughput = .init(windows, isOpenLoop: inputs.schedule != nil)
        let span = Self.span(windows, start: start)
        // Of a run that ended before its warm-up did, all of it.
        if start > 0, let from = windows.map(\.from).min(), from > start {
            outcome.warmup.seconds = Double(min(from, max(lastEnd, start)) - start) / 1e9
        }
        if cooldownFrom > 0, lastEnd > cooldownFrom { outcome.cooldown.seconds = Double(lastEnd - cooldownFrom) / 1e9 }
        if outcome.run.durationSeconds > 0 {
            outcome.addWaits(of: workers)
            outcome.generator.workerLoad = workers.map { min(1, Double($0.cpu) / 1e9 / outcome.run.durationSeconds) }
                .sorted(by: >)
        }
        // Not where all had ended before they were asked to.
        let ranOut = outcome.measurements.failures[FailureCause.runEnded.index] > 0
        outcome.run.interrupted = interruptedAt > 0 || control.isInterrupted && ranOut
        outcome.hasEndedInTime = control.request != .none && control.cause == .runEnded && !outcome.isAbandoned
        let taken = outcome.measurements.counts.taken
        // What the plan still held when a run was stopped or abandoned is not sent; a closed loop for a time planned what it
        // took, and so did a run that went on until a figure was known.
        let isKnown = state.endsAt.load(ordering: .relaxed) != .max
        let planned = isKnown ? taken : inputs.ownPlanned ?? taken
        outcome.planned = planned
        outcome.untaken = planned - min(planned, taken)
        outcome.tokensSigned += shared.signed
        outcome.tokensReplaced += shared.replaced
        outcome.abortedFor = outcome.run.interrupted ? watcher.abortedFor : nil
        outcome.warmup.steady = watcher.foundSteadyState
        // The time of a closed loop is over for its workers before anyone tells them.
        let isOver = control.request == .none && inputs.schedule == nil && inputs.scenario.duration != nil
        if outcome.untaken > 0, isOver, !outcome.isAbandoned { outcome.hasEndedInTime = true }
        for driver in workers.map(\.driver) where outcome.untaken > 0 {
            let whole = inputs.count(driver.share) ?? driver.recorder.counts.taken
            let own = whole - min(whole, driver.begun)
            outcome.measurements.addNotSent(
                own - min(own, driver.recorder.counts.taken),
                cause: (driver.abandonedBy ?? (isOver ? .runEnded : control.cause)).index)
        }
        outcome.measurements.add(
            watcher.finish(
                workers.map(\.driver.recorder), counts: outcome.measurements.counts, at: outcome.run.durationSeconds,
                span: span))
        outcome.series = watcher.series.points
        outcome.blocks = watcher.blocks.blocks
        outcome.arrivals = workers.map(\.driver.arrivals)
        outcome.notes = watcher.notes + targets.compactMap(\.addresses.problem)
        return outcome
    }
}

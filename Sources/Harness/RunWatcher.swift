import Measurement
import Scenarios
import Statistics
import Transport

/// Looks at a run's workers while they send: shows progress, keeps the series, leaves what there is in the run's folder, finds
/// the end of the warm-up, and ends the run early when it is told to. Whoever owns it calls `look` about every `pause`.
///
/// Unchecked: one task owns it while the run goes on, and whoever waited for that task afterwards.
final class RunWatcher: @unchecked Sendable {
    /// Between looks, nanoseconds.
    static let pause: UInt64 = 50_000_000
    /// Between points of the series, nanoseconds; a whole part of a second.
    static let step: UInt64 = 100_000_000

    private let inputs: RunInputs
    private let state: RunState
    private let control: RunControl
    private let boxes: [SnapshotBox]
    private let judge: LiveJudge?
    private let progress: @Sendable (RunProgress) -> Void
    private let progressPause: UInt64
    private let record: RunRecord?
    private let journal: RunJournal?

    /// Where snapshots go besides, when somebody wants them.
    var publishes: ((RunSnapshot) -> Void)?
    private(set) var series = SeriesBuilder()
    /// What the figures are judged by.
    private(set) var blocks = LatencyBlocks()
    /// With `--until`: when it is known well enough.
    private var goal: PrecisionGoal?
    /// Total latencies of the whole run so far, since the last point of the series, since the last second's end, and since
    /// progress was last shown.
    private var totals = TotalLatencies()
    private var sincePoint = TotalLatencies()
    private var sinceSecond = TotalLatencies()
    private var sinceShown = TotalLatencies()
    /// Exchanged with the workers' histograms; empty between looks.
    private var spare = TotalLatencies()
    /// Why the run was ended before its time.
    private(set) var abortedFor: String?
    /// When it no longer waits for answers then, ns since the start.
    private var abortAt = UInt64.max
    /// With `--warmup auto`: whether the end was found, rather than set after a quarter of the run.
    private(set) var foundSteadyState: Bool?
    /// The next point and the next second that are to end, counted from 1.
    private var point: UInt64 = 1
    private var second: UInt64 = 1
    /// End of the last second, seconds since the start.
    private var secondEnd = 0.0
    private var shown = RunSnapshot()
    private var steady: SteadyState?

    init(
        inputs: RunInputs, state: RunState, control: RunControl, boxes: [SnapshotBox], isTerminal: Bool,
        judge: LiveJudge?, record: RunRecord?, journal: RunJournal? = nil,
        progress: @escaping @Sendable (RunProgress) -> Void
    ) {
        self.inputs = inputs
        self.state = state
        self.control = control
        self.boxes = boxes
        self.judge = judge
        self.record = record
        self.journal = journal
        self.progress = progress
        progressPause = isTerminal ? 250_000_000 : journal != nil ? 1_000_000_000 : 2_000_000_000
        goal = inputs.precision.map {
            PrecisionGoal(
                $0.percentile, within: $0.share,
                leastChange: max(BlockFigure.leastChange, inputs.pacingSpread($0.percentile)))
        }
        if inputs.scenario.warmupAuto {
            steady = SteadyState()
            foundSteadyState = false
        }
    }

    /// - Parameter clock: the time now, where it is real, ns; nil: that of the last snapshot.
    func look(clock: UInt64? = nil) {
        // Each look asks for the next, so that a snapshot is at most a pause and a worker's tick old.
        let now = takeSnapshots()
        tellProblems()
        let start = state.start.load(ordering: .relaxed)
        if let clock { keepJournal(now, start, clock) }
        guard start > 0 else { return }
        if now.time > start { watch(now, since: start, clock: clock) }
        let time = max(now.time, clock ?? 0)
        if time > start { endInTime(time - start) }
    }

    /// What the journal has no room for waits for the next look.
    private func keepJournal(_ now: RunSnapshot, _ start: UInt64, _ clock: UInt64) {
        guard let journal else { return }
        journal.look(now.positions, at: now.time, start: start, clock: clock)
        guard let failure = journal.failure, control.request == .none else { return }
        abortedFor = "\(failure): a worker without a journal may not go on"
        abortAt = clock - min(start, clock) + Run.stopDrain
        control.ask(.drain)
    }

    /// How long to wait before the next look, ns: a pause, or less where the run or its drain is to end before, or a closed loop may
    /// use up what its journal has.
    func untilNextLook(clock: UInt64) -> UInt64 {
        let start = state.start.load(ordering: .relaxed)
        if journal != nil, inputs.schedule == nil { return Self.pause / 5 }
        guard start > 0, let ends else { return Self.pause }
        let elapsed = clock - min(start, clock)
        guard let next = [ends.sending, ends.all].first(where: { $0 >= elapsed }) else { return Self.pause }
        return min(Self.pause, next - elapsed + 1)
    }

    private func watch(_ snapshot: RunSnapshot, since start: UInt64, clock: UInt64?) {
        var now = snapshot
        if let publishes {
            now.totals = totals
            now.elapsed = now.time - start
            publishes(now)
        }
        if shown.time == 0 { shown.time = start }
        let elapsed = now.time - start
        lookAtDevices(elapsed)
        lookForSteadyState(now, elapsed)
        blocks.look(at: elapsed, begin: now.measuredFrom(start))
        lookAtGoal(now, elapsed, clock)
        if elapsed >= point * Self.step {
            addPoint(now.counts, inFlight: now.inFlight, backlog: now.backlog, at: Double(elapsed) / 1e9)
            point = elapsed / Self.step + 1
        }
        if elapsed >= second * 1_000_000_000 {
            endSecond(at: Double(elapsed) / 1e9)
            second = elapsed / 1_000_000_000 + 1
            if let record, record.isDue(elapsed) { record.write(outcome(now, start)) }
            // A closed loop whose time is over takes nothing more.
            let planned = inputs.ownPlanned ?? ends.flatMap { elapsed >= $0.taking ? now.counts.taken : nil }
            if let judge, let reason = judge(elapsed, now.counts, totals.all, now.due, planned),
                control.request == .none
            {
                abortedFor = reason
                abortAt = elapsed + Run.stopDrain
                control.ask(.drain)
            }
        }
        if elapsed >= abortAt { control.ask(.abort) }
        if now.time >= shown.time + progressPause { show(now, elapsed) }
    }

    /// Who is pushed to is no longer known once somebody writes into the file: the run is stopped as by Ctrl-C.
    private func lookAtDevices(_ elapsed: UInt64) {
        guard case .listed(let devices) = inputs.population, control.request == .none, let file = devices.writtenFile
        else { return }
        abortedFor = "\(file) was written to while it was read; put another file in its place instead"
        abortAt = elapsed + Run.stopDrain
        control.ask(.drain)
    }

    private func tellProblems() {
        for problem in state.problems.withLock({ $0.take() }) { record?.warn("connections: \(problem)") }
    }

    /// The figure that the run goes on for is known: it ends a little ahead, so that every worker has heard of it before.
    private func lookAtGoal(_ now: RunSnapshot, _ elapsed: UInt64, _ clock: UInt64?) {
        guard goal != nil, state.endsAt.load(ordering: .relaxed) == .max, control.request == .none,
            goal!.isReached(blocks.blocks, at: elapsed)
        else { return }
        // By the clock: the snapshot may be old on a busy machine.
        state.endsAt.store(max(now.time, clock ?? 0) + 2 * Self.pause, ordering: .relaxed)
    }

    /// When a run with a duration is ended, ns after its start: pushes that are late then may still leave for a tenth of the
    /// drain; then only what is open is waited for, to the drain's end.
    private var ends: (taking: UInt64, sending: UInt64, all: UInt64)? {
        let drain = inputs.scenario.drain
        let (start, endsAt) = (state.start.load(ordering: .relaxed), state.endsAt.load(ordering: .relaxed))
        return inputs.ownDuration.map { min($0, endsAt - min(endsAt, start)) }.map {
            ($0, $0 + drain / 10, $0 + drain)
        }
    }

    private func endInTime(_ elapsed: UInt64) {
        guard let ends, elapsed > ends.sending else { return }
        control.ask(.drain, isTimeUp: true)
        if elapsed > ends.all { control.ask(.abort, isTimeUp: true) }
    }

    /// The workers have ended: takes what they still have, and adds the series' last point.
    ///
    /// - Parameters:
    ///   - counts: of the whole run.
    ///   - time: seconds since the start.
    ///   - span: what was measured, ns since the start.
    /// - Returns: the total latencies of the whole run.
    func finish(_ recorders: [Recorder], counts: PushCounts, at time: Double, span: Range<UInt64>) -> TotalLatencies {
        _ = takeSnapshots()
        tellProblems()
        for recorder in recorders {
            recorder.handOver(&spare)
            keepSpare()
        }
        addPoint(counts, inFlight: 0, backlog: 0, at: time)
        blocks.finish(at: UInt64(time * 1e9), begin: span.lowerBound, end: span.upperBound)
        endSecond(at: time)
        record?.end()
        return totals
    }

    /// What the run's folder lacks, one sentence each.
    var notes: [String] { record?.notes ?? [] }

    /// The run as if it were stopped at this moment and no answer waited for: pushes on streams have failed, what the plan
    /// still holds is not sent.
    ///
    /// - Parameters:
    ///   - now: with which the series' last point has just been added.
    ///   - start: ns, as `now.time`.
    private func outcome(_ now: RunSnapshot, _ start: UInt64) -> LoadOutcome {
        var outcome = LoadOutcome()
        outcome.isPartial = true
        outcome.noteStart(start, now: now.time)
        outcome.run.interrupted = true
        outcome.run.durationSeconds = Double(now.time - start) / 1e9
        let taken = now.counts.taken
        outcome.planned = max(taken, inputs.ownPlanned ?? taken)
        outcome.untaken = outcome.planned - taken
        outcome.measurements.add(now.counts, failures: now.failures, notSent: now.notSent)
        outcome.measurements.add(totals)
        // What is open or waits now would have no answer.
        if now.windows.contains(where: { $0.from <= now.time }) {
            outcome.measurements.addUnanswered(taken - min(taken, now.counts.ended) + now.backlog)
        }
        outcome.measurements.addFailed(taken - min(taken, now.counts.ended), cause: FailureCause.interrupted.index)
        outcome.measurements.addNotSent(outcome.untaken, cause: FailureCause.interrupted.index)
        outcome.throughput = .init(now.windows, isOpenLoop: inputs.schedule != nil, now: now.time)
        if let from = now.windows.map(\.from).min(), from != .max, from > start {
            outcome.warmup.seconds = Double(from - start) / 1e9
        }
        outcome.warmup.steady = foundSteadyState
        outcome.abortedFor = abortedFor
        outcome.series = series.points(atMost: RunRecord.mostPoints)
        return outcome
    }

    private func takeSnapshots() -> RunSnapshot {
        var all = RunSnapshot()
        for box in boxes {
            all.add(box.take(&spare))
            keepSpare()
        }
        return all
    }

    private func keepSpare() {
        totals.add(spare)
        sincePoint.add(spare)
        blocks.add(spare)
        if record != nil { sinceSecond.add(spare) }
        sinceShown.add(spare)
        spare.removeAll()
    }

    private func addPoint(_ counts: PushCounts, inFlight: Int, backlog: UInt64, at time: Double) {
        series.add(time: time, counts: counts, inFlight: inFlight, backlog: backlog, totals: sincePoint)
        sincePoint.removeAll()
    }

    /// A second's latencies, or those of the rest of one, go to the log.
    private func endSecond(at time: Double) {
        guard let record else { return }
        record.add(sinceSecond, from: secondEnd, to: time)
        secondEnd = max(secondEnd, time)
        sinceSecond.removeAll()
    }

    private func lookForSteadyState(_ now: RunSnapshot, _ elapsed: UInt64) {
        guard steady != nil else { return }
        let isSteady = steady!.look(
            at: elapsed, total: totals.warmup ?? .empty,
            unanswered: UInt64(clamping: now.inFlight) + now.backlog)
        guard isSteady || isQuarterOver(elapsed, now.counts) else { return }
        // A little ahead, so that every worker has heard of it before the first push that counts is due.
        state.measuredFrom.store(now.time + 2 * Self.pause, ordering: .relaxed)
        foundSteadyState = isSteady
        steady = nil
    }

    /// A quarter of the run's time or of its pushes is over.
    private func isQuarterOver(_ elapsed: UInt64, _ counts: PushCounts) -> Bool {
        if let duration = inputs.ownLength, elapsed >= duration / 4 { return true }
        return inputs.schedule == nil && inputs.ownPlanned.map { counts.ended >= $0 / 4 } ?? false
    }

    private func show(_ now: RunSnapshot, _ elapsed: UInt64) {
        let recent = sinceShown.everyAnswer
        let perSecond =
            Double(now.counts.ended - shown.counts.ended) / (Double(now.time - shown.time) / 1e9)
        progress(
            RunProgress(
                counts: now.counts, planned: inputs.ownPlanned, inFlight: now.inFlight, backlog: now.backlog,
                p50: recent.value(atPercentile: 50), p99: recent.value(atPercentile: 99),
                perSecond: perSecond, target: target(elapsed), noConnection: outage(now),
                elapsed: Double(elapsed) / 1e9,
                secondsLeft: secondsLeft(now.counts.ended, perSecond, elapsed)))
        shown = now
        sinceShown.removeAll()
    }

    /// A worker that has had no connection for longer than a replacement takes.
    private func outage(_ now: RunSnapshot) -> RunProgress.Outage? {
        let outage = now.noConnection
        guard outage.current >= Self.noticedOutage else { return nil }
        return .init(
            lasts: outage.current, cause: outage.currentCause?.description ?? "",
            nextAttempt: outage.nextAttempt.map { $0 - min($0, now.time) })
    }

    /// ns.
    private static let noticedOutage: UInt64 = 100_000_000

    /// What the schedule asks for, pushes a second; nil without one, and where due times are recorded ones.
    private func target(_ elapsed: UInt64) -> Double? {
        inputs.scenario.trace == nil && inputs.replay == nil
            ? inputs.schedule.map { $0.rate(at: Double(elapsed + inputs.passed) / 1e9) / Double(inputs.place.workers) }
            : nil
    }

    /// By the clock where the run has a length, else by the pushes that are missing; nil when neither says.
    private func secondsLeft(_ ended: UInt64, _ perSecond: Double, _ elapsed: UInt64) -> Double? {
        if let length = inputs.ownLength {
            return Double(length - min(length, elapsed)) / 1e9
        }
        guard let planned = inputs.ownPlanned, perSecond > 0 else { return nil }
        return Double(planned - min(planned, ended)) / perSecond
    }
}

/// Looks at a run while it goes on: ns since the start, counts, total latencies so far, measured pushes that have come due so far,
/// pushes planned: nil as long as that is not known. A reason ends the run.
public typealias LiveJudge = @Sendable (UInt64, PushCounts, CensoredHistogram, UInt64, UInt64?) -> String?

/// How far a run is, at one moment.
package struct RunProgress: Sendable {
    package let counts: PushCounts
    package let planned: UInt64?
    package let inFlight: Int
    /// Open loop: pushes due and not on a stream.
    package let backlog: UInt64
    /// Intended time to answer since the last call, ns.
    package let p50: UInt64
    package let p99: UInt64
    /// Ended pushes a second since the last call.
    package let perSecond: Double
    /// Pushes a second the schedule asks for at this moment; nil without one.
    package let target: Double?
    /// nil: all workers have a connection, or nothing is due.
    package let noConnection: Outage?
    /// Seconds since the start.
    package let elapsed: Double
    /// nil when that cannot be said.
    package let secondsLeft: Double?

    /// A worker has no connection for pushes that are due.
    package struct Outage: Sendable {
        /// For so long, ns.
        package let lasts: UInt64
        /// Why the last connection was lost or not made, as results spell it.
        package let cause: String
        /// The next attempt is made after so long, ns; nil: one is under way.
        package let nextAttempt: UInt64?
    }
}

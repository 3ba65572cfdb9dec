import Scenarios
import Transport

/// What became of a run, recomputed from the calls between engines and drivers: plainly, with nothing of what is tested.
struct RunModel {
    enum End {
        case accepted, rejected(Int), failed(FailureCause)
        var isAccepted: Bool { if case .accepted = self { true } else { false } }
    }

    /// A push that was taken.
    struct Fate {
        let due: UInt64
        let takenAt: UInt64
        let isMeasured: Bool
        var outcome: End
        var endedAt: UInt64
    }

    struct Retried {
        var attempts: UInt64 = 0
        var recovered: UInt64 = 0
        var exhausted: UInt64 = 0
        var overBudget: UInt64 = 0
    }

    let scenario: Scenario
    let start: UInt64
    let request: RunControl.Request
    let schedule: LoadSchedule?
    let logs: [PushLog]
    private(set) var fates: [UInt64: Fate] = [:]
    private(set) var sent: UInt64 = 0
    private(set) var sentAgain: UInt64 = 0
    private var everSent: Set<UInt64> = []
    private(set) var requeued: UInt64 = 0
    private(set) var retries = Retried()
    /// Values of the histograms by their name.
    private(set) var recorded: [String: [UInt64]] = [:]
    private(set) var encoded: UInt64 = 0
    /// Of each worker: when it was told to take nothing more, and whether because no connection could be made.
    private(set) var closed: [(at: UInt64, isAbandoned: Bool)?] = []
    /// Of each worker: when it was told that the run was stopped.
    private(set) var told: [UInt64?] = []
    /// What pushes end with that nobody waits for any more.
    let stopCause: FailureCause
    /// An operator asked for something.
    let wasAsked: Bool
    /// Of each worker: when attempts were written, and its answers.
    private(set) var writes: [[RateModel.Write]] = []
    private(set) var answers: [[RateModel.Answer]] = []
    /// Of each worker, what the watcher saw of it at each look, and what it had done at its end.
    private(set) var seen: [[SeriesModel.Snapshot]] = []
    private(set) var finalSeen: [SeriesModel.Snapshot] = []
    private let world: World

    init(
        _ scenario: Scenario, logs: [PushLog], start: UInt64, request: RunControl.Request, stopCause: FailureCause,
        wasAsked: Bool,
        world: World
    ) {
        self.scenario = scenario
        self.start = start
        self.request = request
        self.stopCause = stopCause
        self.wasAsked = wasAsked
        self.logs = logs
        self.world = world
        schedule = (try? scenario.makeSchedule()) ?? nil
        for log in logs { replay(log) }
        // Once all had given up and one has ended of itself, nothing is left to stop.
        if let over = ranOut {
            for worker in told.indices where closed[worker]?.isAbandoned == true && told[worker] ?? 0 > over {
                told[worker] = nil
            }
        }
        // A worker that gave its target up is there as long as others may be told something.
        if let last = told.compactMap({ $0 }).max() {
            for worker in told.indices where told[worker] == nil && closed[worker]?.isAbandoned == true {
                told[worker] = last
            }
        }
    }

    var isOpenLoop: Bool { scenario.isOpenLoop }
    var abandonedBy: FailureCause? { logs.lazy.compactMap(\.abandonedBy).first }

    /// Pushes the run set out to send; a closed loop for a time sets out to send what it takes.
    var planned: UInt64 {
        if let schedule { return schedule.count }
        return scenario.duration == nil ? scenario.pushes! : UInt64(fates.count)
    }

    /// Not of the warm-up.
    func isMeasured(_ sequence: UInt64, due: UInt64, measuredFrom: UInt64) -> Bool {
        if sequence < scenario.warmupPushes { return false }
        if scenario.warmupAuto { return due >= measuredFrom }
        return due >= start + scenario.warmup
    }

    /// When the first worker that had given its target up ended without being told to, after all were through, ns.
    var ranOut: UInt64? {
        var (last, first) = (UInt64.min, UInt64.max)
        for log in logs {
            var (through, alone): (UInt64?, UInt64?)
            for entry in log.entries {
                switch entry {
                case .abandoned(let now): through = through ?? now
                case .ended(let now):
                    through = through ?? now
                    let isTold = log.entries.contains { if case .stopped = $0 { true } else { false } }
                    if log.abandonedBy != nil, !isTold { alone = now }
                default: break
                }
            }
            last = max(last, through ?? .max)
            first = min(first, alone ?? .max)
        }
        return isOpenLoop && first < .max && last <= first ? first : nil
    }

    private mutating func record(_ name: String, _ value: UInt64) { recorded[name, default: []].append(value) }

    /// From `begin` to `end`; at least 1 ns, because several workers' clock readings may cross.
    private static func time(_ begin: UInt64, _ end: UInt64) -> UInt64 { end > begin ? end - begin : 1 }

    private mutating func replay(_ log: PushLog) {
        var composed = 0
        var retried: UInt64 = 0
        var sentHere: UInt64 = 0
        var idleUntil: UInt64 = 0
        var close: (at: UInt64, isAbandoned: Bool)?
        var stoppedAt: UInt64?
        /// Pushes that wait to be retried, how they ended last, and not before when they go out again.
        var waiting: [UInt64: (earliest: UInt64, last: PushLog.Finish)] = [:]
        /// Those that went out again, and whether the attempt was written.
        var retrying: [UInt64: (last: PushLog.Finish, isWritten: Bool)] = [:]
        var tally = SeriesModel.Snapshot()
        var shown = SeriesModel.Snapshot()
        var (isWanted, hasEnded) = (false, false)
        var looks: [SeriesModel.Snapshot] = []
        var writes: [RateModel.Write] = []
        var answers: [RateModel.Answer] = []
        /// What waits to be retried will not be: it ends as it did last.
        func endWaiting() {
            let left = waiting.values.map(\.last).sorted { ($0.at, $0.ticket.sequence) < ($1.at, $1.ticket.sequence) }
            for last in left {
                end(last)
                if let answer = RateModel.Answer(last, stoppedAt) { answers.append(answer) }
                tally.add(last, isMeasured: fates[last.ticket.sequence]?.isMeasured ?? false)
            }
            waiting = [:]
        }
        for entry in log.entries {
            switch entry {
            case .take(let take):
                let ticket = take.ticket
                if let (earliest, last) = waiting.removeValue(forKey: ticket.sequence) {
                    world.check(take.now >= earliest, "push \(ticket.sequence) is retried too early")
                    retrying[ticket.sequence] = (last, false)
                    continue
                }
                world.check(ticket.retries == 0, "push \(ticket.sequence) is retried, but never ended")
                let isMeasured = isMeasured(ticket.sequence, due: ticket.due, measuredFrom: take.measuredFrom)
                world.check(
                    ticket.isMeasured == isMeasured,
                    "push \(ticket.sequence) is \(isMeasured ? "not " : "")measured, due \(ticket.due - start) ns after the start"
                )
                if isOpenLoop, isMeasured { record("loop_lag", Self.time(max(ticket.due, idleUntil), take.now)) }
                fates[ticket.sequence] = Fate(
                    due: ticket.due, takenAt: take.now, isMeasured: isMeasured,
                    outcome: .failed(.interrupted),
                    endedAt: 0)
            case .composed(let ticket):
                composed += 1
                if composed % 16 == 0, ticket.isMeasured { encoded += 1 }
            case .written(let written):
                writes.append(RateModel.Write(at: written.at, stoppedAt: stoppedAt))
                sent += 1
                if !everSent.insert(written.ticket.sequence).inserted { sentAgain += 1 }
                sentHere += 1
                if retrying[written.ticket.sequence]?.isWritten == false {
                    retrying[written.ticket.sequence]?.isWritten = true
                    retries.attempts += 1
                }
                tally.sent += 1
            case .writtenAfterEnd(let time):
                writes.append(RateModel.Write(at: time, stoppedAt: stoppedAt))
                sent += 1
                sentHere += 1
                tally.sent += 1
            case .requeued: requeued += 1
            case .finished(var finish):
                if let (last, _) = retrying.removeValue(forKey: finish.ticket.sequence), hasNotLeft(finish) {
                    // Its last answer, or what its last attempt failed with, stands.
                    finish = last
                } else if stoppedAt == nil, mayRetry(finish) {
                    if finish.ticket.retries >= min(255, scenario.retryAttempts) {
                        retries.exhausted += 1
                    } else if scenario.retryBudget == 0
                        || Double(retried + 1) > max(Double(sentHere) * scenario.retryBudget, 10)
                    {
                        retries.overBudget += 1
                    } else {
                        retried += 1
                        let full = scenario.retryBackoff << UInt64(finish.ticket.retries)
                        waiting[finish.ticket.sequence] = (finish.at + full - full / 2, finish)
                        continue
                    }
                }
                end(finish)
                if let answer = RateModel.Answer(finish, stoppedAt) { answers.append(answer) }
                tally.add(finish, isMeasured: fates[finish.ticket.sequence]?.isMeasured ?? false)
            case .idled(let time): idleUntil = time
            case .abandoned(let now):
                if close == nil { close = (now, true) }
                endWaiting()
            case .stopped(let cause, let now):
                world.check(cause == stopCause, "a worker is told of \(cause)")
                stoppedAt = now
                if close == nil { close = (now, false) }
            case .ended:
                endWaiting()
                hasEnded = true
            case .look:
                looks.append(shown)
                isWanted = true
            case .tick(let now, let inFlight):
                // What a worker ends with is always seen.
                guard isWanted || hasEnded else { continue }
                isWanted = false
                tally.time = now
                tally.inFlight = inFlight
                shown = tally
            }
        }
        closed.append(close)
        told.append(stoppedAt)
        self.writes.append(writes)
        self.answers.append(answers)
        seen.append(looks)
        finalSeen.append(tally)
    }

    /// The run, or its target, was over before the attempt was written.
    private func hasNotLeft(_ finish: PushLog.Finish) -> Bool {
        guard case .failed(let cause) = finish.outcome, finish.written == 0 else { return false }
        return finish.connection < 0 || [.interrupted, .runEnded].contains(cause)
    }

    private func mayRetry(_ finish: PushLog.Finish) -> Bool {
        let policy = scenario.retry.split(separator: ",")
        switch finish.outcome {
        case .accepted: return false
        case .rejected(let status):
            return status == 429 ? policy.contains("429") : status >= 500 && policy.contains("5xx")
        case .failed(let cause):
            let losses: [FailureCause] = [.connectionClosed, .connectionReset, .peerVanished, .protocolViolation]
            return policy.contains("connection") && losses.contains(cause)
        }
    }

    private mutating func end(_ finish: PushLog.Finish) {
        let sequence = finish.ticket.sequence
        guard let fate = fates[sequence] else { return }
        if fate.isMeasured, finish.written != 0 {
            record("queue", Self.time(fate.due, finish.written))
            if isOpenLoop {
                record("late", Self.time(fate.due, finish.started))
                record("write", Self.time(finish.started, finish.written))
            }
        }
        switch finish.outcome {
        case .accepted:
            fates[sequence]?.outcome = .accepted
            if finish.ticket.retries > 0 { retries.recovered += 1 }
        case .rejected(let status): fates[sequence]?.outcome = .rejected(Int(status))
        case .failed(let cause): return fail(sequence, cause, at: finish.at)
        }
        fates[sequence]?.endedAt = finish.at
        guard fate.isMeasured else { return }
        let total = Self.time(fate.due, finish.at)
        record("total", total)
        if case .accepted = finish.outcome { record("total_accepted", total) } else { record("total_rejected", total) }
        if finish.written != 0 { record("round_trip", Self.time(finish.written, finish.at)) }
        if isOpenLoop { record("service", Self.time(finish.started, finish.at)) }
    }

    private mutating func fail(_ sequence: UInt64, _ cause: FailureCause, at time: UInt64) {
        guard let fate = fates[sequence] else { return }
        fates[sequence]?.outcome = .failed(cause)
        fates[sequence]?.endedAt = time
        if fate.isMeasured { record("total_unanswered", Self.time(fate.due, time)) }
    }
}

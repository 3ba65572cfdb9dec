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
    private(set) var requeued: UInt64 = 0
    private(set) var retries = Retried()
    /// Values of the histograms by their name.
    private(set) var recorded: [String: [UInt64]] = [:]
    private(set) var encoded = 0
    /// Of each worker, what the watcher saw of it at each look.
    private(set) var seen: [[SeriesModel.Snapshot]] = []
    /// Of each worker, at its end.
    private(set) var finalSeen: [SeriesModel.Snapshot] = []
    private let world: World

    init(_ scenario: Scenario, logs: [PushLog], start: UInt64, request: RunControl.Request, world: World) {
        self.scenario = scenario
        self.start = start
        self.request = request
        self.logs = logs
        self.world = world
        schedule = try? scenario.makeSchedule()
        for (worker, log) in logs.enumerated() { replay(log, worker) }
    }

    var isOpenLoop: Bool { scenario.isOpenLoop }
    var abandonedBy: FailureCause? { logs.lazy.compactMap(\.abandonedBy).first }

    /// Pushes the run set out to send.
    var planned: UInt64 {
        if let schedule { return schedule.count }
        guard let pushes = scenario.pushes else { return UInt64(fates.count) }
        if scenario.duration == nil || request != .none || abandonedBy != nil { return pushes }
        return UInt64(fates.count)
    }

    func isMeasured(_ ticket: PushTicket, _ measuredFrom: UInt64) -> Bool {
        if ticket.sequence < scenario.warmupPushes { return false }
        if scenario.warmupAuto { return ticket.due >= measuredFrom }
        return ticket.due - start >= scenario.warmup
    }

    private mutating func record(_ name: String, _ value: UInt64) { recorded[name, default: []].append(value) }

    private mutating func replay(_ log: PushLog, _ worker: Int) {
        var composed = 0
        var retried: UInt64 = 0
        var sentHere: UInt64 = 0
        /// Pushes that wait to be retried: not before.
        var waiting: [UInt64: (earliest: UInt64, latest: UInt64)] = [:]
        var hasWaitedFor: UInt64?
        var tally = SeriesModel.Snapshot()
        var shown = SeriesModel.Snapshot()
        var isWanted = false
        var looks: [SeriesModel.Snapshot] = []
        for entry in log.entries {
            switch entry {
            case .take(let take):
                let ticket = take.ticket
                if let wait = waiting.removeValue(forKey: ticket.sequence) {
                    world.check(take.now >= wait.earliest, "push \(ticket.sequence) is retried too early")
                } else {
                    world.check(ticket.retries == 0, "push \(ticket.sequence) is retried, but never ended")
                    if isOpenLoop, let due = hasWaitedFor { record("loop_lag", take.now - due) }
                    hasWaitedFor = nil
                    fates[ticket.sequence] = Fate(
                        due: ticket.due, takenAt: take.now, outcome: .failed(.interrupted), endedAt: 0)
                }
            case .waited(let now, let supply):
                guard scenario.retry == "off" else { continue }
                if case .notBefore(let due) = supply {
                    hasWaitedFor = due
                } else if let due = hasWaitedFor, now >= due {
                    // What had been waited for has overflowed.
                    record("loop_lag", now - due)
                    hasWaitedFor = nil
                }
            case .composed(let ticket):
                composed += 1
                if composed % 16 == 0, isMeasured(ticket, .max) { encoded += 1 }
            case .written(let written):
                sent += 1
                sentHere += 1
                tally.sent += 1
                guard isMeasured(written.ticket, written.measuredFrom) else { continue }
                record("queue", written.at - written.ticket.due)
                if isOpenLoop {
                    record("late", max(1, written.started - written.ticket.due))
                    record("write", max(1, written.at - written.started))
                }
            case .requeued: requeued += 1
            case .finished(let finish):
                if mayRetry(finish) {
                    if finish.ticket.retries >= min(255, scenario.retryAttempts) {
                        retries.exhausted += 1
                    } else if Double(retried + 1) > max(Double(sentHere) * scenario.retryBudget, 10) {
                        retries.overBudget += 1
                    } else {
                        retried += 1
                        retries.attempts += 1
                        let full = scenario.retryBackoff << UInt64(finish.ticket.retries)
                        waiting[finish.ticket.sequence] = (finish.at + full - full / 2, finish.at + full)
                        fates[finish.ticket.sequence]?.endedAt = finish.at
                        fates[finish.ticket.sequence]?.outcome = .failed(log.abandonedBy ?? .interrupted)
                        continue
                    }
                }
                end(finish)
                tally.add(finish, isMeasured: isMeasured(finish.ticket, finish.measuredFrom))
            case .look:
                looks.append(shown)
                isWanted = true
            case .tick(let now, let inFlight):
                guard isWanted else { continue }
                isWanted = false
                tally.time = now
                tally.inFlight = inFlight
                shown = tally
            }
        }
        seen.append(looks)
        finalSeen.append(tally)
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
        fates[sequence]?.endedAt = finish.at
        switch finish.outcome {
        case .accepted:
            fates[sequence]?.outcome = .accepted
            if finish.ticket.retries > 0 { retries.recovered += 1 }
        case .rejected(let status): fates[sequence]?.outcome = .rejected(Int(status))
        case .failed(let cause):
            fates[sequence]?.outcome = .failed(cause)
            return
        }
        guard isMeasured(finish.ticket, finish.measuredFrom) else { return }
        let hasTrip = finish.written != 0 && finish.at > finish.written
        record("round_trip", hasTrip ? finish.at - finish.written : 1)
        record("total", finish.at - finish.ticket.due)
        if isOpenLoop { record("service", finish.at - finish.started) }
    }
}

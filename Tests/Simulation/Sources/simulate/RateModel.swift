import Results
import Transport

/// The four rates of a run whose window is simple: no automatic warm-up, and in a closed loop not ended early.
struct RateModel {
    /// What was told before its worker was told to stop counts to the end of the span as it was then.
    struct Write {
        let at: UInt64
        /// nil: before.
        let stoppedAt: UInt64?
    }

    struct Answer {
        let at: UInt64
        let stoppedAt: UInt64?
        let total: UInt64
        let isAccepted: Bool
        let isMeasured: Bool

        /// nil: the push was not answered.
        init?(_ finish: PushLog.Finish, _ stoppedAt: UInt64?) {
            switch finish.outcome {
            case .accepted: isAccepted = true
            case .rejected: isAccepted = false
            case .failed: return nil
            }
            at = finish.at
            self.stoppedAt = stoppedAt
            total = max(finish.at, finish.ticket.due + 1) - finish.ticket.due
            isMeasured = finish.ticket.isMeasured
        }
    }

    let seconds: Double
    /// nil in closed loop.
    private(set) var offered: Double?
    private(set) var sent = 0.0
    private(set) var answered = 0.0
    private(set) var accepted = 0.0

    /// nil: not so simple.
    init?(_ model: RunModel) {
        let scenario = model.scenario
        guard model.start > 0, !scenario.warmupAuto, scenario.warmupPushes == 0 else { return nil }
        let from = model.start + scenario.warmup
        var offered = 0
        let to: UInt64
        var whole = UInt64.max
        // An interrupted run counts until each worker is told; where the target was given up, to the schedule's end.
        let isCut = model.schedule != nil && model.stopCause == .interrupted
        let told = isCut ? model.told : model.told.map { _ in nil }
        if let schedule = model.schedule {
            guard schedule.duration > 0 else { return nil }
            whole = model.start + schedule.duration
            to = min(whole, told.compactMap { $0 }.max() ?? .max)
            var cursor = schedule.cursor()
            offered = (0..<schedule.count).count {
                let due = model.start + cursor.due($0)
                return due >= from && due < whole && due <= told[Int($0) % scenario.threads] ?? .max
            }
        } else {
            // Where a number of pushes ends a closed loop, the last answer is the end of its span.
            guard scenario.duration == nil,
                model.closed.allSatisfy({ $0 == nil || $0!.isAbandoned || model.stopCause == .runEnded })
            else { return nil }
            to = model.answers.joined().filter(\.isMeasured).map(\.at).max() ?? 0
        }
        // A shorter time of the clock is too short for a rate.
        guard to > from, model.schedule == nil || to - from >= 1_000_000 else { return nil }
        let span = Double(to - from) / 1e9
        seconds = span
        func perSecond(_ count: Int) -> Double { Double(count) / span }
        let isOpenLoop = model.isOpenLoop
        if isOpenLoop { self.offered = perSecond(offered) }
        func isInside(_ time: UInt64, _ stoppedAt: UInt64?) -> Bool {
            time >= from && time < whole && (!isCut || time < stoppedAt ?? .max)
        }
        sent = perSecond(model.writes.joined().count { isInside($0.at, $0.stoppedAt) })
        var inside: [Answer] = []
        for answers in model.answers {
            inside += isOpenLoop ? Self.inside(answers, isInside) : answers.filter(\.isMeasured)
        }
        answered = perSecond(inside.count)
        accepted = perSecond(inside.count(where: \.isAccepted))
    }

    /// One worker's answers that were read in the window, shifted by the shortest total latency seen until then: of accepted
    /// pushes, or of any while none was.
    private static func inside(
        _ answers: [Answer], _ isInside: (_ time: UInt64, _ stoppedAt: UInt64?) -> Bool
    ) -> [Answer] {
        answers.indices.compactMap { place in
            let seen = answers[...place]
            let accepted = seen.filter(\.isAccepted)
            let way = (accepted.isEmpty ? Array(seen) : accepted).map(\.total).min()!
            let moved = answers[place].at - min(answers[place].at, way)
            return isInside(moved, answers[place].stoppedAt) ? answers[place] : nil
        }
    }
}

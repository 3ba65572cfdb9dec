import Results
import Transport

/// The four rates of a run whose window is simple: no automatic warm-up, not ended early.
struct RateModel {
    struct Answer {
        let at: UInt64
        let total: UInt64
        let isAccepted: Bool
        let isMeasured: Bool

        /// nil: the push was not answered.
        init?(_ finish: PushLog.Finish) {
            switch finish.outcome {
            case .accepted: isAccepted = true
            case .rejected: isAccepted = false
            case .failed: return nil
            }
            at = finish.at
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
        // The end of its time is the end of its span; where a number of pushes ends a closed loop, the last answer is.
        let isNumber = model.schedule == nil && scenario.duration == nil
        guard
            model.closed.allSatisfy({
                $0 == nil || ($0!.isAbandoned ? isNumber : model.stopCause == .runEnded)
            })
        else { return nil }
        let from = model.start + scenario.warmup
        var offered = 0
        let to: UInt64
        if let schedule = model.schedule {
            guard schedule.duration > 0 else { return nil }
            to = model.start + schedule.duration
            var cursor = schedule.cursor()
            offered = (0..<schedule.count).count {
                let due = model.start + cursor.due($0)
                return due >= from && due < to
            }
        } else {
            guard scenario.duration == nil else { return nil }
            to = model.answers.joined().filter(\.isMeasured).map(\.at).max() ?? 0
        }
        guard to > from else { return nil }
        let span = Double(to - from) / 1e9
        seconds = span
        func perSecond(_ count: Int) -> Double { Double(count) / span }
        let isOpenLoop = model.isOpenLoop
        if isOpenLoop { self.offered = perSecond(offered) }
        sent = perSecond(model.writes.joined().count { $0 >= from && ($0 < to || !isOpenLoop) })
        var inside: [Answer] = []
        for answers in model.answers {
            inside += isOpenLoop ? Self.inside(answers, from, to) : answers.filter(\.isMeasured)
        }
        answered = perSecond(inside.count)
        accepted = perSecond(inside.count(where: \.isAccepted))
    }

    /// One worker's answers that were read in the window, shifted by the shortest total latency seen until then: of accepted
    /// pushes, or of any while none was.
    private static func inside(_ answers: [Answer], _ from: UInt64, _ to: UInt64) -> [Answer] {
        answers.indices.compactMap { place in
            let seen = answers[...place]
            let accepted = seen.filter(\.isAccepted)
            let way = (accepted.isEmpty ? Array(seen) : accepted).map(\.total).min()!
            let moved = answers[place].at - min(answers[place].at, way)
            return moved >= from && moved < to ? answers[place] : nil
        }
    }
}

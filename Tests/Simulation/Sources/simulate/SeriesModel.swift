import Transport

/// The points of a run's series, from what its watcher was shown at each look.
struct SeriesModel {
    /// What a worker had done when it was looked at.
    struct Snapshot {
        var time: UInt64 = 0
        var sent: UInt64 = 0
        var accepted: UInt64 = 0
        var rejected: UInt64 = 0
        var failed: UInt64 = 0
        var inFlight = 0
        /// All total latencies so far.
        var totals: [UInt64] = []

        mutating func add(_ finish: PushLog.Finish, isMeasured: Bool) {
            switch finish.outcome {
            case .accepted: accepted += 1
            case .rejected: rejected += 1
            case .failed: failed += 1
            }
            if case .failed = finish.outcome { return }
            if isMeasured { totals.append(max(finish.at, finish.ticket.due + 1) - finish.ticket.due) }
        }

        static func sum(_ all: [Snapshot]) -> Snapshot {
            var sum = Snapshot()
            for one in all {
                sum.time = max(sum.time, one.time)
                sum.sent += one.sent
                sum.accepted += one.accepted
                sum.rejected += one.rejected
                sum.failed += one.failed
                sum.inFlight += one.inFlight
                sum.totals += one.totals
            }
            return sum
        }
    }

    /// What has happened until each point's end; the last is the run's.
    private(set) var ends: [Snapshot] = []

    init(_ model: RunModel) {
        let step: UInt64 = 100_000_000
        var point: UInt64 = 1
        for look in 0..<(model.seen.map(\.count).min() ?? 0) {
            let time = model.seen.map { $0[look].time }.max() ?? 0
            guard model.start > 0, time > model.start, time - model.start >= point * step else { continue }
            ends.append(Snapshot.sum(model.seen.map { $0[look] }))
            point = (time - model.start) / step + 1
        }
        var last = Snapshot.sum(model.finalSeen)
        last.inFlight = 0
        ends.append(last)
    }

    /// The latency below or at which `share` of `values` lie.
    static func value(_ share: Double, of values: [UInt64]) -> UInt64 {
        guard !values.isEmpty else { return 0 }
        let rank = max(1, Int((share * Double(values.count)).rounded(.up)))
        return values.sorted()[rank - 1]
    }
}

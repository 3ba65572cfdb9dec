/// The pushes that were due and never begun, and how long each may have been waited for: 1 ns where it overflowed, else until the
/// worker was told to take nothing more.
struct NotBegunModel {
    /// How many are measured.
    private(set) var count: ClosedRange<UInt64> = 0...0
    /// Values other than 1 that there may be, as counters of the histogram, and how many of each.
    private(set) var waited: [UInt64: UInt64] = [:]

    init(_ model: RunModel) {
        guard let schedule = model.schedule, model.start > 0 else { return }
        var cursor = schedule.cursor()
        let dues = (0..<schedule.count).map { model.start + cursor.due($0) }
        var most: UInt64 = 0
        for (worker, close) in model.closed.enumerated() {
            for sequence in dues.indices where sequence % model.scenario.threads == worker {
                guard model.fates[UInt64(sequence)] == nil else { continue }
                let due = dues[sequence]
                // Given up for want of a connection, the schedule counts to its end, or until the run was stopped.
                if let told = model.told[worker], due > told { continue }
                guard model.isMeasured(UInt64(sequence), due: due, measuredFrom: 0) else { continue }
                most += 1
                if let close, close.at > due { waited[ResultChecks.counter(of: close.at - due), default: 0] += 1 }
            }
        }
        // When an automatic warm-up was known to be over is not known here.
        count = (model.scenario.warmupAuto ? 0 : most)...most
    }
}

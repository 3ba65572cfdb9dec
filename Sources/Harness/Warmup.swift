import Scenarios

/// When the pushes of one worker begin to be measured.
struct Warmup {
    /// Pushes of the run that are not measured, however long they take.
    private let pushes: UInt64
    /// Length, ns.
    private let length: UInt64
    /// It ends when the run's watcher says so (`--warmup auto`).
    private let waitsForSteadyState: Bool
    /// The last due time of a push before that was heard of, ns.
    private var lastUnmeasuredDue: UInt64 = 0

    init(_ inputs: RunInputs) {
        let scenario = inputs.scenario
        pushes = scenario.warmupPushes
        length = inputs.ownWarmup
        waitsForSteadyState = scenario.warmupAuto
    }

    @inline(__always)
    func isOver(_ sequence: UInt64) -> Bool { sequence >= pushes }

    /// The time from which pushes are measured, ns, where it is known when the run begins.
    func end(start: UInt64, _ supply: PushSupply) -> UInt64? {
        if waitsForSteadyState { return nil }
        return pushes == 0 ? start &+ length : supply.due(first: pushes)
    }

    /// The same, where only a push tells: in a closed loop a warm-up of pushes ends with the first one beyond.
    ///
    /// - Parameter steadyFrom: what the run's watcher has said, ns; `.max` before.
    mutating func end(_ sequence: UInt64, due: UInt64, steadyFrom: UInt64) -> UInt64? {
        guard waitsForSteadyState else { return isOver(sequence) ? due : nil }
        if steadyFrom == .max {
            lastUnmeasuredDue = max(lastUnmeasuredDue, due)
            return nil
        }
        // Heard of too late, it begins later: all that are due in the span are measured.
        return max(steadyFrom, lastUnmeasuredDue &+ 1)
    }
}

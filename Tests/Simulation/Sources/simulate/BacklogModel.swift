import Scenarios

/// Open loop: when each push was due by the schedule, and which may have overflowed, recomputed push by push.
struct BacklogModel {
    private let model: RunModel
    private let world: World
    /// Due times of all pushes, ns of the clock.
    private let dues: [UInt64]

    init(_ model: RunModel, world: World) {
        self.model = model
        self.world = world
        let schedule = model.schedule!
        var cursor = schedule.cursor()
        dues = (0..<schedule.count).map { model.start + cursor.due($0) }
    }

    func check() {
        guard model.start > 0 else { return }
        for (sequence, fate) in model.fates.sorted(by: { $0.key < $1.key }) {
            guard sequence < UInt64(dues.count) else { return world.fail("push \(sequence) is beyond the schedule") }
            let due = dues[Int(sequence)]
            world.check(fate.due == due, "push \(sequence) is due at \(fate.due), by the schedule at \(due)")
            if model.scenario.arrivals == "constant", let rate = model.scenario.rate {
                let own = Double(model.start) + Double(sequence) / rate * 1e9
                world.check(abs(own - Double(fate.due)) <= 2, "push \(sequence) is not due at its place of the rate")
            }
        }
        for worker in 0..<model.scenario.threads { checkBound(worker) }
    }

    /// Of one worker: never more wait than the bound, and none overflows while fewer do.
    private func checkBound(_ worker: Int) {
        let threads = model.scenario.threads
        let bound = max(1, model.scenario.backlog / UInt64(threads))
        let own = dues.indices.filter { $0 % threads == worker }
        let takes = own.map { model.fates[UInt64($0)]?.takenAt }
        guard let last = takes.lastIndex(where: { $0 != nil }) else { return }
        var waiting: [UInt64] = []
        for place in 0...last {
            let due = dues[own[place]]
            // One taken at the very moment the other comes due may have waited, or not.
            waiting.removeAll { $0 < due }
            guard let taken = takes[place] else {
                // It was passed over.
                let stillWaiting = UInt64(waiting.count)
                world.check(
                    stillWaiting >= bound,
                    "push \(own[place]), due at \(due), has overflowed though only \(stillWaiting) of \(bound) waited; the one before "
                        + "was taken at \(takes[..<place].last.flatMap { $0 }.map(String.init) ?? "no time")")
                continue
            }
            if taken > due { waiting.append(taken) }
            let late = waiting.count { $0 > due }
            world.check(
                UInt64(late) <= bound,
                "\(late) pushes of worker \(worker) wait as push \(own[place]) comes due, \(bound) may")
        }
    }
}

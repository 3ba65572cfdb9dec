import Scenarios

/// Open loop: when each push was due by the schedule, and which may have overflowed, recomputed push by push.
struct BacklogModel {
    private let model: RunModel
    private let world: World
    /// Connections were told to go away: beside one that still has its answers to come the next has all its streams free.
    private let hasDrained: Bool
    /// Due times of all pushes, ns of the clock.
    private let dues: [UInt64]

    init(_ model: RunModel, hasDrained: Bool, world: World) {
        self.model = model
        self.hasDrained = hasDrained
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

    /// Of one worker: never more wait than the bound and there are streams, and none overflows while fewer do.
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
        }
        let connections =
            model.scenario.connections / threads + (worker < model.scenario.connections % threads ? 1 : 0)
        checkWaiting(own.prefix(last + 1), bound, streams: connections * model.scenario.streams)
    }

    /// Once all that are taken at one moment are, no more of what is due waits, and will have its turn, than may, and there are
    /// free streams. When the worker looked, nobody tells: at the latest as it took the next.
    private func checkWaiting(_ own: ArraySlice<Int>, _ bound: UInt64, streams: Int) {
        let taken = own.compactMap { model.fates[UInt64($0)] }
        let ends = taken.map { $0.endedAt > 0 ? $0.endedAt : .max }.sorted()
        // A push that waits to be sent again is on no stream.
        let knowsStreams = model.requeued == 0 && model.scenario.retry == "off" && !hasDrained
        var (arrived, ended) = (0, 0)
        for (place, fate) in taken.enumerated() {
            let next = place + 1 < taken.count ? taken[place + 1].takenAt : .max
            guard next > fate.takenAt else { continue }
            while arrived < taken.count, taken[arrived].due <= fate.takenAt { arrived += 1 }
            while ended < ends.count, ends[ended] <= next { ended += 1 }
            let waiting = max(0, arrived - place - 1)
            let free = knowsStreams ? max(0, streams - max(0, place + 1 - ended)) : streams
            world.check(
                UInt64(waiting) <= bound + UInt64(free),
                "\(waiting) pushes wait at \(fate.takenAt), \(bound) may, and no more than \(free) streams are free")
        }
    }
}

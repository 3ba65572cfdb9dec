import Payloads
import Scenarios
import Settings

/// Which part of a run this process sends. A run of several workers is one run: each worker is a process, and sends the pushes
/// whose number in the run leaves its index as the rest when it is divided by the number of workers, over its part of the connections.
package struct RunPlace: Sendable, Equatable {
    /// 0 ..< `workers`.
    package let index: Int
    package let workers: Int
    /// What all workers have in common; nil: the process is alone.
    package var common: Common?
    /// Where each of its threads goes on that was here before it; nil: nobody was.
    package var resumed: Resumed?

    package struct Common: Sendable, Equatable {
        package let run: RunID
        /// Seconds since 1970: whose registration has expired is judged by this moment.
        package let created: Int64

        /// - Parameters:
        ///   - id: 16 hexadecimal digits; nil for anything else.
        ///   - created: seconds since 1970.
        package init?(id: String, created: Double) {
            guard let run = RunID(hex: id), created.isFinite, abs(created) < 1e15 else { return nil }
            self.init(run: run, created: Int64(created))
        }

        /// Of a run that nobody has begun.
        package static var newID: String { RunID(UInt64.random(in: 1 ... .max)).description }

        init(run: RunID, created: Int64) {
            self.run = run
            self.created = created
        }
    }

    package struct Resumed: Sendable, Equatable {
        /// Of each thread the first of its pushes that may be sent.
        package let positions: [UInt64]
        /// How long its attempts before went on, ns.
        package let elapsed: UInt64
        /// How long ago all workers started, ns: nothing of theirs is due before.
        package let since: UInt64

        package init(positions: [UInt64], elapsed: UInt64, since: UInt64 = .max) {
            self.positions = positions
            self.elapsed = elapsed
            self.since = since
        }
    }

    /// The only process of its run.
    package static let alone = RunPlace(index: 0, workers: 1)

    package init(index: Int, workers: Int, common: Common? = nil, resumed: Resumed? = nil) {
        self.index = index
        self.workers = workers
        self.common = common
        self.resumed = resumed
    }

    package var isAlone: Bool { workers == 1 }

    /// The pushes of one of its threads.
    func share(thread: Int, of threads: Int) -> WorkerShare {
        WorkerShare(worker: thread * workers + index, workers: threads * workers)
    }

    /// How many of `total` are its own.
    package func count(of total: UInt64) -> UInt64 {
        WorkerShare(worker: index, workers: workers).count(of: total)
    }

    /// Its part of what is given out in whole pieces, such as connections: the first workers have one more where it does not divide
    /// evenly.
    ///
    /// - Returns: the number of the first one, and how many.
    package func part(of total: Int) -> (first: Int, count: Int) {
        let (share, rest) = (total / workers, total % workers)
        return (index * share + min(index, rest), share + (index < rest ? 1 : 0))
    }
}

extension RunInputs {
    /// The pushes of one of this process's threads.
    func share(_ thread: Int) -> WorkerShare { place.share(thread: thread, of: scenario.threads) }

    /// Connections of this process.
    package var connections: Int { place.part(of: scenario.connections).count }

    /// How many of the run's pushes one of this process's threads sends, those among them that were sent before it was taken up again;
    /// nil where the run has no number of pushes.
    func count(_ share: WorkerShare) -> UInt64? {
        queue(share)?.count ?? planned.map { share.count(of: $0) }
    }

    /// Pushes that this process plans; nil where that is not known beforehand.
    package var ownPlanned: UInt64? {
        guard planned != nil else { return nil }
        var total: UInt64 = 0
        for thread in 0..<scenario.threads {
            let whole = count(share(thread)) ?? 0
            total += whole - min(whole, begin(thread))
        }
        return total
    }

    /// The first push of a thread that may be sent.
    func begin(_ thread: Int) -> UInt64 {
        guard let positions = place.resumed?.positions, thread < positions.count else { return 0 }
        return positions[thread]
    }

    /// How much earlier everything is due than the schedule says, ns: its next push is due at once where it was taken up again, but never
    /// earlier than all workers have come to.
    func timePassed() -> UInt64 {
        guard place.resumed != nil, let schedule else { return 0 }
        var first: UInt64?
        for thread in 0..<scenario.threads {
            let share = share(thread)
            let push = begin(thread)
            guard push < count(share) ?? 0 else { continue }
            var cursor = schedule.cursor()
            let due = cursor.due(share.sequence(push))
            first = min(first ?? due, due)
        }
        return min(first ?? schedule.duration, place.resumed?.since ?? .max)
    }

    /// How long pushes come due, ns; nil where their number ends the run.
    var ownDuration: UInt64? {
        let before = schedule == nil ? place.resumed?.elapsed ?? 0 : passed
        return scenario.duration.map { $0 - min($0, before) }
    }

    /// What is left of a warm-up of a length, ns.
    var ownWarmup: UInt64 {
        let before = schedule == nil ? place.resumed?.elapsed ?? 0 : passed
        return scenario.warmup - min(scenario.warmup, before)
    }

    /// The same by what the schedule has.
    var ownLength: UInt64? { schedule.map { $0.duration - min($0.duration, passed) } ?? ownDuration }

    /// Pushes of a send that this process plans.
    func ownPushes(of send: Sends.Send) -> UInt64 {
        guard !place.isAlone else { return send.count }
        guard let turns else { return place.count(of: send.count) }
        return turns.count(of: send.first..<(send.first + send.count), place)
    }
}

extension RunInputs {
    /// - Throws: when there is nothing for this process to do it with, or what it does cannot be taken up.
    func checkPlace() throws(HarnessError) {
        guard !place.isAlone || place.resumed != nil else { return }
        guard scenario.connections / place.workers >= scenario.threads else {
            throw HarnessError(
                "connections \(scenario.connections): of \(place.workers) workers with \(Units.counted(UInt64(scenario.threads), "thread")) each; "
                    + "expected at least \(place.workers * scenario.threads), one a thread")
        }
        guard place.isAlone || scenario.target != nil else {
            throw HarnessError(
                "a run of \(place.workers) workers needs a target: the bundled mock belongs to one process (start "
                    + "mock-apns serve, and give --target)")
        }
        guard scenario.until == nil else {
            throw HarnessError("until: of a run of one process; a worker does not know the figures of the others")
        }
        guard let resumed = place.resumed else { return }
        guard resumed.positions.count == scenario.threads else {
            throw HarnessError(
                "threads \(scenario.threads): this worker had \(resumed.positions.count) before it was lost; expected the same "
                    + "number, to take its pushes up")
        }
        guard schedule != nil || sendOrder == nil else {
            throw HarnessError(
                "sends: a closed loop of several sends cannot be taken up again, because their order depends on how fast they "
                    + "went; give a rate")
        }
    }
}

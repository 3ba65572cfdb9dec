import Scenarios

/// Open loop: which push of which send each of the schedule's due times is for. Of the sends that have begun, the one with the highest
/// priority goes first, and of equal ones the one that began first. Due times at which no send has anything left are nobody's.
struct SendTurns: Sendable {
    /// So many pushes of one send, one after the other.
    struct Stretch: Sendable {
        /// Of the pushes in the order in which they come due, the first.
        let turn: UInt64
        /// Of the schedule's due times, its own.
        let slot: UInt64
        /// Its number in the run.
        let sequence: UInt64
        var count: UInt64
    }

    private(set) var stretches: [Stretch] = []
    /// For the schedule: the due times that are nobody's.
    private(set) var gaps: [LoadSchedule.Gap] = []
    /// Due times up to the last push.
    private(set) var slots: UInt64 = 0

    /// Goes from one begin or end of a send to the next: constant and jittered arrivals take no time, whatever their number, and
    /// of Poisson arrivals each is drawn once.
    ///
    /// - Parameters:
    ///   - schedule: as it is without an end of its own.
    ///   - sends: with their starts, ns, priorities, first numbers and counts.
    /// - Returns: nil when the schedule ends before all pushes have a due time.
    init?(_ schedule: LoadSchedule, _ sends: [(start: UInt64, priority: Int, first: UInt64, count: UInt64)]) {
        var queue = SendQueue(sends)
        var cursor = schedule.cursor()
        var (slot, turn): (UInt64, UInt64) = (0, 0)
        /// When nobody has had a push left since.
        var gapBegan: UInt64?
        while !queue.isUsedUp {
            guard slot < schedule.count else { return nil }
            let due = cursor.due(slot)
            let position = cursor.position
            let next = queue.turn(due)
            // Nothing changes before the next send begins, but that this one may have nothing left.
            var end = next.map { schedule.count - slot > $0.left ? slot + $0.left : schedule.count } ?? schedule.count
            if let begins = queue.begins(after: due) { end = cursor.first(notBefore: begins, from: slot, before: end) }
            guard let next else {
                gapBegan = gapBegan ?? due
                slot = end
                continue
            }
            if let began = gapBegan.take() {
                gaps.append(
                    LoadSchedule.Gap(
                        push: turn, slots: slot - turn, position: position, from: began, until: due))
            }
            let count = end - slot
            if let last = stretches.last, next.sequence == last.sequence + last.count, slot == last.slot + last.count {
                stretches[stretches.count - 1].count += count
            } else {
                stretches.append(Stretch(turn: turn, slot: slot, sequence: next.sequence, count: count))
            }
            queue.take(count, at: due)
            turn += count
            slot = end
        }
        slots = slot
    }

    /// The number in the run of the push that comes due as number `turn`.
    func sequence(_ turn: UInt64) -> UInt64 {
        var (low, high) = (0, stretches.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if stretches[middle].turn <= turn { low = middle } else { high = middle }
        }
        return stretches[low].sequence &+ (turn &- stretches[low].turn)
    }

    /// How many of the pushes with these numbers come due as a worker's.
    func count(of numbers: Range<UInt64>, _ place: RunPlace) -> UInt64 {
        stretches.reduce(0) { total, stretch in
            let first = max(numbers.lowerBound, stretch.sequence)
            let end = min(numbers.upperBound, stretch.sequence + stretch.count)
            guard first < end else { return total }
            let turn = stretch.turn + (first - stretch.sequence)
            return total + place.count(of: turn + (end - first)) - place.count(of: turn)
        }
    }

    /// Which of the schedule's due times a push has.
    func slot(_ sequence: UInt64) -> UInt64 {
        for stretch in stretches where sequence >= stretch.sequence && sequence - stretch.sequence < stretch.count {
            return stretch.slot + (sequence - stretch.sequence)
        }
        return 0
    }
}

extension RunInputs {
    /// Closed loop with several sends: what one worker has of them. Of each it has its share: of all together it may be more or less.
    func queue(_ share: WorkerShare) -> SendQueue? {
        schedule == nil ? sendOrder.map { SendQueue($0, share: share) } : nil
    }
}

/// Which push is next where several sends have some left.
struct SendQueue: Sendable {
    private struct Waiting {
        let start: UInt64
        let first: UInt64
        let count: UInt64
        var next: UInt64 = 0
    }

    /// In the order in which they go, once they have begun.
    private var sends: [Waiting]
    /// Which of each send's pushes are this worker's.
    private let share: WorkerShare

    /// - Parameters:
    ///   - sends: starts, ns, priorities, first numbers and counts.
    ///   - share: the pushes of a send that are this worker's.
    init(
        _ sends: [(start: UInt64, priority: Int, first: UInt64, count: UInt64)],
        share: WorkerShare = WorkerShare(worker: 0, workers: 1)
    ) {
        self.share = share
        self.sends = sends.sorted { ($1.priority, $0.start, $0.first) < ($0.priority, $1.start, $1.first) }.map {
            Waiting(start: $0.start, first: $0.first, count: share.count(of: $0.count))
        }
    }

    /// Pushes in all.
    var count: UInt64 { sends.reduce(0) { $0 + $1.count } }
    var isUsedUp: Bool { sends.allSatisfy { $0.next >= $0.count } }

    /// The number in the run of the next push; nil when no send that has begun has one left.
    ///
    /// - Parameter elapsed: since the run's start, ns.
    mutating func next(_ elapsed: UInt64) -> UInt64? {
        guard let place = place(elapsed) else { return nil }
        defer { sends[place].next += 1 }
        return share.sequence(sends[place].next) &+ sends[place].first
    }

    /// Whose turn it is: the number in the run of its next push, and how many pushes it has left.
    func turn(_ elapsed: UInt64) -> (sequence: UInt64, left: UInt64)? {
        place(elapsed).map { place in
            let send = sends[place]
            return (share.sequence(send.next) &+ send.first, send.count - send.next)
        }
    }

    /// Takes `count` pushes of the send whose turn it is, no more than it has left.
    mutating func take(_ count: UInt64, at elapsed: UInt64) {
        if let place = place(elapsed) { sends[place].next += count }
    }

    private func place(_ elapsed: UInt64) -> Int? {
        sends.firstIndex { $0.next < $0.count && $0.start <= elapsed }
    }

    /// When the next send begins that has not, ns after the start.
    func begins(after elapsed: UInt64) -> UInt64? {
        sends.filter { $0.next < $0.count && $0.start > elapsed }.map(\.start).min()
    }
}

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
    /// Due times up to the last push.
    private(set) var slots: UInt64 = 0

    /// - Parameters:
    ///   - schedule: as it is without an end of its own.
    ///   - sends: with their starts, ns, priorities, first numbers and counts.
    /// - Returns: nil when the schedule ends before all pushes have a due time.
    init?(_ schedule: LoadSchedule, _ sends: [(start: UInt64, priority: Int, first: UInt64, count: UInt64)]) {
        var queue = SendQueue(sends)
        var cursor = schedule.cursor()
        var (slot, turn): (UInt64, UInt64) = (0, 0)
        while !queue.isUsedUp {
            guard slot < schedule.count else { return nil }
            if let sequence = queue.next(cursor.due(slot)) {
                if let last = stretches.last, sequence == last.sequence + last.count, slot == last.slot + last.count {
                    stretches[stretches.count - 1].count += 1
                } else {
                    stretches.append(Stretch(turn: turn, slot: slot, sequence: sequence, count: 1))
                }
                turn += 1
            }
            slot += 1
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

    /// Which of the schedule's due times a push has.
    func slot(_ sequence: UInt64) -> UInt64 {
        for stretch in stretches where sequence >= stretch.sequence && sequence - stretch.sequence < stretch.count {
            return stretch.slot + (sequence - stretch.sequence)
        }
        return 0
    }

    /// For the schedule: from which push on how many due times before it are nobody's.
    var gaps: [(push: UInt64, slots: UInt64)] { stretches.map { ($0.turn, $0.slot - $0.turn) } }
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
        for place in sends.indices where sends[place].next < sends[place].count && sends[place].start <= elapsed {
            defer { sends[place].next += 1 }
            return sends[place].first &+ share.sequence(sends[place].next)
        }
        return nil
    }

    /// When the next send begins that has not, ns after the start.
    func begins(after elapsed: UInt64) -> UInt64? {
        sends.filter { $0.next < $0.count && $0.start > elapsed }.map(\.start).min()
    }
}

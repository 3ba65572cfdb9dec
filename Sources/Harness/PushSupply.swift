import Scenarios
import Transport

/// Which push of one worker comes next, and when: the schedule in open loop, at once in closed loop, until the worker's share
/// or the run's time is used up.
struct PushSupply {
    let isOpenLoop: Bool
    private let share: WorkerShare
    private var limit: UInt64
    /// Up to here pushes may be taken: all of them, or what is written down of a worker among several.
    private var bound: UInt64
    private let reservation: PushReservation?
    /// Everything is due so much earlier, ns: the run was taken up again.
    private let passed: UInt64
    /// Closed loop for a time, ns.
    private var duration: UInt64?
    private var cursor: ArrivalCursor?
    private var backlog: Backlog?
    /// Of a run with several sends: which push is whose turn, and in a closed loop what is left of each.
    private let turns: SendTurns?
    private var queue: SendQueue?
    /// The worker's next push.
    private(set) var next: UInt64 = 0
    /// When it is due, ns; 0 before it was asked for.
    private var nextDue: UInt64 = 0
    /// Start of the schedule, ns; 0 before.
    private(set) var start: UInt64 = 0
    /// What due times count from, ns: before the start where some of them have passed.
    private var origin: UInt64 = 0

    /// - Parameter reservation: of a worker among several: what it may take.
    init(_ inputs: RunInputs, thread: Int = 0, reservation: PushReservation? = nil) {
        share = inputs.share(thread)
        self.reservation = reservation
        passed = inputs.passed
        let scenario = inputs.scenario
        isOpenLoop = inputs.schedule != nil
        turns = inputs.turns
        queue = inputs.queue(share)
        limit = queue?.count ?? (inputs.planned ?? scenario.pushes).map { [share] in share.count(of: $0) } ?? .max
        bound = reservation == nil ? limit : 0
        next = min(limit, inputs.begin(thread))
        duration = isOpenLoop ? nil : inputs.ownDuration
        if let schedule = inputs.schedule {
            cursor = schedule.cursor()
            backlog = Backlog(schedule, share: share, bound: scenario.backlog / share.workers)
        }
    }

    mutating func begin(_ time: UInt64) {
        start = time
        origin = time &- passed
    }

    /// When the worker's first push at or after `sequence` is due, ns; nil in closed loop, and when there is none.
    func due(first sequence: UInt64) -> UInt64? {
        guard let cursor, sequence > 0 else { return nil }
        let index = max(next, share.count(of: sequence))
        guard index < limit else { return nil }
        // Asked for before the first push: the cursor stands at the start.
        var walk = cursor
        return start &+ walk.due(share.sequence(index)) &- passed
    }

    /// Pushes that have not had their turn.
    var left: UInt64 { limit - min(limit, next) }

    /// All pushes have been taken or have overflowed.
    var isUsedUp: Bool { next >= limit }

    /// Pushes due and not taken, as of the last look.
    var waiting: UInt64 { backlog?.waiting(next: next) ?? 0 }

    /// When the next push is due that has not had its turn, ns; nil: there is none, or nothing has started. A closed loop's next push is
    /// due from the start on.
    mutating func dueTime(_ now: UInt64) -> UInt64? {
        guard start != 0, next < limit else { return nil }
        guard isOpenLoop else {
            // Of several sends none may have begun that has pushes left.
            guard var turns = queue, case let elapsed = max(now, start) - start, turns.next(elapsed) == nil else {
                return start
            }
            return turns.begins(after: elapsed).map { start &+ $0 }
        }
        if nextDue == 0 { findNextDue() }
        return nextDue
    }

    /// The next push is so late that some may have overflowed: `noteOverflow` is to be called before `take`.
    @inline(__always)
    mutating func mayHaveOverflowed(_ now: UInt64) -> Bool {
        guard isOpenLoop, next < limit else { return false }
        if nextDue == 0 { findNextDue() }
        return now > nextDue && now &- nextDue > backlog!.harmlessLateness
    }

    /// The next push that is due.
    ///
    /// - Parameter push: gets its number within the run, and its due time, ns.
    @inline(__always)
    mutating func take(_ now: UInt64, _ push: inout (sequence: UInt64, due: UInt64)) -> Supply {
        guard next < bound else { return beyondBound(now, &push) }
        // Another worker may have begun the run after this one's last look at the clock.
        push.due = max(now, start)
        if isOpenLoop {
            if nextDue == 0 { findNextDue() }
            if nextDue > now { return .notBefore(nextDue) }
            if backlog!.hasSkips {
                passOverflowed()
                guard next < bound else { return beyondBound(now, &push) }
                // What follows an overflowed push may be due later.
                if nextDue > now { return .notBefore(nextDue) }
            }
            push.due = nextDue
            nextDue = 0
        } else if push.due > now {
            return .notBefore(push.due)
        } else if let duration, now >= start &+ duration {
            next = limit
            return .finished
        }
        if queue != nil {
            let elapsed = push.due &- start
            guard let sequence = queue!.next(elapsed) else {
                return queue!.begins(after: elapsed).map { .notBefore(start &+ $0) } ?? .finished
            }
            push.sequence = sequence
        } else {
            push.sequence = Self.sequence(next, share, turns)
        }
        next &+= 1
        return .push
    }

    /// What is written down has been used up, or all there is.
    @inline(never)
    private mutating func beyondBound(_ now: UInt64, _ push: inout (sequence: UInt64, due: UInt64)) -> Supply {
        guard next < limit else { return .finished }
        if let reservation { bound = min(limit, reservation.end) }
        return next < bound ? take(now, &push) : .notBefore(now &+ 1_000_000)
    }

    /// The first push that has neither been taken nor overflowed.
    var position: UInt64 { max(next, backlog?.end ?? 0) }

    /// The run's number of this worker's push `index`.
    @inline(__always)
    private static func sequence(_ index: UInt64, _ share: WorkerShare, _ turns: SendTurns?) -> UInt64 {
        let turn = share.sequence(index)
        return turns?.sequence(turn) ?? turn
    }

    /// A closed loop whose time is over takes nothing more, whether a connection could send it or not.
    mutating func isOver(_ now: UInt64) -> Bool {
        guard let duration, next < limit, now >= start &+ duration else { return false }
        next = limit
        return true
    }

    /// Nothing is sent that is due from `time` on, ns. What has overflowed already has.
    mutating func end(at time: UInt64) {
        guard start != 0 else {
            limit = next
            bound = min(bound, limit)
            return
        }
        guard isOpenLoop else {
            duration = min(duration ?? .max, time - min(time, start))
            return
        }
        guard next < limit else { return }
        let elapsed = time - min(time, origin)
        var walk = cursor!
        var last = next
        while last < limit, walk.due(share.sequence(last)) < elapsed { last += 1 }
        limit = min(limit, max(last, backlog?.end ?? 0))
        bound = min(bound, limit)
    }

    private mutating func findNextDue() { nextDue = origin &+ cursor!.due(share.sequence(next)) }

    private mutating func passOverflowed() {
        let following = backlog!.pass(next)
        guard following != next else { return }
        next = following
        if next < limit { findNextDue() }
    }

    /// Counts what has come due by now and found no stream free and the backlog full.
    ///
    /// - Parameter free: streams that are free now; asked only when the backlog is full.
    mutating func noteOverflow(_ now: UInt64, free: () -> UInt64, _ overflowed: (UInt64, UInt64) -> Void) {
        guard backlog != nil, start != 0, now > start, next < limit else { return }
        let (share, turns, origin) = (share, turns, origin)
        backlog!.advance(elapsed: now &- origin, next: next, limit: limit, free: free, from: cursor!) {
            overflowed(Self.sequence($0, share, turns), origin &+ $1)
        }
    }

    /// Goes over what is due by `time` and waits: it will not be taken. Nothing overflows after that.
    mutating func giveUp(dueBy time: UInt64, waiting: (_ sequence: UInt64, _ due: UInt64) -> Void) {
        guard backlog != nil, start != 0, next < limit else { return }
        if nextDue == 0 { findNextDue() }
        guard nextDue <= time else { return }
        let (share, turns, origin) = (share, turns, origin)
        next = backlog!.forEachWaiting(
            elapsed: time == .max ? .max : time &- origin, next: next, limit: limit, from: cursor!
        ) { waiting(Self.sequence($0, share, turns), origin &+ $1) }
        backlog!.forget()
        if next < limit { findNextDue() }
    }

    /// Nothing more will be taken: goes over what is due by `time` and waits.
    ///
    /// - Returns: how many are due later, and how many of these before `end`, ns.
    mutating func close(
        _ time: UInt64, end: UInt64, waiting: (_ sequence: UInt64, _ due: UInt64) -> Void
    ) -> (later: UInt64, measured: UInt64) {
        defer { next = limit }
        giveUp(dueBy: time, waiting: waiting)
        guard isOpenLoop, start != 0, next < limit else { return (0, 0) }
        var walk = cursor!
        var push = next
        while push < limit, origin &+ walk.due(share.sequence(push)) < end { push += 1 }
        return (limit - next, push - next)
    }
}

import Scenarios

/// The pushes of one worker that are due and wait for a stream, in open loop: bounded, without holding any of them. What
/// comes due while it is full has overflowed, and is passed over when its turn comes. What can go on a free stream at once does
/// not wait.
///
/// Only looked at once the oldest waiting push is later than the bound can hold back at the highest rate; before, nothing can
/// have overflowed.
struct Backlog {
    private let share: WorkerShare
    private let bound: UInt64
    /// Below this lateness nothing can have overflowed, nanoseconds.
    let harmlessLateness: UInt64
    private var cursor: ArrivalCursor
    /// The worker's next push that has not come due, and when it does.
    private var arrived: UInt64 = 0
    private var nextDue: UInt64?
    /// Runs of pushes that overflowed and have not had their turn: ascending, none before the worker's next push.
    private(set) var skips: [Range<UInt64>] = []
    private var head = 0
    private var skipped: UInt64 = 0

    init(_ schedule: LoadSchedule, share: WorkerShare, bound: UInt64) {
        self.share = share
        self.bound = max(1, bound)
        let peak = schedule.peakRate / Double(share.workers)
        // Half of what the bound holds back at the highest rate. Jitter may bring two pushes more than that rate, and a Poisson
        // process any number.
        let harmless: Double =
            switch schedule.arrivals {
            case .constant: Double(bound) / 2
            case .jitter: Double(bound) / 2 - 1
            case .poisson: 0
            }
        harmlessLateness = peak.isFinite && peak > 0 ? UInt64(max(0, min(harmless / peak * 1e9, 1e18))) : 0
        cursor = schedule.cursor()
    }

    /// Lets everything come due that does until `elapsed`.
    ///
    /// - Parameters:
    ///   - elapsed: nanoseconds since the start.
    ///   - next: the worker's next push to be sent; `limit` the number of its pushes.
    ///   - free: streams that are free; asked once, when the bound is reached.
    ///   - place: a cursor that stands at `next` or before it.
    ///   - overflowed: told each push that came due and has overflowed, with its due time, nanoseconds since the start.
    mutating func advance(
        elapsed: UInt64, next: UInt64, limit: UInt64, free: () -> UInt64, from place: ArrivalCursor,
        overflowed: (_ push: UInt64, _ due: UInt64) -> Void
    ) {
        if arrived < next {
            // What has been taken since does not wait.
            arrived = next
            nextDue = nil
            cursor = place
        }
        var most = bound
        var hasAsked = false
        while arrived < limit {
            let due = nextDue ?? cursor.due(share.sequence(arrived))
            guard due <= elapsed else {
                nextDue = due
                break
            }
            nextDue = nil
            if arrived - next - skipped >= most, !hasAsked {
                most = bound + free()
                hasAsked = true
            }
            if arrived - next - skipped >= most {
                skip(arrived)
                overflowed(arrived, due)
            }
            arrived += 1
        }
    }

    /// Goes over the pushes that are due by `elapsed` and have neither been sent nor overflowed, as of the last `advance`.
    ///
    /// - Returns: the first push that is due later; `limit` when there is none.
    func forEachWaiting(
        elapsed: UInt64, next: UInt64, limit: UInt64, from cursor: ArrivalCursor,
        _ body: (_ push: UInt64, _ due: UInt64) -> Void
    ) -> UInt64 {
        var walk = cursor
        var push = next
        var place = head
        while push < limit {
            if place < skips.count, skips[place].lowerBound == push {
                push = skips[place].upperBound
                place += 1
                continue
            }
            let due = walk.due(share.sequence(push))
            guard due <= elapsed else { return push }
            body(push, due)
            push += 1
        }
        return limit
    }

    /// The pushes that have come due have all had their turn.
    mutating func forget() {
        skips = []
        (head, skipped) = (0, 0)
    }

    private mutating func skip(_ push: UInt64) {
        if head < skips.count, skips[skips.count - 1].upperBound == push {
            skips[skips.count - 1] = skips[skips.count - 1].lowerBound..<(push + 1)
        } else {
            skips.append(push..<(push + 1))
        }
        skipped += 1
    }

    /// The worker's first push that has not come due, as of the last `advance`; 0 before.
    var end: UInt64 { arrived }

    /// Pushes that have come due, may be sent and have not been: as of the last `advance`.
    func waiting(next: UInt64) -> UInt64 { arrived > next ? arrived - next - skipped : 0 }

    /// Some of the pushes to come have overflowed.
    @inline(__always)
    var hasSkips: Bool { head < skips.count }

    /// The next push at or after `next` that has not overflowed.
    mutating func pass(_ next: UInt64) -> UInt64 {
        guard hasSkips, skips[head].lowerBound == next else { return next }
        let run = skips[head]
        head += 1
        skipped -= run.upperBound - run.lowerBound
        if head == skips.count {
            skips.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1024, head * 2 >= skips.count {
            // Never empty while the overload lasts: what is over may not pile up.
            skips.removeFirst(head)
            head = 0
        }
        return run.upperBound
    }
}

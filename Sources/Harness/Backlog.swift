import Scenarios

/// The pushes of one worker that are due and wait for a stream, in open loop: bounded, without holding any of them. What
/// comes due while it is full has overflowed, and is passed over when its turn comes.
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
    /// Runs of pushes that overflowed and have not had their turn.
    private var skips: [Range<UInt64>] = []
    private var head = 0
    private var skipped: UInt64 = 0

    init(_ schedule: LoadSchedule, share: WorkerShare, bound: UInt64) {
        self.share = share
        self.bound = max(1, bound)
        let peak = schedule.peakRate / Double(share.workers)
        harmlessLateness = peak.isFinite && peak > 0 ? UInt64(min(Double(bound) / peak * 0.5e9, 1e18)) : 0
        cursor = schedule.cursor()
    }

    /// Lets everything come due that does until `elapsed`.
    ///
    /// - Parameters:
    ///   - elapsed: nanoseconds since the start.
    ///   - next: the worker's next push to be sent; `limit` the number of its pushes.
    /// - Returns: how many have overflowed by it.
    mutating func advance(elapsed: UInt64, next: UInt64, limit: UInt64) -> UInt64 {
        var overflowed: UInt64 = 0
        while arrived < limit {
            let due = nextDue ?? cursor.due(share.sequence(arrived))
            guard due <= elapsed else {
                nextDue = due
                break
            }
            nextDue = nil
            if arrived >= next, arrived - next - skipped >= bound {
                if head < skips.count, skips[skips.count - 1].upperBound == arrived {
                    skips[skips.count - 1] = skips[skips.count - 1].lowerBound..<(arrived + 1)
                } else {
                    skips.append(arrived..<(arrived + 1))
                }
                skipped += 1
                overflowed += 1
            }
            arrived += 1
        }
        return overflowed
    }

    /// Pushes that have come due, may be sent and have not been: as of the last `advance`.
    func waiting(next: UInt64) -> UInt64 { arrived > next ? arrived - next - skipped : 0 }

    /// The next push at or after `next` that has not overflowed.
    mutating func pass(_ next: UInt64) -> UInt64 {
        guard head < skips.count, skips[head].lowerBound == next else { return next }
        let run = skips[head]
        head += 1
        skipped -= run.upperBound - run.lowerBound
        if head == skips.count {
            skips.removeAll(keepingCapacity: true)
            head = 0
        }
        return run.upperBound
    }
}

import Scenarios
import Testing

@testable import Harness

@Suite struct BacklogMemoryTests {
    @Test("An overload that never ends takes no more memory than the pushes that wait")
    func bounded() {
        let schedule = LoadSchedule(rate: 10_000, limit: 1_000_000, length: nil)
        let share = WorkerShare(worker: 0, workers: 1)
        let bound: UInt64 = 100
        var backlog = Backlog(schedule, share: share, bound: bound)
        var next: UInt64 = 0
        var sent = 0
        // Every second push that comes due can be sent, one at a time: each leaves room for one that does not overflow.
        for step in 1...400_000 as ClosedRange<UInt64> {
            backlog.advance(elapsed: step * 200_000, next: next, limit: 1_000_000, free: { 0 }, from: schedule.cursor())
            { _, _ in }
            next = backlog.pass(next)
            next += 1
            sent += 1
            #expect(backlog.skips.count <= 2048 + 2 * Int(bound))
        }
        #expect(sent == 400_000 && next > 700_000 && backlog.waiting(next: next) <= bound)
    }
}

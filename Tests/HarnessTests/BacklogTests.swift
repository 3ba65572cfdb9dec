import Scenarios
import Testing

@testable import Harness

@Suite struct BacklogTests {
    private static let millisecond: UInt64 = 1_000_000

    /// Walks a worker through a run in which `capacity` pushes can be sent each `step`; returns what was sent and what
    /// overflowed, against a plain model that keeps the queue itself.
    private func compare(
        _ schedule: LoadSchedule, share: WorkerShare, bound: UInt64, step: UInt64, sendsAtOnce: Bool = false,
        capacity: (Int) -> Int
    ) {
        let limit = share.count(of: schedule.count)
        var backlog = Backlog(schedule, share: share, bound: bound)
        var cursor = schedule.cursor()
        let dues = (0..<limit).map { cursor.due(share.sequence($0)) }
        var (queue, arrived, lost): ([UInt64], Int, [UInt64]) = ([], 0, [])
        var next: UInt64 = 0
        var overflowed: UInt64 = 0
        var sent: [UInt64] = []
        var modelSent: [UInt64] = []
        var round = 0
        while modelSent.count + lost.count < Int(limit) {
            let now = UInt64(round) * step
            while arrived < dues.count, dues[arrived] <= now {
                // Nobody waits who can be sent now.
                let most = Int(bound) + (sendsAtOnce ? capacity(round) : 0)
                if queue.count >= most { lost.append(UInt64(arrived)) } else { queue.append(UInt64(arrived)) }
                arrived += 1
            }
            backlog.advance(
                elapsed: now, next: next, limit: limit, free: { sendsAtOnce ? UInt64(capacity(round)) : 0 },
                from: schedule.cursor()
            ) { _, _ in overflowed += 1 }
            for _ in 0..<capacity(round) {
                next = backlog.pass(next)
                if next < limit, dues[Int(next)] <= now {
                    sent.append(next)
                    next += 1
                }
                if !queue.isEmpty { modelSent.append(queue.removeFirst()) }
            }
            round += 1
        }
        #expect(sent == modelSent && overflowed == UInt64(lost.count))
    }

    @Test("What comes due while the backlog is full overflows; everything else keeps its turn")
    func model() {
        let steady = LoadSchedule(rate: 10_000, limit: 2000, length: nil)
        compare(steady, share: WorkerShare(worker: 0, workers: 1), bound: 50, step: Self.millisecond) {
            $0 % 3 == 0 ? 12 : 3
        }
        compare(steady, share: WorkerShare(worker: 1, workers: 3), bound: 7, step: Self.millisecond) {
            $0 % 10 == 0 ? 20 : 0
        }
        let bursts = LoadSchedule(stages: [
            LoadStage(name: "a", shape: .burst(pushes: 300), duration: 20 * Self.millisecond),
            LoadStage(name: "b", shape: .hold(rate: 20_000), duration: 50 * Self.millisecond),
            LoadStage(name: "c", shape: .burst(pushes: 500)),
        ])
        compare(bursts, share: WorkerShare(worker: 0, workers: 1), bound: 100, step: Self.millisecond) { _ in 9 }
        let poisson = LoadSchedule(rate: 20_000, arrivals: .poisson, seed: 7, limit: 3000, length: nil)
        compare(poisson, share: WorkerShare(worker: 1, workers: 2), bound: 20, step: Self.millisecond) {
            $0 % 5 == 0 ? 30 : 8
        }
    }

    @Test("What can go on a free stream at once is not backlog: only what is left of a burst overflows")
    func freeStreams() {
        let bursts = LoadSchedule(stages: [
            LoadStage(name: "a", shape: .burst(pushes: 300), duration: 20 * Self.millisecond),
            LoadStage(name: "b", shape: .hold(rate: 20_000), duration: 50 * Self.millisecond),
            LoadStage(name: "c", shape: .burst(pushes: 500)),
        ])
        for capacity in [1, 9, 250, 400] {
            compare(
                bursts, share: WorkerShare(worker: 0, workers: 1), bound: 100, step: Self.millisecond,
                sendsAtOnce: true
            ) { _ in capacity }
        }
        var backlog = Backlog(bursts, share: WorkerShare(worker: 0, workers: 1), bound: 10)
        var overflowed = 0
        backlog.advance(elapsed: 0, next: 0, limit: 1800, free: { 280 }, from: bursts.cursor()) { _, _ in
            overflowed += 1
        }
        #expect(overflowed == 10 && backlog.waiting(next: 0) == 290)
    }

    @Test("Nothing can overflow below the harmless lateness")
    func harmless() {
        let schedule = LoadSchedule(rate: 1000, limit: 100_000, length: nil)
        let backlog = Backlog(schedule, share: WorkerShare(worker: 0, workers: 2), bound: 500)
        // 500 pushes at 500 a second take a second to come due.
        #expect(backlog.harmlessLateness == 500_000_000)
        let burst = LoadSchedule(stages: [LoadStage(name: "a", shape: .burst(pushes: 9))])
        #expect(Backlog(burst, share: WorkerShare(worker: 0, workers: 1), bound: 5).harmlessLateness == 0)
    }
}

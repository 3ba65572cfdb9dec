import Testing

@testable import Scenarios

@Suite struct ScenarioTests {
    @Test("Push i of a constant rate is due at i / rate, without drift")
    func schedule() {
        let schedule = ArrivalSchedule.constant(perSecond: 1_000_000.0 / 3)
        #expect(schedule.dueOffset(0) == 0 && schedule.dueOffset(1) == 3000)
        for index in [UInt64(1_000_000), 1_000_000_000, 999_999_999_999] {
            let exact = index * 3000
            #expect(abs(Int64(schedule.dueOffset(index)!) - Int64(exact)) <= 1)
        }
        #expect(ArrivalSchedule.asFastAsPossible.dueOffset(5) == nil)
        var last: UInt64 = 0
        for index in UInt64(0)..<100_000 {
            let due = ArrivalSchedule.constant(perSecond: 777.7).dueOffset(index)!
            #expect(due >= last)
            last = due
        }
    }

    @Test("A rate for a duration plans exactly the pushes that are due within it")
    func within() {
        #expect(ArrivalSchedule.constant(perSecond: 100).count(within: 1_000_000_000) == 100)
        #expect(ArrivalSchedule.constant(perSecond: 0.5).count(within: 3_000_000_000) == 2)
        #expect(ArrivalSchedule.constant(perSecond: 3).count(within: 1) == 1)
    }

    @Test("The workers' shares make up the whole, each push once")
    func shares() {
        for workers in 1...5 {
            for total in [UInt64(0), 1, 4, 5, 17] {
                var seen: [UInt64] = []
                for worker in 0..<workers {
                    let share = WorkerShare(worker: worker, workers: workers)
                    seen += (0..<share.count(of: total)).map(share.sequence)
                }
                #expect(seen.sorted() == Array(0..<total))
            }
        }
    }

    @Test("A scenario says every problem at once")
    func validation() {
        var scenario = Scenario()
        #expect(scenario.validate() == ["nothing says when to stop: give pushes (-n), a duration (-D), or both"])
        scenario.pushes = 10
        #expect(scenario.validate().isEmpty)
        scenario.threads = 4
        scenario.streams = 0
        scenario.rate = -1
        scenario.engine = "warp"
        #expect(scenario.validate().count == 4)
    }
}

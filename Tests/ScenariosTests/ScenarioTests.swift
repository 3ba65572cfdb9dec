import Testing

@testable import Scenarios

@Suite struct ScenarioTests {
    @Test("Counts, rates, durations and sizes are read as load testers write them")
    func reading() throws {
        for (text, value) in [
            ("5000", 5000), ("10k", 10_000), ("1M", 1_000_000), ("2.5M", 2_500_000), ("1_000", 1000), ("0", 0),
            ("1G", 1_000_000_000),
        ] {
            #expect(try Units.count(text) == UInt64(value))
        }
        for (text, value) in [("500", 500.0), ("20k", 20_000), ("0.5", 0.5), ("1.5M/s", 1_500_000)] {
            #expect(try Units.rate(text) == value)
        }
        for (text, value) in [
            ("500ms", 500_000_000), ("10s", 10_000_000_000), ("1m30s", 90_000_000_000), ("2h", 7_200_000_000_000),
            ("3", 3_000_000_000), ("0.5s", 500_000_000), ("7us", 7_000),
        ] {
            #expect(try Units.duration(text) == UInt64(value))
        }
        for (text, value) in [
            ("65535", 65_535), ("64k", 65_536), ("64KiB", 65_536), ("1MiB", 1_048_576), ("0.5k", 512),
        ] { #expect(try Units.bytes(text) == value) }
    }

    @Test(
        "What is no number is refused",
        arguments: ["", "x", "-1", "1.5", "1e3", "10kk", "0x10", " 5", "k", "9999999999999999999999"])
    func badCounts(_ text: String) { #expect(throws: Units.ParseError.self) { try Units.count(text) } }

    @Test("What is no duration is refused", arguments: ["", "s", "10x", "1m30", "-1s", "1s2"])
    func badDurations(_ text: String) { #expect(throws: Units.ParseError.self) { try Units.duration(text) } }

    @Test("Figures are written for people")
    func writing() {
        #expect(Units.grouped(1_234_567) == "1,234,567" && Units.grouped(0) == "0" && Units.grouped(999) == "999")
        #expect(Units.duration(nanoseconds: 870) == "870 ns" && Units.duration(nanoseconds: 1_234_000) == "1.23 ms")
        #expect(Units.duration(nanoseconds: 25.04) == "25.0 ns" && Units.duration(nanoseconds: 2.5e9) == "2.50 s")
        #expect(Units.bytes(12_345_678) == "12.3 MB" && Units.clock(seconds: 65) == "1m 05s")
        #expect(Units.fixed(-0.004, places: 2) == "0.00" && Units.fixed(-1.5, places: 1) == "-1.5")
    }

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

import Foundation
import Settings
import Testing

@testable import Scenarios

@Suite struct ScheduleTests {
    private static let second: UInt64 = 1_000_000_000

    private func dues(_ schedule: LoadSchedule) -> [UInt64] {
        var cursor = schedule.cursor()
        return (0..<schedule.count).map { cursor.due($0) }
    }

    @Test("Push i of a constant rate is due at i / rate, without drift")
    func constant() {
        let schedule = LoadSchedule(rate: 1_000_000.0 / 3, limit: 1 << 40, length: nil)
        for index in [UInt64(0), 1, 2, 1_000_000, 1_000_000_000, 999_999_999_999] {
            var cursor = schedule.cursor()
            #expect(abs(Int64(cursor.due(index)) - Int64(index * 3000)) <= 1, "push \(index)")
        }
        var last: UInt64 = 0
        for due in dues(LoadSchedule(rate: 777.7, limit: 100_000, length: nil)) {
            #expect(due >= last)
            last = due
        }
    }

    @Test("A rate for a duration plans exactly the pushes that are due within it")
    func counts() {
        func count(_ rate: Double, _ length: UInt64?, _ limit: UInt64? = nil) -> UInt64 {
            LoadSchedule(rate: rate, limit: limit, length: length).count
        }
        #expect(count(100, Self.second) == 100 && count(0.5, 3 * Self.second) == 2 && count(3, 1) == 1)
        #expect(count(20_000, 60 * Self.second) == 1_200_000 && count(100, 10 * Self.second, 7) == 7)
        #expect(count(100, nil, 1000) == 1000)
    }

    @Test(
        "A schedule knows when its rate changes: at the borders of stages of other rates, all through a ramp, never at one rate"
    )
    func turns() throws {
        func turns(_ stages: String) throws -> [ClosedRange<Double>] {
            LoadSchedule(stages: try LoadStage.parse(stages)).turns
        }
        #expect(try turns("hold 1k 5s, hold 2k 5s, hold 2k 5s") == [5...5])
        #expect(try turns("ramp 1k 2k 10s, hold 2k 5s") == [0...10, 10...10])
        #expect(try turns("hold 1k 5s, pause 2s, hold 1k 5s") == [7...7, 5...5])
        #expect(try turns("hold 1k 5s, burst 100, hold 1k 5s").contains(5...5))
        #expect(LoadSchedule(rate: 1000, limit: nil, length: 5 * Self.second).turns.isEmpty)
        #expect(LoadSchedule(trace: [0, 1, 5_000_000]).turns.isEmpty)
    }

    @Test("What is expected by a time is what is due by then, whatever the stages are, and their times are told")
    func expected() throws {
        let stages = try LoadStage.parse(
            "ramp 100 900 2s, hold 900 1s, burst 300 500ms, pause 1s, sine 500 400 1s 2s, burst 10, hold 50 100 pushes")
        for schedule in [
            LoadSchedule(stages: stages), LoadSchedule(stages: stages, limit: 2000),
            LoadSchedule(stages: stages, length: 5_200_000_000),
        ] {
            let dues = dues(schedule)
            for step in 0...200 {
                let time = Double(step) * 0.047
                let count = dues.count { Double($0) / 1e9 <= time }
                #expect(abs(schedule.expected(by: time) - Double(count)) <= 1.01, "\(time) s")
            }
            #expect(Double(schedule.count) - schedule.expected(by: 1000) < 1)
        }
        #expect(LoadSchedule(stages: stages).stageTimes == [0, 2, 3, 3.5, 4.5, 6.5, 6.5])
        #expect(LoadSchedule(stages: stages, length: 3_200_000_000).stageTimes == [0, 2, 3, 3.2, 3.2, 3.2, 3.2])
        #expect(LoadSchedule(trace: [1, 2]).stageTimes == [0] && LoadSchedule(trace: [1, 2]).expected(by: 9) == 0)
    }

    @Test("Stages that are kept apart by something else get one line, as they were typed")
    func separators() {
        for text in ["ramp 1k 20k 10s; hold 20k 30s", "ramp 1k 20k 10s |hold 20k  30s"] {
            let message = "\"\(text)\": stages are separated by commas, as in ramp 1k 20k 10s, hold 20k 30s"
            #expect(throws: SettingsError(message)) { try LoadStage.parse(text) }
        }
    }

    @Test("Stages follow each other: ramps, holds, bursts, pauses, waves")
    func stages() {
        let schedule = LoadSchedule(stages: [
            LoadStage(name: "up", shape: .ramp(from: 0, to: 1000), duration: 2 * Self.second),
            LoadStage(name: "steady", shape: .hold(rate: 1000), duration: Self.second),
            LoadStage(name: "burst", shape: .burst(pushes: 500), duration: Self.second),
            LoadStage(name: "quiet", shape: .pause, duration: Self.second),
            LoadStage(name: "by count", shape: .hold(rate: 100), pushes: 50),
            LoadStage(
                name: "wave", shape: .sine(mean: 1000, amplitude: 500, period: Self.second), duration: 2 * Self.second),
            LoadStage(name: "down", shape: .ramp(from: 1000, to: 0), duration: 2 * Self.second),
        ])
        #expect(schedule.count == 1000 + 1000 + 500 + 50 + 2000 + 1000)
        #expect(schedule.duration == 9_500_000_000)
        let all = dues(schedule)
        #expect(all == all.sorted())
        func within(_ from: Double, _ to: Double) -> Int {
            all.count { Double($0) / 1e9 >= from && Double($0) / 1e9 < to }
        }
        // A ramp from 0 has a quarter of its pushes in its first half.
        #expect(abs(within(0, 1) - 250) <= 1 && within(0, 2) == 1000 && within(2, 3) == 1000)
        #expect(within(3, 3.000000001) == 500 && within(3.1, 5) == 0 && within(5, 5.5) == 50)
        // A wave has as many in each period, more in its first half: 1000/2 ± 500/π.
        #expect(abs(within(5.5, 6.5) - 1000) <= 1 && abs(within(5.5, 6.0) - 659) <= 1)
        #expect(abs(within(7.5, 8.5) - 750) <= 1)
        for (time, rate) in [(1.0, 500.0), (2.5, 1000), (4.5, 0), (5.75, 1500), (8.5, 500)] {
            #expect(abs(schedule.rate(at: time) - rate) < 0.001, "\(time) s")
        }
        var cursor = schedule.cursor()
        var stages: [Int] = []
        for index in 0..<schedule.count {
            _ = cursor.due(index)
            if stages.last != cursor.stage { stages.append(cursor.stage) }
        }
        #expect(stages == [0, 1, 2, 4, 5, 6])
    }

    @Test("The gaps of Poisson arrivals are exponential (chi-square), and their number is what chance allows")
    func poisson() {
        let seed = UInt64.random(in: 1 ... .max)
        let rate = 10_000.0
        let schedule = LoadSchedule(rate: rate, arrivals: .poisson, seed: seed, limit: nil, length: 10 * Self.second)
        // 100,000 expected; five standard deviations.
        #expect(abs(Double(schedule.count) - 100_000) < 5 * 100_000.0.squareRoot(), "seed \(seed): \(schedule.count)")
        let all = dues(schedule)
        #expect(all == all.sorted() && all.last! < 10 * Self.second)
        // 20 classes of equal probability: -ln(1 - k/20) / rate.
        var classes = [Int](repeating: 0, count: 20)
        for index in 1..<all.count {
            let gap = Double(all[index] - all[index - 1]) / 1e9
            classes[min(19, Int((1 - exp(-gap * rate)) * 20))] += 1
        }
        let expected = Double(all.count - 1) / 20
        let chi = classes.reduce(0.0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
        // 19 degrees of freedom: above 54 once in 30,000 times.
        #expect(chi < 54, "seed \(seed): \(chi) \(classes)")
        // The same seed gives the same arrivals, to whoever walks them.
        #expect(dues(schedule) == all)
        var other = schedule.cursor()
        for index in stride(from: UInt64(3), to: schedule.count, by: 7) { #expect(other.due(index) == all[Int(index)]) }
    }

    @Test("A number of Poisson arrivals at a rate is that number, and the run ends where the last is due")
    func poissonNumber() {
        for seed in 1...50 as ClosedRange<UInt64> {
            let schedule = LoadSchedule(rate: 1000, arrivals: .poisson, seed: seed, limit: 40, length: nil)
            let next = LoadSchedule(rate: 1000, arrivals: .poisson, seed: seed, limit: 41, length: nil)
            #expect(schedule.count == 40 && next.count == 41, "seed \(seed)")
            var cursor = next.cursor()
            #expect(abs(Int64(schedule.duration) - Int64(cursor.due(40))) <= 1, "seed \(seed)")
            let cut = LoadSchedule(rate: 1000, arrivals: .poisson, seed: seed, limit: 40, length: 10_000_000)
            #expect(cut.count < 40 && cut.duration <= 10_000_000, "seed \(seed)")
        }
    }

    @Test("More Poisson arrivals than can be counted in seconds are refused")
    func tooMany() {
        var scenario = Scenario()
        scenario.rate = 1e6
        scenario.duration = 1000 * Self.second
        scenario.arrivals = "poisson"
        #expect(throws: SettingsError.self) { try scenario.makeSchedule() }
        scenario.arrivals = "jitter"
        #expect(throws: Never.self) { try scenario.makeSchedule() }
    }

    @Test("Jittered arrivals are late by at most their share of a gap, and never out of order")
    func jitter() {
        let schedule = LoadSchedule(
            rate: 1000, arrivals: .jitter(share: 0.5), seed: 4, limit: nil, length: 5 * Self.second)
        let all = dues(schedule)
        #expect(all == all.sorted() && schedule.count == 5000)
        let late = all.enumerated().map { Double($1) / 1e6 - Double($0) }
        #expect(late.allSatisfy { $0 >= 0 && $0 < 0.5001 })
        #expect(abs(late.reduce(0, +) / 5000 - 0.25) < 0.01)
    }

    @Test("Times since 1970 in a trace are said to be too large, with the unit that was meant")
    func epoch() {
        func said(_ text: String) -> String {
            do throws(SettingsError) {
                return "\(try ArrivalTrace.parse(text, file: "f"))"
            } catch { return error.description }
        }
        let rest = "since the start, less than 31 years; of times since 1970 subtract the first"
        #expect(said("due_s\n1764400000\n") == "f:2: \"1764400000\" is too large: expected seconds \(rest)")
        #expect(said("due_ms\n1764400000123\n") == "f:2: \"1764400000123\" is too large: expected milliseconds \(rest)")
        #expect(said("1764400000.5s\n") == "f:1: \"1764400000.5s\" is too large: expected the time \(rest)")
        #expect(said("due_s\n999999999\n") == "[0]" && said("due_s\nx\n").contains("is not a duration"))
    }

    @Test("A recorded trace is replayed from its first time on, and cut by pushes and duration")
    func replay() throws {
        let times = try ArrivalTrace.parse("due_s,what\n10.5,a\n10,b\n# comment\n\n12s,c\n10500ms,d\n", file: "f")
        #expect(times == [0, 500_000_000, 500_000_000, 2_000_000_000])
        #expect(dues(LoadSchedule(trace: times)) == times)
        #expect(LoadSchedule(trace: times, limit: 2).count == 2)
        #expect(LoadSchedule(trace: times, length: Self.second).count == 3)
        #expect(throws: SettingsError("f:2: \"soon\" is not a duration; expected for example 500ms, 10s, 1m30s or 2h"))
        {
            try ArrivalTrace.parse("1s\nsoon\n", file: "f")
        }
        #expect(try ArrivalTrace.parse("due_ms\n5\n7\n", file: "f") == [0, 2_000_000])
        #expect(
            throws: SettingsError(
                "f:2: \"10\" has no unit; write 10ms, 10s or 10m, or a header that says it: due_s, due_ms, due_us or due_ns"
            )
        ) { try ArrivalTrace.parse("time\n10\n", file: "f") }
        #expect(throws: SettingsError("f: no due time in it; expected one a line")) {
            try ArrivalTrace.parse("t\n", file: "f")
        }
    }

    @Test("Of a trace no line is dropped: the first is a header only when it names due times, and a comma is no point")
    func traceLines() throws {
        func read(_ text: String) throws -> [UInt64] {
            try ArrivalTrace.parse(try FileContents.text(Array(text.utf8), file: "f"), file: "f")
        }
        for text in [
            "\u{FEFF}0.1s\n0.2s\n", "0.1s\r\n0.2s\r\n", "\u{FEFF}due_s\r\n0.1\r\n0.2\r\n",
            "# made\nDue_ms,who\n100,a\n200,\"b,c\"\n",
        ] {
            #expect(try read(text) == [0, 100_000_000], "\(text)")
        }
        let wrong = "is not a duration; expected for example 500ms, 10s, 1m30s or 2h"
        let unit = "has no unit; write 0ms, 0s or 0m, or a header that says it: due_s, due_ms, due_us or due_ns"
        for (text, problem) in [
            ("O.1s\n0.2s\n", "f:1: \"O.1s\" \(wrong)"), (".1s\n0.2s\n", "f:1: \".1s\" \(wrong)"),
            ("half\n2s\n", "f:1: \"half\" \(wrong)"), ("0\n1s\n", "f:1: \"0\" \(unit)"),
            ("0,250s\n0,500s\n", "f:1: \"0,250s\" \(wrong); columns take a header, such as due_s"),
            ("due_s\n1\n0,250\n", "f:3: 2 columns, where the header has 1; decimals have a point, no comma"),
            ("1s\ndue_s\n", "f:2: \"due_s\" \(wrong)"),
        ] { #expect(throws: SettingsError(problem)) { try read(text) } }
    }

    @Test("A schedule of fewer pushes than its stages have ends where the last of them is due")
    func limited() throws {
        func limited(_ stages: String, _ limit: UInt64, _ arrivals: Arrivals = .constant) throws -> LoadSchedule {
            LoadSchedule(stages: try LoadStage.parse(stages), arrivals: arrivals, seed: 3, limit: limit)
        }
        for arrivals in [Arrivals.constant, .jitter(share: 1)] {
            let schedule = try limited("hold 2k 2s", 400, arrivals)
            #expect(schedule.count == 400 && schedule.duration == 200_000_000)
        }
        let later = try limited("hold 1k 1s, pause 1s, burst 50 1s, hold 2k 5s, ramp 1k 2k 9s", 2050)
        #expect(later.count == 2050 && later.duration == 3_500_000_000 && later.stageTimes == [0, 1, 2, 3, 3.5])
        #expect(later.rate(at: 3.4) == 2000 && later.rate(at: 3.6) == 0)
        let burst = try limited("hold 1k 1s, burst 50, pause 1s, hold 1k 1s", 1020)
        #expect(burst.count == 1020 && burst.duration == 1_000_000_000 && dues(burst).last == 1_000_000_000)
        // Random arrivals: all that are asked for, and an end after the last of them.
        let poisson = try limited("hold 1k 10s", 400, .poisson)
        let next = dues(try limited("hold 1k 10s", 401, .poisson))
        #expect(poisson.count == 400 && dues(poisson) == Array(next.dropLast()))
        #expect(abs(Int64(poisson.duration) - Int64(next[400])) <= 1)
        for enough in [UInt64(1000), 5000] {
            #expect(try limited("hold 1k 1s, pause 1s", enough) == limited("hold 1k 1s, pause 1s", 1_000_000))
        }
    }

    @Test("A pause begins where the stage before it ends")
    func pauses() throws {
        let stages = try LoadStage.parse("hold 1k 1s, pause 1s, hold 2k 1s, pause 3s")
        #expect(LoadSchedule(stages: stages).stageTimes == [0, 1, 2, 3])
    }

    @Test(
        "Random stages: the pushes of each are those it plans, in order, within its time",
        arguments: [UInt64.random(in: 1...1 << 40)])
    func random(_ seed: UInt64) {
        var state = seed
        func next(_ bound: Double) -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 33) / Double(UInt32.max >> 1) * bound
        }
        for _ in 0..<200 {
            var stages: [LoadStage] = []
            for number in 0..<(1 + Int(next(5))) {
                let duration = UInt64(next(3e9)) + 1_000_000
                let shape: LoadStage.Shape =
                    switch Int(next(5)) {
                    case 0: .hold(rate: next(2000) + 1)
                    case 1: .ramp(from: next(2000), to: next(2000) + 1)
                    case 2: .sine(mean: 1000, amplitude: next(1000), period: UInt64(next(2e9)) + 1_000_000)
                    case 3: .burst(pushes: UInt64(next(100)) + 1)
                    default: .pause
                    }
                stages.append(LoadStage(name: "\(number)", shape: shape, duration: duration))
            }
            let schedule = LoadSchedule(stages: stages)
            var cursor = schedule.cursor()
            var last: UInt64 = 0
            for index in 0..<schedule.count {
                let due = cursor.due(index)
                #expect(due >= last && due <= schedule.duration + 1, "seed \(seed)")
                last = due
            }
            #expect(stages.allSatisfy { $0.problem == nil })
        }
    }

    @Test("What is wrong with a stage is said")
    func problems() {
        for (stage, part) in [
            (LoadStage(name: "a", shape: .hold(rate: 0), duration: 1), "rate 0.0: expected more than 0"),
            (LoadStage(name: "a", shape: .hold(rate: 1)), "a hold needs a duration"),
            (LoadStage(name: "a", shape: .ramp(from: 0, to: 0), duration: 1), "not both 0"),
            (LoadStage(name: "a", shape: .ramp(from: 0, to: 1)), "a ramp needs a duration"),
            (
                LoadStage(name: "a", shape: .sine(mean: 1, amplitude: 2, period: 1), duration: 1),
                "an amplitude from 0 to it"
            ),
            (LoadStage(name: "a", shape: .burst(pushes: 0)), "a burst of 0 pushes"),
            (LoadStage(name: "a", shape: .pause), "a pause needs a duration"),
        ] { #expect(stage.problem?.contains(part) == true, "\(stage.problem ?? "none")") }
    }
}

import Settings
import Testing

@testable import Scenarios

@Suite struct PrecisionTests {
    @Test("A figure and how well it is to be known, however it is written")
    func parsing() throws {
        for text in ["p99 +- 2 %", "p99+-2%", "p99 ± 0.02", "p99 +-0.02"] {
            let precision = try Precision(parsing: text)
            #expect(precision.percentile == 99 && precision.share == 0.02 && precision.text == "p99 +- 2 %")
        }
        #expect(try Precision(parsing: "p99.9 +- 0.1%").text == "p99.9 +- 0.1 %")
        #expect(try Precision(parsing: "p50 +- 50%").share == 0.5)
    }

    @Test("What is none gets one line that says what would be right")
    func wrong() {
        for (text, part) in [
            ("", "as in p99 +- 2 %"), ("p99", "as in p99 +- 2 %"), ("p99 < 50ms", "as in p99 +- 2 %"),
            ("+- 2 %", "as in p99 +- 2 %"), ("p95 +- 2 %", "\"p95\"; expected one of p50, p90, p99, p99.9"),
            ("mean +- 2 %", "p50, p90, p99, p99.9"),
            ("p99 +- x", "\"x\": expected 0.1 % to 50 %"), ("p99 +- 0.01 %", "0.1 % to 50 %"),
            ("p99 +- 60 %", "0.1 % to 50 %"), ("p99 +- 150 %", "\"150%\": expected 0.1 % to 50 %"),
            ("p99 +- 2 % +- 3 %", "as in p99 +- 2 %"),
        ] {
            do throws(SettingsError) {
                _ = try Precision(parsing: text)
                Issue.record("\"\(text)\" was taken")
            } catch { #expect(error.description.contains(part), "\(error)") }
        }
    }

    private func problems(_ change: (inout Scenario) -> Void) -> [String] {
        var scenario = Scenario().withDefaultTopic
        scenario.until = "p99 +- 2 %"
        change(&scenario)
        return scenario.validate()
    }

    @Test("It ends a run instead of a number or a time; what does not go with it is refused in one line")
    func together() throws {
        #expect(problems { _ in }.isEmpty && problems { $0.rate = 1000 }.isEmpty)
        for (name, change) in [
            ("pushes", { $0.pushes = 5 }), ("duration", { $0.duration = 5 }),
            ("stages", { $0.stages = (try? LoadStage.parse("hold 1k 1s")) ?? [] }),
            ("trace", { $0.trace = "x" }), ("measure", { $0.measure = false }),
        ] as [(String, (inout Scenario) -> Void)] {
            let found = problems(change)
            #expect(found.count == 1 && found[0].hasPrefix("until: does not go with \(name)"), "\(name): \(found)")
        }
        #expect(problems { $0.budget = 1 }.first?.contains("budget 1ns: expected 1s to 30 days") == true)
        // As it is run it has the budget's length, of which nothing is said besides.
        for budget in [0, 1, 31 * 86_400 * 1_000_000_000] as [UInt64] {
            let found = problems {
                $0.budget = budget
                $0 = $0.withLength
            }
            #expect(found.count == 1 && found[0].hasSuffix(": expected 1s to 30 days"), "\(budget): \(found)")
        }
        var alone = Scenario().withDefaultTopic
        (alone.pushes, alone.budget) = (1, 5_000_000_000)
        #expect(alone.validate().first?.hasPrefix("budget: goes with until") == true)
    }

    @Test("It is as long as its budget at most, and finds its warm-up where none is given")
    func length() throws {
        var scenario = Scenario()
        try scenario.apply(flags: [("until", ["p99+-2%"]), ("budget", ["5s"])])
        #expect(scenario.withLength.duration == 5_000_000_000 && scenario.withLength.warmupAuto)
        #expect(scenario.duration == nil, "as it was asked for")
        scenario.budget = nil
        #expect(scenario.withLength.duration == 60_000_000_000 && scenario.withLength.budget == 60_000_000_000)
        scenario.warmup = 1
        #expect(!scenario.withLength.warmupAuto)
        // A flag takes the place of what a file gave.
        try scenario.apply(flags: [("pushes", ["10"])])
        #expect(scenario.until == nil && scenario.pushes == 10)
        #expect(throws: SettingsError.self) {
            try scenario.apply(flags: [("pushes", ["10"]), ("until", ["p99 +- 2 %"])])
        }
    }
}

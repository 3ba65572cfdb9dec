import Foundation
import Scenarios
import Settings
import Testing

@testable import Sweep

@Suite struct SweepFileTests {
    private func read(_ text: String) throws -> (sweep: SweepFile, scenario: Scenario) {
        var scenario = Scenario()
        let sweep = try SweepFile.parse(text, file: "s.yaml", folder: "/where", to: &scenario)
        return (sweep, scenario)
    }

    private func problems(_ text: String) -> [String] {
        var scenario = Scenario()
        do throws(ScenarioFile.Problems) {
            _ = try SweepFile.parse(text, file: "s.yaml", folder: "/where", to: &scenario)
            return []
        } catch { return error.lines }
    }

    @Test("A sweep file has the settings of a scenario, what is varied, and how it is searched")
    func reading() throws {
        let (sweep, scenario) = try read(
            """
            duration: 2s
            connections: 3
            vary:
              streams: 100..400x2, 1000
              profile: ["alert:80,silent:20", silent]
              template: [a.json, /b.json]
              tls:
                - {label: old, tls_max: 1.2, ciphers: A}
                - {tls_min: 1.3, ciphersuites: B}
            search:
              method: halving
              points: 8
              repeat: 5
              goal: p99
            """)
        #expect(scenario.duration == 2_000_000_000 && scenario.connections == 3)
        #expect(sweep.axes.map(\.name) == ["streams", "profile", "template", "tls"])
        #expect(sweep.axes[0].values.map(\.label) == ["100", "200", "400", "1000"])
        #expect(sweep.axes[1].values.map(\.label) == ["alert:80,silent:20", "silent"])
        #expect(
            sweep.axes[2].values.map(\.settings) == [
                [.init("template", "/where/a.json")], [.init("template", "/b.json")],
            ])
        #expect(sweep.axes[3].values.map(\.label) == ["old", "1.3 B"])
        #expect(sweep.axes[3].values[0].settings == [.init("tls_max", "1.2"), .init("ciphers", "A")])
        #expect(sweep.search.method == .halving && sweep.search.points == 8)
        #expect(sweep.search.repeats == 5 && sweep.search.goal == .p99)
    }

    @Test("Every mistake is said with its line and column")
    func mistakes() {
        #expect(
            problems(
                """
                duraton: 2s
                vary:
                  sterams: 100
                  streams: 1..2
                  connections: [1, two]
                  pair:
                    - {streams: 1, rtt2: 3}
                  streams2: [{streams: 1}, {streams: x}]
                search: gird
                """) == [
                    "s.yaml:1:1: unknown key \"duraton\"; did you mean \"duration\"?",
                    "s.yaml:3:3: vary: unknown key \"sterams\"; did you mean \"streams\"?",
                    "s.yaml:4:12: vary.streams: \"1..2\" is not a range; expected \(SweepValues.forms)",
                    "s.yaml:5:16: vary.connections: \"two\" is not a count; expected a whole number such as 5000, 10k or 1.5M",
                    "s.yaml:7:20: vary.pair[0]: unknown key \"rtt2\"; did you mean \"rtt\"?",
                    "s.yaml:8:38: vary.streams2[1].streams: \"x\" is not a count; expected a whole number such as 5000, 10k or 1.5M",
                    "s.yaml:9:9: search: search \"gird\"; did you mean \"grid\"?",
                ])
        #expect(
            problems("search: {method: random, ponits: 4}")
                == ["s.yaml:1:26: search: unknown key \"ponits\"; did you mean \"points\"?"])
        #expect(
            problems("vary: {streams: [{threads: 1}]}")
                == [
                    "s.yaml:1:8: vary: \"streams\" is a setting: expected its values; settings together need a name of their own"
                ])
        #expect(problems("vary: [1]") == ["s.yaml:1:7: vary: expected keys with values (key: value)"])
        #expect(problems("a: [") != [])
    }

    @Test("A sweep's keys in a scenario file are refused with what to do instead")
    func notAScenario() {
        var scenario = Scenario()
        do throws(ScenarioFile.Problems) {
            try ScenarioFile.apply("vary: {streams: 1}", file: "s.yaml", folder: ".", depth: 0, to: &scenario)
            Issue.record("taken")
        } catch {
            #expect(error.lines == ["s.yaml:1:1: \"vary\" belongs in a sweep file itself: pushload sweep s.yaml"])
        }
    }

    @Test("Bundled sweeps can be planned, and have names of their own")
    func bundled() throws {
        for entry in BundledSweeps.all {
            var scenario = Scenario()
            let sweep = try SweepFile.read(entry.name, to: &scenario)
            let plan = try SweepPlan(
                version: "1", startedAt: "", scenario: scenario, axes: sweep.axes, search: sweep.search)
            #expect(scenario.name == entry.name)
            for point in 0..<(try #require(plan.gridCount)) {
                #expect(try plan.scenario(of: point).validate() == [], "\(entry.name): \(plan.description(of: point))")
            }
        }
        let names = (BundledSweeps.all + BundledScenarios.all).map(\.name)
        #expect(Set(names).count == names.count)
    }
}

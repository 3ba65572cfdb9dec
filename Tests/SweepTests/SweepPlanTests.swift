import Foundation
import Scenarios
import Settings
import TestSupport
import Testing

@testable import Sweep

@Suite struct SweepPlanTests {
    private func plan(
        _ vary: [String], _ change: (inout Scenario, inout SweepSearch) -> Void = { _, _ in }
    ) throws -> SweepPlan {
        var scenario = Scenario()
        scenario.pushes = 100
        var search = SweepSearch()
        change(&scenario, &search)
        return try SweepPlan(
            version: "1.2.3", startedAt: "2026-11-21T00:00:00Z", scenario: scenario,
            axes: try vary.map { try SweepAxis(parsing: $0) }, search: search)
    }

    private func refusal(
        _ vary: [String], _ change: (inout Scenario, inout SweepSearch) -> Void = { _, _ in }
    ) -> String {
        do { return "taken: \(try plan(vary, change))" } catch { return "\(error)" }
    }

    @Test("Points are the grid, the last axis counting fastest, each with its own settings")
    func points() throws {
        let plan = try plan(["rtt=0ms,20ms", "streams=1,2,3"])
        #expect(plan.gridCount == 6)
        #expect((0..<6).map { plan.place(of: $0) } == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]])
        #expect(plan.description(of: 4) == "rtt 20ms, streams 2")
        let scenario = try plan.scenario(of: 4, rung: 3)
        #expect(scenario.rtt == "20ms" && scenario.streams == 2 && scenario.pushes == 800)
    }

    @Test("A plan that cannot be is refused in one line")
    func refusals() {
        #expect(refusal([]) == "nothing is varied: give --vary KEY=VALUES, or a sweep file with vary:")
        #expect(
            refusal(["streams=1..1000+1", "connections=1..200+1"])
                == "200,000 points: expected at most 10,000; give fewer values, or --search random --points N")
        #expect(refusal(["streams=1", "streams=2"]) == "\"streams\" is varied twice")
        #expect(
            refusal(["streams=1,2"]) { $1.points = 1 }
                == "points are for search random or halving; a grid runs every point")
        #expect(refusal(["streams=1,2"]) { $1.method = .random } == "search random needs a number of points (--points)")
        #expect(
            refusal(["pushes=1,2"]) { $1.method = .halving }
                == "search halving doubles the length of runs: \"pushes\" cannot be varied as well")
        #expect(
            refusal(["streams=1,2"]) {
                $0.stages = [LoadStage(name: "a", shape: .pause, duration: 1)]
                $1.method = .halving
            } == "search halving doubles the length of runs: give pushes or a duration, no stages or trace")
        #expect(
            refusal(["streams=1..1000+1", "connections=1..200+1"]) { ($1.method, $1.points) = (.random, 50) }
                .hasPrefix("taken"))
    }

    @Test("The plan's file holds every setting, with names as results have them")
    func file() throws {
        let original = try plan(["streams=1,2", "engine=wire"]) { scenario, search in
            // One value that is not the default for every key there is.
            let values: [String: String] = [
                "stages": "ramp 1k 2k 1s, sine 10 5 2s 4s, burst 7, pause 1s", "arrivals": "poisson",
                "warmup": "5s", "allowed_targets": "test.example.com", "by": "status", "profile": "silent",
                "push_type": "voip", "priority": "5",
                "threshold": "p99 < 5ms", "expect_reasons": "BadTopic", "sign_policy": "per-push", "engine": "nghttp2",
                "sends": "{name: a, audience: b, collapse_id: c, repeat: 2, every: 1s}", "environment": "any",
                "properties": "a=b", "speed": "7",
                "until": "p99 +- 2%", "pacing": "spin", "tls_min": "1.3", "tls_max": "1.2", "retry": "429",
                "retry_budget": "0.5",
            ]
            for key in ScenarioKey.all {
                let value: String
                switch key.kind {
                case .flag: value = ["measure", "nodelay", "feedback"].contains(key.name) ? "false" : "true"
                case .text, .choice, .list: value = values[key.name] ?? "some-\(key.name)"
                case .duration: value = values[key.name] ?? "7ms"
                case .bytes: value = "7B"
                default: value = values[key.name] ?? "7"
                }
                do throws(SettingsError) { try key.apply([value], to: &scenario) } catch {
                    Issue.record("\(key.name): \(error)")
                }
            }
            search.repeats = 7
        }
        let bytes = try SweepPlanFile.encode(original)
        #expect(try SweepPlanFile.decode(bytes, origin: "x") == original)
        let text = String(decoding: bytes, as: UTF8.self)
        for name in ["\"key_id\"", "\"kernel_tls\"", "\"collapse_id\"", "\"started_at\"", "\"pushload.sweep/1\""] {
            #expect(text.contains(name), "\(name)")
        }
        var other = original
        other.startedAt = "later"
        #expect(original.difference(from: other) == nil)
        other.scenario.streams = 5
        #expect(original.difference(from: other) == "other settings besides those that are varied")
        other.version = "0"
        #expect(original.difference(from: other) == "made by version 0, this is 1.2.3")
    }

    @Test("A damaged, foreign or newer file is refused in one line that names it")
    func damaged() throws {
        func refusal(_ bytes: [UInt8]) -> String {
            do throws(SettingsError) { return "taken: \(try SweepPlanFile.decode(bytes, origin: "f"))" } catch {
                return error.description
            }
        }
        let whole = try SweepPlanFile.encode(try plan(["streams=1,2"]))
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed)
        for _ in 0..<50 {
            let length = Int.random(in: 1..<whole.count - 2, using: &random)
            #expect(
                refusal(Array(whole[..<length])) == "f: not complete JSON; the file is truncated or damaged",
                "seed \(seed): \(length)")
        }
        #expect(refusal([]) == "f: empty; expected JSON")
        func changed(_ old: String, _ new: String) -> [UInt8] {
            Array(String(decoding: whole, as: UTF8.self).replacing(old, with: new).utf8)
        }
        #expect(refusal(Array("{}".utf8)) == "f: not the plan of a sweep: \"schema\" is missing or foreign")
        #expect(
            refusal(changed("pushload.sweep/1", "pushload.sweep/9"))
                == "f: schema pushload.sweep/9; this version reads pushload.sweep/1")
        #expect(refusal(changed("\"repeats\"", "\"repeat\"")) == "f: a field is missing or has the wrong type")
        #expect(refusal(changed("\"text\" : \"2\"", "\"text\" : \"x\"")).hasPrefix("f: \"x\" is not a count"))
    }
}

import Settings
import Testing

@testable import Scenarios

@Suite struct ScenarioTests {
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

    @Test("A threshold on latencies that are not recorded is refused, others are not")
    func unmeasured() {
        var scenario = Scenario()
        scenario.pushes = 10
        scenario.measure = false
        scenario.thresholds = ["rate > 10 && failed == 0", "accepted >= 99% && p99 < 500ms"]
        #expect(
            scenario.validate() == [
                "threshold \"p99 < 500ms\": with --no-measure no latency is recorded; leave out one of them"
            ])
        scenario.measure = true
        #expect(scenario.validate().isEmpty)
    }

    @Test("Huffman coding is for engine wire, and another engine is told so in one line")
    func huffman() {
        var scenario = Scenario()
        scenario.pushes = 10
        scenario.huffman = true
        #expect(scenario.validate().isEmpty)
        scenario.engine = "nghttp2"
        #expect(
            scenario.validate() == [
                "huffman is a tuning of engine wire: engine nghttp2 chooses for itself what it codes with Huffman"
            ])
    }

    @Test("Pacing is one of three words, for each engine")
    func pacing() throws {
        var scenario = Scenario()
        scenario.pushes = 10
        let key = try #require(ScenarioKey.named("pacing"))
        #expect(throws: SettingsError.self) { try key.apply(["fast"], to: &scenario) }
        for engine in Scenario.engines {
            for pacing in Scenario.pacings {
                scenario.engine = engine
                try key.apply([pacing], to: &scenario)
                #expect(scenario.validate() == [])
            }
        }
    }
}

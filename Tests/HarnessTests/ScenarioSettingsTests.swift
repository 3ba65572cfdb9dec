import Results
import Scenarios
import Settings
import Testing

@testable import Harness

@Suite struct ScenarioSettingsTests {
    @Test("Every setting comes back as it was written, optional ones, stages and acronyms too")
    func roundTrip() throws {
        var scenario = Scenario()
        scenario.pushes = 7
        scenario.stages = try LoadStage.parse("ramp 1k 20k 10s, burst 100k, sine 10k 5k 10s 60s")
        scenario.keyID = "ABC123DEFG"
        scenario.apnsID = true
        scenario.socketSendBuffer = 4096
        scenario.thresholds = ["p99 < 5ms"]
        scenario.retryBudget = 0.25
        let settings = ScenarioSettings.write(scenario)
        #expect(settings["key_id"] == .string("ABC123DEFG") && settings["stream_window"] == .integer(65_535))
        #expect(try ScenarioSettings.read(settings, origin: "b") == scenario)
        #expect(try ScenarioSettings.read([:], origin: "b") == Scenario())
    }

    @Test("Every property of a scenario is set by a key, and read from a document")
    func everyProperty() {
        #expect(
            Set(ScenarioSettings.properties.values) == Set(Mirror(reflecting: Scenario()).children.compactMap(\.label)))
    }

    @Test("A result names the stages of its run as people write them, beside all other settings")
    func stages() throws {
        var scenario = Scenario()
        scenario.stages = try LoadStage.parse("ramp 1k 20k 10s, hold 20k 30s")
        let settings = try Run(scenario, identity: Run.Identity()).settings
        guard case .array(let stages)? = settings["stages"] else {
            Issue.record("stages: \(String(describing: settings["stages"]))")
            return
        }
        #expect(try LoadStage.parse(stages.map(\.description).joined(separator: ", ")) == scenario.stages)
        #expect(settings["streams"] == .integer(1000) && settings.count == ScenarioSettings.write(scenario).count)
    }

    @Test("Settings nobody knows, or of the wrong type, get one line")
    func refused() {
        func problem(_ settings: [String: JSONValue]) -> String {
            do throws(HarnessError) {
                _ = try ScenarioSettings.read(settings, origin: "b.json")
                return ""
            } catch { return error.description }
        }
        #expect(
            problem(["warp": .bool(true)]) == "b.json: this version does not know the setting \"warp\" of its scenario")
        #expect(
            problem(["stream_window": .string("x")])
                == "b.json: the setting \"stream_window\" of its scenario has the wrong type")
    }

    @Test("What is injected is spent: so much CPU time a push, on the whole")
    func burner() {
        var burner = TimeBurner(perPush: 500)
        let begin = ContinuousClock.now
        for _ in 0..<10_000 { burner.burn() }
        // It cannot have been less, whatever else the machine was doing.
        #expect(ContinuousClock.now - begin >= .milliseconds(4))
    }
}

import Harness
import Scenarios
import Testing

@Suite struct PushSizeTests {
    @Test("A push is its payload, two frame headers and a header block of table references and the path")
    func sizes() throws {
        let alert = try PushSize(Scenario())
        // 9 + 9; method, scheme, authority; 1 + 1 + 74 of the path; authorization, topic, type, priority.
        #expect(abs(alert.request - alert.payload - 101) < 1e-9, "\(alert)")
        #expect(alert.payload > 250 && alert.payload < alert.largestPayload, "\(alert)")
        var scenario = Scenario()
        scenario.noAuth = true
        scenario.apnsID = true
        scenario.profile = "silent"
        let silent = try PushSize(scenario)
        #expect(abs(silent.request - silent.payload - 101 - 46 + 1) < 1e-9, "\(silent)")
        #expect(silent.payload < alert.payload)
    }

    @Test("An unknown profile is refused as a run refuses it")
    func refused() {
        var scenario = Scenario()
        scenario.profile = "alarm"
        #expect(throws: HarnessError.self) { try PushSize(scenario) }
    }
}

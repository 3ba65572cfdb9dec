import Foundation
import Settings
import Testing

@testable import Scenarios

/// The settings of devices: what may be written, and what goes together.
@Suite struct DeviceSettingTests {
    private func applied(_ text: String, _ flags: (key: String, texts: [String]?)...) throws -> Scenario {
        var scenario = Scenario()
        try ScenarioFile.apply(text, file: "sc.yaml", folder: "/sc", depth: 0, to: &scenario)
        try scenario.apply(flags: flags)
        return scenario
    }

    private func problems(_ change: (inout Scenario) -> Void) -> [String] {
        var scenario = Scenario()
        scenario.pushes = 10
        change(&scenario)
        return scenario.validate()
    }

    @Test("A model is on, off or a file beside the scenario; other words are refused where they stand")
    func model() throws {
        #expect(try applied("device_model: on").deviceModel == "on")
        #expect(try applied("device_model: off").deviceModel == nil)
        #expect(try applied("device_model: model.yaml").deviceModel == "/sc/model.yaml")
        #expect(try applied("device_model: ./yes").deviceModel == "/sc/./yes")
        for (value, message) in [
            ("ON", "\"ON\": expected on, off, or a file"), ("yes", "\"yes\": expected on, off, or a file"),
            ("False", "\"False\": expected on, off, or a file"), ("{online: 5}", "expected on, off, or a file"),
        ] {
            let wrong = ScenarioFile.Problems(
                lines: ["sc.yaml:2:15: device_model: \(message)"], keys: ["device_model"])
            #expect(throws: wrong) { try applied("pushes: 1\ndevice_model: \(value)") }
        }
    }

    @Test("A scenario with devices runs without them; what goes with them goes too, but not what is given beside off")
    func off() throws {
        let file = "pushes: 1\ndevice_model: on\nbackend_flags: --latency 1ms\ndevice_wait: 5s"
        let without = try applied(file, ("device_model", ["off"]))
        #expect(without.validate().isEmpty && without.deviceModel == nil && without.backendFlagText == nil)
        #expect(without.deviceWait == Scenario().deviceWait)
        let beside = try applied(file, ("device_model", ["off"]), ("device_wait", ["7s"]))
        #expect(
            beside.validate() == [
                "device_wait: goes with device_model, which says what devices ask; give --device-model on"
            ])
        #expect(try applied(file).deviceWait == 5_000_000_000)
    }

    @Test("What device_model sets is not set by mock_flags as well")
    func mockFlags() {
        for (flags, name) in [
            ("--device-log x", "--device-log"), ("--latency 1ms --device-model=on", "--device-model"),
            ("'--device-backend' http://127.0.0.1:1", "--device-backend"),
        ] {
            #expect(
                problems { ($0.deviceModel, $0.mockFlagText) = ("on", flags) }
                    == ["mock_flags: \(name) is set by device_model; leave it out"])
            #expect(problems { $0.mockFlagText = flags }.isEmpty)
        }
        #expect(problems { ($0.deviceModel, $0.mockFlagText) = ("on", "--device-requests 5") }.isEmpty)
    }
}

import Foundation
import Scenarios
import Testing

@testable import Harness

/// What is found out about a run with devices before anything is started.
@Suite struct DeviceInputsTests {
    private func problem(_ change: (inout Scenario) -> Void) -> String {
        var scenario = Scenario()
        (scenario.pushes, scenario.deviceModel) = (10, "on")
        change(&scenario)
        do {
            try RunInputs(scenario).checkMeaning()
            return "none"
        } catch { return "\(error)" }
    }

    @Test("A model file that is missing, a folder, or wrong is refused, by the key that places it")
    func model() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("models-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.path + "/m.yaml"
        #expect(
            problem { $0.deviceModel = file }
                == "device_model: cannot read the device model \(file): No such file or directory")
        #expect(problem { $0.deviceModel = folder.path }.hasSuffix(": Is a directory"))
        try "rhythm: 13h".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(
            problem { $0.deviceModel = file } == "device_model: \(file):1:9: rhythm: 13h: expected at most 12h")
        try "rhythm: 1h".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(problem { $0.deviceModel = file } == "none")
    }

    @Test(
        "Times to the screen and to content are those of pushes that have them",
        arguments: [
            ("alert", true, false), ("silent", false, true), ("rich", true, true), ("rich-push", true, true),
            ("voip", false, false), ("alert:1,silent:1", true, true),
        ])
    func thresholds(_ profile: String, _ shows: Bool, _ hasContent: Bool) {
        for (text, isThere, reason) in [
            ("time_to_screen p99 < 1s", shows, "no push of this run shows anything"),
            ("time_to_content p99 < 1s", hasContent, "no push of this run has content to fetch or decrypt"),
        ] {
            let found = problem { ($0.profile, $0.thresholds) = (profile, [text]) }
            #expect(isThere ? found == "none" : found.hasPrefix("threshold \"\(text)\": \(reason); send"), "\(found)")
            // As a scenario's check places it.
            var scenario = Scenario()
            (scenario.pushes, scenario.deviceModel) = (10, "on")
            (scenario.profile, scenario.thresholds) = (profile, [text])
            #expect(RunInputs.problems(scenario.withDefaultTopic) == (isThere ? [] : [found]))
        }
    }

    @Test("A template says by its keys whether there is content")
    func template() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("template-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        for (json, expected) in [
            (#"{"aps":{"alert":"a"}}"#, "threshold"), (#"{"aps":{"alert":"a","mutable-content":1}}"#, "none"),
            (#"{"aps":{"alert":"a"},"attachment-url":"http://127.0.0.1/a"}"#, "none"),
        ] {
            try json.write(to: file, atomically: true, encoding: .utf8)
            let found = problem { ($0.template, $0.thresholds) = (file.path, ["time_to_content p99 < 1s"]) }
            #expect(found.hasPrefix(expected), "\(found)")
        }
    }

    @Test("A backend's URL that is none is refused by its own name")
    func backend() {
        #expect(
            problem { $0.deviceBackend = "http://127.0.0.1:99999" }
                == "device_backend \"http://127.0.0.1:99999\": port 99999: expected 1 to 65535")
    }
}

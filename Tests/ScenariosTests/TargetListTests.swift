import Foundation
import Settings
import Testing

@testable import Scenarios

@Suite struct TargetListTests {
    private func scenario(_ text: String, folder: String = "/nowhere") throws -> Scenario {
        var scenario = Scenario()
        try ScenarioFile.apply(text, file: "s.yaml", folder: folder, depth: 0, to: &scenario)
        return scenario
    }

    @Test("A target is a URL or a list of them, and is written as it is read")
    func key() throws {
        let key = try #require(ScenarioKey.named("target"))
        #expect(try scenario("target: https://a:2197\n").target == "https://a:2197")
        let several = try scenario("target:\n  - https://a:2197\n  - https://[::1]:2197\n")
        #expect(several.target?.urls == ["https://a:2197", "https://[::1]:2197"])
        for scenario in [several, try scenario("target: https://a:2197\n")] {
            let text = try #require(key.text(in: scenario))
            #expect(try self.scenario("target: \(text)\n").target == scenario.target, "\(text)")
        }
        var set = Scenario()
        try ScenarioFile.set(["target=http://a;http://b"], in: &set)
        #expect(set.target?.urls == ["http://a", "http://b"])
    }

    @Test("In JSON one target is a text and several are a list")
    func json() throws {
        for (list, text) in [
            (TargetList("http://a"), "\"http://a\""),
            (TargetList(["http://a", "http://b"])!, "[\"http://a\",\"http://b\"]"),
        ] {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .withoutEscapingSlashes
            #expect(String(decoding: try encoder.encode(list), as: UTF8.self) == text)
            #expect(try JSONDecoder().decode(TargetList.self, from: Data(text.utf8)) == list)
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(TargetList.self, from: Data("[]".utf8)) }
    }

    @Test("Up to three are shown, of more the first and how many")
    func shown() {
        #expect(TargetList("http://a").shown == "http://a")
        #expect(TargetList(["http://a", "http://b"])!.shown == "http://a, http://b")
        #expect(TargetList(["http://a", "http://b", "http://c", "http://d"])!.shown == "http://a and 3 more")
    }

    @Test("A file has a URL a line, meant from where the scenario lies; what is none is said with its line")
    func file() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("targets-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ text: String) throws {
            try text.write(to: folder.appendingPathComponent("list"), atomically: true, encoding: .utf8)
        }
        try write("# ours\nhttp://a:1   # first\n\n\thttp://b:2\r\n")
        #expect(try scenario("target: \"@list\"\n", folder: folder.path).target?.urls == ["http://a:1", "http://b:2"])
        let mixed = try scenario("target: [\"@list\", \"http://c:3\"]\n", folder: folder.path)
        #expect(mixed.target?.urls == ["http://a:1", "http://b:2", "http://c:3"])
        func problem(_ text: String) throws -> String {
            try write(text)
            var scenario = Scenario()
            do throws(SettingsError) {
                try ScenarioFile.set(["target=@\(folder.path)/list"], in: &scenario)
                return "taken"
            } catch { return error.description }
        }
        let place = "--set target: \(folder.path)/list"
        #expect(
            try problem("http://a\n\nb:2\n") == "\(place):3: \"b:2\": expected a URL such as https://127.0.0.1:2197")
        #expect(try problem("http://a http://b\n") == "\(place):1: \"http://a http://b\": expected one URL a line")
        #expect(try problem("# none\n") == "\(place): no target in it; expected a URL a line")
        var scenario = Scenario()
        #expect(
            throws: SettingsError("--set target: cannot read the file of targets /nowhere: No such file or directory")
        ) {
            try ScenarioFile.set(["target=@/nowhere"], in: &scenario)
        }
    }
}

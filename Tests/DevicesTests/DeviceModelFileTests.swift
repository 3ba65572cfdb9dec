import Foundation
import Settings
import Testing

@testable import Devices

@Suite("Device model files")
struct DeviceModelFileTests {
    private func problem(_ text: String) -> String? {
        do throws(SettingsError) {
            _ = try DeviceModelFile.parse(text, file: "m.yaml")
            return nil
        } catch { return error.description }
    }

    @Test("What a file does not say is as in the bundled model")
    func rest() throws {
        #expect(try DeviceModelFile.named("on") == DeviceModel())
        #expect(try DeviceModelFile.parse("{}", file: "m") == DeviceModel())
        var model = DeviceModel()
        model.online.share = 0.5
        model.silent.perHour = nil
        model.willPresent = [.sound, .badge]
        model.authorization.changed = 0
        let text = """
            online: {share: 50%}
            silent: {per_hour: unlimited}
            will_present: [sound, badge]
            authorization: {changed: {share: 0}}
            """
        #expect(try DeviceModelFile.parse(text, file: "m") == model)
    }

    @Test(
        "A mistake is one line with its place, what is wrong, and what would be right",
        arguments: [
            ("onlin: {share: 1}", "m.yaml:1:1: unknown key \"onlin\"; did you mean \"online\"?"),
            ("online:\n  shere: 1", "m.yaml:2:3: online: unknown key \"shere\"; did you mean \"share\"?"),
            ("platforms: {phon: 100%}", "m.yaml:1:13: platforms: \"phon\" is no platform; did you mean \"phone\"?"),
            ("platforms: {phone: 50%, tv: 40%}", "m.yaml:1:12: platforms: the shares add up to 90.0%; expected 100%"),
            (
                "utc_offsets: {\"+30\": 100%}",
                "m.yaml:1:15: utc_offsets: \"+30\" is no offset from UTC; expected whole hours from -12 to 14"
            ),
            ("utc_offsets: {\"2\": 50%, \"+2\": 50%}", "m.yaml:1:25: utc_offsets: \"+2\" is given twice"),
            ("rhythm: 13h", "m.yaml:1:9: rhythm: 13h: expected at most 12h"),
            ("hours: [1, 2]", "m.yaml:1:8: hours: 2 numbers; expected 24, one an hour from midnight"),
            ("online: {dwell: 0}", "m.yaml:1:17: online.dwell: 0s: expected 1s to 8760h"),
            (
                "will_present: banner",
                "m.yaml:1:15: will_present: \"banner\" cannot be presented; expected one of alert, sound, badge, none"
            ),
            (
                "silent: {per_hour: many}",
                "m.yaml:1:20: silent.per_hour: \"many\": expected 0 to 10,000, or unlimited"
            ),
            (
                "silent: {path: api}",
                "m.yaml:1:16: silent.path: \"api\" is no path of a request; expected for example /api/content"
            ),
            (
                "service_extension: {time: {sigma: x}}",
                "m.yaml:1:35: service_extension.time.sigma: \"x\": expected a number from 0 to 10, the logarithm's standard deviation"
            ),
            (
                "reaction: {opens: 60%, dismisses: 50%}",
                "m.yaml:1:11: reaction: opening, dismissing and actions add up to 110.0%; expected at most 100%"
            ),
            (
                "categories: {A: {actions: {B: {does: forground, share: 1%}}}}",
                "m.yaml:1:38: categories.A.actions.B.does: \"forground\" is no kind of action; did you mean \"foreground\"?"
            ),
            (
                "categories: {A: {actions: {B: {does: text}}}}",
                "m.yaml:1:31: categories.A.actions.B: \"share\" is missing"
            ),
            (
                "categories: {A: {actions: {B: {does: background, share: 1%, text: x}}}}",
                "m.yaml:1:67: categories.A.actions.B.text: only an action that does text has one"
            ),
            (
                "unlocked: {share: 90%}",
                "m.yaml:1:1: unlocked.share times the highest of \"hours\" is more than 100% of the devices; expected at most a share of 55.6%"
            ),
            ("authorization: {changed: {within: 1h}}", "m.yaml:1:26: authorization.changed: \"share\" is missing"),
            ("", "m.yaml: the file is empty"),
        ])
    func mistakes(_ text: String, _ expected: String) {
        #expect(problem(text) == expected)
    }

    @Test("A word that is no model is no file either", arguments: ["off", "ON", "yes", "no", "true", "False"])
    func words(_ word: String) {
        #expect(throws: SettingsError("\"\(word)\": expected on, or a file")) { try DeviceModelFile.named(word) }
    }

    private func document() throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent("docs/devices.md"), encoding: .utf8)
    }

    @Test("The model that the documents show is the bundled one, and every key of it has a definition there")
    func documented() throws {
        let parts = try document().components(separatedBy: "```")
        let yaml = try #require(parts.first { $0.hasPrefix("yaml\n") }).dropFirst(5)
        #expect(try DeviceModelFile.parse(String(yaml), file: "devices.md") == DeviceModel())
        let text = try document()
        for key in try YAMLValue(parsing: String(yaml), file: "devices.md").map().entries where key.name != "categories"
        {
            #expect(text.contains("| `\(key.name)") || text.contains("\n| `\(key.name)."), "\(key.name)")
        }
    }

    @Test("Every outcome and every event has a definition in the documents")
    func definitions() throws {
        let rows = try document().split(separator: "\n").filter { $0.hasPrefix("| `") }
        let names = rows.map { $0.split(separator: "|")[0] }.joined()
        for name in DeviceOutcome.allCases.map(\.name) + DeviceEvent.allCases.map(\.name) {
            #expect(names.contains("`\(name)`"), "\(name)")
        }
    }

    @Test("A file that is not there is said so")
    func missing() {
        #expect(throws: SettingsError("cannot read the device model /nonexistent.yaml: No such file or directory")) {
            try DeviceModelFile.named("/nonexistent.yaml")
        }
    }
}

import Settings
import Testing

@Suite struct YAMLTests {
    private func message(_ text: String, _ read: (YAMLValue) throws -> Void) -> String {
        do {
            try read(try YAMLValue(parsing: text, file: "f.yaml"))
            return "no error"
        } catch { return "\(error)" }
    }

    @Test("Values are read with their units, and JSON is read too")
    func reading() throws {
        var map = try YAMLValue(
            parsing: "wait: 80ms\nshare: 2%\nsize: 64KiB\ncount: 20k\nlist: [a, b]\non: yes\n", file: "f"
        ).map()
        #expect(try map.need("wait").duration() == 80_000_000 && map.need("share").share() == 0.02)
        #expect(try map.need("size").bytes() == 65_536 && map.need("count").count() == 20_000)
        #expect(try map.need("list").list().map { try $0.text() } == ["a", "b"])
        #expect(try map.need("on").flag() && map.take("absent") == nil)
        try map.finish()
        var json = try YAMLValue(parsing: "{\"wait\": \"1s\", \"on\": false}", file: "f").map()
        #expect(try json.need("wait").duration() == 1_000_000_000 && json.need("on").flag() == false)
    }

    @Test("A byte order mark before a file is none of its text (YAML 1.2.2, section 5.2)")
    func byteOrderMark() throws {
        let bytes = [0xEF, 0xBB, 0xBF] + Array("pushes: 100\nstreams: 10\n".utf8)
        let text = try FileContents.text(bytes, file: "f.yaml")
        #expect(text.utf8.first == UInt8(ascii: "p"))
        #expect(try YAMLValue(parsing: text, file: "f.yaml").map().entries.map(\.name) == ["pushes", "streams"])
        #expect(throws: SettingsError("f:1: not text in UTF-8")) {
            try FileContents.text([0xEF, 0xBB, 0xBF, 0xFF], file: "f")
        }
    }

    @Test("What is wrong is said with file, line, column and what would be right")
    func errors() {
        #expect(
            message("a: 1\nrejct: 2\n") {
                var map = try $0.map()
                _ = (map.take("a"), map.take("reject"))
                try map.finish()
            } == "f.yaml:2:1: unknown key \"rejct\"; did you mean \"reject\"?")
        #expect(
            message("rules:\n  - wait: soon\n") {
                var map = try $0.map()
                var rule = try map.need("rules").list()[0].map()
                _ = try rule.need("wait").duration()
            }
                == "f.yaml:2:11: rules[0].wait: \"soon\" is not a duration; expected for example 500ms, 10s, 1m30s or 2h"
        )
        #expect(message("- a\n") { _ = try $0.map() } == "f.yaml:1:1: expected keys with values (key: value)")
        #expect(message("a: 1\na: 2\n") { _ = $0 }.hasPrefix("f.yaml:"))
        #expect(message("a: [1\n") { _ = $0 }.hasPrefix("f.yaml:2:1: not YAML: "))
        #expect(message("") { _ = $0 } == "f.yaml: the file is empty")
        #expect(
            message("a: {}\n") {
                var map = try $0.map()
                _ = try map.need("b")
            } == "f.yaml:1:1: \"b\" is missing")
        #expect(
            message("x: 1\nkeyid: {}\n") {
                var map = try $0.map()
                _ = try map.need("key_id")
            } == "f.yaml:2:1: unknown key \"keyid\"; did you mean \"key_id\"?")
    }
}

import Settings
import Testing

@testable import Audience

private func message(_ body: () throws -> PropertyBag) -> String {
    do { return "\(try body().properties)" } catch { return "\(error)" }
}

/// A send's properties are read and bounded.
@Suite("Property bags are read from flags, JSON and YAML") struct PropertyBagTests {
    @Test("Flags give names and values, the first equals sign between them")
    func flagsGive() throws {
        let bag = try PropertyBag(flags: ["title=a=b", "empty=", "n-1.x_Y=é"])
        #expect(bag["TITLE"] == "a=b" && bag["empty"] == "" && bag["N-1.x_y"] == "é" && bag["other"] == nil)
        #expect(bag.properties.map(\.name) == ["title", "empty", "n-1.x_Y"])
    }

    @Test(
        "What cannot be a property is refused",
        arguments: [
            (["title"], "property \"title\": expected NAME=VALUE, as in title=News"),
            (["=x"], "property \"\": expected a name of 1 to 120 letters, digits and _ - ."),
            (["a b=x"], "property \"a b\": expected a name of 1 to 120 letters, digits and _ - ."),
            (["a=1", "a=2"], "property \"a\" is given twice"),
            (["a=1", "A=2"], "property \"A\" is given twice: \"a\" is the same, as case makes no difference"),
            ((0...64).map { "p\($0)=" }, "property \"p64\" is one too many; at most 64 in a send"),
        ])
    func whatCannot(_ flags: [String], _ expected: String) {
        #expect(message { try PropertyBag(flags: flags) } == expected)
    }

    @Test("All together have at most 64 KiB as JSON")
    func allTogether() throws {
        let bag = try PropertyBag(flags: ["a=\"", "b=" + String(repeating: "x", count: 65_536 - 17)])
        #expect(bag.size == 65_536)
        #expect(
            message { try PropertyBag(flags: ["a=\"", "b=" + String(repeating: "x", count: 65_536 - 16)]) }
                == "property \"b\": all together have more than 65536 bytes, the most a send may have")
    }

    @Test("Two braces count as two bytes")
    func twoBraces() throws {
        #expect(try PropertyBag(flags: ["a={{"]).size == #"{"a":"{{"}"#.utf8.count)
    }

    @Test("A JSON object gives texts, and what can be one")
    func aJson() throws {
        let bag = try PropertyBag(
            .object(["t": .string("x"), "n": .integer(-4), "d": .number(1.5), "b": .bool(true)]), place: "bag.json")
        #expect(bag["t"] == "x" && bag["n"] == "-4" && bag["d"] == "1.5" && bag["b"] == "true")
        for value in [JSONValue.null, .array([]), .object([:]), .number(.nan)] {
            #expect(
                message { try PropertyBag(.object(["t": value]), place: "bag.json") }
                    == "bag.json: property \"t\": expected a text; a send has only texts and what can be one")
        }
        #expect(
            message { try PropertyBag(.string("x"), place: "bag.json") }
                == "bag.json: expected a JSON object with a text for each property")
    }

    @Test("A YAML map gives texts as they are written")
    func aYaml() throws {
        let yaml = try YAMLValue(parsing: "title: Rain\nbadge: 040\nflag: yes\nquoted: \"1\"\n", file: "bag.yaml")
        let bag = try PropertyBag(yaml)
        #expect(bag.properties.map(\.value) == ["Rain", "040", "yes", "1"])
    }

    @Test("Errors of YAML have their place")
    func errorsOf() throws {
        func problem(_ text: String) throws -> String {
            let yaml = try YAMLValue(parsing: text, file: "bag.yaml")
            return message { try PropertyBag(yaml) }
        }
        #expect(try problem("a: 1\nA: 2\n").hasPrefix("bag.yaml:2:1: property \"A\" is given twice"))
        #expect(try problem("a: [1]\n") == "bag.yaml:1:4: a: expected a single value")
        #expect(try problem("- a\n") == "bag.yaml:1:1: expected keys with values (key: value)")
    }
}

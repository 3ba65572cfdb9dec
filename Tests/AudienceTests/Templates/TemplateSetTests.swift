import Foundation
import Payloads
import Testing

@testable import Audience

/// Named templates, and what registrations make of them.
@Suite("Sets of templates, and what registrations make of them") struct TemplateSetTests {
    private static func withFolder<Result>(_ files: [String: String], _ body: (String) throws -> Result) throws
        -> Result
    {
        let folder = NSTemporaryDirectory() + "templates-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, text) in files { try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8) }
        return try body(folder)
    }

    private static func message(_ path: String) -> String {
        do throws(AudienceError) { return "\(try TemplateSet(path: path).names)" } catch { return error.description }
    }

    @Test("A folder gives a template for each JSON file")
    func aFolder() throws {
        let files = [
            "news.de.json": #"{"aps":{"alert":"$(de)"}}"#, "plain.json": "\u{FEFF}{\"aps\":{}}", "README.md": "no",
            ".hidden.json": "no",
        ]
        try Self.withFolder(files) { folder in
            let set = try TemplateSet(path: folder)
            #expect(set.names == ["news.de", "plain"])
            #expect(set["news.de"]?.properties == ["de"])
        }
    }

    @Test("A JSON file gives a template for each key, with places in the file")
    func aJson() throws {
        let files = ["all.json": "{\n \"a\": {\"aps\": \"$(x)\"},\n \"b\": { } }\n"]
        try Self.withFolder(files) { folder in
            let set = try TemplateSet(path: "\(folder)/all.json")
            #expect(set.names == ["a", "b"])
            let rendering = set.render([TemplateUse("a", registration: "r.csv:2")], PropertyBag())
            #expect(
                rendering.problems == [
                    AudienceError("r.csv:2: \(folder)/all.json:2:16: the property bag has no \"x\"; it is empty")
                ])
        }
    }

    @Test("A YAML file gives a template for each key, its body as text")
    func aYaml() throws {
        let files = [
            "all.yaml": "a: '{\"aps\": {\"alert\": \"$(x)\"}}'\nb: |\n  {\"aps\": {}}\n", "map.yml": "a:\n  aps: {}\n",
            "bad.yaml": "a: '{\"aps\": '\n",
        ]
        try Self.withFolder(files) { folder in
            let set = try TemplateSet(path: "\(folder)/all.yaml")
            #expect(set.names == ["a", "b"] && set["a"]?.properties == ["x"])
            #expect(
                Self.message("\(folder)/map.yml")
                    == "\(folder)/map.yml:2:3: a: expected the body's JSON as text, in quotes or after |")
            #expect(
                Self.message("\(folder)/bad.yaml")
                    == "\(folder)/bad.yaml:1:4:1:9: expected a JSON value; found the end of the text")
        }
    }

    @Test("What cannot be read as templates is refused with its place")
    func whatCannot() throws {
        let files = [
            "twice.json": #"{"a":{},"a":{}}"#, "name.json": #"{"{a":{}}"#, "list.json": "[]",
            "body.json": #"{"a":"x"}"#,
            "end.json": "{} x", "text.txt": "x", "none.json": "{}", "comma.json": #"{"a":{},}"#,
        ]
        try Self.withFolder(files) { folder in
            func message(_ file: String) -> String {
                Self.message("\(folder)/\(file)").replacingOccurrences(of: folder + "/", with: "")
            }
            #expect(message("twice.json") == "twice.json:1:9: the template \"a\" is there twice")
            #expect(
                message("name.json")
                    == "name.json:1:2: \"{a\" as a template's name; expected 1 to 120 characters, the first not '{'")
            #expect(
                message("list.json")
                    == "list.json:1:1: expected '{': an object with a template for each name; found '['")
            #expect(
                message("body.json") == "body.json:1:6: expected '{': a template's body is a JSON object; found '\"'")
            #expect(message("end.json") == "end.json:1:4: expected nothing after the last '}'; found 'x'")
            #expect(message("comma.json") == "comma.json:1:9: expected a template's name in quotes; found '}'")
            #expect(
                message("text.txt")
                    == "text.txt: expected a folder of templates, or a .json, .yaml or .yml file with all of them")
            #expect(message("none.json") == "none.json: no template in it; in a folder each is a file NAME.json")
            #expect(message("away") == "cannot read the templates away: No such file or directory")
        }
    }

    private func set(_ templates: [String: String]) throws -> TemplateSet {
        var set = TemplateSet()
        for (name, body) in templates {
            try set.add(HubTemplate(parsing: body, name: "\(name).json"), name: name, place: name)
        }
        return set
    }

    @Test("Each distinct template is rendered once, named or with its own body")
    func eachDistinct() throws {
        let set = try set(["de": #"{"aps":{"alert":"$(de)"}}"#, "en": #"{"aps":{"alert":"$(en)"}}"#])
        let own = #"{"aps":{"alert":"{$(de) + '/' + $(en)}"}}"#
        let uses = [("de", 2), (own, 3), ("en", 4), ("de", 5), (own, 6)].map {
            TemplateUse($0.0, registration: "r.csv:\($0.1)")
        }
        let rendering = set.render(uses, try PropertyBag(flags: ["de=Regen", "en=Rain"]))
        #expect(rendering.problems.isEmpty && rendering.failed == 0)
        #expect(rendering.rendered.map(\.use.registration) == ["r.csv:2", "r.csv:3", "r.csv:4"])
        #expect(
            rendering.rendered.map(\.json) == [
                #"{"aps":{"alert":"Regen"}}"#, #"{"aps":{"alert":"Regen/Rain"}}"#, #"{"aps":{"alert":"Rain"}}"#,
            ])
    }

    @Test("Each problem names a registration, and the rest is rendered")
    func eachProblem() throws {
        let set = try set(["news": #"{"aps":"$(title)"}"#, "sport": #"{"aps":"$(score)"}"#])
        let uses = ["news", "newz", "weather", "sport", "{\"aps\":\"$(titel)\"}", "{\"aps\":"].enumerated().map {
            TemplateUse($1, registration: "r.csv:\($0 + 2)")
        }
        let rendering = set.render(uses, try PropertyBag(flags: ["title=x"]))
        #expect(rendering.rendered.map(\.use.template) == ["news"])
        #expect(rendering.failed == 5)
        #expect(
            rendering.problems.map(\.description) == [
                "r.csv:3: no template \"newz\"; did you mean \"news\"?",
                "r.csv:4: no template \"weather\"; there are news, sport",
                "r.csv:5: sport.json:1:9: the property bag has no \"score\"; it has title",
                "r.csv:6: template:1:9: the property bag has no \"titel\"; did you mean \"title\"?",
                "r.csv:7: template:1:8: expected a JSON value; found the end of the text",
            ])
        let none = TemplateSet().render([TemplateUse("news", registration: "r.csv:2")], PropertyBag())
        #expect(none.problems == [AudienceError("r.csv:2: no template \"news\": none was given")])
    }

    @Test("Of very many problems the first hundred are told")
    func ofVery() {
        let uses = (0..<500).map { TemplateUse("t\($0)", registration: "r.csv:\($0)") }
        let rendering = TemplateSet().render(uses, PropertyBag())
        #expect(rendering.problems.count == 100 && rendering.failed == 500)
    }
}

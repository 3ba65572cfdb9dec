import Foundation
import Settings
import Testing

@testable import Scenarios

@Suite struct SendSettingTests {
    private func problem(_ body: () throws(SettingsError) -> Void) -> String {
        do throws(SettingsError) {
            try body()
            return "none"
        } catch { return error.description }
    }

    private func problems(_ text: String) -> [String] {
        var scenario = Scenario()
        do throws(ScenarioFile.Problems) {
            try ScenarioFile.apply(text, file: "s.yaml", folder: "/f", depth: 0, to: &scenario)
            return []
        } catch { return error.lines }
    }

    @Test("A send is read from YAML's flow style and from JSON, and its text reads back as the same")
    func reading() throws {
        let send = try SendSetting(
            parsing:
                "{name: Red Sox win, audience: \"follows_RedSox && !location_NYC\", start: 1m30s, priority: 5, profile: 'alert:80,silent:20', properties: {title: Goal, minute: 90}}"
        )
        #expect(send.name == "Red Sox win" && send.audience == "follows_RedSox && !location_NYC")
        #expect(send.start == 90_000_000_000 && send.priority == 5 && send.profile == "alert:80,silent:20")
        #expect(send.template == nil && send.properties == ["title=Goal", "minute=90"])
        #expect(try SendSetting(parsing: send.text) == send)
        let json = try SendSetting(parsing: #"{"name": "a", "audience": "*", "template": "news"}"#)
        #expect(json.audience == "*" && json.template == "news" && json.start == 0 && json.priority == nil)
        #expect(json.text == #"{name: "a", audience: "*", template: "news"}"#)
        let data = try JSONEncoder().encode([send, json])
        #expect(try JSONDecoder().decode([SendSetting].self, from: data) == [send, json])
    }

    @Test("A send that is repeated is as many sends, each so long after the one before, all with its collapse id")
    func repeats() throws {
        let send = try SendSetting(
            parsing: "{name: goal, audience: a, start: 1s, collapse_id: match-1, repeat: 3, every: 2s}")
        #expect(try SendSetting(parsing: send.text) == send)
        #expect(send.each.map(\.name) == ["goal 1", "goal 2", "goal 3"])
        #expect(send.each.map(\.start) == [1_000_000_000, 3_000_000_000, 5_000_000_000])
        #expect(send.each.allSatisfy { $0.collapseID == "match-1" && $0.each == [$0] && $0.audience == "a" })
        let once = try SendSetting(parsing: "{name: goal, audience: a, repeat: 1}")
        #expect(once.each.map(\.name) == ["goal"])
        for (fields, wrong) in [
            ("repeat: 3", "say how long after each other: every, such as every: 5s"),
            ("repeat: 0, every: 1s", "\"0\": expected 1 to 50 times"),
            ("repeat: 51, every: 1s", "\"51\": expected 1 to 50 times"),
            ("every: 1s", "goes with repeat, how often it is sent"), ("repeat: 2, every: 0s", "expected more than 0"),
            ("collapse_id: \"\"", "\"\": expected 1 to 64 bytes, none a control character"),
            ("collapse_id: \"a\\nb\"", "expected 1 to 64 bytes, none a control character"),
        ] {
            let said = problem { () throws(SettingsError) in
                _ = try SendSetting(parsing: "{name: a, audience: b, \(fields)}")
            }
            #expect(said.hasSuffix(wrong), "\(said)")
        }
        var scenario = Scenario()
        scenario.registrations = "r.csv"
        scenario.sends = [send, try SendSetting(parsing: "{name: goal 2, audience: a}")]
        #expect(scenario.validate().contains("sends: \"goal 2\" is there twice"))
        scenario.sends = try (0..<2).map {
            try SendSetting(parsing: "{name: g\($0), audience: a, repeat: 30, every: 1s}")
        }
        #expect(scenario.validate().contains("sends: 60 with repeats; at most 50"))
    }

    /// But for a byte order mark, of which YAML leaves out one that a text begins with.
    @Test("Whatever characters a text has, it reads back as it was")
    func characters() throws {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func below(_ bound: UInt32) -> UInt32 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt32(state >> 33) % bound
        }
        func text(_ refused: String) -> String {
            var text = ""
            for _ in 0...below(12) {
                let ranges: [(UInt32, UInt32)] = [
                    (0x20, 0x7E), (0, 0x1F), (0x7F, 0xA0), (0xA1, 0x2FF), (0x2020, 0x2030),
                    (0xFFF0, 0xFFFF), (0x1F600, 0x1F64F),
                ]
                let (first, last) = ranges[Int(below(UInt32(ranges.count)))]
                guard let scalar = Unicode.Scalar(first + below(last - first + 1)) else { continue }
                if scalar.value != 0, !refused.unicodeScalars.contains(scalar) { text.unicodeScalars.append(scalar) }
            }
            return text
        }
        for _ in 0..<2000 {
            var send = SendSetting(name: "n", audience: "a" + text(""))
            send.template = text("")
            send.properties = ["a=" + text(""), "b=" + text("")]
            #expect(try SendSetting(parsing: send.text) == send, "seed \(seed): \(send.text)")
        }
    }

    @Test(
        "Every mistake has its message, without a place that nobody has written",
        arguments: [
            ("", "\"\": expected {name: …, audience: …}, the audience in quotes where it begins with * or !"),
            ("news", "\"news\": expected {name: …, audience: …}, the audience in quotes where it begins with * or !"),
            (
                "{name: a, audience: *}",
                "\"{name: a, audience: *}\": expected {name: …, audience: …}, the audience in quotes where it begins with * or !"
            ),
            ("{audience: x}", "\"name\" is missing"), ("{name: a}", "\"audience\" is missing"),
            ("{name: a, audience: ''}", "audience: empty; in quotes where it begins with * or !"),
            ("{name: a, audience: x, start: 3}", "start: \"3\" has no unit; write 3us, 3ms, 3s or 3m"),
            ("{name: a, audience: x, priority: 7}", "priority: \"7\": expected 10, 5 or 1"),
            (
                "{name: a, audience: x, profile: alrt}",
                "profile: unknown profile \"alrt\"; known: alert, silent, rich, rich-push, live-activity, voip"
            ),
            ("{name: a, audience: x, properties: [b]}", "properties: expected keys with values (key: value)"),
            ("{name: a, audience: [x, y]}", "audience: expected a single value"),
            ("{name: a, audiense: x}", "unknown key \"audiense\"; did you mean \"audience\"?"),
            ("{name: a, audience: x, audiense: y}", "unknown key \"audiense\"; did you mean \"audience\"?"),
            ("{name: '', audience: x}", "name: \"\": expected 1 to 60 characters, none of {}=\""),
            ("{name: \"a{b}\", audience: x}", "name: \"a{b}\": expected 1 to 60 characters, none of {}=\""),
            ("{name: \"a\\e\", audience: x}", "name: \"a\u{1B}\": expected 1 to 60 characters, none of {}=\""),
            ("{name: 'a ', audience: x}", "name: \"a \": expected a name that neither begins nor ends with a blank"),
            ("{name: a, audience: !x }", "audience: a text that begins with ! stands in quotes"),
            ("{name: a, audience: ! x}", "audience: a text that begins with ! stands in quotes"),
            (
                "{name: a, audience: x, profile: alert, template: t}",
                "profile and template exclude each other: give one of them"
            ),
        ])
    func mistakes(_ text: String, _ message: String) {
        #expect(problem { () throws(SettingsError) in _ = try SendSetting(parsing: text) } == message)
    }

    @Test("A scenario file has sends and properties as maps or texts, its paths from where it lies")
    func file() throws {
        var scenario = Scenario()
        try ScenarioFile.apply(
            """
            registrations: r.csv
            templates: texts
            properties: {title: "Goal: 1, 2", minute: 90}
            sends:
              - name: breaking
                audience: follows_RedSox || follows_Cardinals
                start: 2s
                priority: 10
                properties:
                  title: They won
              - {name: digest, audience: "*", priority: 5}
              - '{name: third, audience: "!location_Boston"}'
            """, file: "s.yaml", folder: "/f", depth: 0, to: &scenario)
        #expect(scenario.registrations == "/f/r.csv" && scenario.templates == "/f/texts")
        #expect(scenario.properties == ["title=Goal: 1, 2", "minute=90"])
        #expect(scenario.sends.map(\.name) == ["breaking", "digest", "third"])
        #expect(scenario.sends[0].start == 2_000_000_000 && scenario.sends[0].properties == ["title=They won"])
        #expect(scenario.sends.map(\.audience) == ["follows_RedSox || follows_Cardinals", "*", "!location_Boston"])
        #expect(scenario.validate() == [])
        // As `scenario show` and results have them, they can be taken again.
        var again = Scenario()
        let keys = ["registrations", "templates", "properties", "sends"].compactMap { ScenarioKey.named($0) }
        let text = keys.map { "\($0.name): \($0.text(in: scenario) ?? "")" }.joined(separator: "\n")
        try ScenarioFile.apply(text, file: "s.yaml", folder: "/f", depth: 0, to: &again)
        #expect(again.sends == scenario.sends && again.properties == scenario.properties, "\(text)")
        var one = Scenario()
        try ScenarioFile.apply(
            "sends: {name: a, audience: x}", file: "s.yaml", folder: "/f", depth: 0, to: &one)
        #expect(one.sends == [SendSetting(name: "a", audience: "x")])
    }

    @Test("Of a file's sends each that is wrong is reported where it stands")
    func places() {
        #expect(
            problems("sends:\n- {name: a, audience: x, start: 3}\n- {name: b, audience: y}\n- name: c\n  audiense: z\n")
                == [
                    "s.yaml:2:33: sends[0].start: \"3\" has no unit; write 3us, 3ms, 3s or 3m",
                    "s.yaml:5:3: sends[2]: unknown key \"audiense\"; did you mean \"audience\"?",
                ])
        #expect(problems("sends: {name: a}\n") == ["s.yaml:1:8: sends: \"audience\" is missing"])
        #expect(
            problems("sends:\n- {name: '', audience: x}\n")
                == ["s.yaml:2:10: sends[0].name: \"\": expected 1 to 60 characters, none of {}=\""])
        let star = problems("audience: *\n")
        #expect(
            star.count == 1 && star[0].hasSuffix("; a text that begins with *, &, ! or | stands in quotes"), "\(star)")
    }

    @Test("devices as a map is as good as registrations, audience and environment beside it")
    func devices() throws {
        func applied(_ text: String, _ flags: (key: String, texts: [String]?)...) throws -> Scenario {
            var scenario = Scenario()
            try ScenarioFile.apply(text, file: "s.yaml", folder: "/f", depth: 0, to: &scenario)
            try scenario.apply(flags: flags)
            return scenario
        }
        let map = "devices: {registrations: r.csv, audience: a || b, environment: development}\nrate: 5\n"
        let keys = "registrations: r.csv\naudience: a || b\nenvironment: development\nrate: 5\n"
        #expect(try applied(map) == applied(keys))
        #expect(try applied(map).registrations == "/f/r.csv" && applied(map).validate() == [])
        #expect(try applied(map, ("audience", ["c"])).audience == "c")
        let number = try applied(map, ("devices", ["7"]))
        #expect(number.devices == 7 && number.registrations == nil && number.environment == "production")
        let sends = try applied("devices: {registrations: r.csv}\nsends: {name: a, audience: x}\n")
        #expect(sends.sends.count == 1 && sends.validate() == [])
        for (text, problem) in [
            (
                "devices: {registrations: r, audiense: x}",
                "s.yaml:1:29: devices: unknown key \"audiense\"; did you mean \"audience\"?"
            ),
            ("devices:\n  audience: x\n", "s.yaml:2:3: devices: \"registrations\" is missing"),
            (
                "audience: y\ndevices: {registrations: r, audience: x}",
                "s.yaml:2:29: devices: \"audience\" is given twice: here, and beside devices"
            ),
            (
                "devices: {registrations: r, audience: x}\ndevice_file: d.csv",
                "s.yaml:2:1: registrations and device_file exclude each other: give one of them"
            ),
            (
                "devices: {registrations: r, environment: prod}",
                "s.yaml:1:42: devices.environment: \"prod\"; expected one of production, development, any"
            ),
        ] { #expect(problems(text) == [problem]) }
        #expect(
            problem { () throws(SettingsError) in
                var scenario = Scenario()
                try ScenarioFile.set(["devices={registrations: r.csv}"], in: &scenario)
            } == "--set devices: a map only in a file: give --registrations and --audience instead")
    }

    @Test("--set, variables and flags have sends as maps with semicolons between, or as a list")
    func overrides() throws {
        let two = #"{name: a, audience: "x", properties: {t: "1; 2}"}}; {name: b, audience: '*'}"#
        for text in [two, #"[{name: a, audience: x, properties: {t: "1; 2}"}}, {name: b, audience: "*"}]"#] {
            var scenario = Scenario()
            try ScenarioFile.set(["registrations=r.csv", "sends=" + text], in: &scenario)
            #expect(scenario.sends.map(\.name) == ["a", "b"], "\(text)")
            #expect(scenario.sends[0].properties == ["t=1; 2}"] && scenario.sends[1].audience == "*")
        }
        var scenario = Scenario()
        try ScenarioFile.applyEnvironment(["PUSHLOAD_SENDS": two], to: &scenario)
        #expect(scenario.sends.count == 2)
        try scenario.apply(flags: [("sends", ["{name: c, audience: y}"])])
        #expect(scenario.sends.map(\.name) == ["c"])
        #expect(
            problem { () throws(SettingsError) in try ScenarioFile.set(["sends={name: a}"], in: &scenario) }
                == "--set sends: \"audience\" is missing")
        #expect(
            problem { () throws(SettingsError) in
                try scenario.apply(flags: [("sends", ["{name: a, audience: x, priority: 2}"])])
            } == "--send: priority: \"2\": expected 10, 5 or 1")
        #expect(
            problem { () throws(SettingsError) in
                try scenario.apply(flags: [("sends", ["{name: a, audience: x}", "{name: b}", "{name: c}"])])
            } == "--send 2: \"audience\" is missing")
        #expect(
            problem { () throws(SettingsError) in
                try ScenarioFile.set(["sends={name: a, audience: '! x'}; {name: b}"], in: &scenario)
            } == "--set sends 2: \"audience\" is missing")
    }

    @Test("Of audience and sends, and of the devices there are, the strongest source's is in force")
    func exclusive() throws {
        let file = "registrations: r.csv\ntemplates: t\nproperties: {a: b}\nsends: {name: a, audience: x}\n"
        func applied(_ flags: (key: String, texts: [String]?)...) throws -> Scenario {
            var scenario = Scenario()
            try ScenarioFile.apply(file, file: "s.yaml", folder: "/f", depth: 0, to: &scenario)
            try scenario.apply(flags: flags)
            return scenario
        }
        let audience = try applied(("audience", ["y"]))
        #expect(audience.audience == "y" && audience.sends.isEmpty && audience.registrations == "/f/r.csv")
        let others = try applied(("devices", ["5"]))
        #expect(others.registrations == nil && others.sends.isEmpty && others.templates == nil)
        #expect(others.properties.isEmpty && others.devices == 5)
        #expect(try applied(("device_file", ["d.csv"])).registrations == nil)
        for (one, other) in [("audience: x", "sends: {name: a, audience: x}"), ("devices: 5", "registrations: r.csv")] {
            let names = [one, other].map { $0.prefix { $0 != ":" } }
            #expect(
                problems("\(one)\n\(other)\n") == [
                    "s.yaml:2:1: \(names[0]) and \(names[1]) exclude each other: give one of them"
                ])
        }
    }

    @Test("What does not go together is said once, with the key")
    func together() throws {
        func found(_ change: (inout Scenario) -> Void) -> [String] {
            var scenario = Scenario()
            scenario.registrations = "r.csv"
            change(&scenario)
            return scenario.validate()
        }
        let sends = [SendSetting(name: "a", audience: "x")]
        #expect(found { $0.audience = "*" } == [] && found { $0.sends = sends } == [])
        #expect(
            found { _ in } == [
                "registrations: say who is pushed to: an audience (a tag expression, * for everyone) or sends"
            ])
        #expect(
            found {
                $0.sends = sends
                $0.pushes = 5
                $0.template = "t.json"
                $0.warmupPushes = 3
                $0.trace = "t.csv"
            }
                == ["pushes", "template", "warmup", "trace"].map {
                    "\($0): does not go with sends, whose devices get one push each"
                })
        #expect(found { $0.sends = sends + sends } == ["sends: \"a\" is there twice"])
        #expect(
            found { $0.sends = (0...50).map { SendSetting(name: "\($0)", audience: "x") } } == [
                "sends: 51; at most 50"
            ])
        #expect(
            found {
                $0.registrations = nil
                ($0.pushes, $0.audience, $0.sends, $0.templates, $0.properties) = (5, "x", sends, "t", ["a=b"])
            }
                == ["audience", "sends", "templates", "properties"].map {
                    "\($0): goes with registrations, the file that says who there is"
                })
    }
}

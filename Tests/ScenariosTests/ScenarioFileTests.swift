import Foundation
import Settings
import Testing

@testable import Scenarios

@Suite struct ScenarioFileTests {
    private func problems(_ text: String) -> [String] {
        var scenario = Scenario()
        do throws(ScenarioFile.Problems) {
            try ScenarioFile.apply(text, file: "s.yaml", folder: "/nowhere", depth: 0, to: &scenario)
            return []
        } catch { return error.lines }
    }

    @Test("Keys are read with their units; paths are meant from where the file lies")
    func reading() throws {
        var scenario = Scenario()
        try ScenarioFile.apply(
            """
            name: evening
            stages:
              - ramp 1k 20k 10s
              - hold 20k 30s, burst 5k
            arrivals: poisson
            connections: 4
            stream_window: 64KiB
            nodelay: false
            tls_max: 1.2
            timeout: 5s
            device_file: tokens.csv
            cacert: /etc/ca.pem
            threshold: [p99 < 50ms, "accepted >= 99.9%"]
            expect_reasons: BadDeviceToken, Unregistered
            warmup: 10k pushes
            """, file: "s.yaml", folder: "/where/it/lies", depth: 0, to: &scenario)
        #expect(scenario.name == "evening" && scenario.stages.count == 3 && scenario.arrivals == "poisson")
        #expect(scenario.connections == 4 && scenario.streamWindow == 65_536 && !scenario.noDelay)
        #expect(scenario.tlsMaximum == "1.2" && scenario.pushTimeout == 5_000_000_000)
        #expect(scenario.deviceFile == "/where/it/lies/tokens.csv" && scenario.cacert == "/etc/ca.pem")
        #expect(scenario.thresholds == ["p99 < 50ms", "accepted >= 99.9%"] && scenario.warmupPushes == 10_000)
        #expect(scenario.expectedReasons == ["BadDeviceToken", "Unregistered"])
    }

    @Test("A file with three mistakes reports all three, with line, column and what would be right")
    func threeMistakes() {
        #expect(
            problems("rate: fast\nconections: 3\nengine: wyre\n") == [
                "s.yaml:1:7: rate: \"fast\" is not a rate; expected pushes a second such as 500, 20k or 1.5M",
                "s.yaml:2:1: unknown key \"conections\"; did you mean \"connections\"?",
                "s.yaml:3:9: engine: \"wyre\"; did you mean \"wire\"?",
            ])
    }

    @Test("Every item of a list that is wrong is reported, where it stands")
    func items() {
        let found = problems("threshold:\n  - p99 < 50\n  - p50 < 1s\n  - p99\nstages: [hold 1k 2s, hop, hold x 1s]\n")
        #expect(found.count == 4, "\(found)")
        for (problem, start) in zip(found, ["s.yaml:2:5: ", "s.yaml:4:5: ", "s.yaml:5:22: ", "s.yaml:5:27: "]) {
            #expect(problem.hasPrefix(start), "\(problem)")
        }
    }

    @Test(
        "Every kind of mistake has its message",
        arguments: [
            (
                "pushes: many",
                "s.yaml:1:9: pushes: \"many\" is not a count; expected a whole number such as 5000, 10k or 1.5M"
            ),
            (
                "duration: long",
                "s.yaml:1:11: duration: \"long\" is not a duration; expected for example 500ms, 10s, 1m30s or 2h"
            ),
            (
                "send_batch: big",
                "s.yaml:1:13: send_batch: \"big\" is not a size; expected for example 64KiB, 1MiB, 200MB or 65535B"
            ),
            ("apns_id: maybe", "s.yaml:1:10: apns_id: \"maybe\": expected true or false"),
            ("priority: 7", "s.yaml:1:11: priority: \"7\": expected 10, 5 or 1"),
            ("expiration: -1", "s.yaml:1:13: expiration: \"-1\": expected UNIX seconds, or 0"),
            ("tls_min: 1.1", "s.yaml:1:10: tls_min: \"1.1\"; did you mean \"1.2\"?"),
            ("rate: [1, 2]", "s.yaml:1:7: rate: expected one value"),
            ("rate: {a: 1}", "s.yaml:1:7: rate: expected a single value"),
            (
                "stages: hop 1k 2s",
                "s.yaml:1:9: stages: \"hop 1k 2s\" is not a stage; expected hold RATE TIME, spike RATE TIME, ramp FROM TO TIME, step FROM TO STEPS TIME, sine MEAN AMPLITUDE PERIOD TIME, burst PUSHES [TIME], pause TIME"
            ),
            ("stages: hold 1k", "s.yaml:1:9: stages: \"hold 1k\" is not a stage; expected hold RATE TIME"),
            (
                "stages: hold x 1s",
                "s.yaml:1:9: stages: \"x\" is not a rate; expected pushes a second such as 500, 20k or 1.5M"
            ),
            ("stages: step 1 2 1 1s", "s.yaml:1:9: stages: 1 steps: expected 2 to 1000"),
            (
                "arrivals: sometimes",
                "s.yaml:1:11: arrivals: \"sometimes\" are no arrivals; expected constant, poisson, jitter or jitter:50%"
            ),
            (
                "threshold: p99",
                "s.yaml:1:12: threshold: \"p99\": expected a comparison (<, <=, >, >=, ==), as in p99 < 50ms"
            ),
            (
                "warmup: bit",
                "s.yaml:1:9: warmup: \"bit\" is not a duration; expected for example 500ms, 10s, 1m30s or 2h"
            ),
            (
                "warmup: 10k",
                "s.yaml:1:9: warmup: \"10k\" is not a duration; expected for example 500ms, 10s, 1m30s or 2h, or 10k pushes"
            ),
            (
                "include: base.yaml",
                "s.yaml:1:10: include: cannot read the scenario /nowhere/base.yaml: No such file or directory"
            ),
            ("xyz: 1", "s.yaml:1:1: unknown key \"xyz\"; pushload scenario init lists all keys"),
            ("rtt: 80", "s.yaml:1:6: rtt: \"80\" has no unit; write 80us, 80ms, 80s or 80m"),
            ("timeout: 5", "s.yaml:1:10: timeout: \"5\" has no unit; write 5us, 5ms, 5s or 5m"),
            (
                "allowed_targets: https://a.example.com",
                "s.yaml:1:18: allowed_targets: \"https://a.example.com\": expected a host without scheme and port, such as push.test.example.com"
            ),
            ("- a", "s.yaml:1:1: expected keys with values (key: value)"),
            ("rate: 1\nrate: 2", "s.yaml:1:1: rate is given twice"),
            ("", "s.yaml: the file is empty"),
        ])
    func messages(_ text: String, _ message: String) { #expect(problems(text) == [message]) }

    @Test("What a file includes comes first, from where that lies; what includes itself is refused")
    func includes() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("scenario-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("base"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ name: String, _ text: String) throws {
            try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
        try write("base/load.yaml", "rate: 1k\nduration: 5s\ntemplate: t.json\n")
        try write("main.yaml", "rate: 2k\ninclude: base/load.yaml\n")
        try write("loop.yaml", "include: loop.yaml\n")
        var scenario = Scenario()
        try ScenarioFile.apply(folder.appendingPathComponent("main.yaml").path, to: &scenario)
        #expect(scenario.rate == 2000 && scenario.duration == 5_000_000_000)
        #expect(scenario.template == folder.path + "/base/t.json")
        #expect(throws: ScenarioFile.Problems.self) {
            var scenario = Scenario()
            try ScenarioFile.apply(folder.appendingPathComponent("loop.yaml").path, to: &scenario)
        }
    }

    @Test("--set and environment variables say where a wrong value came from")
    func overrides() throws {
        var scenario = Scenario()
        try ScenarioFile.set(["rate=20k"], in: &scenario)
        try ScenarioFile.set(["threshold=p99 < 50ms; failed == 0"], in: &scenario)
        try ScenarioFile.applyEnvironment(["PUSHLOAD_STREAMS": "7", "OTHER": "x"], to: &scenario)
        #expect(scenario.rate == 20_000 && scenario.thresholds.count == 2 && scenario.streams == 7)
        func message(_ body: () throws(SettingsError) -> Void) -> String {
            do throws(SettingsError) {
                try body()
                return "none"
            } catch { return error.description }
        }
        #expect(
            message { () throws(SettingsError) in try ScenarioFile.set(["rate"], in: &scenario) }
                == "--set rate: expected key=value")
        #expect(
            message { () throws(SettingsError) in try ScenarioFile.set(["rat=1"], in: &scenario) }
                == "--set rat: unknown key; did you mean \"rate\"?")
        #expect(
            message { () throws(SettingsError) in
                try ScenarioFile.applyEnvironment(["PUSHLOAD_RATE": "x"], to: &scenario)
            } == "PUSHLOAD_RATE: \"x\" is not a rate; expected pushes a second such as 500, 20k or 1.5M")
    }

    @Test(
        "Of rate, stages and trace the strongest source's is in force; two of one source are refused where they stand")
    func strongest() throws {
        func refusal(_ body: () throws(SettingsError) -> Void) -> String {
            do throws(SettingsError) {
                try body()
                return "none"
            } catch { return error.description }
        }
        func given(_ scenario: Scenario) -> [Bool] {
            [scenario.rate != nil, !scenario.stages.isEmpty, scenario.trace != nil]
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("base-\(UUID()).yaml").path
        try "rate: 5k\nduration: 2s\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        var scenario = Scenario()
        try ScenarioFile.apply(
            "stages: hold 1k 2s\ninclude: \(file)", file: "s.yaml", folder: "/", depth: 0, to: &scenario)
        #expect(given(scenario) == [false, true, false] && scenario.duration == 2_000_000_000)
        try ScenarioFile.applyEnvironment(["PUSHLOAD_TRACE": "due.csv"], to: &scenario)
        #expect(given(scenario) == [false, false, true])
        try ScenarioFile.applyEnvironment([:], to: &scenario)
        try scenario.apply(flags: [("rate", nil), ("streams", ["7"])])
        #expect(given(scenario) == [false, false, true])
        try ScenarioFile.set(["rate=3k"], in: &scenario)
        #expect(given(scenario) == [true, false, false])
        try scenario.apply(flags: [("rate", nil), ("stages", ["hold 100 1s"])])
        #expect(given(scenario) == [false, true, false] && scenario.validate().isEmpty)

        #expect(
            problems("rate: 1k\nstreams: 5\nstages: hold 1k 2s\n") == [
                "s.yaml:3:1: rate and stages exclude each other: give one of them"
            ])
        #expect(problems("rate: 1k\nstages: []\n").isEmpty)
        #expect(
            refusal { () throws(SettingsError) in
                try ScenarioFile.applyEnvironment(
                    ["PUSHLOAD_RATE": "1k", "PUSHLOAD_TRACE": "due.csv"], to: &scenario)
            } == "PUSHLOAD_TRACE: rate and trace exclude each other: give one of them")
        #expect(
            refusal { () throws(SettingsError) in
                try ScenarioFile.set(["rate=1k", "stages=hold 1k 2s"], in: &scenario)
            } == "--set stages: rate and stages exclude each other: give one of them")
        #expect(
            refusal { () throws(SettingsError) in
                try scenario.apply(flags: [("stages", ["hold 1k 2s"]), ("trace", ["due.csv"])])
            } == "--trace: stages and trace exclude each other: give one of them")
    }

    @Test("Of payload, devices and sender the strongest source's is in force too; two of one source are refused")
    func exclusive() throws {
        func applied(_ file: String, _ flags: (key: String, texts: [String]?)...) -> Scenario? {
            var scenario = Scenario()
            do {
                try ScenarioFile.apply(file, file: "s.yaml", folder: "/", depth: 0, to: &scenario)
                try scenario.apply(flags: flags)
            } catch { return nil }
            return scenario
        }
        let silent = applied("template: t.json\npush_type: background\n", ("profile", ["silent"]))
        #expect(silent?.template == nil && silent?.profile == "silent" && silent?.pushType == "alert")
        let template = applied("profile: silent\n", ("template", ["t.json"]))
        #expect(template?.template == "t.json" && template?.profile == "alert")
        #expect(applied("device_file: d.csv\n", ("devices", ["5"]))?.deviceFile == nil)
        #expect(applied("devices: 5\n", ("device_file", ["d.csv"]))?.devices == Scenario().devices)
        let unsigned = applied("key: k.p8\nkey_id: a\nteam_id: b\n", ("no_auth", ["true"]))
        #expect(unsigned?.noAuth == true && unsigned?.key == nil && unsigned?.keyID == nil && unsigned?.teamID == nil)
        #expect(applied("no_auth: true\n", ("key", ["k.p8"]))?.noAuth == false)
        #expect(applied("credentials: c\n", ("key", ["k.p8"]))?.credentials == nil)
        #expect(applied("key: k.p8\n", ("credentials", ["c"]))?.key == nil)
        // Off excludes nothing.
        #expect(applied("key: k.p8\nno_auth: false\n", ("no_auth", ["false"]))?.key == "//k.p8")
        for (one, other, values) in [
            ("profile", "template", ["alert", "t.json"]), ("devices", "device_file", ["5", "d.csv"]),
            ("key", "credentials", ["k.p8", "c"]), ("key", "no_auth", ["k.p8", "true"]),
        ] {
            let problem = "\(one) and \(other) exclude each other: give one of them"
            #expect(problems("\(one): \(values[0])\n\(other): \(values[1])\n") == ["s.yaml:2:1: \(problem)"])
            #expect(applied("", (one, [values[0]]), (other, [values[1]])) == nil)
            #expect(throws: SettingsError("--set \(other): \(problem)")) {
                var scenario = Scenario()
                try ScenarioFile.set(["\(one)=\(values[0])", "\(other)=\(values[1])"], in: &scenario)
            }
        }
    }

    @Test("Every bundled scenario can be run as far as its settings go", arguments: BundledScenarios.all.map(\.name))
    func bundled(_ name: String) throws {
        var scenario = Scenario()
        try BundledScenarios.apply(name, to: &scenario)
        #expect(scenario.validate() == [] && scenario.name == name)
    }

    @Test("The file init writes is a scenario itself, and names every key")
    func template() throws {
        for entry in BundledScenarios.all {
            let text = ScenarioTemplate.text(entry, schema: true)
            #expect(problems(text) == [])
            #expect(text.hasPrefix("# yaml-language-server: $schema=./scenario.schema.json\n"))
            for key in ScenarioKey.all where key.name != "measure" { #expect(text.contains("\(key.name):")) }
        }
    }

    @Test("The keys that init writes as comments can be taken as they are, and change nothing that has a default")
    func templateValues() throws {
        let text = ScenarioTemplate.text(.init(name: "none", summary: "nothing", text: ""), schema: false)
        let values = text.split(separator: "\n").filter { line in
            ScenarioKey.all.contains { line.hasPrefix("# \($0.name): ") }
        }
        #expect(values.count == ScenarioKey.all.count - 1)
        let others: Set = [
            "template", "device_file", "registrations", "audience", "credentials", "replay", "replay_check", "until",
            "budget",
        ]
        let exclusive: Set = ["rate", "stages", "trace"]
        for kept in exclusive {
            let left = others.union(exclusive).subtracting([kept])
            let taken = values.filter { line in !left.contains { line.hasPrefix("# \($0): ") } }
            #expect(taken.count == values.count - 11)
            #expect(problems(taken.map { String($0.dropFirst(2)) }.joined(separator: "\n")) == [])
        }
        var scenario = Scenario()
        let standard = values.filter { !$0.contains("# not set") }.map { String($0.dropFirst(2)) }.joined(
            separator: "\n")
        try ScenarioFile.apply(standard, file: "s.yaml", folder: "/nowhere", depth: 0, to: &scenario)
        #expect(scenario == Scenario())
        #expect(standard.contains("threads: 1\n") && standard.contains("stream_window: 65535B\n"), "\(standard)")
    }

    @Test("A variable that is no setting is refused with the nearest one")
    func variables() {
        var scenario = Scenario()
        #expect(throws: SettingsError("PUSHLOAD_STREEMS: no such setting; did you mean PUSHLOAD_STREAMS?")) {
            try ScenarioFile.applyEnvironment(["PUSHLOAD_STREEMS": "7"], to: &scenario)
        }
        #expect(
            throws: SettingsError(
                "PUSHLOAD_X: no such setting; a variable is PUSHLOAD_ and a key of a scenario, as in PUSHLOAD_RATE")
        ) { try ScenarioFile.applyEnvironment(["PUSHLOAD_X": "7"], to: &scenario) }
    }

    @Test(
        "What Kubernetes sets for a Service is passed over and named, by its name and by its value; what is misspelt is not"
    )
    func services() throws {
        let service = [
            "PUSHLOAD_PORT": "tcp://10.96.13.7:2197", "PUSHLOAD_SERVICE_HOST": "10.96.13.7",
            "PUSHLOAD_SERVICE_PORT": "2197", "PUSHLOAD_SERVICE_PORT_APNS": "2197",
            "PUSHLOAD_PORT_2197_TCP": "tcp://10.96.13.7:2197", "PUSHLOAD_PORT_2197_TCP_PROTO": "tcp",
            "PUSHLOAD_PORT_2197_TCP_PORT": "2197", "PUSHLOAD_PORT_2197_TCP_ADDR": "10.96.13.7",
            // Of a Service pushload-metrics: one of them is a setting's name.
            "PUSHLOAD_METRICS_PORT": "tcp://10.96.13.8:9100", "PUSHLOAD_METRICS_SERVICE_HOST": "10.96.13.8",
            "PUSHLOAD_METRICS_PORT_9100_TCP_ADDR": "10.96.13.8",
        ]
        var scenario = Scenario()
        let both = service.merging(["PUSHLOAD_STREAMS": "7", "OTHER": "x"]) { $1 }
        #expect(try ScenarioFile.applyEnvironment(both, to: &scenario) == service.keys.sorted())
        #expect(scenario.streams == 7 && scenario.metricsPort == nil)
        #expect(try ScenarioFile.applyEnvironment(["PUSHLOAD_METRICS_PORT": "9100"], to: &scenario) == [])
        #expect(scenario.metricsPort == 9100)
        for (name, value) in [
            ("PUSHLOAD_PORT", "2197"), ("PUSHLOAD_PORT_TCP", "tcp://10.96.13.7:2197"), ("PUSHLOAD_SERVICE", "x"),
            ("PUSHLOAD_SERVICE_PORT", "tcp"), ("PUSHLOAD_PORT_X_TCP_ADDR", "10.96.13.7"),
            ("PUSHLOAD_METRICS_PORT", "tcp"),
        ] {
            #expect(throws: SettingsError.self, "\(name)") {
                try ScenarioFile.applyEnvironment([name: value], to: &scenario)
            }
        }
    }

    @Test("Keys that YAML merges are read like written ones, own ones are stronger; x- keys are nobody's")
    func mergedKeys() throws {
        var scenario = Scenario()
        try ScenarioFile.apply(
            """
            x-usual: &usual {rate: 1k, streams: 7, connections: 3}
            x-other: &other
              streams: 9
              duration: 5s
            <<: [*usual, *other]
            connections: 4
            """, file: "s.yaml", folder: "/", depth: 0, to: &scenario)
        #expect(scenario.rate == 1000 && scenario.streams == 7 && scenario.connections == 4)
        #expect(scenario.duration == 5_000_000_000)
        // Where a value is wrong is where it is written.
        #expect(
            problems("x-a: &a\n  rate: fast\n<<: *a\nstreams: 5\n") == [
                "s.yaml:2:9: rate: \"fast\" is not a rate; expected pushes a second such as 500, 20k or 1.5M"
            ])
        #expect(
            problems("x-a: &a 5\n<<: *a\n") == [
                "s.yaml:1:6: behind << expected a map, or a list of maps, such as *name"
            ])
        #expect(problems("x_a: 5\nrate: 5\n").count == 1)
        let deep = (1...6).map { "x-\($0): &a\($0) {<<: *a\($0 - 1)}\n" }.joined()
        #expect(problems("x-0: &a0 {rate: 5}\n<<: *a0\n").isEmpty)
        #expect(
            problems("x-0: &a0 {rate: 5}\n\(deep)<<: *a6\n").first?.hasSuffix("<< within << more than 4 deep") == true)
        var sends = Scenario()
        try ScenarioFile.apply(
            "x-s: &s {priority: 5, start: 1s}\nsends:\n  - {<<: *s, name: a, audience: x}\n  - {<<: *s, name: b, audience: y, priority: 10}\n",
            file: "s.yaml", folder: "/", depth: 0, to: &sends)
        #expect(sends.sends.map(\.priority) == [5, 10] && sends.sends.map(\.start) == [1_000_000_000, 1_000_000_000])
    }

    @Test("Cipher suites of TLS 1.3 are refused where that is left out")
    func ciphersuites() {
        var scenario = Scenario()
        (scenario.pushes, scenario.ciphersuites) = (10, "TLS_AES_128_GCM_SHA256")
        #expect(scenario.validate().isEmpty)
        scenario.tlsMaximum = "1.2"
        #expect(
            scenario.validate()
                == ["ciphersuites are of TLS 1.3, which tls_max 1.2 leaves out; expected one of them"])
    }

    @Test("Plaintext is refused beside what it makes idle: a target that is not, and settings of TLS")
    func plaintext() {
        var scenario = Scenario()
        (scenario.pushes, scenario.plaintext) = (10, true)
        #expect(scenario.validate().isEmpty)
        (scenario.ciphersuites, scenario.kernelTLS) = ("TLS_AES_128_GCM_SHA256", true)
        func idle(_ where: String) -> [String] {
            ["ciphersuites", "ktls"].map { "\($0) is of TLS, which \(`where`) is without; leave one of them out" }
        }
        #expect(scenario.validate() == idle("plaintext"))
        scenario.plaintext = false
        #expect(scenario.validate().isEmpty)
        scenario.target = TargetList("http://127.0.0.1:1")
        #expect(scenario.validate() == idle("a target that starts with http://"))
        scenario.target = TargetList("https://127.0.0.1:1")
        #expect(scenario.validate().isEmpty)
        (scenario.ciphersuites, scenario.kernelTLS, scenario.plaintext) = (nil, false, true)
        #expect(
            scenario.validate() == [
                "plaintext beside a target that starts with https://; expected one that starts with http://, or no plaintext"
            ])
    }

    @Test("The JSON Schema in the repository is the one made of the keys")
    func schema() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("scenarios/scenario.schema.json")
        #expect(
            try String(contentsOf: file, encoding: .utf8) == ScenarioSchema.text,
            "make it again: pushload scenario show --schema > scenarios/scenario.schema.json")
    }
}

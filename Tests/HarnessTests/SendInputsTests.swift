import Foundation
import Scenarios
import Settings
import Testing
import Transport

@testable import Harness

/// Runs to registrations as they are made ready, before anything is sent.
@Suite struct SendInputsTests {
    /// Removed when it goes.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("sends-\(UUID())").path
        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ name: String, _ text: String) throws -> String {
            let file = "\(path)/\(name)"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            return file
        }
    }

    private func token(_ number: Int) -> String {
        let hex = String(number, radix: 16)
        return String(repeating: "a", count: 64 - hex.count) + hex
    }

    /// 90 registrations: every third is in Boston, every second follows the Red Sox.
    private func scenario(_ folder: Folder, _ sends: String...) throws -> Scenario {
        let rows = (0..<90).map { number in
            let city = "location_\(["Boston", "Berlin", "Lima"][number % 3])"
            return "\(token(number)),\(city)\(number % 2 == 0 ? ";follows_RedSox" : "")\n"
        }
        var scenario = Scenario()
        scenario.registrations = try folder.write("r.csv", "token,tags\n" + rows.joined())
        scenario.sends = try sends.map { text throws(SettingsError) in try SendSetting(parsing: text) }
        return scenario
    }

    private func problem(_ scenario: Scenario) -> String {
        do throws(HarnessError) {
            _ = try RunInputs(scenario).checkMeaning()
            return "none"
        } catch { return error.description }
    }

    @Test("Who expires before a send's start is not in it")
    func expiring() throws {
        let folder = try Folder()
        var scenario = Scenario()
        let soon = Int(Date().timeIntervalSince1970) + 600
        scenario.registrations = try folder.write(
            "r.csv", "token,tags,expires\n\(token(1)),a,\(soon)\n\(token(2)),a,\n\(token(3)),b,\(soon)\n")
        scenario.sends = [try SendSetting(parsing: "{name: now, audience: a}")]
        #expect(try RunInputs(scenario).planned == 2)
        scenario.sends = [try SendSetting(parsing: "{name: later, audience: a, start: 20m}")]
        let inputs = try RunInputs(scenario)
        #expect(inputs.planned == 1)
        #expect(
            inputs.sends?.notes.contains {
                $0.hasPrefix("1 registration of ")
                    && $0.hasSuffix("left out: they expire before the start of send \"later\"")
            } == true)
        scenario.sends = [try SendSetting(parsing: "{name: later, audience: b, start: 20m}")]
        #expect(problem(scenario).contains("all 1 registration of "))
    }

    @Test("Of a device the latest word counts, gone only with status 410, whatever stands around the reason")
    func feedback() throws {
        let folder = try Folder()
        var scenario = try scenario(folder)
        scenario.audience = "*"
        scenario.pushes = 900
        let sends = try #require(try RunInputs(scenario).sends)
        var feedback = Feedback()
        func hear(_ device: UInt64, _ body: String, _ status: UInt16) {
            Array(body.utf8).withUnsafeBufferPointer { feedback.note(device, of: sends, $0, status: status) }
        }
        let (early, late) = ("1700000000000", "1700000005000")
        // First a word of no consequence, then that it is gone; the later of two; neither of a text nor of an inner object.
        hear(0, #"{"reason":"BadDeviceToken"}"#, 400)
        hear(90, #"{"reason":"Unregistered","timestamp":\#(early)}"#, 410)
        hear(180, #"{"reason":"Unregistered","timestamp":\#(late)}"#, 410)
        hear(270, #"{"reason":"Unregistered","timestamp":\#(early)}"#, 410)
        hear(1, #"{"extra":{"reason":"Unregistered"},"reason":"BadDeviceToken"}"#, 400)
        hear(2, #"{"reason":"Unregistered"}"#, 400)
        hear(3, #"<p>"reason":"Unregistered"</p>"#, 410)
        let (notes, isLost) = feedback.write(sends, topic: "com.example")
        #expect(
            !isLost && notes.first?.hasPrefix("feedback: 1 device answered as gone, 1 only reported") == true,
            "\(notes)")
        let lines = try String(contentsOfFile: "\(folder.path)/r.csv.feedback", encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.contains { $0.contains(token(0)) && $0.contains("Unregistered") && $0.contains(late) })
        #expect(lines.contains { $0.contains(token(0)) && $0.contains("BadDeviceToken") })
        #expect(lines.contains { $0.contains(token(1)) && $0.contains("BadDeviceToken") })
    }

    @Test("An audience is pushed to once, unless a number, a time or a schedule of its own says otherwise")
    func once() throws {
        let folder = try Folder()
        var scenario = try scenario(folder)
        scenario.audience = "follows_RedSox && location_Boston"
        #expect(try RunInputs(scenario).planned == 15)
        scenario.rate = 100
        #expect(try RunInputs(scenario).planned == 15)
        scenario.arrivals = "poisson"
        #expect(try RunInputs(scenario).planned == 15)
        scenario.arrivals = "constant"
        scenario.duration = 2_000_000_000
        #expect(try RunInputs(scenario).planned == 200)
        (scenario.rate, scenario.duration, scenario.pushes) = (nil, nil, 40)
        #expect(try RunInputs(scenario).planned == 40)
    }

    @Test("Several sends are as long as they are, with every kind of arrivals; a schedule that is too short is refused")
    func length() throws {
        let folder = try Folder()
        var scenario = try scenario(
            folder, "{name: a, audience: location_Lima, start: 3s}", "{name: b, audience: '*', priority: 5}")
        #expect(try RunInputs(scenario).planned == 120)
        scenario.rate = 1000
        for arrivals in ["constant", "jitter", "poisson"] {
            scenario.arrivals = arrivals
            let inputs = try RunInputs(scenario)
            #expect(inputs.planned == 120 && (inputs.schedule?.duration ?? 0) > 3_000_000_000, "\(arrivals)")
        }
        scenario.arrivals = "constant"
        scenario.duration = 3_010_000_000
        #expect(
            problem(scenario)
                == "sends: their 120 pushes do not all come due within the schedule; give a higher rate, more time or smaller audiences"
        )
    }

    @Test(
        "More Poisson arrivals before the last send than can be drawn in seconds are refused in one line, others are not"
    )
    func tooLong() throws {
        let folder = try Folder()
        var scenario = try scenario(folder, "{name: a, audience: location_Lima, start: 1h}", "{name: b, audience: '*'}")
        (scenario.rate, scenario.arrivals) = (1e6, "poisson")
        #expect(
            problem(scenario)
                == "sends: with Poisson arrivals up to 3,600,000,120 due times pass until the last of them has had its turn: at "
                + "most 50,000,000, because each is drawn beforehand; give a lower rate, earlier starts or smaller audiences, or "
                + "arrivals: jitter")
        scenario.arrivals = "jitter"
        #expect(try RunInputs(scenario).planned == 120)
        // What is wrong elsewhere does not make a schedule without an end of it.
        scenario.sends = []
        (scenario.audience, scenario.arrivals) = ("location_Limo", "poisson")
        #expect(problem(scenario).split(separator: "\n").count == 1, "\(problem(scenario))")
    }

    @Test("Two workers' supplies have every push of every send once, at its due time or after its start")
    func supplies() throws {
        let folder = try Folder()
        for rate in [nil, 1000.0] {
            var scenario = try scenario(
                folder, "{name: a, audience: location_Lima, start: 30ms}", "{name: b, audience: '*', priority: 5}",
                "{name: c, audience: follows_RedSox, start: 20ms, priority: 10}")
            (scenario.rate, scenario.threads, scenario.connections) = (rate, 2, 2)
            let inputs = try RunInputs(scenario)
            let sends = try #require(inputs.sends)
            var taken: [UInt64] = []
            for worker in 0..<2 {
                var supply = PushSupply(inputs, thread: worker)
                var now: UInt64 = 1_000_000_000
                supply.begin(now)
                var push: (sequence: UInt64, due: UInt64) = (0, 0)
                rounds: while true {
                    switch supply.take(now, &push) {
                    case .push:
                        taken.append(push.sequence)
                        let send = sends.all[sends.place(push.sequence)]
                        #expect(push.due >= 1_000_000_000 + send.start && push.due <= now)
                    case .notBefore(let time):
                        #expect(time > now)
                        now = time
                    case .finished: break rounds
                    }
                }
                #expect(supply.isUsedUp && supply.left == 0)
            }
            #expect(taken.sorted() == Array(0..<165), "\(String(describing: rate))")
        }
    }

    @Test("What a worker has of small sends adds up to the plan, whatever is left when the run ends")
    func small() throws {
        let folder = try Folder()
        let path = try folder.write("few.csv", "token,tags\n\(token(1)),a\n\(token(2)),b\n\(token(3)),c\n")
        var scenario = try scenario(
            folder, "{name: x, audience: a}", "{name: y, audience: b}", "{name: z, audience: c}")
        (scenario.registrations, scenario.threads, scenario.connections) = (path, 2, 2)
        let inputs = try RunInputs(scenario)
        let shares = (0..<2).compactMap { inputs.queue(WorkerShare(worker: $0, workers: 2))?.count }
        #expect(inputs.planned == 3 && shares == [3, 0])
    }

    @Test("An expression that is wrong, knows no such tag or finds nobody is refused, by its send's name")
    func expressions() throws {
        let folder = try Folder()
        var one = try scenario(folder)
        let path = try #require(one.registrations)
        one.audience = "follows_RedSox && location_Bostn"
        #expect(
            problem(one)
                == "audience, line 1, column 19: no registration has the tag \"location_Bostn\"; did you mean \"location_Boston\"?"
        )
        one.audience = "location_Lima && location_Boston"
        #expect(problem(one) == "audience: nobody of \(path) is in the audience \"location_Lima && location_Boston\"")
        let several = try scenario(folder, "{name: a, audience: '*'}", "{name: b, audience: location_Limo}")
        #expect(
            problem(several)
                == "sends: b, line 1, column 1: no registration has the tag \"location_Limo\"; did you mean \"location_Lima\"?"
        )
        #expect(
            problem(try scenario(folder, "{name: a, audience: 'location_Lima &&'}")).hasPrefix(
                "sends: a, line 1, column 17: "))
        // All that is wrong at once; a send that is repeated once.
        let wrong = problem(
            try scenario(
                folder, "{name: a, audience: 'location_Lima &&'}", "{name: b, audience: '*'}",
                "{name: c, audience: location_Limo && location_Bostn, repeat: 3, every: 1s}"))
        let places = ["a, line 1, column 17: ", "c 1, line 1, column 1: no", "c 1, line 1, column 18: no"]
        let lines = wrong.split(separator: "\n")
        #expect(lines.count == 3 && zip(lines, places).allSatisfy { $0.hasPrefix("sends: \($1)") }, "\(wrong)")
    }

    @Test("Thresholds are held to sends, profiles and tags that there are; several sends of one profile are not apart")
    func thresholds() throws {
        let folder = try Folder()
        func found(_ threshold: String, _ sends: String...) throws -> String {
            var scenario = try scenario(folder)
            scenario.sends = try sends.map { text throws(SettingsError) in try SendSetting(parsing: text) }
            scenario.thresholds = [threshold]
            scenario.by = ["tag:location_"]
            return problem(scenario)
        }
        let (a, b) = ("{name: a, audience: location_Lima}", "{name: b, audience: location_Boston}")
        #expect(try found("p99{send=a} < 1s", a, b) == "none")
        #expect(
            try found("p99{send=c} < 1s", a, b).hasPrefix("threshold \"p99{send=c} < 1s\": no send \"c\""))
        #expect(
            try found("p99{send=b} < 1s", a).hasPrefix("threshold \"p99{send=b} < 1s\": no send \"b\""))
        #expect(try found("p99{send=a} < 1s", a) == "none")
        #expect(
            try found("p99{profile=alert} < 1s", a, b)
                == "threshold \"p99{profile=alert} < 1s\": the run has one profile, nothing is kept apart by it")
        // In the second send's audience only.
        #expect(try found("p99{tag:location_=location_Boston} < 1s", a, b) == "none")
        #expect(try found("p99{tag:location_=location_Berlin} < 1s", a, b).contains("no device has the tag"))
    }

    @Test("A send's properties go before the run's of the same name; templates that are given are used")
    func properties() throws {
        let folder = try Folder()
        let rows = (0..<6).map { "\(token($0)),t\($0 % 2),\($0 % 2 == 0 ? "news" : "")\n" }
        var scenario = Scenario()
        scenario.registrations = try folder.write("t.csv", "token,tags,template\n" + rows.joined())
        scenario.templates = try folder.write(
            "t.json", #"{"news": {"aps": {"alert": "$(title)"}}, "plain": {"aps": {"alert": "Hello"}}}"#)
        scenario.properties = ["title=run"]
        scenario.sends = try ["{name: a, audience: '*'}", "{name: b, audience: '*', properties: {TITLE: send}}"].map {
            text throws(SettingsError) in try SendSetting(parsing: text)
        }
        let inputs = try RunInputs(scenario)
        #expect(inputs.mix.entries.map(\.profile.name) == ["alert", "news", "alert", "news"])
        scenario.properties = []
        #expect(
            problem(scenario).hasPrefix("\(scenario.registrations ?? ""):2:69: "), "\(problem(scenario))")
        scenario.sends = [try SendSetting(parsing: "{name: a, audience: '*', template: plane}")]
        #expect(problem(scenario) == "sends: a: no template \"plane\" among templates; expected one of news, plain")
        scenario.sends = [try SendSetting(parsing: "{name: a, audience: '*', template: plain}")]
        #expect(try RunInputs(scenario).mix.entries.map(\.profile.name) == ["plain"])
        // No send names one, and no property is given: they are used all the same.
        scenario.sends = []
        scenario.audience = "t1"
        #expect(try RunInputs(scenario).planned == 3)
        scenario.audience = "t0"
        #expect(problem(scenario).contains("t.csv:2:69: "))
    }

    @Test("Of a file with environments the run's is pushed to, or the one that is asked for, or any")
    func environments() throws {
        let folder = try Folder()
        let rows = ["production", "development", "", "production"].enumerated().map { "\(token($0)),a,\($1)\n" }
        var scenario = Scenario()
        scenario.registrations = try folder.write("e.csv", "token,tags,environment\n" + rows.joined())
        scenario.audience = "a"
        for (environment, count) in [("production", 2), ("development", 1), ("any", 4)] as [(String, UInt64)] {
            scenario.environment = environment
            let inputs = try RunInputs(scenario)
            #expect(inputs.planned == count)
            let path = try #require(scenario.registrations)
            #expect(
                inputs.sends?.notes
                    == (count == 4
                        ? []
                        : [
                            "\(4 - count) registrations of \(path) left out: of another environment than \(environment), or of none"
                        ]))
        }
        scenario.registrations = try folder.write("d.csv", "token,tags,environment\n\(token(1)),a,development\n")
        scenario.environment = "production"
        #expect(
            problem(scenario)
                == "environment \"production\": no registration of \(scenario.registrations ?? "") that is neither expired nor gone has it; there are \"development\""
        )
        // A file that says of none which it is of.
        scenario.registrations = try folder.write("n.csv", "token,tags\n\(token(1)),a\n")
        #expect(try RunInputs(scenario).planned == 1)
    }

    @Test("A property that no template has a place for is noted, with the one that was probably meant")
    func unusedProperties() throws {
        let folder = try Folder()
        var scenario = Scenario()
        scenario.registrations = try folder.write("t.csv", "token,tags,template\n\(token(1)),a,news\n\(token(2)),b,\n")
        scenario.templates = try folder.write("t.json", #"{"news": {"aps": {"alert": "$(title)"}}}"#)
        (scenario.audience, scenario.properties) = ("*", ["Title=x", "titel=y", "minute=90"])
        #expect(
            try RunInputs(scenario).sends?.notes == [
                "property \"titel\" is in no template that is used; did you mean \"title\"?",
                "property \"minute\" is in no template that is used",
            ])
        scenario.properties = ["title=x"]
        scenario.audience = nil
        scenario.sends = try [
            "{name: one, audience: a}", "{name: two, audience: b, properties: {title: z}}",
        ].map { text throws(SettingsError) in try SendSetting(parsing: text) }
        #expect(
            try RunInputs(scenario).sends?.notes == ["sends: two: property \"title\" is in no template that is used"])
    }

    @Test(
        "Templates of registrations that nothing fills are noted; where all have one, the run's own profile is left out"
    )
    func unfilled() throws {
        let folder = try Folder()
        var scenario = Scenario()
        let rows = (0..<4).map { "\(token($0)),t\($0 % 2),\($0 % 2 == 0 ? "news" : "")\n" }
        let path = try folder.write("t.csv", "token,tags,template\n" + rows.joined())
        scenario.registrations = path
        func notes(_ audience: String) throws -> [String]? {
            scenario.audience = audience
            return try RunInputs(scenario).sends?.notes
        }
        let note =
            "2 registrations of \(path) have a template of their own, which was not used: give templates or properties "
            + "(--templates, --property)"
        #expect(try notes("*") == [note] && notes("t1") == [])
        scenario.audience = nil
        scenario.sends = try ["{name: a, audience: '*'}", "{name: b, audience: t0}"].map {
            text throws(SettingsError) in try SendSetting(parsing: text)
        }
        #expect(try RunInputs(scenario).sends?.notes == [note])
        scenario.sends = [try SendSetting(parsing: "{name: a, audience: '*', profile: silent}")]
        #expect(try RunInputs(scenario).sends?.notes == [])
        scenario.sends = []
        scenario.templates = try folder.write("t.json", #"{"news": {"aps": {"alert": "Hello"}}}"#)
        #expect(try notes("*") == [])
        #expect(try RunInputs(scenario).mix.entries.map(\.profile.name) == ["alert", "news"])
        #expect(try notes("t0") == [])
        #expect(try RunInputs(scenario).mix.entries.map(\.profile.name) == ["news"])
        #expect(try notes("t1") == [])
        #expect(try RunInputs(scenario).mix.entries.map(\.profile.name) == ["alert"])
    }

    @Test("A run's settings read back, with its sends and properties")
    func settings() throws {
        let folder = try Folder()
        var scenario = try scenario(
            folder, #"{name: a, audience: "location_Lima || !follows_RedSox", start: 30ms, properties: {t: "x, y"}}"#)
        scenario.properties = ["a=b, c", "d="]
        let settings = ScenarioSettings.write(scenario)
        #expect(try ScenarioSettings.read(settings, origin: "r") == scenario)
        var wrong = settings
        wrong["sends"] = .array([.string("news")])
        #expect(throws: HarnessError.self) { try ScenarioSettings.read(wrong, origin: "r") }
    }
}

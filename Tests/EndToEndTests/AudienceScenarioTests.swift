import Foundation
import Results
import Testing

/// Audiences as scenario files, flags and the commands beside `run` take them.
@Suite(.serialized, .waitsForPrograms) struct AudienceScenarioTests {
    private let folder: OutputFolder
    private let registrations: String

    init() throws {
        folder = try OutputFolder.made()
        registrations = folder.path + "/r.csv"
        let rows = ["red;boston,production", "red,production", "blue,production", "blue,development", "blue,"]
        let lines = rows.enumerated().map { "\(String(repeating: "a\($0)", count: 32)),\($1)\n" }
        try ("token,tags,environment\n" + lines.joined()).write(
            toFile: registrations, atomically: true, encoding: .utf8)
    }

    /// What is asked of a plan, of its JSON.
    private struct Plan: Decodable {
        struct Question: Decodable { let pushes, devices: UInt64 }
        let question: Question
    }

    private func scenario(_ text: String) throws -> String {
        let path = folder.path + "/s.yaml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("A file's devices may be an audience: run, sweep, ab, search and plan take it, and flags replace it")
    func devices() throws {
        let path = try scenario("devices: {registrations: r.csv, audience: red || blue}\n")
        let (result, status, error) = try Programs.load([path])
        #expect(
            status == 0 && result.pushes.accepted == 3 && result.sends?.first?.audience == "red || blue", "\(error)")
        #expect(result.scenario["registrations"] != nil && result.scenario["devices"] == nil)
        #expect(try Programs.load([path, "--audience", "red && boston"]).result.pushes.accepted == 1)
        #expect(try Programs.load([path, "--devices", "9", "-n", "4"]).result.sends == nil)
        // Whether its rate was reached is the machine's business.
        let staged = try Programs.load([path, "--stages", "hold 50 200ms, burst 5"])
        #expect(staged.result.pushes.accepted == 15, "\(staged.error)")
        #expect(try Programs.load([path, "--rate", "100"]).result.pushes.accepted == 3)
        let listed = try Programs.run(
            "pushload", ["sweep", path, "--vary", "audience=red,red && boston,nobody", "--list"])
        #expect(listed.status == 0 && listed.output.contains("3 points"), "\(listed)")
        #expect(
            listed.output.contains("nobody: cannot be run: audience, line 1, column 1: no registration has the tag"))
        let sweep = try Programs.run(
            "pushload",
            ["sweep", path, "--vary", "audience=red,red && boston", "-o", folder.path + "/sweep", "--csv", "-q"])
        #expect(sweep.status == 0, "\(sweep)")
        let search = try Programs.run(
            "pushload", ["search", path, "--rate", "200", "--goal", "p99 < 30s", "--probe", "500ms", "--most", "1"])
        #expect([0, 99].contains(search.status) && search.output.contains(" at 1 connection"), "\(search)")
        let sides = try Programs.run(
            "pushload", ["ab", path, "--a", "--audience red", "--b", "--audience blue", "--rounds", "3"])
        #expect(sides.status == 0 && sides.output.contains("A and B differ in audience: red and blue"), "\(sides)")
    }

    @Test("A varied number of devices takes the place of an audience")
    func varied() throws {
        let path = try scenario("registrations: r.csv\naudience: red\npushes: 20\n")
        let outcome = folder.path + "/sweep"
        let sweep = try Programs.run("pushload", ["sweep", path, "--vary", "devices=1,2", "-o", outcome, "-q"])
        #expect(sweep.status == 0, "\(sweep)")
        let files = FileManager.default.enumerator(atPath: outcome)?.compactMap { $0 as? String } ?? []
        let results = try files.filter { $0.hasSuffix("result.json") }.map { try ResultFile.read(outcome + "/" + $0) }
        #expect(!results.isEmpty && results.allSatisfy { $0.sends == nil && $0.pushes.accepted == 20 })
    }

    @Test(
        "What is wrong with an audience in a file is said in one line, with file, line and column",
        arguments: [
            (
                "registrations: r.csv\naudience: red && bostn\n",
                "2:18: audience: no registration has the tag \"bostn\"; did you mean \"boston\"?"
            ),
            (
                "registrations: r.csv\naudience: |\n  red &&\n    bostn\n",
                "4:5: audience: no registration has the tag \"bostn\""
            ),
            (
                "registrations: r.csv\naudience: (red && blue\n",
                "2:23: audience: \")\" is missing; the expression's \"(\" at line 1, column 1 is still open"
            ),
            (
                "devices: {registrations: r.csv, audience: \"red || bleu\"}\n",
                "1:51: audience: no registration has the tag \"bleu\""
            ),
            (
                "registrations: r.csv\nsends:\n- {name: a, audience: \"*\"}\n- name: b\n  audience: red && bleu\n",
                "5:20: sends: b: no registration has the tag \"bleu\""
            ),
            (
                "registrations: r.csv\nsends:\n- {name: a, audience: red && !red}\n",
                "3:23: sends: a: nobody of FOLDER/r.csv is in the audience \"red && !red\""
            ),
            (
                "registrations: r.csv\nsends:\n- {name: a, audience: red, start: 5}\n",
                "3:35: sends[0].start: \"5\" has no unit"
            ),
            (
                "registrations: r.csv\nsends:\n- name: a\n  audiense: red\n",
                "4:3: sends[0]: unknown key \"audiense\"; did you mean \"audience\"?"
            ),
            (
                "registrations: r.cvs\naudience: red\n",
                "1:16: cannot read the registrations file FOLDER/r.cvs: No such file"
            ),
            (
                "registrations: r.cvs\nrate: 5\nsends: [{name: a, audience: red}]\nthreshold: \"p99{send=a} < 1s\"\n",
                "1:16: cannot read the registrations file"
            ),
            (
                "registrations: r.csv\naudience: red\nenvironment: prod\n",
                "3:14: environment: \"prod\"; expected one of production, development, any"
            ),
            (
                "registrations: r.csv\naudience: red\ntemplates: t.json\n",
                "3:12: cannot read the templates FOLDER/t.json"
            ),
            (
                "registrations: r.csv\naudience: !red\n",
                "2:11: audience: a text that begins with ! stands in quotes"
            ),
            (
                "registrations: r.csv\nsends:\n- {name: a, audience: ! red}\n",
                "3:23: sends[0].audience: a text that begins with ! stands in quotes"
            ),
            (
                "registrations: r.csv\naudience: !red || blue\n",
                "2:17: not YAML: did not find expected comment or line break; a text that begins with *, &, ! or | stands"
            ),
            (
                "registration: r.csv\naudience: red\n",
                "1:1: unknown key \"registration\"; did you mean \"registrations\"?"
            ),
        ])
    func places(_ text: String, _ line: String) throws {
        let path = try scenario(text)
        for command in [["scenario", "check"], ["run", "-q", "-o", folder.path + "/runs"]] {
            let finished = try Programs.run("pushload", command + [path])
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            #expect(
                finished.error.hasPrefix("pushload: \(path):" + line.replacing("FOLDER", with: folder.path))
                    && finished.error.split(separator: "\n").count == 1, "\(command): \(finished.error)")
        }
    }

    @Test("A flag's expression has its own line and column, and no place of the file that it replaces")
    func flag() throws {
        let path = try scenario("registrations: r.csv\naudience: red\n")
        let finished = try Programs.run("pushload", ["run", path, "-q", "--audience", "bleu"])
        #expect(
            finished.status == 64
                && finished.error
                    == "pushload: audience, line 1, column 1: no registration has the tag \"bleu\"; did you mean \"blue\"?\n",
            "\(finished)")
    }

    @Test(
        "A schedule is shown as a run has it: as long as its audience or its sends are",
        arguments: ["constant", "poisson"])
    func schedule(_ arrivals: String) throws {
        let sends = "sends: [{name: a, audience: red}, {name: b, audience: blue, start: 1s}]\n"
        for who in ["audience: red || blue\n", sends] {
            let path = try scenario("registrations: r.csv\nrate: 100\narrivals: \(arrivals)\n\(who)")
            let shown = try Programs.run("pushload", ["scenario", "schedule", path])
            #expect(shown.status == 0 && shown.output.hasPrefix("3 pushes in "), "\(shown)")
            #expect(shown.output.contains(who == sends ? "in 1.0" : " ms, \(arrivals)"), "\(shown)")
            let csv = try Programs.run("pushload", ["scenario", "schedule", path, "--csv", "--rows", "10"])
            #expect(csv.status == 0 && csv.output.split(separator: "\n").count == 11, "\(csv)")
        }
    }

    @Test("A message says the cause and nothing else, which of several sends it is, and what was probably meant")
    func messages() throws {
        let send = "{name: a, audience: red}"
        for (arguments, line) in [
            (["run", "--audience", "*"], "audience: goes with registrations, the file that says who there is"),
            (["run", "--send", send], "sends: goes with registrations, the file that says who there is"),
            (
                ["run", "--registrations", registrations, "--send", send, "--send", "{name: b, audienc: red}"],
                "--send 2: unknown key \"audienc\"; did you mean \"audience\"?"
            ),
            (
                ["search", "--registrations", registrations, "--goal", "p99 < 1s"],
                "registrations: say who is pushed to: an audience (a tag expression, * for everyone)"
            ),
            (
                ["ab", "--registrations", registrations, "--a", "audience=red", "--b", "--audience blue"],
                "--a: expected flags, as in --a '--audience red'; a scenario is named outside --a and --b"
            ),
            (
                ["ab", "--registrations", registrations, "--a", "--audience red", "--b", "nodelay=true"],
                "--b: expected flags, as in --b '--set nodelay=true'; a scenario is named outside "
                    + "--a and --b"
            ),
        ] {
            let refused = try Programs.run("pushload", arguments)
            #expect(refused.status == 64 && refused.error == "pushload: \(line)\n", "\(refused)")
        }
        let path = try scenario("registrations: r.csv\nsends: [\(send), {name: b, audience: blue}]\n")
        let (result, status, error) = try Programs.load([path, "--audience", "red"])
        #expect(status == 0 && result.pushes.accepted == 2, "\(error)")
        #expect(
            error.contains("pushload: the audience that is given takes the place of the 2 sends of \(path)\n"),
            "\(error)")
    }

    @Test("Nobody is left out for a topic or an environment in a file that has none, and that is said")
    func none() throws {
        let rows = ["red", "blue"].enumerated().map { "\(String(repeating: "a\($0)", count: 32)),\($1)\n" }
        try ("token,tags\n" + rows.joined()).write(toFile: registrations, atomically: true, encoding: .utf8)
        let environment = ["--environment", "development"]
        let counted = try Programs.run(
            "pushload", ["audience", "count", "*", "--registrations", registrations, "--topic", "a.b"] + environment)
        #expect(counted.status == 0 && counted.output == "2\n", "\(counted)")
        #expect(
            counted.error == """
                pushload: --topic: no registration of \(registrations) has a topic: none is left out for it
                pushload: --environment: no registration of \(registrations) has an environment: none is left out for it

                """)
        let (result, status, error) = try Programs.load(
            ["--registrations", registrations, "--audience", "*"] + environment)
        #expect(status == 0 && result.pushes.accepted == 2, "\(error)")
        let note =
            "environment development: no registration of \(registrations) has an environment: none is left out for it"
        #expect(result.notes.contains(note), "\(result.notes)")
    }

    @Test(
        "A run pushes to the registrations of its environment, as audience list --environment prints them, and notes the others"
    )
    func environment() throws {
        let asked = ["--registrations", registrations, "--audience", "*"]
        let (result, status, error) = try Programs.load(asked)
        #expect(status == 0 && result.pushes.accepted == 3, "\(error)")
        #expect(
            result.notes.contains(
                "2 registrations of \(registrations) left out: of another environment than production, or of none"),
            "\(result.notes)")
        for (environment, count) in [("production", 3), ("development", 1), ("any", 5)] as [(String, UInt64)] {
            #expect(try Programs.load(asked + ["--environment", environment]).result.pushes.accepted == count)
            let counted = try AudienceTests.answer(
                ["count", "*", "--registrations", registrations, "--environment", environment])
            #expect(counted == "\(count)\n")
        }
        let alone = try Programs.run("pushload", ["run", "-n", "5", "--environment", "development", "-q"])
        #expect(
            alone.status == 64
                && alone.error
                    == "pushload: environment: goes with registrations, the file that says who there is\n",
            "\(alone)")
    }

    @Test("plan takes the numbers of pushes and devices from an audience, as a run with the same flags has it")
    func plan() throws {
        let calibration = try PlanTests.calibration(folder)
        let question = [
            "plan", "--within", "20s", "--rtt", "80ms", "--from", calibration, "--registrations", registrations,
        ]
        let plan = try Programs.run("pushload", question + ["--audience", "red || blue"])
        #expect(plan.status == 0 && plan.output.contains("3 devices within 20.0 s"), "\(plan)")
        #expect(plan.error.contains("2 registrations of \(registrations) left out"), "\(plan)")
        let any = try Programs.run("pushload", question + ["--audience", "*", "--environment", "any"])
        #expect(any.status == 0 && any.output.contains("5 devices within 20.0 s") && any.error.isEmpty, "\(any)")
        // Two registrations of one device.
        let several = folder.path + "/several.csv"
        try "token,tags\naabb01,red\nAABB01,blue\naabb02,red\n".write(
            toFile: several, atomically: true, encoding: .utf8)
        let both = ["--audience", "*", "--registrations", several]
        let asked = try Programs.run("pushload", question.dropLast(2) + both)
        #expect(asked.output.contains("\n3 pushes to 2 devices within 20.0 s"), "\(asked)")
        let json = try Programs.run("pushload", question.dropLast(2) + both + ["--json"]).read(Plan.self)
        #expect(json.question.pushes == 3 && json.question.devices == 2)
        let send = try #require(try Programs.load(both).result.sends?.first)
        #expect(send.pushes == 3 && send.devices == 2)
        for (flags, line) in [
            (
                ["--audience", "rad"],
                "audience, line 1, column 1: no registration has the tag \"rad\"; did you mean \"red\"?"
            ),
            ([], "registrations: say who is pushed to: an audience (a tag expression, * for everyone)"),
            (
                ["--audience", "*", "--devices", "5"],
                "--devices and --registrations exclude each other: give one of them"
            ),
        ] {
            let refused = try Programs.run("pushload", question + flags)
            #expect(refused.status == 64 && refused.error == "pushload: \(line)\n", "\(refused)")
        }
    }

    @Test("The bundled scenario with sends is run by its bare name from anywhere, and written for another folder")
    func bundled() throws {
        let list = try Programs.run("pushload", ["scenario", "list"])
        #expect(list.output.contains("\nbreaking-news-by-tag  a digest"), "\(list)")
        func run(_ program: String, _ arguments: [String]) throws -> Finished {
            try Programs.run(
                "/bin/sh", ["-c", "cd \"$0\" && exec \"$@\"", folder.path, program] + arguments)
        }
        let check = ["scenario", "check", "breaking-news-by-tag"]
        let checked = try run(Programs.path("pushload"), check)
        #expect(checked.status == 0, "\(checked)")
        // Whether it keeps its rate and its threshold is the machine's business.
        let (result, _, error) = try Programs.load(["breaking-news-by-tag", "--rate", "5k"])
        #expect(result.sends?.map(\.name) == ["digest", "breaking", "stadium"], "\(error)")
        #expect(result.sends?.first?.accepted == 1000 && result.pushes.accepted == result.pushes.planned, "\(error)")
        // As docs/installing.md links it, and as it is copied: bin beside share.
        let (links, copy) = (folder.path + "/links", folder.path + "/copy")
        for place in [links, copy + "/bin", copy + "/share/pushload"] {
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        }
        for name in ["pushload", "mock-apns"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(links)/\(name)", withDestinationPath: Programs.path(name))
            // By another process, as a file that is open for writing here cannot be run.
            let copied = try Programs.run("/bin/cp", ["-L", Programs.path(name), "\(copy)/bin/\(name)"])
            try #require(copied.status == 0, "\(copied)")
        }
        #expect(try run(links + "/pushload", check).status == 0)
        let without = try run(copy + "/bin/pushload", check)
        #expect(without.status == 64 && without.error.contains("no bundled scenario of that name"), "\(without)")
        try FileManager.default.copyItem(
            atPath: AudienceTests.root + "/scenarios", toPath: copy + "/share/pushload/scenarios")
        let copied = try run(copy + "/bin/pushload", check)
        #expect(copied.status == 0, "\(copied)")
        let made = folder.path + "/mine.yaml"
        let initiated = try Programs.run("pushload", ["scenario", "init", made, "--from", "breaking-news-by-tag"])
        let rechecked = try Programs.run("pushload", ["scenario", "check", made])
        #expect(initiated.status == 0 && rechecked.status == 0, "\(initiated) \(rechecked)")
    }

    @Test("Feedback that cannot be applied because something cannot be written ends with 74")
    func unwritable() throws {
        // With its journal as long as a name may be: the journal cannot be moved away.
        let long = folder.path + "/" + String(repeating: "r", count: 242) + ".csv"
        try FileManager.default.copyItem(atPath: registrations, toPath: long)
        try "{\"token\":\"a0a0\",\"reason\":\"BadDeviceToken\",\"seen\":10}\n".write(
            toFile: long + ".feedback", atomically: false, encoding: .utf8)
        let moved = try AudienceTests.ask(["feedback", long, "--apply"])
        #expect(moved.status == 74 && moved.error.contains("cannot move the feedback journal"), "\(moved)")
        try FileManager.default.createDirectory(atPath: registrations + ".feedback", withIntermediateDirectories: true)
        let opened = try AudienceTests.ask(["feedback", registrations, "--apply"])
        #expect(opened.status == 74 && opened.error.contains("cannot open the feedback journal"), "\(opened)")
    }
}

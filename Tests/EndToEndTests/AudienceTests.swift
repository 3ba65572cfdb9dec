import Foundation
import TestSupport
import Testing

/// `pushload audience` as a user runs it.
@Suite("Registrations are made, checked and questioned", .waitsForPrograms) struct AudienceTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// Makes registrations in a folder of its own.
    static func made(_ folder: OutputFolder, _ name: String = "r.csv", rows: Int, seed: UInt64 = 7) throws -> String {
        let path = folder.path + "/" + name
        let finished = try Programs.run("pushload", ["audience", "make", path, "-n", "\(rows)", "--seed", "\(seed)"])
        try #require(finished.status == 0 && finished.error.isEmpty, "\(finished)")
        return path
    }

    static func ask(_ arguments: [String]) throws -> Finished { try Programs.run("pushload", ["audience"] + arguments) }

    /// What a question that has an answer prints.
    static func answer(_ arguments: [String]) throws -> String {
        let finished = try ask(arguments)
        try #require(finished.status == 0 && finished.error.isEmpty, "\(arguments): \(finished)")
        return finished.output
    }

    @Test("The same seed makes the same file; another one another; a file that is there stays, without --force")
    func make() throws {
        let folder = try OutputFolder.made()
        let path = try Self.made(folder, rows: 2000)
        let contents = try Data(contentsOf: URL(fileURLWithPath: path))
        let output = try Self.answer(["make", "-", "-n", "2k", "--seed", "7"])
        #expect(Data(output.utf8) == contents)
        let other = try Self.answer(["make", "-", "-n", "2k", "--seed", "8"])
        #expect(other != output)
        let refused = try Self.ask(["make", path, "-n", "10"])
        #expect(refused.status == 64 && refused.error.contains("is there already; give another name, or --force"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == contents)
        let users = try Self.answer(["make", path, "--users", "100", "--force"])
        #expect(
            users.hasPrefix("wrote \(path): ") && users.contains(" registrations with some of 200 possible tags, "),
            "\(users)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["r.csv"])
    }

    @Test("A description says what registrations are like, and what is wrong in it is said with line and column")
    func description() throws {
        let folder = try OutputFolder.made()
        let described = folder.path + "/people.yaml"
        try "rows: 500\nseed: 3\ntags: {a: 100%, b: 50%}\n".write(toFile: described, atomically: true, encoding: .utf8)
        let path = folder.path + "/r.ndjson"
        _ = try Self.answer(["make", path, "--description", described])
        #expect(try Self.answer(["count", "a", "--registrations", path]) == "500\n")
        try "rows: 50\ntags: {a: 50%, b: 50%}\ncorrelations: [{if: a, then: b, times: 3}]\n"
            .write(toFile: described, atomically: true, encoding: .utf8)
        let capped = try Self.ask(["make", path, "--force", "--description", described])
        #expect(capped.status == 0 && capped.error.contains("correlations: with a b would be 150.0 %"), "\(capped)")
        try "rows: 500\ntags: {a: 100%}\nseeds: 3\n".write(toFile: described, atomically: true, encoding: .utf8)
        let wrong = try Self.ask(["make", path, "--force", "--description", described])
        #expect(wrong.status == 64 && wrong.error.contains("people.yaml:3:1: unknown key"), "\(wrong)")
    }

    @Test("check looks at every row, and names line and column of the first that is wrong")
    func check() throws {
        let folder = try OutputFolder.made()
        let path = try Self.made(folder, rows: 2000)
        let summary = try Self.answer(["check", path])
        #expect(summary.hasPrefix("\(path): 2,000 registrations of 2,000 devices, 200 tags, 1 topic, "), "\(summary)")
        #expect(summary.hasSuffix(" expired\n"), "\(summary)")
        var lines = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
        lines[1200] = "x" + lines[1200].dropFirst()
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let wrong = try Self.ask(["check", path])
        #expect(wrong.status == 64 && wrong.output.isEmpty, "\(wrong)")
        #expect(wrong.error.hasPrefix("pushload: \(path):1201:1: character 'x' in a device token"), "\(wrong)")
    }

    @Test("count and list select what an independent evaluator selects, for 60 random expressions")
    func evaluator() throws {
        let python = Self.root + "/.build/python/bin/python3"
        try #require(FileManager.default.isExecutableFile(atPath: python), "run make test-deps first")
        let script = Self.root + "/Tests/AudienceTests/Python/evaluate_rows.py"
        let folder = try OutputFolder.made()
        let seed = UInt64.random(in: 1...999_999_999)
        var random = SeededRandom(seed)
        let files = try ["r.csv", "r.ndjson"].map { try Self.made(folder, $0, rows: 1500, seed: seed) }
        let now = "\(Int(Date().timeIntervalSince1970))"
        for round in 0..<60 {
            let expression = Self.expression(depth: Int.random(in: 0...4, using: &random), &random)
            let file = files[round % 2]
            let filters = [[], ["--environment", "development"], ["--topic", "com.example.pushload"]]
                .randomElement(using: &random)!
            let expected = try Programs.run(python, [script, "--list", file, expression, "--now", now] + filters)
            try #require(expected.status == 0, "\(expected)")
            let asked = [expression, "--registrations", file, "--no-limits", "--allow-unknown"] + filters
            let note: Comment = "seed \(seed), round \(round): \(expression) \(filters)"
            #expect(try Self.answer(["list"] + asked) == expected.output, note)
            let count = expected.output.split(separator: "\n").count
            #expect(try Self.answer(["count"] + asked) == "\(count)\n", note)
            guard round % 10 == 0 else { continue }
            let explained = try Self.ask(["explain", "--json"] + asked).read(Explained.self)
            #expect(explained.registrations == count && explained.steps.last?.after == count, note)
        }
    }

    private struct Explained: Decodable {
        struct Step: Decodable {
            let after: Int
            let milliseconds: Double
        }
        let registrations: Int
        let steps: [Step]
    }

    private static func expression(depth: Int, _ random: inout SeededRandom) -> String {
        guard depth > 0 else {
            let tags = [
                "follows_RedSox", "follows_Cardinals", "location_Boston", "location_Tokyo", "lang_en", "lang_es",
                "tag_\(Int.random(in: 1...176, using: &random))", "username:\(Int.random(in: 0..<900, using: &random))",
                "nobody",
            ]
            return tags.randomElement(using: &random)!
        }
        let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in expression(depth: depth - 1, &random) }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return "!(\(parts[0]))"
        case 1: return "(\(parts.joined(separator: ") && (")))"
        default: return "(\(parts.joined(separator: ") || (")))"
        }
    }

    @Test("explain shows each step with rows before and after and its time; stats what registrations are like")
    func looking() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/r.csv"
        try """
        token,tags,language,environment
        aa01,red;blue,en,production
        aa02,red,en,development
        AA01,blue,de,production
        aa03,,,production

        """.write(toFile: path, atomically: true, encoding: .utf8)
        let text = try Self.answer(
            ["explain", "red && !blue", "--environment", "development", "--registrations", path])
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.count == 5 && lines[0] == "before after ms step", "\(text)")
        #expect(lines[1].hasPrefix("- 2 ") && lines[1].hasSuffix(" take red (2)"), "\(text)")
        #expect(lines[2].hasPrefix("2 1 ") && lines[2].hasSuffix(" subtract blue (2)"), "\(text)")
        #expect(lines[3].hasSuffix(" keep environment development (1)"), "\(text)")
        #expect(lines[4].hasPrefix("1 registration of 1 device, out of 4, in "), "\(text)")
        let stats = try Self.answer(["stats", path])
        #expect(
            stats.hasPrefix("4 registrations of 3 devices, 1 of them with several; 0 expired, 0 gone by feedback"),
            "\(stats)")
        #expect(stats.contains("tags: 2\n  2  50.0 %  blue\n  2  50.0 %  red\n"), "\(stats)")
        struct Stats: Decodable {
            struct Named: Decodable { let name: String, registrations: Int }
            let devicesWithSeveral: Int
            let languages: [Named]

            enum CodingKeys: String, CodingKey {
                case devicesWithSeveral = "devices_with_several"
                case languages
            }
        }
        let read = try Self.ask(["stats", path, "--json", "--most", "1"]).read(Stats.self)
        #expect(read.devicesWithSeveral == 1 && read.languages.map(\.name) == ["en"])
        let counted = try Self.answer(["count", "*", "--json", "--registrations", path])
        #expect(counted.contains("\"devices\" : 3") && counted.contains("\"registrations\" : 4"), "\(counted)")
    }

    @Test(
        "What cannot be answered is refused with one line",
        arguments: [
            (["count", "follows_RedSocks"], "line 1, column 1: no registration has the tag \"follows_RedSocks\""),
            (
                ["count", "lang_en &&\n  folows_RedSox"],
                "line 2, column 3: no registration has the tag \"folows_RedSox\"; did you"
            ),
            (["count", "lang_en && "], "line 1, column "),
            (
                ["count", "*", "--environment", "prod"],
                "--environment: unknown environment \"prod\"; expected one of production, development, any"
            ),
            (["count", "*", "--topic", "com.example.pushloa"], "did you mean \"com.example.pushload\"?"),
            (["count", "a||b&&c||d&&e||f&&g", "--allow-unknown"], "with && and ||; --no-limits takes more"),
            (["make", "NEW.csv", "-n", "10", "--users", "10"], "give -n or --users, not both"),
            (["make", "NEW.txt", "-n", "10"], "expected a name that ends with .csv, .ndjson or .jsonl"),
            (["make", "NEW.csv", "-n", "ten"], "-n: \"ten\" is not a count"),
        ])
    func refused(arguments: [String], said: String) throws {
        let folder = try OutputFolder.made()
        let path = try Self.made(folder, rows: 300)
        let isQuestion = arguments[0] == "count"
        let all = arguments.map { $0.replacing("NEW", with: folder.path + "/new") }
        let finished = try Self.ask(all + (isQuestion ? ["--registrations", path] : []))
        #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
        let error = finished.error
        #expect(error.contains(said) && error.hasPrefix("pushload: ") && error.last == "\n", "\(error)")
        #expect(error.split(separator: "\n").count == 1, "\(error)")
        if isQuestion, said.contains("no registration has the tag") {
            let allowed = try Self.answer(all + ["--allow-unknown", "--registrations", path])
            #expect(allowed == "0\n")
        }
    }

    @Test("feedback shows what the journal says and applies it")
    func feedback() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/r.csv"
        try "token,tags\naa01,red\naa02,red\naa03,blue\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try Self.answer(["feedback", path]) == "\(path).feedback: nothing\n")
        let journal = """
            {"token":"AA01","reason":"Unregistered","timestamp":1700000000000,"seen":10}
            {"token":"aa03","reason":"BadDeviceToken","seen":10}
            {"token":"aa02","reason":"Unreg
            """
        try journal.write(toFile: path + ".feedback", atomically: true, encoding: .utf8)
        /// Each command says what it leaves out, on one line.
        func answer(_ arguments: [String]) throws -> String {
            let finished = try Self.ask(arguments)
            let note =
                "pushload: \(path).feedback:3: this last line is not whole and left out, 31 bytes: "
                + "who wrote it was killed, or is at it still\n"
            #expect(finished.status == 0 && finished.error == note, "\(arguments): \(finished)")
            return finished.output
        }
        #expect(
            try answer(["feedback", path])
                == "\(path).feedback: 2 lines (1 BadDeviceToken, 1 Unregistered); 1 of 3 registrations gone\n")
        #expect(try answer(["list", "*", "--registrations", path]) == "aa02\naa03\n")
        let applied = try answer(["feedback", path, "--apply"])
        #expect(applied.hasPrefix("\(path): 1 registration gone, 2 stay; only reported: 1 BadDeviceToken\n"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "token,tags\naa02,red\naa03,blue\n")
        #expect(try Self.answer(["feedback", path, "--apply"]) == "\(path).feedback: nothing to apply\n")
    }

    @Test("Ctrl-C ends make, and nothing of the file stays")
    func interrupted() throws {
        let folder = try OutputFolder.made()
        let making = try Programs.start("pushload", ["audience", "make", folder.path + "/r.csv", "-n", "20M"])
        for _ in 0..<3000 where try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty {
            usleep(1000)
        }
        kill(making.process.processIdentifier, SIGINT)
        let finished = try making.wait()
        #expect(finished.status == 1 && finished.error.contains("interrupted; nothing of "), "\(finished)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}

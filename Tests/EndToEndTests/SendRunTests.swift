import Foundation
import Results
import Testing

/// Runs to registrations, held against what the mock says it got.
@Suite(.serialized, .waitsForPrograms) struct SendRunTests {
    /// A request as the mock's `/pushes` has it.
    private struct Arrival: Decodable {
        let token: String
        let status: Int
        let payload: String
        let priority: Int
        let topic: String?
    }

    /// A registration as the tests know it.
    private struct Row {
        let token: String
        let tags: Set<String>
    }

    private static func token(_ number: Int) -> String {
        // Spread, so that no order in the file is one of the tokens.
        let mixed = UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15
        let hex = String(mixed, radix: 16)
        let text = String(repeating: "0", count: 16 - hex.count) + hex
        return String(repeating: text, count: 4)
    }

    private static let rows: [Row] = (0..<3000).map { number in
        var tags: Set<String> = ["location_" + ["Boston", "Berlin", "Lima", "St.Louis"][number % 4]]
        if number % 3 == 0 { tags.insert("follows_RedSox") }
        if number % 5 == 0 { tags.insert("follows_Cardinals") }
        if number % 7 == 0 { tags.insert("lang_de") }
        return Row(token: token(number), tags: tags)
    }

    /// The file of `rows` in a folder.
    private func registrations(_ folder: OutputFolder) throws -> String {
        let path = folder.path + "/registrations.csv"
        let lines = Self.rows.map { "\($0.token),\($0.tags.sorted().joined(separator: ";"))\n" }
        try ("token,tags\n" + lines.joined()).write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func mock(_ arguments: [String] = []) throws -> Mock {
        try Mock(["--admin-port", "0", "--keep-pushes", "20000"] + arguments)
    }

    /// What the mock got, in the order in which it came.
    private func arrivals(_ mock: Mock) throws -> [Arrival] {
        let url = "http://127.0.0.1:\(try mock.port(of: "admin"))/pushes?limit=100000"
        return try Programs.run("/usr/bin/curl", ["-s", url]).read([Arrival].self)
    }

    private func load(_ mock: Mock, _ arguments: [String]) throws -> (ResultDocument, Int32, String) {
        try Programs.load(["--target", mock.url, "--credentials", mock.folder] + arguments)
    }

    /// Of each send the books balance; so do those of the run, which has what its sends have.
    private func balance(_ result: ResultDocument, _ counts: [UInt64]) throws {
        let sends = try #require(result.sends)
        #expect(sends.map(\.pushes) == counts)
        for send in sends {
            #expect(
                send.pushes == send.accepted + send.rejected + send.failed + send.notSent, "\(send)")
        }
        let pushes = result.pushes
        #expect(pushes.planned == pushes.accepted + pushes.rejected + pushes.failed + pushes.notSent, "\(pushes)")
        for (whole, part) in [
            (pushes.planned, \ResultDocument.Send.pushes), (pushes.accepted, \.accepted), (pushes.rejected, \.rejected),
            (pushes.failed, \.failed), (pushes.notSent, \.notSent),
        ] { #expect(whole == sends.reduce(0) { $0 + $1[keyPath: part] }, "\(pushes) \(sends)") }
    }

    @Test("Exactly the registrations that an expression chooses get a push each, by the mock's word")
    func audience() throws {
        let folder = try OutputFolder.made()
        let mock = try mock()
        let chosen = Self.rows.filter {
            $0.tags.contains("follows_RedSox") && !($0.tags.contains("location_Boston") || $0.tags.contains("lang_de"))
        }
        let (result, status, error) = try load(
            mock,
            [
                "--registrations", try registrations(folder), "--audience",
                "follows_RedSox && !(location_Boston || lang_de)", "-t", "2", "-c", "2", "--by", "tag:location_",
            ])
        #expect(status == 0, "\(error)")
        #expect(try arrivals(mock).map(\.token).sorted() == chosen.map(\.token).sorted())
        let count = UInt64(chosen.count)
        try balance(result, [count])
        let send = try #require(result.sends?.first)
        #expect(send.devices == count && send.accepted == count && send.fanOut.max != nil, "\(send)")
        #expect(
            result.breakdown["tag:location_"]?.mapValues(\.accepted)
                == Dictionary(grouping: chosen) { $0.tags.first { $0.hasPrefix("location_") }! }.mapValues {
                    UInt64($0.count)
                })
        _ = try mock.stop()
    }

    @Test(
        "Three sends to audiences that overlap: each device has as many pushes as expressions choose it",
        arguments: [[], ["--rate", "2k"], ["--rate", "2k", "--arrivals", "poisson"]])
    func three(_ load: [String]) throws {
        let folder = try OutputFolder.made()
        let mock = try mock()
        let chosen: [(Row) -> Bool] = [
            { $0.tags.contains("follows_RedSox") || $0.tags.contains("follows_Cardinals") }, { _ in true },
            { $0.tags.contains("location_Lima") && !$0.tags.contains("lang_de") },
        ]
        let (result, status, error) = try self.load(
            mock,
            [
                "--registrations", try registrations(folder), "-t", "2", "-c", "3",
                "--send", "{name: game, audience: follows_RedSox || follows_Cardinals, start: 50ms, priority: 10}",
                "--send", "{name: all, audience: '*', priority: 5}",
                "--send", "{name: lima, audience: \"location_Lima && !lang_de\", start: 20ms, profile: silent}",
                "--threshold", "p99{send=game} < 60s",
            ] + load)
        #expect(status == 0, "\(error)")
        var expected: [String: Int] = [:]
        for row in Self.rows { expected[row.token] = chosen.count { $0(row) } }
        let arrived = try arrivals(mock)
        #expect(Dictionary(grouping: arrived, by: \.token).mapValues(\.count) == expected)
        let counts = chosen.map { choice in UInt64(Self.rows.count { choice($0) }) }
        try balance(result, counts)
        #expect(result.sends?.map(\.accepted) == counts)
        // Background pushes have priority 5, as has the second send.
        #expect(arrived.count { $0.priority == 10 } == Int(counts[0]))
        #expect(
            result.breakdown["send"]?.mapValues(\.accepted) == ["game": counts[0], "all": counts[1], "lima": counts[2]])
        #expect(
            result.breakdown["profile"]?.mapValues(\.accepted)
                == ["alert": counts[0] + counts[1], "silent": counts[2]])
        for send in result.sends ?? [] {
            #expect(result.histograms["fan_out_us{send=\(send.name)}"] != nil)
            let times = send.fanOut
            #expect(times.first ?? 9 <= times.p50 ?? 0 && times.p99 ?? 9 <= times.max ?? 0, "\(times)")
            #expect(times.max == times.last)
        }
        _ = try mock.stop()
    }

    @Test(
        "Breaking news goes before what is left of a newsletter, in open and in closed loop", arguments: [true, false])
    func overtaking(_ isOpen: Bool) throws {
        let folder = try OutputFolder.made()
        // A closed loop of ten streams with answers after 20 ms sends 500 a second at most, however fast the machine is.
        let mock = try mock(isOpen ? [] : ["--latency", "20ms"])
        let (result, status, error) = try load(
            mock,
            [
                "--registrations", try registrations(folder), "-c", "1",
                "--send", "{name: letter, audience: location_Boston || location_Lima, priority: 5}",
                "--send", "{name: breaking, audience: follows_RedSox && lang_de, start: 400ms, priority: 10}",
            ] + (isOpen ? ["--rate", "800"] : ["-m", "10"]))
        #expect(status == 0, "\(error)")
        let priorities = try arrivals(mock).map(\.priority)
        let (first, last) = (
            try #require(priorities.firstIndex(of: 10)), try #require(priorities.lastIndex(of: 10))
        )
        let breaking = Self.rows.count { $0.tags.isSuperset(of: ["follows_RedSox", "lang_de"]) }
        #expect(priorities.count == 1500 + breaking && breaking > 100)
        // Begun after 320 letters of 800 a second, or 210 at most of 500 a second; a few pass one another on their way.
        #expect(first <= (isOpen ? 330 : 250), "\(first)")
        #expect(last <= first + breaking + 20, "\(first) to \(last)")
        let sends = try #require(result.sends)
        let (letter, news) = (try #require(sends[0].fanOut.max), try #require(sends[1].fanOut.max))
        #expect(letter > sends[1].start + news, "\(sends)")
        _ = try mock.stop()
    }

    @Test("Each registration's own template is filled with the send's properties, by the payloads at the mock")
    func templates() throws {
        let folder = try OutputFolder.made()
        let texts = folder.path + "/texts"
        try FileManager.default.createDirectory(atPath: texts, withIntermediateDirectories: true)
        for (language, word) in [("en", "Goal"), ("de", "Tor")] {
            try
                ##"{"aps": {"alert": {"title": "{'\##(word): ' + $(title)}", "body": "$(body)"}}, "minute": "#(minute)"}"##
                .write(toFile: "\(texts)/\(language).json", atomically: true, encoding: .utf8)
        }
        let path = folder.path + "/r.csv"
        let languages = ["en", "de", ""]
        let own = #""{""aps"":{""alert"":""{'own ' + $(body, 3)}""}}""#
        let lines = (0..<400).map { number in
            "\(Self.token(number)),all,\(number % 4 == 3 ? own : languages[number % 4])\n"
        }
        try ("token,tags,template\n" + lines.joined()).write(toFile: path, atomically: true, encoding: .utf8)
        let mock = try mock()
        let arguments = ["--registrations", path, "--audience", "all", "--templates", texts, "-t", "2", "-c", "2"]
        let given = ["--property", "title=Müller \"the\" 7", "--property", "body=1 : 0", "--property", "minute=90"]
        let (result, status, error) = try load(mock, arguments + given)
        #expect(status == 0 && result.pushes.accepted == 400, "\(error)")
        var kinds: [String: Int] = [:]
        for arrival in try arrivals(mock) {
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(arrival.payload.utf8)) as? [String: Any])
            let alert = (json["aps"] as? [String: Any])?["alert"]
            let number = try #require((0..<400).first { Self.token($0) == arrival.token })
            let texts = alert as? [String: String]
            switch number % 4 {
            case 0, 1:
                let word = number % 4 == 0 ? "Goal" : "Tor"
                #expect(texts == ["title": "\(word): Müller \"the\" 7", "body": "1 : 0"], "\(arrival.payload)")
                #expect(json["minute"] as? Int == 90)
            case 3: #expect(alert as? String == "own 1 :", "\(arrival.payload)")
            // Without a template: the profile's.
            default: #expect(json["minute"] == nil && alert != nil, "\(arrival.payload)")
            }
            kinds["\(number % 4)", default: 0] += 1
        }
        #expect(kinds == ["0": 100, "1": 100, "2": 100, "3": 100])

        // A template that lacks a property is refused with a registration that has it, before anything is sent.
        let before = try arrivals(mock).count
        let lacking = try Programs.run(
            "pushload",
            ["run", "--target", mock.url, "--credentials", mock.folder, "--output", folder.path + "/o"] + arguments
                + given.dropFirst(2))
        #expect(lacking.status == 64, "\(lacking)")
        #expect(lacking.error.contains("\(path):3:70: \(texts)/de.json:1:41: "), "\(lacking.error)")
        #expect(lacking.error.contains("title"), "\(lacking.error)")
        #expect(try arrivals(mock).count == before)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/o"))
        _ = try mock.stop()
    }

    @Test("Who has expired, or has another topic, is left out, with a note of how many; a topic nobody has is refused")
    func leftOut() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/r.csv"
        let lines = (0..<300).map { number in
            let expires = number % 10 == 0 ? "2020-01-01T00:00:00Z" : number % 10 == 1 ? "2099-01-01T00:00:00Z" : ""
            return "\(Self.token(number)),all,\(["com.example.app", "com.example.other", ""][number % 3]),\(expires)\n"
        }
        try ("token,tags,topic,expires\n" + lines.joined()).write(toFile: path, atomically: true, encoding: .utf8)
        let mock = try mock()
        let arguments = ["--registrations", path, "--audience", "*"]
        let (result, status, error) = try load(mock, arguments + ["--topic", "com.example.app"])
        #expect(status == 0, "\(error)")
        let expected = (0..<300).filter { $0 % 10 != 0 && $0 % 3 == 0 }.map(Self.token)
        let arrived = try arrivals(mock)
        #expect(arrived.map(\.token).sorted() == expected.sorted())
        #expect(Set(arrived.map(\.topic)) == ["com.example.app"])
        #expect(result.notes.contains("30 registrations of \(path) left out: expired"), "\(result.notes)")
        #expect(
            result.notes.contains(
                "180 registrations of \(path) left out: of another topic than com.example.app, or of none"),
            "\(result.notes)")
        let refused = try Programs.run("pushload", ["run", "--topic", "com.example.othr"] + arguments)
        #expect(
            refused.status == 64 && refused.error.contains("there are \"com.example.app\", \"com.example.other\""),
            "\(refused)"
        )
        _ = try mock.stop()
    }

    @Test("A tag that nobody has is refused with its place and the nearest there is, and nothing is sent")
    func unknown() throws {
        let folder = try OutputFolder.made()
        let path = try registrations(folder)
        func refusal(_ arguments: [String]) throws -> String {
            let finished = try Programs.run(
                "pushload", ["run", "--registrations", path, "--output", folder.path + "/o"] + arguments)
            #expect(finished.status == 64, "\(finished)")
            return finished.error
        }
        #expect(
            try refusal(["--audience", "lang_de && follows_Redsox"])
                == "pushload: audience, line 1, column 12: no registration has the tag \"follows_Redsox\"; did you mean \"follows_RedSox\"?\n"
        )
        #expect(
            try refusal(["--send", "{name: a, audience: '*'}", "--send", "{name: b, audience: 'lang_de || lang_dee'}"])
                == "pushload: sends: b, line 1, column 12: no registration has the tag \"lang_dee\"; did you mean \"lang_de\"?\n"
        )
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/o"))
    }

    private static let sends = [
        "--send", "{name: all, audience: '*', priority: 5}",
        "--send", "{name: game, audience: follows_RedSox, start: 100ms, priority: 10}",
        "--send", "{name: late, audience: lang_de, start: 1h}",
    ]
    private static let counts: [UInt64] = [3000, 1000, 429]

    @Test(
        "Interrupted, the run and each of its sends have every push: ended, or not sent", arguments: [true, false])
    func interrupted(_ isOpen: Bool) throws {
        let folder = try OutputFolder.made()
        let mock = try mock(["--latency", "20ms"])
        let run = try Programs.start(
            "pushload",
            [
                "run", "--json", "--target", mock.url, "--credentials", mock.folder, "--output", folder.path + "/o",
                "--registrations", try registrations(folder), "-t", "2", "-c", "3", "-m", "3",
            ] + Self.sends + (isOpen ? ["--rate", "500"] : []))
        // Some have been answered, and there are some left.
        for _ in 0..<6000 where run.process.isRunning {
            if try arrivals(mock).count > 150 { break }
            usleep(20_000)
        }
        kill(run.process.processIdentifier, SIGINT)
        let finished = try run.wait()
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: finished.error)
        #expect(result.run.interrupted && finished.status != 0)
        try balance(result, Self.counts)
        let sends = try #require(result.sends)
        #expect(sends[0].accepted > 0 && sends[2].notSent == 429 && sends[2].fanOut.first == nil, "\(sends)")
        #expect(sends[0].fanOut.max == nil)
        // So does each row of the table by send, with what was never taken from the plan.
        for send in sends {
            let part = try #require(result.breakdown["send"]?[send.name])
            #expect(
                [part.accepted, part.rejected, part.failed, part.notSent]
                    == [send.accepted, send.rejected, send.failed, send.notSent], "\(part)")
        }
        #expect(!result.notes.contains { $0.hasPrefix("the breakdown leaves out") }, "\(result.notes)")
        _ = try mock.stop()
    }

    @Test("A threshold on the only send is one on the run", arguments: ["news", "breaking news", "a < b && c"])
    func only(_ name: String) throws {
        let folder = try OutputFolder.made()
        let path = try registrations(folder)
        func run(_ limit: String) throws -> Finished {
            try Programs.run(
                "pushload",
                [
                    "run", "--quiet", "--registrations", path, "--output", folder.path + "/o", "--send",
                    "{name: \(name), audience: lang_de}", "--threshold", "p99{send=\(name)} < \(limit)",
                ])
        }
        let (held, crossed) = (try run("60s"), try run("1ns"))
        #expect(held.status == 0 && !held.error.contains("no such figure"), "\(held)")
        #expect(crossed.status == 99 && !(crossed.error + crossed.output).contains("no such figure"), "\(crossed)")
    }

    @Test("While no send has pushes left nothing is asked for, and a share of the target is of the same time")
    func gap() throws {
        let folder = try OutputFolder.made()
        let (result, _, _) = try Programs.load([
            "--registrations", try registrations(folder), "--rate", "2k",
            "--send", "{name: a, audience: lang_de}", "--send", "{name: b, audience: lang_de, start: 1s}",
        ])
        // 429 pushes from 0 and from 1 s on, each lot in 0.2145 s: the window ends with the last one's interval.
        let throughput = result.throughput
        #expect(abs(throughput.windowSeconds - 1.2145) < 1e-6, "\(throughput)")
        #expect(abs((throughput.offered ?? 0) - 858 / 1.2145) < 0.01, "\(throughput)")
        try balance(result, [429, 429])
    }

    @Test("A schedule of nanoseconds has no rate, which is said, and nothing is judged by one")
    func tooShort() throws {
        let folder = try OutputFolder.made()
        let arguments = ["run", "-n", "10", "--rate", "1G", "--output", folder.path + "/o"]
        let run = try Programs.run("pushload", arguments)
        #expect(run.status == 0 && run.output.contains("no rates: less than 1 ms was measured"), "\(run)")
        #expect(!run.output.contains("/s offered") && !run.output.contains("/s sent"), "\(run)")
        let judged = try Programs.run("pushload", arguments + ["--threshold", "rate >= 1"])
        #expect(judged.status == 99 && judged.output.contains("rate >= 1: the run has no such figure"), "\(judged)")
    }

    @Test("With its target killed, the run and each of its sends have every push", arguments: [true, false])
    func killed(_ isOpen: Bool) throws {
        let folder = try OutputFolder.made()
        let mock = try mock(["--latency", "20ms"])
        let run = try Programs.start(
            "pushload",
            [
                "run", "--json", "--target", mock.url, "--credentials", mock.folder, "--output", folder.path + "/o",
                "--registrations", try registrations(folder), "-t", "2", "-c", "3", "-m", "3", "--give-up-after",
                "500ms", "--retry", "connection",
            ] + Self.sends.dropLast(2) + ["--send", "{name: late, audience: lang_de, start: 6s}"]
                + (isOpen ? ["--rate", "500"] : []))
        for _ in 0..<6000 where run.process.isRunning {
            if try arrivals(mock).count > 150 { break }
            usleep(20_000)
        }
        kill(mock.running.process.processIdentifier, SIGKILL)
        let finished = try run.wait()
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: finished.error)
        #expect(finished.status != 0 && result.pushes.accepted > 0)
        try balance(result, Self.counts)
        let late = try #require(result.sends?.last)
        #expect(late.accepted == 0 && late.notSent == 429, "\(late)")
    }

    @Test("Pushes that are sent again stay those of their send")
    func retried() throws {
        let folder = try OutputFolder.made()
        let (result, status, error) = try Programs.load(
            [
                "--registrations", try registrations(folder), "-t", "2", "-c", "2", "--retry", "429,5xx",
                "--retry-backoff", "5ms", "--retry-budget", "100%", "--retry-attempts", "20", "--mock-flags",
                "--fault-seed 3 --reject TooManyRequests=10%",
                "--send", "{name: all, audience: '*'}",
                "--send", "{name: game, audience: follows_RedSox, start: 20ms, priority: 10}",
            ])
        #expect(status == 0 && result.retries.attempts > 100, "\(error)")
        try balance(result, [3000, 1000])
        #expect(result.sends?.map(\.accepted) == [3000, 1000])
        #expect(result.pushes.lost == 0 && result.pushes.duplicated == 0)
    }

    @Test("Parts of a run merged have each send once; a search and a gate say what they make of sends")
    func others() throws {
        let folder = try OutputFolder.made()
        let path = try registrations(folder)
        let sends = ["--send", "{name: a, audience: lang_de}", "--send", "{name: b, audience: '*', start: 10ms}"]
        // Side by side: 3.4 s each.
        let runs = try ["1", "2"].map { part in
            try Programs.start(
                "pushload",
                [
                    "run", "--registrations", path, "--output", "\(folder.path)/\(part)", "--quiet", "--rate", "1k",
                ] + sends)
        }
        for run in runs {
            let finished = try run.wait()
            #expect(finished.status == 0, "\(finished)")
        }
        let files = try ["1", "2"].map { part in
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/\(part)").first)
            return "\(folder.path)/\(part)/\(name)/result.json"
        }
        let merged = try Programs.run("pushload", ["merge", "--output", folder.path + "/m.json"] + files)
        #expect(merged.status == 0, "\(merged)")
        let result = try ResultFile.read(folder.path + "/m.json")
        try balance(result, [858, 6000])
        #expect(result.sends?.allSatisfy { $0.fanOut.max != nil } == true)
        let search = try Programs.run(
            "pushload", ["search", "--goal", "p99 < 1s", "--registrations", path] + sends)
        #expect(search.status == 64 && search.error.contains("give an audience instead of sends"), "\(search)")
    }
}

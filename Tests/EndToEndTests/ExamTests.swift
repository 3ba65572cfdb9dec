import Foundation
import Testing

/// `mock-apns exam`, with clients that are not ours.
@Suite(.serialized, .waitsForPrograms) struct ExamTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    private static let python = root + "/.build/python/bin/python3"
    private static let examples = root + "/mock-apns/examples/exam/"

    private static let nothingAfter =
        "mock-apns: --: expected a command after it; without -- the exam waits for whoever connects\n"

    private struct Card: Decodable {
        struct Situation: Decodable {
            let name: String
            let connections: Int
            let criteria: [Criterion]
        }
        struct Criterion: Decodable {
            let id: String
            let weight: String
            let verdict: String
            let evidence: String
        }
        let client: String
        let situations: [Situation]

        /// Verdicts by the criteria's names.
        var verdicts: [String: String] {
            Dictionary(uniqueKeysWithValues: situations.flatMap(\.criteria).map { ($0.id, $0.verdict) })
        }

        func failed(_ weight: String) -> [String] {
            situations.flatMap(\.criteria).filter { $0.verdict == "failed" && $0.weight == weight }
                .map { "\($0.id): \($0.evidence)" }
        }
    }

    /// Holds an exam, and reads its card.
    private func examine(_ flags: [String], _ command: [String]) throws -> (finished: Finished, card: Card) {
        let folder = try OutputFolder.made()
        let path = folder.path + "/card.json"
        let finished = try Programs.run("mock-apns", ["exam", "--report", path] + flags + ["--"] + command)
        let card = try JSONDecoder().decode(Card.self, from: try Data(contentsOf: URL(fileURLWithPath: path)))
        return (finished, card)
    }

    private func requirePython() throws {
        try #require(FileManager.default.isExecutableFile(atPath: Self.python), "run make test-deps first")
    }

    @Test("A provider on Node's http2 that does what the rules say passes every situation")
    func node() throws {
        let (finished, card) = try examine(
            ["--name", "node", "--patience", "2"], ["node", Self.examples + "node_exam.js"])
        #expect(card.failed("must").isEmpty, "\(card.failed("must"))")
        #expect(finished.status == 0 && card.situations.count == 19)
        let shown = card.verdicts.filter { $0.value == "not shown" }.keys.sorted()
        #expect(shown.isEmpty, "\(shown)")
    }

    @Test("aioapns: refused streams hang it, an expired token stays, what can never arrive is not sent again")
    func aioapns() throws {
        try requirePython()
        let (finished, card) = try examine(
            [
                "--time-limit", "8s", "--only", "refused-streams", "unregistered", "expired-token", "token-updates",
                "ping",
            ],
            [Self.python, Self.examples + "aioapns_exam.py"])
        let verdicts = card.verdicts
        #expect(finished.status == 1)
        for id in ["refused-streams.arrived", "refused-streams.ended", "expired-token.renewed"] {
            #expect(verdicts[id] == "failed", "\(id): \(finished.output)")
        }
        for id in [
            "refused-streams.once", "unregistered.not-again", "unregistered.arrived", "token-updates.one",
            "token-updates.form", "ping.acknowledged", "ping.arrived",
        ] { #expect(verdicts[id] == "passed", "\(id): \(finished.output)") }
    }

    @Test("Java's java.net.http sends nothing again that was refused, and acknowledges PING")
    func java() throws {
        let (finished, card) = try examine(
            ["--only", "refused-streams", "ping", "unregistered", "--name", "java.net.http", "--patience", "2"],
            ["java", Self.examples + "Exam.java"])
        #expect(card.client == "java.net.http" && finished.status == 1)
        #expect(card.verdicts["refused-streams.arrived"] == "failed", "\(finished.output)")
        for id in ["refused-streams.once", "ping.acknowledged", "ping.arrived", "unregistered.not-again"] {
            #expect(card.verdicts[id] == "passed", "\(id): \(finished.output)")
        }
    }

    @Test("A client that does everything wrong is found out, each time by its own criterion")
    func reckless() throws {
        try requirePython()
        let (finished, card) = try examine(
            [
                "--plaintext", "--only", "one-stream", "settings-shrink", "stalled-window", "goaway", "cut", "down",
                "unavailable", "retry-after", "unregistered", "expired-token", "token-updates", "ping",
            ],
            [Self.python, Self.root + "/Tests/EndToEndTests/Python/reckless_client.py"])
        #expect(finished.status == 1)
        for id in [
            "one-stream.limit", "settings-shrink.limit", "stalled-window.window", "goaway.new-streams",
            "unavailable.calm", "unavailable.pause", "retry-after.pause", "unregistered.not-again",
            "expired-token.renewed", "expired-token.not-again", "expired-token.old", "ping.acknowledged", "down.storm",
            "down.back-off", "cut.unheard",
        ] { #expect(card.verdicts[id] == "failed", "\(id): \(card.verdicts[id] ?? "-")") }
        for id in ["ping.came", "token-updates.one", "token-updates.form"] {
            #expect(card.verdicts[id] == "passed", "\(id): \(finished.output)")
        }
    }

    /// A program that runs pushload as the exam's client.
    private func pushload(in folder: OutputFolder, _ flags: String = "") throws -> String {
        try folder.script(
            "client",
            "exec '\(Programs.path("pushload"))' run -n 20 -c 1 --quiet --target \"$EXAM_URL\" --cacert \"$EXAM_CA\" "
                + "--key \"$EXAM_KEY\" --key-id \"$EXAM_KEY_ID\" --team-id \"$EXAM_TEAM_ID\" --topic \"$EXAM_TOPIC\" "
                + "--device-file \"$EXAM_TOKENS\" --output '\(folder.path)/results' \(flags)")
    }

    @Test(
        "pushload itself: nothing is lost or doubled by GOAWAY, refusals, shrinking SETTINGS, stalled windows, idle ends"
    )
    func pushload() throws {
        let folder = try OutputFolder.made()
        let (finished, card) = try examine(
            [
                "--only", "one-stream", "settings-shrink", "refused-streams", "stalled-window", "goaway", "idle",
                "ping",
                "token-updates", "trickle", "--name", "pushload",
            ], [try pushload(in: folder)])
        #expect(card.failed("must").isEmpty && finished.status == 0, "\(card.failed("must"))")
    }

    @Test("pushload itself: an expired token is replaced, Retry-After is waited for, a silent connection is given up")
    func pushloadPatience() throws {
        let folder = try OutputFolder.made()
        let (finished, card) = try examine(
            ["--only", "expired-token", "retry-after", "silent", "--time-limit", "30s"],
            [try pushload(in: folder, "--retry 429,5xx --retry-budget 100%")])
        #expect(card.failed("must").isEmpty && card.failed("should").isEmpty, "\(finished.output)")
        #expect(card.verdicts["expired-token.renewed"] == "passed" && card.verdicts["retry-after.pause"] == "passed")
        #expect(card.verdicts["silent.noticed"] == "passed", "\(finished.output)")
    }

    @Test("Without a command whoever connects is examined, until nothing comes any more")
    func waiting() throws {
        let exam = try Programs.start(
            "mock-apns", ["exam", "--only", "unregistered", "--quiet", "1s", "--time-limit", "1m"])
        try exam.waitForError("unregistered: waiting for the client")
        var environment: [String: String] = [:]
        for line in exam.errorText.split(separator: "\n") where line.hasPrefix("EXAM_") {
            let parts = line.split(separator: "=", maxSplits: 1)
            environment[String(parts[0])] = String(parts[1])
        }
        #expect(environment.count == 10, "\(environment)")
        let client = try Programs.start(
            "/usr/bin/env", ["node", Self.examples + "node_exam.js"], environment: environment
        ).wait()
        #expect(client.status == 0, "\(client)")
        let finished = try exam.wait()
        #expect(finished.status == 0, "\(finished)")
        #expect(finished.output.contains("client: 1 situation: 4 passed, 0 failed, 1 not shown"), "\(finished.output)")
        #expect(!FileManager.default.fileExists(atPath: try #require(environment["EXAM_TOKENS"])))
    }

    @Test("What fails an exam can be chosen, and every format is written")
    func formats() throws {
        let folder = try OutputFolder.made()
        let paths = ["card.xml", "card.html", "card.json"].map { folder.path + "/" + $0 }
        let finished = try Programs.run(
            "mock-apns",
            ["exam", "--only", "ping", "--fail-on", "never"] + paths.flatMap { ["--report", $0] } + ["--", "true"])
        #expect(finished.status == 0 && finished.output.contains("FAILED    must   comes with pushes: 0 of 20"))
        for (path, start) in zip(paths, ["<?xml", "<!doctype html>", "{\n"]) {
            #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix(start), "\(path)")
        }
        #expect(try Programs.run("mock-apns", ["exam", "--only", "ping", "--", "true"]).status == 1)
    }

    @Test(
        "What is asked wrongly is refused in one line",
        arguments: [
            (["--only", "go-away"], "mock-apns: --only go-away: no such situation; did you mean \"goaway\"?\n"),
            (
                ["--report", "card.txt"],
                "mock-apns: --report card.txt: expected a name that ends with .json, .xml or .html\n"
            ),
            (["--pushes", "3"], "mock-apns: --pushes 3: expected 10 to 1000\n"),
            (["--patience", "0"], "mock-apns: --patience 0.0: expected 0.1 to 100\n"),
            (["--fail-on", "shoud"], "mock-apns: --fail-on shoud; did you mean \"should\"?\n"),
            (
                ["--time-limit", "1s", "--only", "ping", "slow"],
                "mock-apns: --time-limit 1s: slow needs 2.00 s at least\n"
            ),
            (
                ["--time-limit", "3s", "--only", "slow", "--patience", "0.5"],
                "mock-apns: --time-limit 3s: slow needs 4.00 s at least with --patience 0.5\n"
            ),
            (["--only", "ping", "--"], Self.nothingAfter), (["--only", "ping", "--", ""], Self.nothingAfter),
            (["--time-limit", "0"], "mock-apns: --time-limit 0: expected up to 1h, and not 0\n"),
            (
                ["--report", "/nowhere/card.xml"],
                "mock-apns: --report /nowhere/card.xml: cannot write it: No such file or directory\n"
            ),
            (
                ["--", "no-such-program-here"],
                "mock-apns: cannot run no-such-program-here: No such file or directory\n"
            ),
        ])
    func misuse(_ arguments: [String], _ line: String) throws {
        let finished = try Programs.run("mock-apns", ["exam"] + arguments)
        #expect(finished.status == 64 && finished.error == line && finished.output.isEmpty, "\(finished)")
    }

    @Test("A client that does not end is killed with all it has started")
    func killed() throws {
        let (finished, card) = try examine(
            ["--only", "ping", "--time-limit", "3s"], ["sh", "-c", "sleep 1000 & echo $! >&2; wait"])
        #expect(card.verdicts["ping.ended"] == "failed" && finished.status == 1)
        let number = try #require(
            finished.error.split(separator: "\n").first.flatMap { pid_t($0) }, "\(finished.error)")
        for _ in 0..<500 where kill(number, 0) == 0 { usleep(10_000) }
        #expect(kill(number, 0) != 0)
    }

    @Test("The client's end is seen although whoever started the exam ignores SIGCHLD")
    func ignoredChildren() throws {
        let arguments = ["exam", "--only", "ping", "--time-limit", "5s", "--", "true"]
        let finished = try Programs.start(
            "/usr/bin/env", ["--ignore-signal=CHLD", Programs.path("mock-apns")] + arguments
        ).wait()
        #expect(finished.output.contains("comes to an end by itself: ended with status 0"), "\(finished)")
    }

    @Test("What a client leaves running ends with it, and does not come to the next situation")
    func leftBehind() throws {
        let folder = try OutputFolder.made()
        let script = try folder.script(
            "client",
            """
            [ $EXAM_SITUATION = one-stream ] || exec sleep 1
            '\(Self.python)' -c 'import os, socket, time
            for _ in range(40):
                socket.create_connection(("127.0.0.1", int(os.environ["EXAM_PORT"]))).close()
                open("\(folder.path)/begun", "w")
                time.sleep(0.05)' &
            until [ -e '\(folder.path)/begun' ]; do sleep 0.01; done
            """)
        let (_, card) = try examine(["--only", "one-stream", "ping"], [script])
        #expect(card.situations[0].connections > 0 && card.situations[1].connections == 0, "\(card)")
    }

    @Test("Connections that end at once are let go while more come, with their TLS")
    func churn() throws {
        let folder = try OutputFolder.made()
        let script = try folder.script(
            "client",
            """
            exec '\(Self.python)' -c 'import os, socket
            most = 0
            for number in range(6000):
                socket.create_connection(("127.0.0.1", int(os.environ["EXAM_PORT"]))).close()
                if number % 50 == 0: most = max(most, len(os.listdir(f"/proc/{os.getppid()}/fd")))
            print("at most", most)'
            """)
        let (finished, card) = try examine(["--only", "one-stream", "--time-limit", "1m"], [script])
        let most = try #require(finished.error.firstMatch(of: /at most (\d+)/).flatMap { Int($0.1) }, "\(finished)")
        #expect(most < 500 && card.situations[0].connections == 6000, "\(most) \(card)")
    }

    @Test("JUnit's report is as red as the exit status", arguments: ["must", "should", "never"])
    func redness(_ weight: String) throws {
        try requirePython()
        let folder = try OutputFolder.made()
        let path = folder.path + "/card.xml"
        let (finished, card) = try examine(
            ["--only", "unavailable", "--time-limit", "5s", "--fail-on", weight, "--report", path],
            [Self.python, Self.examples + "aioapns_exam.py"])
        #expect(card.failed("must").isEmpty && !card.failed("should").isEmpty, "\(card)")
        let isRed = try String(contentsOfFile: path, encoding: .utf8).contains("<failure")
        #expect(isRed == (weight == "should") && finished.status == (isRed ? 1 : 0), "\(finished)")
    }
}

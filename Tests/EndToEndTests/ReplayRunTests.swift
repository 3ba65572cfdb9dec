import Foundation
import Results
import Testing

@testable import Measurement

/// What providers that are not ours send is recorded by a mock, and sent again.
@Suite(.serialized, .waitsForPrograms) struct ReplayRunTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    /// Within the short time of these runs it says nothing.
    private static let anyRate = ["--threshold", "rate >= 0"]
    private static let python = root.appendingPathComponent(".build/python/bin/python3").path

    /// A mock without TLS and keys that records.
    private final class Recorder {
        let running: Running
        let url: String
        var port: String { String(url.split(separator: ":").last ?? "") }

        init(_ path: String, _ arguments: [String] = []) throws {
            running = try Programs.start("mock-apns", ["--port", "0", "--plaintext", "--record", path] + arguments)
            try running.waitFor("listening on ")
            url = String(try #require(running.text.split { $0.isWhitespace }.first { $0.hasPrefix("http://") }))
        }

        /// What it printed.
        func stop() throws -> String {
            kill(running.process.processIdentifier, SIGTERM)
            let finished = try running.wait()
            try #require(finished.status == 0, "\(finished)")
            return finished.output
        }
    }

    /// What the provider says that it sent.
    private struct Sent: Decodable {
        let connection: Int
        let type: String?
        let priority: String?
        let topic: String
        let size: Int
        let device: String
        let expiration: String?
        let collapseID: String?

        enum CodingKeys: String, CodingKey {
            case connection, type, priority, topic, size, device, expiration
            case collapseID = "collapse_id"
        }
    }

    /// python-h2 sends to it; what it sent, in its order.
    private static func provide(_ mock: Recorder, connections: Int, count: Int) throws -> [Sent] {
        try #require(FileManager.default.isExecutableFile(atPath: python), "run make test-deps first")
        let finished = try Programs.run(
            python,
            [root.path + "/Tests/EndToEndTests/Python/mixed_provider.py", mock.port, "\(connections)", "\(count)"])
        try #require(finished.status == 0, "\(finished)")
        return try finished.output.split(separator: "\n").map {
            try JSONDecoder().decode(Sent.self, from: Data($0.utf8))
        }
    }

    /// What stays the same of a push whenever it is sent again.
    private static func kind(_ push: RecordedPush, _ recording: Recording) -> String {
        "\(recording.types[Int(push.type)]) \(push.givesType) \(push.priority) \(push.givesPriority) "
            + "\(recording.topics[Int(push.topic)]) \(push.size) \(push.expiration) \(push.collapseID != 0) \(push.status)"
    }

    /// The pushes that have `part` in common, in their order; without their names, sorted.
    private static func groups(
        _ recording: Recording, ordered: Bool, by part: (RecordedPush) -> UInt64
    ) -> [[String]] {
        Dictionary(grouping: recording.pushes, by: part).values.map { pushes in
            let kinds = pushes.map { kind($0, recording) }
            return ordered ? kinds : kinds.sorted()
        }.sorted { $0.joined() < $1.joined() }
    }

    /// The same counts of every kind, and the same pushes of each connection, device and collapse id.
    private static func expectSame(_ one: Recording, _ other: Recording) {
        #expect(one.pushes.map { kind($0, one) }.sorted() == other.pushes.map { kind($0, other) }.sorted())
        #expect(
            groups(one, ordered: true) { UInt64($0.connection) }
                == groups(other, ordered: true) { UInt64($0.connection) })
        #expect(groups(one, ordered: false, by: \.device) == groups(other, ordered: false, by: \.device))
        #expect(groups(one, ordered: false, by: \.collapseID) == groups(other, ordered: false, by: \.collapseID))
        #expect(one.connections == other.connections)
    }

    /// Numbers in the order in which they are first seen.
    private static func numbered<Name: Hashable>(_ names: [Name]) -> [Int] {
        var numbers: [Name: Int] = [:]
        return names.map { name in
            let number = numbers[name] ?? numbers.count
            numbers[name] = number
            return number
        }
    }

    @Test("A recording is what the provider sent, without what was in it, and sent again it is the same")
    func again() throws {
        let folder = try OutputFolder.made()
        let (first, second) = (folder.path + "/first.pushes", folder.path + "/second.pushes")
        let mock = try Recorder(first)
        let sent = try Self.provide(mock, connections: 3, count: 120)
        #expect(try mock.stop().contains("recorded 120 pushes in \(first)\n"))
        let recording = try RecordingFile.read(first)
        let pushes = recording.pushes
        #expect(sent.count == 120 && pushes.count == 120 && recording.isComplete && recording.connections == 3)
        // Of each connection in its order.
        for connection in 0..<3 {
            let theirs = sent.filter { $0.connection == connection }
            let ours = Dictionary(grouping: pushes, by: \.connection).values.first { group in
                group.map { Int($0.size) } == theirs.map(\.size)
                    && group.map { recording.topics[Int($0.topic)] } == theirs.map(\.topic)
                    && group.map { recording.types[Int($0.type)] } == theirs.map { $0.type ?? "alert" }
                    && group.map(\.givesType) == theirs.map { $0.type != nil }
                    && group.map(\.givesPriority) == theirs.map { $0.priority != nil }
                    && group.map { "\($0.priority)" } == theirs.map { $0.priority ?? "10" }
                    && group.map(\.expiration)
                        == theirs.map { $0.expiration == nil ? .absent : $0.expiration == "0" ? .once : .time }
                    && Self.numbered(group.map(\.device)) == Self.numbered(theirs.map(\.device))
                    && Self.numbered(group.map(\.collapseID)) == Self.numbered(theirs.map(\.collapseID))
            }
            #expect(ours != nil, "connection \(connection)")
        }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: first))
        for secret in [sent[0].device, "hello", "yyyy", "news-"] {
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) is in the recording")
        }

        let target = try Recorder(second)
        let (result, status, error) = try Programs.load(
            ["--replay", first, "--no-auth", "--target", target.url] + Self.anyRate)
        #expect(status == 0 && result.pushes.accepted == 120 && result.pushes.planned == 120, "\(error)")
        #expect(result.connections.opened == 3)
        // 40 bytes have no room for it; some of the 80 do not either once the number has three digits.
        #expect(result.notes.contains { $0.contains("too small for the trace tag") }, "\(result.notes)")
        _ = try target.stop()
        let copy = try RecordingFile.read(second)
        Self.expectSame(recording, copy)
        // No salt is drawn twice.
        #expect(Set(pushes.map(\.device)).isDisjoint(with: copy.pushes.map(\.device)))
        #expect(result.throughput.offered ?? 0 > 0 && result.latency[.total].count == 120)
    }

    @Test(
        "What aioapns sends with tokens over TLS to a mock of two threads is recorded, and sent twice as fast to the bundled mock"
    )
    func aioapns() throws {
        try #require(FileManager.default.isExecutableFile(atPath: Self.python), "run make test-deps first")
        let folder = try OutputFolder.made()
        let (first, second) = (folder.path + "/first.pushes", folder.path + "/second.pushes")
        let mock = try Mock(["--threads", "2", "--record", first])
        let finished = try Programs.run(
            Self.python,
            [Self.root.path + "/Tests/EndToEndTests/Python/aioapns_mixed.py", mock.folder, mock.port, "200", "2"])
        #expect(finished.output == "200\n", "\(finished)")
        #expect(try mock.stop().output.contains("recorded 200 pushes in \(first)\n"))
        let (result, status, error) = try Programs.load(
            ["--replay", first, "--speed", "2", "--mock-flags", "--record \(second)"] + Self.anyRate)
        #expect(status == 0 && result.pushes.accepted == 200, "\(error)")
        #expect(result.pushes.lost == 0 && result.pushes.duplicated == 0)
        let (recording, copy) = (try RecordingFile.read(first), try RecordingFile.read(second))
        Self.expectSame(recording, copy)
        // The result says which recording it was.
        #expect(result.scenario["replay"]?.description == first)
        #expect(result.scenario["replay_check"]?.description == String(format: "%016lx", recording.check))
        #expect(result.scenario["speed"]?.description == "2")
    }

    @Test("Results of different recordings are told apart by compare, and a plan shows what a recording is like")
    func compared() throws {
        let folder = try OutputFolder.made()
        var outputs: [String] = []
        for (number, count) in [12, 12].enumerated() {
            let path = "\(folder.path)/\(number)/a.pushes"
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(number)", withIntermediateDirectories: true)
            let mock = try Recorder(path)
            _ = try Self.provide(mock, connections: 2, count: count)
            _ = try mock.stop()
            outputs.append("\(folder.path)/\(number)/runs")
            let run = try Programs.run(
                "pushload", ["run", "--replay", path, "--output", outputs[number]] + Self.anyRate)
            #expect(run.status == 0, "\(run)")
        }
        let compare = try Programs.run("pushload", ["compare", outputs[0], outputs[1]])
        #expect((compare.output + compare.error).contains("A and B differ in replay_check: "), "\(compare)")
        let shown = try Programs.run("pushload", ["scenario", "schedule", "--replay", folder.path + "/0/a.pushes"])
        #expect(shown.status == 0 && shown.output.hasPrefix("recording "), "\(shown)")
        for part in ["12 pushes in ", "2 connections, 11 devices, payloads p50 120 B", "alert 6, ", "12 pushes in "] {
            #expect(shown.output.contains(part), "\(part): \(shown.output)")
        }
    }

    @Test("A mock that is killed leaves a recording that can be sent, and says that it is not complete")
    func killed() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/killed.pushes"
        let mock = try Recorder(path)
        _ = try Self.provide(mock, connections: 1, count: 30)
        // What is recorded is written four times a second.
        for _ in 0..<3000 where (try? RecordingFile.read(path).pushes.count) != 30 { usleep(10_000) }
        kill(mock.running.process.processIdentifier, SIGKILL)
        _ = try mock.running.wait()
        let (result, status, error) = try Programs.load(["--replay", path] + Self.anyRate)
        #expect(status == 0 && result.pushes.accepted == 30, "\(error)")
        #expect(result.notes.contains { $0.contains("the recording is not complete") }, "\(result.notes)")
    }

    @Test("A recording's limit and what was never answered: counted, said, and for machines a line of JSON")
    func limit() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/few.pushes"
        let mock = try Programs.start(
            "mock-apns",
            [
                "--port", "0", "--plaintext", "--json", "--record", path, "--record-limit", "10", "--silent", "100%",
            ])
        try mock.waitFor("\"listening\"")
        let url = String(try #require(mock.text.split(separator: "\"").first { $0.hasPrefix("http://") }))
        let run = try Programs.run(
            "pushload",
            [
                "run", "-n", "25", "--no-auth", "--target", url, "--timeout", "300ms", "--output",
                folder.path + "/runs",
            ])
        #expect(run.status == 1, "\(run)")
        kill(mock.process.processIdentifier, SIGTERM)
        let said = try mock.wait()
        #expect(said.status == 0, "\(said)")
        let line = try #require(said.output.split(separator: "\n").last)
        #expect(line == #"{"event":"recorded","file":"\#(path)","left_out":15,"pushes":10}"#)
        let recording = try RecordingFile.read(path)
        #expect(recording.leftOut == 15 && recording.pushes.allSatisfy { $0.status == 0 && $0.reason == 255 })
        let shown = try Programs.run("pushload", ["scenario", "schedule", "--replay", path]).output
        #expect(
            shown.contains("; 15 more came beyond its limit\n") && shown.contains("\nanswers: no answer 10\n"),
            "\(shown)")
    }

    @Test("Connections that the target ends, and pushes that it refuses, leave the books of a recording balanced")
    func goneConnections() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/a.pushes"
        let mock = try Recorder(path)
        _ = try Self.provide(mock, connections: 4, count: 120)
        _ = try mock.stop()
        let (result, status, error) = try Programs.load(
            ["--replay", path, "--speed", "4", "--mock-flags", "--goaway-after 7"] + Self.anyRate)
        #expect(status == 0 && result.pushes.accepted == 120 && result.pushes.lost == 0, "\(error)")
        let (one, _, problem) = try Programs.load(
            ["--replay", path, "--connections", "2", "--mock-flags", "--latency 20ms --max-concurrent-streams 1"])
        #expect(one.pushes.accepted == 120 && one.pushes.lost == 0 && one.connections.opened == 2, "\(problem)")
    }

    @Test(
        "Pushes that were refused are recorded with their status and reason, and sent again as good ones, which is said"
    )
    func refused() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/a.pushes"
        // The provider's tokens are none of these.
        let mock = try Recorder(path, ["--devices", "5"])
        _ = try Self.provide(mock, connections: 1, count: 12)
        _ = try mock.stop()
        let recording = try RecordingFile.read(path)
        #expect(recording.pushes.count == 12 && recording.pushes.allSatisfy { $0.status == 400 })
        #expect(recording.pushes.allSatisfy { recording.reasons[Int($0.reason)] == "BadDeviceToken" })
        let (result, status, error) = try Programs.load(["--replay", path] + Self.anyRate)
        #expect(status == 0 && result.pushes.accepted == 12, "\(error)")
        #expect(result.notes.contains { $0.hasPrefix("12 pushes of the recording that had been rejected: ") })
        let shown = try Programs.run("pushload", ["scenario", "schedule", "--replay", path])
        #expect(shown.output.contains("\nanswers: 400 12\nreasons: BadDeviceToken 12\n"), "\(shown)")
    }

    @Test("Of pushes too small for the trace tag nothing is said to be lost or not, and no file is spoken of")
    func small() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/a.pushes"
        try Self.record(path, sizes: Array(repeating: 10, count: 20))
        let run = try Programs.run(
            "pushload", ["run", "--replay", path, "--output", folder.path + "/runs"] + Self.anyRate)
        #expect(run.status == 0, "\(run)")
        #expect(run.output.contains("ledger: not known (no push has room for the trace tag)"), "\(run)")
        #expect(!(run.output + run.error).contains("another run"), "\(run)")
        let (result, _, _) = try Programs.load(["--replay", path] + Self.anyRate)
        #expect(result.pushes.accepted == 20 && result.pushes.lost == nil)
        #expect(
            result.notes.filter { $0.contains("trace") || $0.contains("lost") || $0.contains("times") } == [
                "no push of the recording has room for the trace tag: whether any was lost or doubled is not known"
            ])
        try Self.record(path, sizes: Array(repeating: 10, count: 20) + [200])
        let (other, _, _) = try Programs.load(["--replay", path] + Self.anyRate)
        #expect(other.pushes.accepted == 21 && other.pushes.lost == 0, "\(other.notes)")
    }

    /// A recording of pushes of these sizes.
    private static func record(_ path: String, sizes: [UInt32]) throws {
        let writer = RecordingWriter(path, types: ["alert"], reasons: [], limit: 100)
        try writer.begin()
        let topic = Array("com.example.pushload".utf8).withUnsafeBytes { writer.topic($0) }
        let block = RecordingBlock(writer, thread: 0)
        for (number, size) in sizes.enumerated() {
            var push = RecordedPush()
            (push.time, push.device, push.size) = (UInt64(number) * 1_000_000, UInt64(number) + 1, size)
            (push.topic, push.status, push.type, push.priority) = (topic, 200, 0, 10)
            block.add(push)
        }
        block.flush()
        _ = try writer.end()
    }

    @Test("Nothing in a recording's names moves the cursor, colours, or turns the direction of writing")
    func strangeNames() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/a.pushes"
        let writer = RecordingWriter(
            path, types: ["\u{1B}[31mtype"], reasons: ["a\u{9B}2Jb\u{202E}c"], limit: 10)
        try writer.begin()
        let topic = Array("com.\u{1B}]0;x\u{7}y".utf8).withUnsafeBytes { writer.topic($0) }
        let block = RecordingBlock(writer, thread: 0)
        var push = RecordedPush()
        (push.device, push.size, push.topic, push.status, push.reason) = (1, 200, topic, 400, 0)
        (push.type, push.priority) = (0, 10)
        block.add(push)
        block.flush()
        _ = try writer.end()
        let shown = try Programs.run("pushload", ["scenario", "schedule", "--replay", path])
        #expect(
            shown.output.contains("\ntypes: ?[31mtype 1\ntopics: com.?]0;x?y 1\n")
                && shown.output.contains("\nreasons: a?2Jb?c 1\n"), "\(shown)")
    }

    @Test("A push whose connection is busy for longer than a second goes over another one, which is counted and said")
    func moved() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/a.pushes"
        // One push of one connection, and three of another at nearly the same time.
        let writer = RecordingWriter(path, types: ["alert"], reasons: [], limit: 10)
        try writer.begin()
        let topic = Array("com.example.pushload".utf8).withUnsafeBytes { writer.topic($0) }
        let block = RecordingBlock(writer, thread: 0)
        for number in UInt64(0)..<4 {
            var push = RecordedPush()
            (push.time, push.device, push.size, push.topic) = (number * 1_000_000, number + 1, 200, topic)
            (push.connection, push.status, push.priority) = (number == 0 ? 1 : 2, 200, 10)
            block.add(push)
        }
        block.flush()
        _ = try writer.end()
        // With one stream, held for 1.5 s, the last of them is due for as long, while the other connection has a stream free.
        let flags = "--latency 1500ms --max-concurrent-streams 1"
        let (result, status, error) = try Programs.load(["--replay", path, "--mock-flags", flags] + Self.anyRate)
        #expect(status == 0 && result.pushes.accepted == 4 && result.pushes.lost == 0, "\(error)")
        #expect(result.connections.opened == 2)
        #expect(result.notes.contains { $0.contains("went over another connection than recorded") }, "\(result.notes)")
    }

    @Test("Recordings that cannot be sent, and flags that do not go with one, are refused in one line")
    func refusals() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/a.pushes"
        let mock = try Recorder(path)
        _ = try Self.provide(mock, connections: 1, count: 6)
        _ = try mock.stop()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let files: [(name: String, bytes: Data, words: String)] = [
            ("cut", bytes.dropLast(5), "the recording is truncated"), ("zeros", Data(count: 4096), "not a recording"),
            ("foreign", Data("due_s\n0\n".utf8), "not a recording"),
            ("huge", bytes.prefix(8) + Data([3, 0, 0, 0, 255, 255, 255, 255]), "the recording is damaged"),
        ]
        for file in files {
            let other = folder.path + "/" + file.name
            try file.bytes.write(to: URL(fileURLWithPath: other))
            try refused(["--replay", other], "\(other): \(file.words)")
        }
        try refused(["--replay", folder.path + "/none"], "cannot read the recording")
        try refused(["--replay", path, "--speed", "0"], "expected a number from 0.01 to 1000")
        try refused(["--replay", path, "--rate", "5"], "exclude each other")
        try refused(["--replay", path, "--profile", "alert"], "exclude each other")
        try refused(["--replay", path, "-t", "2", "-c", "2"], "threads 2: a recording is sent by one")
        try refused(["-n", "5", "--speed", "2"], "speed: goes with replay")
        try refused(["--replay", path, "--replay-check", "f72355fa02c3be5b"], "another recording, ")
        let rendezvous = folder.path + "/rendezvous"
        let worker = try Programs.run(
            "pushload", ["run", "--replay", path, "--worker", "0/2", "--rendezvous", rendezvous, "--target", mock.url])
        #expect(worker.status == 64 && worker.error.contains("a recording is sent by one process"), "\(worker)")
        #expect(!FileManager.default.fileExists(atPath: rendezvous))
        for (arguments, words) in [
            (["--record-limit", "5"], "--record-limit goes with --record"),
            (["--record", path, "--record-limit", "0"], "expected 1 to 1000M"), (["--record", ""], "expected a file"),
            (["--record", path, "--ledger-out", path], "the same file as"),
        ] {
            let finished = try Programs.run("mock-apns", ["--port", "0", "--plaintext"] + arguments)
            #expect(finished.status == 64 && finished.error.contains(words), "\(finished)")
            #expect(finished.error.split(separator: "\n").count == 1)
        }
        // A disk without room: no file may grow. What is said goes through a pipe.
        let full = try Programs.run(
            "/bin/bash",
            [
                "-c",
                #"set -o pipefail; (trap "" XFSZ; ulimit -f 0; exec "$0" --port 0 --plaintext --record "$1" 2>&1) | cat"#,
                Programs.path("mock-apns"), folder.path + "/full",
            ])
        #expect(
            full.status == 74 && full.output.contains("cannot write the recording \(folder.path)/full: File too large"),
            "\(full)")
    }

    @Test(
        "A pipe is refused before anything listens, and a mock without a push leaves the recording of another as it was"
    )
    func kept() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/a.pushes"
        try #require(mkfifo(path, 0o600) == 0)
        let replaced = "is there and no recording; expected a new file, or a recording to replace"
        for (device, problem) in [(path, "expected a file, not a pipe"), ("/dev/full", replaced)] {
            let refused = try Programs.run("mock-apns", ["--port", "0", "--plaintext", "--record", device])
            #expect(
                refused.status == 64 && refused.output.isEmpty
                    && refused.error == "mock-apns: --record \(device): \(problem)\n",
                "\(refused)")
        }
        try FileManager.default.removeItem(atPath: path)
        let first = try Recorder(path)
        let second = try Programs.run("mock-apns", ["--port", "0", "--plaintext", "--record", path])
        #expect(
            second.status == 74
                && second.error == "mock-apns: cannot write the recording \(path): another mock is writing it\n",
            "\(second)")
        #expect(try Self.provide(first, connections: 1, count: 5).count == 5)
        #expect(try first.stop().contains("recorded 5 pushes in \(path)\n"))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(try Recorder(path).stop().contains("recorded no push; \(path) stays as it was\n"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    private func refused(_ arguments: [String], _ words: String) throws {
        let folder = OutputFolder()
        let finished = try Programs.run("pushload", ["run", "--quiet", "--output", folder.path] + arguments)
        #expect(finished.status == 64 && finished.error.contains(words), "\(arguments): \(finished)")
        #expect(finished.error.split(separator: "\n").count == 1, "\(finished.error)")
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }
}

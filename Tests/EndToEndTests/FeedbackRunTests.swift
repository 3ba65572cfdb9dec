import Foundation
import Results
import TestSupport
import Testing

/// What answers of a run say of devices, as the journal beside the registrations has it afterwards.
@Suite("Feedback of runs is kept", .serialized, .waitsForPrograms) struct FeedbackRunTests {
    private let folder: OutputFolder
    private let path: String
    private let count = 20_000

    init() throws {
        folder = try OutputFolder.made()
        path = folder.path + "/r.csv"
        try Self.rows(count).write(toFile: path, atomically: true, encoding: .utf8)
    }

    private static func rows(_ count: Int) -> String {
        "token,tags\n" + (0..<count).map { "\(token($0)),all\n" }.joined()
    }

    private static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// Everybody is gone, or a share of the answers says so.
    private func arguments(_ share: String = "100%") -> [String] {
        [
            "--registrations", path, "--audience", "all", "--expect-reasons", "Unregistered", "--mock-flags",
            "--fault-seed 1 --reject Unregistered=\(share)",
        ]
    }

    private struct Line: Decodable {
        let token: String
        let reason: String
    }

    private var journal: Data { FileManager.default.contents(atPath: path + ".feedback") ?? Data() }

    /// Its whole lines.
    private func lines() throws -> [Line] {
        let last = journal.last == 0x0A ? nil : journal.split(separator: 0x0A).last
        return try journal.split(separator: 0x0A).compactMap { line in
            // The last one may be torn, or lack its line feed only.
            if line == last { return try? JSONDecoder().decode(Line.self, from: Data(line)) }
            return try JSONDecoder().decode(Line.self, from: Data(line))
        }
    }

    /// Starts a run and waits until it has left a first result, in the middle of its pushes.
    private func started(_ arguments: [String]) throws -> (Running, folder: String) {
        let output = folder.path + "/runs"
        let run = try Programs.start("pushload", ["run", "--quiet", "--output", output] + arguments)
        for _ in 0..<12_000 where run.process.isRunning {
            let name = try? FileManager.default.contentsOfDirectory(atPath: output).first
            if let name, FileManager.default.fileExists(atPath: "\(output)/\(name)/result.json") {
                return (run, "\(output)/\(name)")
            }
            usleep(10_000)
        }
        throw Running.Failure(description: "no result: \(run.errorText)")
    }

    @Test("A device that is told gone twice is there once, and not pushed to again")
    func once() throws {
        // Each registration three times.
        let (result, status, error) = try Programs.load(arguments("50%") + ["-n", "\(3 * count)"])
        #expect(status == 0, "\(error)")
        let gone = Set(try lines().map(\.token))
        #expect(try lines().count == gone.count)
        // Seven of eight, and each of them for at least one answer.
        #expect(gone.count > count / 2 && UInt64(gone.count) < result.pushes.rejected)
        #expect(result.notes.contains { $0.hasPrefix("feedback: ") && $0.contains("answered as gone") })
        let before = journal
        let (second, _, said) = try Programs.load(arguments())
        #expect(second.pushes.planned == UInt64(count - gone.count), "\(said)")
        #expect(second.pushes.rejected == second.pushes.planned)
        #expect(journal.starts(with: before))
        #expect(Set(try lines().map(\.token)).count == count)
        #expect(try lines().count == count)
    }

    @Test("Feedback is kept when another file takes the place of the registrations")
    func replaced() throws {
        let (run, _) = try started(arguments() + ["--rate", "500", "-n", "2000"])
        try Self.rows(10).write(toFile: path, atomically: true, encoding: .utf8)
        let finished = try run.wait()
        #expect(finished.status == 0, "\(finished)")
        #expect(try lines().map(\.token).sorted() == (0..<2000).map(Self.token).sorted())
    }

    @Test("Feedback that cannot be kept is said, and ends a good run with 74")
    func unkept() throws {
        #expect(FileManager.default.createFile(atPath: path + ".feedback", contents: Data()))
        let holder = open(path + ".feedback", O_RDWR | O_CLOEXEC)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0)
        let finished = try Programs.run(
            "pushload", ["run", "--quiet", "--output", folder.path + "/runs"] + arguments())
        #expect(finished.status == 74)
        #expect(
            finished.error == "pushload: feedback was not kept: cannot lock the feedback journal \(path).feedback: "
                + "another program has held it for 5 s; try again later\n")
        #expect(journal.isEmpty)
    }

    @Test("The runs of a series have one audience, and keep no feedback", arguments: [false, true])
    func series(isOther: Bool) throws {
        try Self.rows(200).write(toFile: path, atomically: true, encoding: .utf8)
        let binary = isOther ? ["--b-binary", Programs.path("pushload")] : []
        let finished = try Programs.run(
            "pushload",
            ["ab"] + arguments("50%") + binary + ["--b", "-m 500", "--rounds", "2", "-o", folder.path + "/ab"])
        #expect(!finished.error.contains("differ in pushes"), "\(finished)")
        let results = try FileManager.default.subpathsOfDirectory(atPath: folder.path + "/ab")
            .filter { $0.hasSuffix(".json") }.compactMap { try? ResultFile.read("\(folder.path)/ab/\($0)") }
        #expect(results.count == 4 && results.allSatisfy { $0.pushes.planned == 200 }, "\(finished)")
        #expect(!FileManager.default.fileExists(atPath: path + ".feedback"))
    }

    @Test("A run of a series whose registrations are written to is not called interrupted")
    func writtenInSeries() throws {
        let search = try Programs.start(
            "pushload",
            ["search", "--registrations", path, "--audience", "all", "--goal", "p99 < 10s", "--probe", "30s"])
        for _ in 0..<12_000 where search.process.isRunning && !FileManager.default.fileExists(atPath: path + ".index") {
            usleep(10_000)
        }
        // As often as it takes to be in the middle of a run.
        for _ in 0..<1200 where search.process.isRunning {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try file.write(contentsOf: Data("token,tags".utf8))
            try file.close()
            usleep(100_000)
        }
        let finished = try search.wait()
        #expect(finished.status == 1)
        #expect(finished.error.contains("the run ended early: \(path) was written to while it was read"), "\(finished)")
    }

    @Test("A run whose registrations are written to is stopped as by Ctrl-C, says so, and keeps no feedback")
    func written() throws {
        let (run, output) = try started(arguments() + ["--rate", "500", "-D", "600s"])
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.write(contentsOf: Data("token,tags".utf8))
        try file.close()
        let finished = try run.wait()
        #expect(finished.status == 1, "\(finished)")
        let result = try ResultFile.read(output + "/result.json")
        let pushes = result.pushes
        #expect(result.run.interrupted && pushes.planned == pushes.ended && pushes.rejected > 0)
        #expect(result.notes.contains { $0.hasPrefix("ended early: \(path) was written to while it was read") })
        #expect(
            result.notes.contains {
                $0
                    == "\(path) was written to while the run went on: who was pushed to is not certain, and feedback was not kept"
            }, "\(result.notes)")
        #expect(journal.isEmpty)
    }

    @Test("The end of the terminal, and Ctrl-\\, stop a run as Ctrl-C does", arguments: [SIGHUP, SIGQUIT])
    func stopped(signal number: Int32) throws {
        var action = sigaction()
        sigaction(number, nil, &action)
        // Under nohup it is to be ignored.
        guard unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != 1 else { return }
        let (run, output) = try started(arguments() + ["--rate", "500", "-D", "600s"])
        kill(run.process.processIdentifier, number)
        let finished = try run.wait()
        #expect(finished.status == 1 && !finished.error.contains("crashed"), "\(finished)")
        let pushes = try ResultFile.read(output + "/result.json").pushes
        #expect(try lines().count == Int(pushes.rejected))
    }

    @Test("A run whose registrations are cut short ends with one line, and its result so far is there")
    func cutShort() throws {
        let (run, output) = try started(arguments() + ["--rate", "500", "-D", "600s"])
        #expect(truncate(path, 0) == 0)
        let finished = try run.wait()
        #expect(finished.status == 1)
        #expect(
            finished.error
                == "pushload: \(path): cut short while it was read; put another file in its place instead of writing into it\n"
        )
        let result = try ResultFile.read(output + "/result.json")
        #expect(!result.run.complete && result.pushes.planned == result.pushes.ended && result.pushes.rejected > 0)
        #expect(result.notes.contains { $0.hasPrefix("partial: ") })
    }

    @Test("Killed while it is written, the journal has every whole line, and the next start says what it leaves out")
    func killed() throws {
        let seed = UInt64.random(in: 1...999_999_999)
        var random = SeededRandom(seed)
        for round in 0..<3 {
            try? FileManager.default.removeItem(atPath: path + ".feedback")
            let output = folder.path + "/killed\(round)"
            let run = try Programs.start("pushload", ["run", "--quiet", "--output", output] + arguments())
            for _ in 0..<600_000 where run.process.isRunning && journal.isEmpty { usleep(100) }
            usleep(UInt32.random(in: 0...2000, using: &random))
            kill(run.process.processIdentifier, SIGKILL)
            _ = try run.wait()
            // In the last round the line is torn for certain, wherever the others were.
            if round == 2 { #expect(truncate(path + ".feedback", journal.count - 10) == 0) }

            let left = journal
            let whole = try lines()
            #expect(!left.isEmpty && Set(whole.map(\.token)).count == whole.count, "seed \(seed)")
            let isTorn = left.last != 0x0A && left.last != UInt8(ascii: "}")
            let note = "r.csv.feedback:\(whole.count + 1): this last line is not whole and left out, "
            let shown = try AudienceTests.ask(["feedback", path])
            #expect(shown.status == 0 && shown.error.contains(note) == isTorn, "seed \(seed): \(shown.error)")
            #expect(shown.error.split(separator: "\n").count == (isTorn ? 1 : 0), "seed \(seed): \(shown.error)")

            // What was not written is heard again, and nothing else.
            guard whole.count < count else { continue }
            let (result, status, error) = try Programs.load(arguments())
            #expect(status == 0 && result.pushes.planned == UInt64(count - whole.count), "seed \(seed): \(error)")
            #expect(result.notes.contains { $0.contains(note) } == isTorn, "seed \(seed): \(result.notes)")
            let end = left.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            #expect(journal.starts(with: left[..<end]), "seed \(seed)")
            #expect(try lines().map(\.token).sorted() == (0..<count).map(Self.token).sorted(), "seed \(seed)")
        }
    }
}

import Foundation
import Testing

/// Ctrl-C at a moment drawn at random, and what killed programs leave behind.
@Suite(.waitsForPrograms) struct InterruptTests {
    /// What is left in a program's temporary folder.
    private func leftovers(_ folder: OutputFolder) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/tmp")) ?? []
    }

    private func start(_ arguments: [String], in folder: OutputFolder) throws -> Running {
        let temporary = folder.path + "/tmp"
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
        return try Programs.start("pushload", arguments, environment: ["TMPDIR": temporary])
    }

    @Test(
        "Ctrl-C at any moment ends every command that makes runs with its own words, and leaves no keys behind",
        arguments: [
            ["run", "--rate", "200", "-D", "600s", "--output", "FOLDER/out"],
            ["ab", "-n", "500", "--b", "-m 20", "--rounds", "500"],
            ["search", "--goal", "p99 < 1ns", "--probe", "300ms", "--from", "100", "--most", "1M"],
            ["sweep", "--vary", "streams=1..400 step 1", "-n", "300", "--output", "FOLDER/sweep"],
            ["plan", "--devices", "1M", "--within", "60s", "--rtt", "1ms"],
            ["gate", "--update", "--baseline", "FOLDER/b.json", "--reason", "x", "-n", "2000", "--max-rounds", "128"],
        ])
    func interrupted(_ arguments: [String]) throws {
        let folder = OutputFolder()
        let pause = UInt32.random(in: 0...3_000_000)
        let program = try start(
            arguments.map { $0.replacingOccurrences(of: "FOLDER", with: folder.path) }, in: folder)
        usleep(pause)
        kill(program.process.processIdentifier, SIGINT)
        let finished = try program.wait()
        let text = "\(arguments[0]) after \(pause) us: \(finished)"
        // Before main has begun a signal simply ends the process.
        #expect(finished.status != 0, "\(text)")
        #expect(program.process.terminationReason == .exit || finished.status == SIGINT, "\(text)")
        for word in ["rash", "atal", "acktrace", "Illegal"] { #expect(!finished.error.contains(word), "\(text)") }
        // A signal before it is listened for ends a program that has made nothing yet.
        #expect(leftovers(folder).isEmpty, "\(leftovers(folder)) \(text)")
    }

    @Test(
        "What a killed run left in the temporary folder is removed by the next one; what is held, or is no one's, stays"
    )
    func killed() throws {
        let folder = OutputFolder()
        let flags = ["run", "--rate", "200", "-D", "600s", "--quiet", "--output", folder.path + "/out"]
        let killed = try start(flags, in: folder)
        let held = try start(flags, in: folder)
        for _ in 0..<6000 where leftovers(folder).count < 2 { usleep(10_000) }
        let before = Set(leftovers(folder))
        #expect(before.count == 2)
        try FileManager.default.createDirectory(
            atPath: folder.path + "/tmp/pushload-mine", withIntermediateDirectories: true)
        kill(killed.process.processIdentifier, SIGKILL)
        _ = try killed.wait()
        #expect(Set(leftovers(folder)).isSuperset(of: before))
        let next = try start(["run", "-n", "10", "--quiet", "--output", folder.path + "/out"], in: folder)
        #expect(try next.wait().status == 0)
        let after = Set(leftovers(folder))
        #expect(after.count == 2 && after.contains("pushload-mine") && !after.isDisjoint(with: before), "\(after)")
        kill(held.process.processIdentifier, SIGINT)
        _ = try held.wait()
        #expect(leftovers(folder) == ["pushload-mine"])
    }
}

import Foundation
import Testing

/// What killed programs leave behind.
@Suite(.waitsForPrograms) struct LeftoverTests {
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

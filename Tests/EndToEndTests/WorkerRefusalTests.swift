import Foundation
import Results
import Testing

/// Workers that do not belong to the run that has the folder: each is refused with one line, and changes nothing there.
@Suite(.waitsForPrograms) struct WorkerRefusalTests {
    /// All files of a folder, and what is in them.
    private func contents(_ folder: String) throws -> [String: Data] {
        let files = FileManager.default
        return try files.subpathsOfDirectory(atPath: folder).reduce(into: [:]) {
            $0[$1] = files.contents(atPath: folder + "/" + $1) ?? Data()
        }
    }

    @Test("Another scenario, another number of workers, or the run once more in the folder of a run that has ended")
    func ended() throws {
        let group = try WorkerGroup(2, ["--pushes", "200", "--connections", "2"])
        try WorkerGroup.ends(try group.startAll(), status: 0)
        let before = try contents(group.run.folder)
        try group.start(0).wait().expectLine(
            64, "pushload: \(group.run.folder): holds a run that has ended", "nothing was sent; give an empty folder")
        try group.start(0, of: 3).wait().expectLine(
            64, "pushload: \(group.run.folder): belongs to a run of 2 workers, and this is worker 0 of 3 (--worker 0/3)"
        )
        try group.start(1, ["--streams", "7"]).wait().expectLine(
            64, "pushload: \(group.run.folder): belongs to a run in which ",
            " is 1000, and here it is 7; give all workers")
        #expect(try contents(group.run.folder) == before)
        try group.expectArrived(try group.expectBooks(planned: 200))
    }

    @Test("A worker whose run cannot be made leaves no folder behind, so that the right one is not refused there")
    func impossible() throws {
        let group = try WorkerGroup(2, ["--pushes", "200"])
        try group.start(0, ["--connections", "1"]).wait().expectLine(
            64, "pushload: connections 1: of 2 workers with 1 thread each; expected at least 2, one a thread")
        #expect(!FileManager.default.fileExists(atPath: group.run.folder))
        try group.start(0, ["--connections", "2", "--threshold", "p99{stage=x} < 1s"]).wait().expectLine(
            64, "p99{stage=x}")
        #expect(!FileManager.default.fileExists(atPath: group.run.folder))
        try WorkerGroup.ends(
            [try group.start(0, ["--connections", "2"]), try group.start(1, ["--connections", "2"])], status: 0)
        try group.expectArrived(try group.expectBooks(planned: 200))
    }

    @Test("The same worker twice at once: the second one is told where the first one runs")
    func twice() throws {
        let group = try WorkerGroup(2, ["--pushes", "200", "--connections", "2"])
        let first = try group.start(0)
        try group.wait(0, for: "ready") { $0.state == "ready" }
        let names = try contents(group.run.folder).keys.sorted()
        try group.start(0).wait().expectLine(
            64, "worker 0 of 2 is running already, on ", " as process \(first.process.processIdentifier)")
        try group.start(1, ["--seed", "2"]).wait().expectLine(
            64, "belongs to a run in which seed is 1, and here it is 2")
        func isLasting(_ name: String) -> Bool { !name.contains("status.json") }
        #expect(
            try contents(group.run.folder).keys.sorted().filter(isLasting) == names.filter(isLasting))
        try WorkerGroup.ends([first, try group.start(1)], status: 0)
        let result = try group.expectBooks(planned: 200)
        #expect(result.workers?.map(\.attempts) == [1, 1], "\(result.workers ?? [])")
        try group.expectArrived(result)
    }

    @Test("A folder with the result of a run without workers is left as it is")
    func foreign() throws {
        let group = try WorkerGroup(2, ["--pushes", "200", "--connections", "2"])
        try FileManager.default.createDirectory(atPath: group.run.folder, withIntermediateDirectories: true)
        try "{}\n".write(toFile: group.run.folder + "/result.json", atomically: true, encoding: .utf8)
        try group.start(0).wait().expectLine(
            64, "pushload: \(group.run.folder): holds the result of a run that had no workers; give an empty folder")
        #expect(try contents(group.run.folder) == ["result.json": Data("{}\n".utf8)])
        try group.expectNothingSent()
    }

    @Test("A worker whose template says something else under the same name is named, and nothing is sent")
    func content() throws {
        let group = try WorkerGroup(2, ["--pushes", "200", "--connections", "2", "--quiet"])
        let workers = try (0..<2).map { index in
            let folder = "\(group.output.path)/\(index)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try "{\"aps\":{\"alert\":\"Goal \(index)\"}}".write(
                toFile: folder + "/goal.json", atomically: true, encoding: .utf8)
            return try group.start(index, ["--template", folder + "/goal.json"])
        }
        for worker in workers {
            try worker.wait().expectLine(
                1, "pushload: the run has not begun, and nothing was sent: worker ", "does not send the same run: ",
                "its templates, device file, trace or registrations differ from worker ")
        }
        #expect(!group.has("start.json") && !group.has("result.json"))
        try group.expectNothingSent()
    }
}

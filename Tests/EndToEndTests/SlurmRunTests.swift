import Foundation
import Results
import Testing

/// The jobs of deploy/slurm, in a cluster on this machine.
@Suite(
    .waitsForPrograms, .enabled(if: geteuid() == 0, "a Slurm cluster on one machine needs root"))
final class SlurmRunTests {
    private let folder: OutputFolder
    private let cluster: SlurmCluster
    /// The job of two mocks, on the first node.
    private let mocks: String
    /// At their ends the mocks have written these.
    private var ledgers: [String] { [0, 1].map { "\(folder.path)/mock-\($0).ledger" } }

    init() throws {
        try #require(FileManager.default.isExecutableFile(atPath: "/usr/bin/srun"), "run make test-deps first")
        folder = try OutputFolder.made()
        let path = folder.path
        cluster = try SlurmCluster(nodes: 5, ["MOCK_HOST": "127.0.0.1", "PORT": "0"])
        let made = try Programs.run(
            "/bin/sh",
            [
                "-c", #"exec "$0" --port 0 --credentials "$1" --until-stdin-closes < /dev/null"#,
                Programs.path("mock-apns"), path + "/credentials",
            ])
        try #require(made.status == 0, "\(made)")
        mocks = try cluster.submit(
            ["--nodelist", "n1", "--nodes", "1", "--ntasks-per-node", "2", "--chdir", path]
                + [SlurmCluster.jobs + "/mocks.sbatch", path])
        try wait(for: "mocks") { FileManager.default.fileExists(atPath: path + "/targets") }
    }

    private var targets: [String] {
        ["--target", "@\(folder.path)/targets", "--credentials", folder.path + "/credentials"]
    }

    /// Four workers on two nodes, as the job of deploy/slurm has them.
    private func srun(without nodes: String, _ run: WholeRun, _ load: [String]) -> [String] {
        [
            "srun", "--nodes", "2", "--ntasks-per-node", "2", "--exclude", nodes, "--no-kill", "--kill-on-bad-exit=0",
            "--wait=0",
            "pushload", "run", "--rendezvous", run.folder, "--start-timeout", "5m",
        ] + load
    }

    /// Ends the mocks and merges.
    private func merge(_ run: WholeRun) throws -> Finished {
        let cancelled = try cluster.run(["scancel", mocks])
        try #require(cancelled.status == 0, "\(cancelled)")
        try wait(for: "ledgers") { try cluster.state(of: mocks) == "CANCELLED" && ledgers.allSatisfy(isThere) }
        return try Programs.run("pushload", ["merge", run.folder, "--ledger"] + ledgers)
    }

    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// All of a run's workers have had pushes accepted.
    private func waitForLoad(_ run: WholeRun) throws {
        try wait(for: "load") {
            guard !run.hasEnded else { throw Running.Failure(description: "ended before it was disturbed") }
            return (0..<4).allSatisfy { run.status($0).map { $0.state == "running" && $0.accepted >= 100 } ?? false }
        }
    }

    /// Every push of the run has ended in some way, and none arrived twice or was accepted and not there.
    ///
    /// - Returns: how many failed: what a worker that was killed may have sent is not sent again.
    private func expectWhole(_ run: WholeRun, planned: UInt64, attempts: [Int]) throws -> UInt64 {
        let merged = try merge(run)
        #expect(merged.output.contains("0 lost, 0 doubled"), "\(merged)")
        let result = try run.result
        let rows = try #require(result.workers)
        #expect(result.run.complete && !rows.contains { $0.state == .lost }, "\(rows)")
        #expect(rows.map(\.attempts).sorted() == attempts, "\(rows)")
        #expect(result.pushes.planned == planned && result.pushes.ended == planned, "\(result.pushes)")
        #expect(
            result.pushes.notSent == 0 && result.pushes.rejected == 0, "\(result.pushes), \(result.notSent), \(rows)")
        #expect(result.pushes.lost == 0 && result.pushes.duplicated == 0, "\(result.pushes)")
        return result.pushes.failed
    }

    @Test("srun's tasks are one run, in which each push is where one process would have sent it")
    func together() throws {
        let load = ["--pushes", "8001", "--connections", "6", "--streams", "50"] + targets
        let alone = try Programs.load(load)
        #expect(alone.status == 0, "\(alone.error)")
        let run = WholeRun(folder: folder.path + "/run")
        let finished = try cluster.run(srun(without: "n1", run, load + ["--lost-after", "2m"]))
        #expect(finished.status == 0, "\(finished)")
        let merged = try merge(run)
        #expect(merged.status == 0, "\(merged)")
        try run.expectSame(as: alone.result, ledgers, workers: 4)
    }

    @Test("A node that is lost leaves a result that says so, and the same workers started again complete it")
    func lostNode() throws {
        let load = ["--rate", "2000", "--duration", "5s", "--connections", "4", "--lost-after", "5s"] + targets
        let run = WholeRun(folder: folder.path + "/run")
        let step = try cluster.start(srun(without: "n1,n4,n5", run, load))
        try waitForLoad(run)
        try cluster.lose("n3", tasks: (0..<4).compactMap { run.status($0)?.pid })
        try wait(for: "the end of the others") { run.hasEnded }
        let partial = try run.result
        let lost = try #require(partial.workers).filter { $0.state == .lost }
        #expect(lost.count == 2 && !partial.run.complete, "\(partial.workers ?? [])")
        #expect(partial.pushes.planned == 10_000 && partial.pushes.ended == 10_000, "\(partial.pushes)")
        #expect(partial.failures["worker_lost", default: 0] + partial.notSent["worker_lost", default: 0] > 0)
        #expect(partial.notes.contains { $0.contains("were lost") }, "\(partial.notes)")
        // Slurm has not heard of it yet, and waits for the node.
        kill(step.process.processIdentifier, SIGKILL)
        _ = try step.wait()
        let again = try cluster.run(srun(without: "n1,n2,n3", run, load))
        let failed = try expectWhole(run, planned: 10_000, attempts: [1, 1, 2, 2])
        #expect(again.status == (failed == 0 ? 0 : 1), "\(again)")
    }

    @Test("A job that is requeued goes on where it was")
    func requeued() throws {
        let scenario = folder.path + "/scenario.yaml"
        try "rate: 2000\nduration: 5s\nconnections: 4\n".write(toFile: scenario, atomically: true, encoding: .utf8)
        let job = try cluster.submit(
            ["--exclude", "n1", "--chdir", folder.path, SlurmCluster.jobs + "/run.sbatch", scenario, folder.path])
        let run = WholeRun(folder: folder.path + "/run-" + job)
        let log = folder.path + "/run-\(job).log"
        func said() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
        try waitForLoad(run)
        let before = (0..<4).compactMap { run.status($0)?.pid }
        let requeued = try cluster.run(["scontrol", "requeue", job])
        try #require(requeued.status == 0, "\(requeued)")
        try wait(for: "the job's end") {
            let isOver = try ["COMPLETED", "FAILED"].contains(cluster.state(of: job))
            return isOver && (0..<4).allSatisfy { !before.contains(run.status($0)?.pid ?? 0) }
        }
        #expect(run.hasEnded, "\(said())")
        // They were told before, and had the time to note where they were.
        #expect(try expectWhole(run, planned: 10_000, attempts: [2, 2, 2, 2]) == 0)
    }
}

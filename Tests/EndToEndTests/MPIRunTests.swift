import Foundation
import Results
import Testing

/// A run whose workers mpirun starts, of Debian's Open MPI.
@Suite(.serialized, .waitsForPrograms) struct MPIRunTests {
    private static let mpirun = "/usr/bin/mpirun"

    @Test(
        "Four workers under mpirun, over two mocks, send what one process sends, push for push, and their percentiles are of all"
    )
    func four() throws {
        try #require(FileManager.default.isExecutableFile(atPath: Self.mpirun), "run make test-deps first")
        let mocks = try MockPair()
        let load = ["--pushes", "20001", "--connections", "6", "--streams", "50"] + mocks.targets
        let run = WholeRun(folder: mocks.folder.path + "/run")
        let asRoot = geteuid() == 0 ? ["--allow-run-as-root"] : []
        let finished = try Running(
            Self.mpirun,
            ["-np", "4", "--oversubscribe", "--bind-to", "none"] + asRoot + [
                Programs.path("pushload"), "run", "--start-timeout", "5m", "--lost-after", "2m", "--rendezvous",
                run.folder,
            ] + load
        ).wait()
        #expect(finished.status == 0, "\(finished)")
        // After it: mocks keep the times of their first run.
        let alone = try Programs.load(load)
        #expect(alone.status == 0, "\(alone.error)")
        try mocks.stop()
        let merged = try mocks.merge(run.folder)
        #expect(merged.status == 0 && merged.output.contains("0 lost, 0 doubled"), "\(merged)")
        try run.expectSame(as: alone.result, mocks.ledgers, workers: 4)
    }
}

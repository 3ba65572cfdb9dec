import Foundation
import Results
import Testing

/// The folder that the workers of a run share, once they have ended.
@Suite(.serialized, .waitsForPrograms) struct WorkerFolderTests {
    @Test("Merged anew it gives the result that the workers gave; with one that may go on it is refused")
    func merged() throws {
        let mock = try Mock()
        let folder = try OutputFolder.made()
        let shared = folder.path + "/shared"
        let workers = try (0..<2).map { worker in
            try Programs.start(
                "pushload",
                [
                    "run", "--stages", "hold 200 500ms, hold 300 500ms", "-c", "2", "-q", "--target", mock.url,
                    "--credentials",
                    mock.folder, "--worker", "\(worker)/2", "--rendezvous", shared,
                ])
        }
        for worker in workers {
            let finished = try worker.wait()
            #expect(finished.status == 0, "\(finished)")
        }
        let whole = try ResultFile.read(shared + "/result.json")
        #expect(whole.workers?.map(\.pushes) == [125, 125] && whole.pushes.accepted == 250, "\(whole.workers ?? [])")
        #expect(whole.breakdown["stage"]?.values.map(\.accepted).sorted() == [100, 150])
        let output = folder.path + "/again.json"
        let again = try Programs.run("pushload", ["merge", shared, "--output", output])
        #expect(again.status == 0 && again.output.contains("answered/s  total p99"), "\(again)")
        #expect(try ResultFile.read(output) == whole)
        #expect(
            FileManager.default.contents(atPath: output)
                == FileManager.default.contents(atPath: shared + "/result.json"))

        // Worker 1 has no result, and wrote just now.
        let status = shared + "/worker-1/status.json"
        let text = try String(contentsOfFile: status, encoding: .utf8)
        try FileManager.default.removeItem(atPath: shared + "/worker-1/shard.json")
        try text.replacing("\"done\"", with: "\"running\"").write(toFile: status, atomically: true, encoding: .utf8)
        try FileManager.default.removeItem(atPath: output)
        let alive = try Programs.run("pushload", ["merge", shared, "--output", output])
        #expect(alive.status == 64 && alive.error.contains("worker 1 wrote "), "\(alive)")
        #expect(alive.error.split(separator: "\n").count == 1 && !FileManager.default.fileExists(atPath: output))
        // It wrote long ago: it is lost.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -120)], ofItemAtPath: status)
        let lost = try Programs.run("pushload", ["merge", shared, "--output", output])
        let partial = try ResultFile.read(output)
        #expect(lost.status == 1 && partial.workers?.map { $0.state == .lost } == [false, true], "\(lost)")
        #expect(partial.pushes.planned == 250 && partial.statuses["200"] == 125)
        _ = try mock.stop()
    }
}

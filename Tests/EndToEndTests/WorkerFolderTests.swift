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

    @Test("What cannot be a rendezvous, and what has no place beside one, is refused before anything is sent")
    func refused() throws {
        let folder = try OutputFolder.made()
        let file = folder.path + "/file"
        try "x".write(toFile: file, atomically: true, encoding: .utf8)
        let other = folder.path + "/shared"
        for (flags, words) in [
            (["--rendezvous", ""], "--rendezvous: expected the folder that all workers share"),
            (["--rendezvous", file], "--rendezvous \(file): it is no folder"),
            (
                ["--rendezvous", other, "-o", "x"],
                "--output x: results go to the folder of --rendezvous; leave --output out"
            ),
        ] {
            let finished = try Programs.run("pushload", ["run", "-n", "10", "--worker", "0/1"] + flags)
            #expect(finished.status == 64 && finished.error == "pushload: \(words)\n", "\(finished)")
        }
        #expect(!FileManager.default.fileExists(atPath: other))
        // Somebody else's folder may say anything.
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        try #"{"id":"00000000000000ab","workers":1,"created":1,"scenario":{"pushes":"1\u001b[2J\nOK"}}"#
            .write(toFile: other + "/run.json", atomically: true, encoding: .utf8)
        let foreign = try Programs.run(
            "pushload",
            [
                "run", "-n", "10", "--target", "https://127.0.0.1:9", "--no-auth", "--worker", "0/1", "--rendezvous",
                other,
            ])
        #expect(foreign.status == 64 && foreign.error.split(separator: "\n").count == 1, "\(foreign)")
        #expect(!foreign.error.contains("\u{1B}") && foreign.error.contains("belongs to a run in which"), "\(foreign)")
    }

    @Test("Merging says what is missing of what it was given")
    func unmergeable() throws {
        let folder = try OutputFolder.made()
        let shared = folder.path + "/shared"
        try FileManager.default.createDirectory(atPath: shared + "/worker-0", withIntermediateDirectories: true)
        try "{}".write(toFile: shared + "/run.json", atomically: true, encoding: .utf8)
        for (arguments, words) in [
            ([folder.path + "/none"], "\(folder.path)/none: no such file or folder"),
            ([folder.path], "\(folder.path): no folder of a run of several workers"),
            ([shared, shared], "\(shared): the folder of a run of several workers, which is merged alone"),
            (["--ledger", "mock.ledger", shared], "put it first, as in merge DIR --ledger FILE"),
            ([], "expected result files, run folders"),
        ] {
            let finished = try Programs.run("pushload", ["merge"] + arguments)
            #expect(finished.status == 64 && finished.error.contains(words), "\(finished)")
        }
    }
}

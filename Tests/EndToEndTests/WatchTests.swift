import Foundation
import Testing

/// `pushload watch` of folders that were written by hand.
@Suite(.waitsForPrograms) struct WatchTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    private func write(_ text: String, _ folder: OutputFolder, _ name: String) throws {
        let file = folder.path + "/" + name
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
    }

    /// A run of three workers that has begun.
    private func run() throws -> OutputFolder {
        let folder = try OutputFolder.made()
        try write(#"{"id":"00000000000000ab","workers":3,"created":1790000000,"scenario":{}}"#, folder, "run.json")
        try write(#"{"at":1790000002,"clock_of":0,"written":1790000000,"without":[],"seen":[]}"#, folder, "start.json")
        for worker in 0..<3 { try status(worker, folder) }
        return folder
    }

    private func status(_ worker: Int, beat: Int = 1, _ folder: OutputFolder) throws {
        try write(
            """
            {"worker":\(worker),"of":3,"host":"n\(worker)","pid":9,"attempt":1,"state":"running","beat":\(beat),"at":1790000010.5,
            "elapsed":8.5,"planned":1000,"sent":410,"accepted":400,"rejected":10,"failed":0,"not_sent":0,"in_flight":3,"backlog":5,
            "per_second":250.0,"target_per_second":null,"p50_ns":1000000,"p99_ns":\(worker + 2)000000,"problem":""}
            """, folder, "worker-\(worker)/status.json")
    }

    private func end(_ folder: OutputFolder, status: Int) throws {
        try write(#"{"complete":\#(status == 0),"status":\#(status),"lost":[]}"#, folder, "end.json")
    }

    @Test("--once prints what there is and ends with 0; the page stands by itself")
    func once() throws {
        let folder = try run()
        let page = folder.path + "/page.html"
        let finished = try Programs.run("pushload", ["watch", folder.path, "--once", "--page", page])
        #expect(finished.status == 0 && finished.error.isEmpty, "\(finished)")
        let lines = finished.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.first == "run 00000000000000ab, 3 workers: running, 8.5 s, 41% of 3,000 pushes", "\(lines)")
        #expect(lines.contains("2 n2 running 8.5 s 250/s 1.00 ms 4.00 ms 10 3 5 slowest"))
        #expect(lines.contains("all 8.5 s 750/s 1.00 ms 4.00 ms 30 9 15"))
        let html = try String(contentsOfFile: page, encoding: .utf8)
        #expect(html.contains("<td>4.00 ms</td>") && !html.contains("http-equiv=\"refresh\""))
    }

    @Test("It ends with the run and its exit status, and the last page is not read again", arguments: [0, 1, 99])
    func ends(status: Int) throws {
        let folder = try run()
        let page = folder.path + "/page.html"
        let running = try Programs.start("pushload", ["watch", folder.path, "--page", page])
        try running.waitFor("running, 8.5 s")
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("http-equiv=\"refresh\" content=\"2\""))
        try end(folder, status: status)
        let finished = try running.wait()
        #expect(finished.status == status && finished.output.contains("exit status \(status)"), "\(finished)")
        #expect(!finished.output.contains("\u{1B}"))
        #expect(try !String(contentsOfFile: page, encoding: .utf8).contains("http-equiv=\"refresh\""))
    }

    @Test("It ends with a run that was given up before its start")
    func givenUp() throws {
        let folder = try run()
        try FileManager.default.removeItem(atPath: folder.path + "/start.json")
        try write(#"{"worker":1,"reason":"worker 2 \u001b[2Jhas not come"}"#, folder, "stop.json")
        for flags in [[], ["--once"]] {
            let finished = try Programs.run("pushload", ["watch", folder.path] + flags)
            #expect(finished.status == 1 && finished.output.contains("given up before it began"), "\(finished)")
            #expect(finished.output.contains("worker 1 asked all to stop: worker 2 ?[2Jhas not come"))
        }
        let merged = try Programs.run("pushload", ["merge", folder.path])
        #expect(
            merged.status == 1
                && merged.error
                    == "pushload: \(folder.path): the run was given up before it began, and nothing was sent: worker 2 ?[2Jhas not come\n",
            "\(merged)")
    }

    @Test("A folder that is not there is named and waited for; Ctrl-C ends it with 0")
    func waits() throws {
        let folder = try OutputFolder.made()
        let running = try Programs.start("pushload", ["watch", folder.path + "/run"])
        try running.waitFor("waiting for \(folder.path)/run: no such folder yet")
        try FileManager.default.moveItem(atPath: try self.run().kept(), toPath: folder.path + "/run")
        try running.waitFor("running, 8.5 s")
        kill(running.process.processIdentifier, SIGINT)
        #expect(try running.wait().status == 0)
    }

    @Test("What is asked for wrongly is refused in one line")
    func refused() throws {
        let folder = try run()
        let finished = try Programs.run("pushload", ["watch", folder.path, "--page", "page.txt", "--once"])
        #expect(finished.status == 64 && finished.error.contains("expected a name that ends in .html"), "\(finished)")
        let none = try Programs.run("pushload", ["watch", folder.path + "/none", "--once"])
        #expect(
            none.status == 1 && none.output == "watch: waiting for \(folder.path)/none: no such folder yet\n", "\(none)"
        )
        let nowhere = try Programs.run("pushload", ["watch", folder.path, "--page", "/no/such/page.html", "--once"])
        #expect(nowhere.status == 64 && nowhere.error.split(separator: "\n").count == 1, "\(nowhere)")
    }

    @Test(
        "On a terminal it is drawn in place, and the terminal is as it was after Ctrl-C",
        arguments: [(80, 24), (40, 10)])
    func terminal(columns: Int, rows: Int) throws {
        struct Session: Decodable {
            let status: Int32
            let raw: String
            let main: [String]
            let left: [String]
            let isOther: Bool
            let isCursorHidden: Bool
            let isDone: Bool
        }
        let python = Self.root + "/.build/python/bin/python3"
        try #require(FileManager.default.isExecutableFile(atPath: python), "run make test-deps first")
        let folder = try run()
        let finished = try Programs.start(
            python,
            [
                Self.root + "/Tests/EndToEndTests/Python/terminal.py", "\(columns)", "\(rows)", "--key", "all =\\x03",
                "--",
                Programs.path("pushload"), "watch", folder.path,
            ],
            environment: ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "NO_COLOR": "", "COLUMNS": ""]
        ).wait()
        try #require(finished.status == 0, "\(finished)")
        let session = try finished.read(Session.self)
        #expect(session.status == 0 && session.isDone && !session.isOther && !session.isCursorHidden, "\(session)")
        #expect(session.raw.contains("\u{1B}[?1049h") && session.raw.contains("\u{1B}[?25h\u{1B}[?1049l"))
        #expect(session.left.contains { $0.contains("running") }, "\(session.left)")
        // What was seen last stays.
        #expect(session.main.contains { $0.contains("run 00000000000000ab") }, "\(session.main)")
    }
}

extension OutputFolder {
    /// A copy that is somebody else's to remove.
    fileprivate func kept() throws -> String {
        let copy = path + "-kept"
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        return copy
    }
}

import Foundation
import Reports
import SampleRuns
import Testing

@testable import Workers

@Suite struct WatchTests {
    /// The folder of a run, written by hand.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("watch-\(UUID())").path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ text: String, to name: String) throws {
            let file = path + "/" + name
            try FileManager.default.createDirectory(
                atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        }

        func write(_ status: StatusFile) throws {
            try write(
                String(decoding: try JSONEncoder().encode(status), as: UTF8.self),
                to: "worker-\(status.worker)/status.json")
        }

        func run(_ workers: Int) throws {
            try write(
                #"{"id":"00000000000000ab","workers":\#(workers),"created":1790000000.5,"scenario":{}}"#, to: "run.json"
            )
        }

        func start(without: [Int] = []) throws {
            try write(
                #"{"at":1790000002,"clock_of":0,"written":1790000000,"without":\#(without),"seen":[]}"#,
                to: "start.json")
        }
    }

    private func status(
        _ worker: Int, of workers: Int = 4, beat: UInt64 = 1, p99: UInt64 = 2_000_000,
        change: (inout StatusFile) -> Void = { _ in }
    ) -> StatusFile {
        var status = StatusFile(
            worker: worker, workers: workers, host: "n\(worker)", pid: 9, attempt: 1, state: .running)
        (status.beat, status.elapsed, status.planned) = (beat, 12.3, 1000)
        (status.sent, status.accepted, status.rejected) = (410, 400, 10)
        (status.perSecond, status.targetPerSecond) = (250, 250)
        (status.p50, status.p99, status.inFlight, status.backlog) = (1_000_000, p99, 3, 5)
        change(&status)
        return status
    }

    private func lines(_ run: WatchedRun, rows: Int = 24, width: Int = 100) -> [String] {
        WatchView.lines(run, rows: rows, TextPicture(width: width, isUnicode: true))
    }

    @Test("What is not there yet is waited for by name, and told from what is no folder or no run")
    func absent() throws {
        let folder = try Folder()
        var missing = FolderWatch(folder.path + "/nowhere/")
        #expect(missing.look(now: 0).phase == .absent("waiting for \(folder.path)/nowhere: no such folder yet"))
        try folder.write("x", to: "file")
        var file = FolderWatch(folder.path + "/file")
        #expect(file.look(now: 0).phase == .absent("waiting for \(folder.path)/file: it is no folder"))
        var watch = FolderWatch(folder.path)
        #expect(watch.look(now: 0).phase == .absent("waiting for \(folder.path)/run.json: no worker has come yet"))
        for text in [
            "{\"id\":", "{}", #"{"id":"a","workers":0,"created":1,"scenario":{}}"#,
            #"{"id":"a","workers":9000000000,"created":1,"scenario":{}}"#,
        ] {
            try folder.write(text, to: "run.json")
            guard case .absent(let words) = watch.look(now: 0).phase else {
                Issue.record("\(text)")
                continue
            }
            #expect(words.contains("cannot be read") && !words.contains("\n"))
        }
        #expect(lines(watch.look(now: 0), width: 400).count == 1)
    }

    @Test("A line a worker and their sum: counts and rates added, times those of the slowest, which is marked")
    func view() throws {
        let folder = try Folder()
        try folder.run(4)
        var watch = FolderWatch(folder.path)
        try folder.write(status(0) { $0.state = .ready })
        #expect(WatchRows(watch.look(now: 0)).state == "1 of 4 have come, not begun")
        try folder.start(without: [3])
        for worker in 0..<3 { try folder.write(status(worker, p99: worker == 1 ? 9_000_000 : 2_000_000)) }
        let run = watch.look(now: 1)
        let view = lines(run)
        #expect(view[0] == "run 00000000000000ab, 4 workers: running, 12.3 s, 41% of 3,000 pushes", "\(view)")
        let words = view.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(words[2] == "0 n0 running 12.3 s 250/s 1.00 ms 2.00 ms 10 3 5", "\(words)")
        #expect(words[3] == "1 n1 running 12.3 s 250/s 1.00 ms 9.00 ms 10 3 5 slowest")
        #expect(words[5] == "3 - not here - - - - - - -")
        #expect(words[6] == "all 12.3 s 750/s 1.00 ms 9.00 ms 30 9 15")
        #expect(words.last == "begun without workers that had not come: 3")
        for width in [40, 60, 80, 120] {
            #expect(lines(run, width: width).allSatisfy { $0.count <= width }, "\(lines(run, width: width))")
        }
    }

    @Test("Of more workers than rows those that want a look are first, and the rest is one line")
    func many() throws {
        let folder = try Folder()
        try folder.run(1000)
        try folder.start()
        for worker in 0..<1000 {
            try folder.write(
                status(worker, of: 1000) {
                    if worker == 700 { $0.problem = "connection refused" }
                    if worker == 800 { $0.p99 = 50_000_000 }
                })
        }
        var watch = FolderWatch(folder.path)
        _ = watch.look(now: 0)
        for worker in 0..<1000 where worker != 900 {
            try folder.write(
                status(worker, of: 1000, beat: 2) {
                    if worker == 700 { $0.problem = "connection refused" }
                    if worker == 800 { $0.p99 = 50_000_000 }
                })
        }
        let view = lines(watch.look(now: 10), rows: 12)
        #expect(view.count == 12)
        #expect(view[2].contains("900  n900") && view[2].hasSuffix("silent for 10s"), "\(view)")
        #expect(view[3].contains("700  n700") && view[3].hasSuffix("connection refused"))
        #expect(view[4].contains("800  n800") && view[4].hasSuffix("slowest"))
        #expect(view[10].contains("992 more") && view[11].contains("all") && view[11].contains("250,000/s"))
    }

    @Test("Files that are half written or of another run are a line each, and what was known stays")
    func damaged() throws {
        let folder = try Folder()
        try folder.run(6)
        try folder.start()
        for worker in 0..<6 { try folder.write(status(worker, of: 6)) }
        var watch = FolderWatch(folder.path)
        #expect(watch.look(now: 0).remarks.isEmpty)
        try folder.write(#"{"worker":0,"of":6,"#, to: "worker-0/status.json")
        try folder.write(status(5, of: 6) { $0.host = "x" })
        try folder.write(
            String(decoding: try JSONEncoder().encode(status(3, of: 9)), as: UTF8.self), to: "worker-1/status.json")
        try folder.write("[]", to: "stop.json")
        try folder.write("", to: "end.json")
        let run = watch.look(now: 1)
        #expect(run.phase == .running && run.status == nil && run.workers[0].status?.accepted == 400)
        #expect(
            run.remarks == [
                "stop.json: cannot be read: half written, or of something else",
                "end.json: cannot be read: half written, or of something else",
                "worker-0/status.json: cannot be read: half written, or of something else",
                "worker-1/status.json: it is of worker 3 of 9",
            ], "\(run.remarks)")
        for worker in 0..<6 { try folder.write("{", to: "worker-\(worker)/status.json") }
        #expect(watch.look(now: 2).remarks.last == "and 3 more status files that cannot be read")
    }

    @Test("The end is told with the run's exit status, one that is none as 1")
    func end() throws {
        let folder = try Folder()
        try folder.run(2)
        try folder.start()
        try folder.write(#"{"worker":1,"reason":"stopped by a signal"}"#, to: "stop.json")
        try folder.write(#"{"complete":false,"status":99,"lost":[1]}"#, to: "end.json")
        var watch = FolderWatch(folder.path)
        let run = watch.look(now: 0)
        #expect(run.status == 99 && run.remarks == ["worker 1 asked all to stop: stopped by a signal"])
        #expect(WatchRows(run).state == "ended, not complete, lost: 1, exit status 99")
        try folder.write(#"{"complete":true,"status":256,"lost":[]}"#, to: "end.json")
        #expect(watch.look(now: 1).status == 1)
    }

    @Test(
        "Strangers' text is text: no markup on the page, no control characters on the terminal; the last page is not read again"
    )
    func strangers() throws {
        let folder = try Folder()
        try folder.run(2)
        try folder.start()
        let evil = "<script>\"'&\u{1B}[2J\u{202E}\n\u{7}"
        try folder.write(status(0, of: 2) { ($0.host, $0.problem) = (evil, evil) })
        try folder.write(#"{"worker":1,"reason":"<script>\u001b[2J"}"#, to: "stop.json")
        try folder.write(
            status(1, of: 2) {
                ($0.perSecond, $0.elapsed, $0.inFlight) = (1e300, -1e300, .min)
                ($0.accepted, $0.planned, $0.p99) = (.max, .max, .max)
            })
        var watch = FolderWatch(folder.path)
        let run = watch.look(now: 0)
        let view = lines(run, width: 200).joined()
        #expect(
            view.contains("<script>") && !view.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202E },
            "\(view)")
        for isLast in [false, true] {
            let page = WatchPage.page(run, isLast: isLast)
            #expect(MarkupChecker.problem(page) == nil && !page.contains("<script") && !page.contains("\u{1B}"))
            #expect(page.contains("&lt;script&gt;") && !page.contains("http://") && !page.contains("src="))
            #expect(page.contains("<meta http-equiv=\"refresh\" content=\"2\">") != isLast)
        }
    }
}

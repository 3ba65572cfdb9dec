import Foundation
import Measurement
import Reports
import Results
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
        // Written no time ago, however long the others took.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: 3600)], ofItemAtPath: folder.path + "/worker-900/status.json"
        )
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
        #expect(view[10].contains("992 more") && view[11].contains("all") && view[11].contains("249,750/s"))
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

    @Test("Who is silent counts in no rate and is not the slowest, and after 30 s it is lost")
    func lost() throws {
        let folder = try Folder()
        try folder.run(3)
        try folder.start()
        var watch = FolderWatch(folder.path)
        func beat(_ beat: UInt64, _ workers: [Int]) throws {
            for worker in workers { try folder.write(status(worker, of: 3, beat: beat, p99: UInt64(9 - worker) << 20)) }
        }
        try beat(1, [0, 1, 2])
        _ = watch.look(now: 0)
        try beat(2, [1, 2])
        let silent = watch.look(now: 20)
        #expect(silent.sum.perSecond == 500 && silent.sum.p99 == 8 << 20 && silent.workers.slowest == 1)
        #expect(WatchRows(silent).cells(silent.workers[0])[2...4] == ["running", "12.3 s", "-"])
        #expect(WatchRows(silent).state == "running, 12.3 s, 41% of 3,000 pushes")
        try beat(3, [1, 2])
        let lost = watch.look(now: 31)
        #expect(WatchRows(lost).cells(lost.workers[0]) == ["0", "n0", "lost", "12.3 s", "-", "-", "-", "10", "-", "-"])
        #expect(WatchRows(lost).state == "running, 12.3 s, 41% of 3,000 pushes, lost: worker 0")
        // Lost sooner, by the run's own word.
        try beat(4, [0, 1, 2])
        try folder.write(#"{"complete":false,"status":1,"lost":[0]}"#, to: "end.json")
        let ended = watch.look(now: 32)
        #expect(WatchRows(ended).state == "ended, not complete, lost: worker 0, exit status 1")
        #expect(WatchRows(ended).cells(ended.workers[0])[2] == "lost" && ended.sum.perSecond == 500)
    }

    @Test("Who ended without its part being sent has left; one whose part is whole has sent it")
    func left() throws {
        let folder = try Folder()
        try folder.run(2)
        try folder.start()
        for worker in 0..<2 { try folder.write(status(worker, of: 2) { $0.state = .done }) }
        try folder.write(#"{"attempt":1}"#, to: "worker-0/shard.json")
        var watch = FolderWatch(folder.path)
        let run = watch.look(now: 0)
        #expect(run.workers.map { WatchRows(run).cells($0)[2] } == ["done", "left"])
        #expect(
            WatchRows(run).state
                == "running, 12.3 s, 41% of 2,000 pushes, 1 of 2 have sent their part, left: worker 1")
    }

    @Test("A run that was given up before its start has ended, with status 1 and the reason")
    func givenUp() throws {
        let folder = try Folder()
        try folder.run(2)
        try folder.write(status(0, of: 2) { $0.state = .done })
        try folder.write(#"{"worker":0,"reason":"worker 1 of 2 has not come"}"#, to: "stop.json")
        var watch = FolderWatch(folder.path)
        let run = watch.look(now: 0)
        #expect(run.status == 1 && WatchRows(run).state == "given up before it began, exit status 1")
        #expect(run.remarks == ["worker 0 asked all to stop: worker 1 of 2 has not come"])
        #expect(run.workers.map { WatchRows(run).cells($0)[2] } == ["left", "not here"])
    }

    @Test("Of a part that was taken up again all pushes count, not only those of the last attempt")
    func attempts() throws {
        let folder = try Folder()
        try folder.run(1)
        try folder.start()
        try folder.write(
            #"{"host":"n","positions":[0],"planned":1400,"late":null,"begun":0}"#, to: "worker-0/begun-1.json")
        try folder.write(
            status(0, of: 1) { ($0.attempt, $0.planned, $0.accepted, $0.rejected) = (2, 900, 200, 0) })
        var watch = FolderWatch(folder.path)
        let run = watch.look(now: 0)
        #expect(WatchRows(run).state == "running, 12.3 s, 50% of 1,400 pushes")
        #expect(WatchRows(run).cells(run.workers[0])[2] == "running, attempt 2")
    }

    @Test("What the run came to is shown when it has ended, of each worker and of all")
    func outcome() throws {
        let folder = try Folder()
        try folder.run(2)
        try folder.start()
        for worker in 0..<2 { try folder.write(status(worker, of: 2) { $0.state = .waiting }) }
        try folder.write(#"{"complete":true,"status":1,"lost":[]}"#, to: "end.json")
        var result = ResultDocument()
        result.run.id = "00000000000000ab"
        result.run.durationSeconds = 6
        result.throughput = .init(windowSeconds: 6, offered: nil, answered: 1330)
        (result.pushes.planned, result.pushes.accepted, result.pushes.rejected) = (8000, 7980, 20)
        var total = LatencyHistogram()
        total.record(5_000_000, count: 8000)
        result.latency[.total] = .init(CensoredHistogram(answered: total))
        var own = ResultDocument.Pushes()
        (own.planned, own.accepted, own.rejected) = (4000, 3990, 10)
        result.workers = (0..<2).map {
            .init(
                index: $0, host: "n\($0)", state: .done, pushes: own, answeredPerSecond: 665,
                p99: $0 == 0 ? nil : 5_710_000)
        }
        try ResultFile.write(result, to: folder.path + "/result.json")
        var watch = FolderWatch(folder.path)
        let run = watch.look(now: 0)
        let words = lines(run).map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            words == [
                "run 00000000000000ab, 2 workers: ended, 6.0 s, 7,980 of 8,000 pushes accepted, exit status 1",
                "worker host state pushes accepted errors answered/s total p99",
                "0 n0 done 4,000 3,990 10 665/s -", "1 n1 done 4,000 3,990 10 665/s 5.71 ms",
                "all 8,000 7,980 20 1,330/s 5.00 ms",
            ], "\(words)")
        let page = WatchPage.page(run, isLast: true)
        #expect(MarkupChecker.problem(page) == nil && page.contains("<td>5.71 ms</td>"), "\(page)")
        for width in [40, 60] { #expect(lines(run, width: width).allSatisfy { $0.count <= width }) }
        result.run.id = "00000000000000ac"
        try ResultFile.write(result, to: folder.path + "/result.json")
        #expect(watch.look(now: 1).remarks == ["result.json: it is of another run"])
        try folder.write("{", to: "result.json")
        #expect(watch.look(now: 2).remarks == ["result.json: cannot be read: half written, or of something else"])
    }

    @Test("Of a remark that there is no room for whole words stay, and that there is more is seen")
    func longRemark() throws {
        let folder = try Folder()
        try folder.run(1)
        try folder.start()
        try folder.write(status(0, of: 1) { $0.problem = "connection refused, and refused once more" })
        var watch = FolderWatch(folder.path)
        let run = watch.look(now: 0)
        #expect(lines(run, width: 200)[2].hasSuffix("refused, and refused once more"))
        for width in 70...100 {
            let line = lines(run, width: width)[2]
            let isWhole = ["connection", "refused", "and", "once", "more"].contains { word in
                line.hasSuffix(word + "...") || line.hasSuffix(word)
            }
            #expect(isWhole && line.count <= width, "\(line)")
        }
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
        #expect(WatchRows(run).state == "ended, not complete, lost: worker 1, exit status 99")
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

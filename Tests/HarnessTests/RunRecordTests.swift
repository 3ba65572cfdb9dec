import Foundation
import Measurement
import Results
import Scenarios
import Synchronization
import Testing
import Transport

@testable import Harness

@Suite struct RunRecordTests {
    private static let second: UInt64 = 1_000_000_000

    private final class Warnings: Sendable {
        private let all = Mutex<[String]>([])
        var lines: [String] { all.withLock { $0 } }
        func add(_ line: String) { all.withLock { $0.append(line) } }
    }

    /// A run of one worker that is told what it did, second by second.
    private final class ToldRun {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("record-\(UUID())").path
        let warnings = Warnings()
        let recorder = Recorder(causes: FailureCause.count)
        private let box = SnapshotBox()
        private var window = RateWindow()
        private var watcher: RunWatcher!
        private var now = 5 * RunRecordTests.second

        init(prepare: (String) throws -> Void = { _ in }) throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try prepare(folder)
            var scenario = Scenario()
            scenario.rate = 1000
            scenario.pushes = 100_000
            let inputs = try RunInputs(scenario)
            let state = RunState(accepted: try #require(DeliveryLedger(capacity: 1)), times: nil)
            state.start.store(now, ordering: .relaxed)
            window.begin(now)
            window.end(.at(now + 100 * RunRecordTests.second))
            let output = RunOutput(folder: folder) { [warnings] in warnings.add($0) }
            let record = RunRecord(
                inputs: inputs, started: Date(timeIntervalSince1970: 1_700_000_000), target: "told", output: output)
            watcher = RunWatcher(
                inputs: inputs, state: state, control: RunControl(), boxes: [box], isTerminal: false, judge: nil,
                record: record, progress: { _ in })
            watcher.look()
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        /// 1,000 pushes are taken; of them 900 accepted, 50 rejected, 30 failed, and 20 stay open.
        func second() { go(RunRecordTests.second) }

        /// The same within another time, ns.
        func go(_ time: UInt64) {
            now += time
            let nobody = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
            for number in 1...1000 as ClosedRange<UInt64> {
                recorder.take()
                recorder.sent()
                window.noteDue(now - 2000)
                window.noteSent(now - 1000)
                switch number {
                case ...900: recorder.accepted(total: number * 1000, isMeasured: true)
                case ...950: recorder.rejected(status: 429, reason: nobody, total: number, isMeasured: true)
                case ...980:
                    recorder.failed(cause: FailureCause.pushTimeout.index)
                    recorder.unanswered(after: 10_000_000)
                default: break
                }
                if number <= 950 {
                    window.noteAnswer(now - 500, total: 500, isAccepted: number <= 900, isMeasured: true)
                }
            }
            box.offer(recorder, window: window, inFlight: 20, backlog: 7, position: 0, time: now)
            watcher.look()
        }

        func end() -> (TotalLatencies, [SeriesPoint], notes: [String]) {
            let totals = watcher.finish(
                [recorder], counts: recorder.counts, at: Double(now) / 1e9 - 5, span: 0..<UInt64.max)
            return (totals, watcher.series.points, watcher.notes)
        }

        var result: ResultDocument { get throws { try ResultFile.read(folder + "/result.json") } }
        /// Tag and histogram of each line.
        var log: [(tag: Substring, histogram: LatencyHistogram)] {
            get throws {
                let text = try String(contentsOfFile: folder + "/latency.hlog", encoding: .utf8)
                return try text.split(separator: "\n").dropFirst(4).map { line in
                    let parts = line.split(separator: ",")
                    return (parts[0], try HistogramCodec.decodeFromLog(String(parts[4])))
                }
            }
        }
    }

    @Test("While a run goes on its folder holds a marked result of the part before, with balanced books, and the log")
    func partial() throws {
        let run = try ToldRun()
        #expect(try FileManager.default.contentsOfDirectory(atPath: run.folder).isEmpty)
        for second in 1...7 as ClosedRange<UInt64> {
            run.second()
            // Written with the first point, then every five seconds.
            let seen: UInt64 = second < 6 ? 1 : 6
            let result = try run.result
            #expect(!result.run.complete && result.run.interrupted && result.run.target == "told")
            #expect(
                result.notes == [
                    "partial: written while the run went on, \(seen) s after its start; it is still going on, or was killed"
                ])
            #expect(result.pushes.accepted == 900 * seen && result.pushes.rejected == 50 * seen)
            #expect(result.pushes.failed == 50 * seen && result.pushes.notSent == 100_000 - 1000 * seen)
            #expect(result.pushes.planned == 100_000 && result.pushes.ended == 100_000)
            #expect(result.failures == ["interrupted": 20 * seen, "push_timeout": 30 * seen])
            #expect(result.notSent == ["interrupted": 100_000 - 1000 * seen])
            // Those that are open, and the seven that are due and wait, have no answer at this moment.
            #expect(
                result.latency[.total].count == 1000 * seen + 7 && result.latency[.total].unanswered == 50 * seen + 7)
            #expect(result.latency[.totalAccepted].count == 900 * seen && result.series.count == Int(seen))
            #expect(result.series.allSatisfy { $0.accepted == 900 && $0.inFlight == 20 && $0.backlog == 7 })
            // What only the end can tell is null, not as if it had been measured.
            let text = try Data(contentsOf: URL(fileURLWithPath: run.folder + "/result.json"))
            let object = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
            for key in [
                "statuses", "reasons", "rejections", "connections", "cost", "generator", "breakdown", "cooldown",
                "retries",
            ] { #expect(object[key] is NSNull, "\(key)") }
            let latencies = try #require(object["latency_ns"] as? [String: Any])
            #expect(
                Set(latencies.filter { !($0.value is NSNull) }.keys) == ["total", "total_accepted", "total_rejected"])
            let rates = result.throughput
            #expect(rates.windowSeconds == Double(seen) && rates.sent == 1000)
            #expect(abs((rates.offered ?? 0) - 1000 - 7 / Double(seen)) < 1e-9)
            #expect(rates.answered == 950 && rates.accepted == 900)
            #expect(result.run.durationSeconds == Double(seen))
            let log = try run.log
            #expect(log.count == 2 * Int(second) && log.filter { $0.tag == "Tag=total" }.count == Int(second))
            #expect(log.filter { $0.tag == "Tag=total" }.allSatisfy { $0.histogram.count == 950 })
        }
        let (totals, points, notes) = run.end()
        #expect(totals.answered.count == 7 * 950 && points.reduce(0) { $0 + $1.accepted } == 6300 && notes.isEmpty)
        #expect(run.warnings.lines.isEmpty)
        #expect(
            Set(try FileManager.default.contentsOfDirectory(atPath: run.folder)) == ["result.json", "latency.hlog"])
    }

    @Test("The series has a point every 100 ms, the log an interval a second, each with what happened within it")
    func steps() throws {
        let run = try ToldRun()
        for _ in 1...50 { run.go(50_000_000) }
        let (_, points, _) = run.end()
        #expect(points.count == 26)
        for (number, point) in points.dropLast().enumerated() {
            #expect(point.accepted == 1800 && point.p99 == points[0].p99)
            #expect(abs(point.time - 0.1 * Double(number + 1)) < 1e-9)
        }
        let totals = try run.log.filter { $0.tag == "Tag=total" }
        let counts: [UInt64] = totals.map(\.histogram.count)
        #expect(counts == [19_000, 19_000, 9_500])
    }

    @Test("A log that cannot be written is said once and noted, and the run goes on without")
    func fullLog() throws {
        let run = try ToldRun { folder in
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/latency.hlog", withDestinationPath: "/dev/full")
        }
        for _ in 1...7 { run.second() }
        let problem = "cannot write \(run.folder)/latency.hlog: No space left on device"
        #expect(try run.result.notes.last == "latency.hlog ends 0 s after the start: \(problem)")
        let (totals, _, notes) = run.end()
        #expect(totals.answered.count == 7 * 950 && notes == ["latency.hlog ends 0 s after the start: \(problem)"])
        #expect(run.warnings.lines == ["\(problem); the run goes on without it"])
    }

    @Test("A partial result that cannot be written is said once, and the run goes on")
    func noResult() throws {
        let run = try ToldRun { folder in
            // A folder cannot be replaced by a file.
            try FileManager.default.createDirectory(
                atPath: folder + "/result.json/x", withIntermediateDirectories: true)
        }
        for _ in 1...12 { run.second() }
        let (totals, _, notes) = run.end()
        #expect(totals.answered.count == 12 * 950 && notes.isEmpty)
        #expect(
            run.warnings.lines == [
                "cannot write \(run.folder)/result.json: Is a directory; the run goes on without a partial result"
            ])
    }

    @Test("A run in which nothing was measured has a log with no interval")
    func nothing() throws {
        let run = try ToldRun()
        _ = run.end()
        #expect(try run.log.isEmpty)
    }
}

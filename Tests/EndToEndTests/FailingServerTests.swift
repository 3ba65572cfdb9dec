import Foundation
import Measurement
import Results
import Testing

/// What figures say when the server, or the run, goes wrong: each against a truth that can be counted.
@Suite(.serialized, .waitsForPrograms) struct FailingServerTests {
    private func isBalanced(_ result: ResultDocument) -> Bool {
        let pushes = result.pushes
        return pushes.planned == pushes.accepted + pushes.rejected + pushes.failed + pushes.notSent
            && result.failures.values.reduce(0, +) == pushes.failed
            && result.notSent.values.reduce(0, +) == pushes.notSent
    }

    @Test("Stalls that fill the backlog and drains that empty it again, by turns: each push is sent or overflows, once")
    func stallsAndDrains() throws {
        // Each of 16 stalls of 60 ms at 5,000/s lets 300 pushes come due; 50 streams and a backlog of 100 hold half of them.
        let (result, status, error) = try Programs.load([
            "--rate", "5k", "-D", "2s", "--backlog", "100", "-m", "50", "--mock-flags", "--stall 60ms/120ms",
        ])
        #expect(status == 1 && isBalanced(result), "\(error)")
        let overflowed = result.notSent["overflowed"] ?? 0
        #expect(result.pushes.planned == 10_000 && overflowed > 0 && result.pushes.lost == 0, "\(result.pushes)")
        #expect(result.latency[.total].count == 10_000 && result.latency[.total].unanswered == overflowed)
        #expect(result.throughput.offered == 5000 && result.throughput.windowSeconds == 2)
    }

    @Test("Pushes without an answer count as longer than every answer, and take nothing from the rate of the others")
    func silence() throws {
        let (result, status, error) = try Programs.load([
            "--rate", "400", "-D", "3s", "--timeout", "4s", "--mock-flags", "--silent 1% --fault-seed 5",
        ])
        let silent = result.pushes.failed
        #expect(status == 1 && isBalanced(result) && result.failures == ["push_timeout": silent], "\(error)")
        #expect(silent >= 2 && silent < 60 && result.pushes.planned == 1200)
        let total = result.latency[.total]
        #expect(total.count == 1200 && total.unanswered == silent && total.censored.contains("p99_9"), "\(total)")
        #expect(total.max >= 4_000_000_000 && total.p999 > result.latency[.totalAccepted].p999)
        #expect(result.latency[.totalAccepted].count == 1200 - silent && result.latency[.totalAccepted].unanswered == 0)
        let histogram = try HistogramCodec.decodeFromLog(try #require(result.histograms["total_unanswered"]))
        #expect(histogram.count == silent && histogram.summary.min >= 3_990_000_000)
        // 400 a second were due; the answers that came are counted over the schedule, not over the wait for the others.
        #expect(result.throughput.offered == 400 && result.throughput.windowSeconds == 3)
        #expect(result.run.durationSeconds > 4)
        #expect(result.throughput.answered <= Double(1200 - silent) / 3)
    }

    @Test(
        "The duration ends the run: what waits for a stream then is not sent, and the verdict says that the rate was not reached"
    )
    func timeUp() throws {
        // 50 streams at 80 ms carry at most 625/s of 5,000/s.
        let (result, status, error) = try Programs.load([
            "--rate", "5k", "-D", "1s", "-m", "50", "--rtt", "80ms", "--drain", "2s",
        ])
        #expect(status == 1 && isBalanced(result) && result.pushes.planned == 5000, "\(error)")
        #expect(result.failures.isEmpty && result.notSent == ["run_ended": 5000 - result.pushes.accepted])
        #expect(
            result.pushes.accepted > 0 && result.pushes.accepted <= 1000 && result.run.complete
                && !result.run.interrupted)
        #expect(result.throughput.windowSeconds == 1 && result.throughput.offered == 5000)
        #expect(result.throughput.sent <= 650 && result.latency[.total].unanswered == 5000 - result.pushes.accepted)
        #expect(error.contains("rate not reached: "), "\(error)")
    }

    @Test("What is open after the duration is waited for as long as --drain says", arguments: [["--rate", "500"], []])
    func drain(_ load: [String]) throws {
        let (result, status, error) = try Programs.load(
            load + ["-D", "1s", "--drain", "500ms", "-m", "20", "--mock-flags", "--silent 4% --fault-seed 5"])
        #expect(status == 1 && isBalanced(result), "\(error)")
        #expect(result.failures["run_ended"] == result.pushes.failed && result.pushes.failed > 0)
        // Without --drain's end they would be waited for until --timeout, 30 s.
        #expect(result.run.durationSeconds >= 1.5 && result.run.durationSeconds < 20)
        #expect(result.latency[.total].unanswered == result.pushes.failed + result.pushes.notSent)
    }

    @Test("Rejections are counted apart from accepted pushes, in rates and latencies")
    func rejections() throws {
        let (result, _, error) = try Programs.load([
            "-n", "4000", "--mock-flags", "--reject TooManyRequests=50% --fault-seed 3",
        ])
        #expect(isBalanced(result) && result.pushes.rejected > 1000, "\(error)")
        #expect(result.latency[.totalAccepted].count == result.pushes.accepted)
        #expect(result.latency[.totalRejected].count == result.pushes.rejected && result.latency[.total].count == 4000)
        let rates = result.throughput
        #expect(
            abs(rates.accepted / rates.answered - Double(result.pushes.accepted) / 4000) < 1e-6, "\(rates)")
    }

    @Test("Nobody there: every push is not sent, for the reason that kept them from it")
    func nobody() throws {
        let (result, status, _) = try Programs.load([
            "-n", "10", "--target", "http://127.0.0.1:1", "--no-auth", "--give-up-after", "200ms",
        ])
        #expect(status == 1 && isBalanced(result) && result.notSent == ["connection_refused": 10])
        #expect(result.pushes.failed == 0 && result.throughput.windowSeconds == 0)
    }

    @Test("A closed loop with a number and a time plans what it took when it is interrupted")
    func interruptedClosedLoop() throws {
        let output = OutputFolder()
        let running = try Programs.start(
            "pushload", ["run", "--json", "--output", output.path, "-n", "1G", "-D", "20s", "-m", "10"])
        try running.waitForError(" in flight ")
        kill(running.process.processIdentifier, SIGINT)
        let finished = try running.wait()
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: finished.error)
        #expect(finished.status == 1 && result.run.interrupted && isBalanced(result))
        #expect(result.pushes.planned == result.pushes.accepted && result.pushes.notSent == 0, "\(result.pushes)")
    }

    @Test("Workers that start a little apart all leave the warm-up out", arguments: [2, 3])
    func warmup(_ threads: Int) throws {
        let (result, status, error) = try Programs.load([
            "-t", "\(threads)", "-c", "\(threads)", "-n", "20k", "--warmup", "5k pushes", "-m", "50",
        ])
        #expect(status == 0 && result.latency[.total].count == 15_000 && result.warmup.answered == 5000, "\(error)")
        let (timed, _, _) = try Programs.load([
            "-t", "\(threads)", "-c", "\(threads)", "-n", "3000", "--warmup", "1h", "-m", "50",
        ])
        #expect(timed.latency[.total].count == 0 && timed.warmup.answered == 3000, "\(timed.warmup)")
        let refused = try Programs.run("pushload", ["run", "-D", "2s", "--rate", "100", "--warmup", "2s"])
        #expect(
            refused.status == 64 && refused.error.hasSuffix("the run is 2.00 s long, nothing would be measured\n"),
            "\(refused)")
    }
}

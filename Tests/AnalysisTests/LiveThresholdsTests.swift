import Measurement
import Scenarios
import Testing

@testable import Analysis
@testable import Statistics

/// A run as its watcher sees it: everything since the start, looked at once a second.
private struct WatchedRun {
    private(set) var seconds: UInt64 = 0
    private(set) var total = LatencyHistogram()
    /// Waits of pushes that were given up.
    var unanswered = LatencyHistogram()
    var counts = PushCounts()
    /// Measured pushes that are due and have not ended.
    var open: UInt64 = 0
    let judge: LiveThresholds

    init(_ thresholds: String, window: UInt64 = 10, delay: UInt64 = 0) throws {
        judge = LiveThresholds(
            try Threshold.list(parsing: thresholds), window: window * 1_000_000_000, delay: delay * 1_000_000_000)
    }

    /// A second with so many answers after so long each; what the judge says at its end.
    mutating func second(_ answers: UInt64, milliseconds: UInt64, planned: UInt64? = nil) -> String? {
        total.record(milliseconds * 1_000_000, count: answers)
        counts.accepted += answers
        seconds += 1
        return judge.crossed(
            at: seconds * 1_000_000_000, counts, total: CensoredHistogram(answered: total, unanswered: unanswered),
            due: total.count + unanswered.count + open, planned: planned)
    }
}

@Suite struct LiveThresholdsTests {
    @Test("A bad second among good ones is seen by a short window and not by a long one")
    func badSecond() throws {
        // One second of 3 is more than a tenth, one of 30 less.
        for (window, badness) in [(3 as UInt64, "p90 < 10ms was crossed: 1.00 s over the last 3.00 s"), (30, nil)] {
            var run = try WatchedRun("p90 < 10ms", window: window)
            for second in 1...60 {
                let verdict = run.second(1000, milliseconds: second == 50 ? 1000 : 1)
                let isSeen = badness != nil && (50..<53).contains(second)
                #expect(verdict == (isSeen ? badness : nil), "window \(window) s, second \(second)")
            }
        }
    }

    @Test("A push that is given up counts as longer than every answer")
    func censored() throws {
        var run = try WatchedRun("p99 < 10s")
        for _ in 1...20 { #expect(run.second(1000, milliseconds: 1) == nil) }
        // Of the last 10,000 pushes 150 have no answer after 4 s: more than 1 %, though 4 s are less than 10 s.
        run.unanswered.record(4_000_000_000, count: 150)
        #expect(run.second(1000, milliseconds: 1) == "p99 < 10s was crossed: more than 4.00 s over the last 10.0 s")
        for _ in 1...10 { _ = run.second(1000, milliseconds: 1) }
        #expect(run.second(1000, milliseconds: 1) == nil)
    }

    @Test(
        "A push that is open for long, or got no answer, crosses a mean's limit only where what is known of the mean does"
    )
    func mean() throws {
        var run = try WatchedRun("mean < 100ms")
        run.open = 1
        for second in 1...20 { #expect(run.second(1000, milliseconds: 1) == nil, "second \(second)") }
        run.unanswered.record(5_000_000_000)
        #expect(run.second(1000, milliseconds: 1) == nil)
        run.unanswered.record(5_000_000_000, count: 1000)
        let words = run.second(1000, milliseconds: 1) ?? ""
        #expect(words.hasPrefix("mean < 100ms was crossed: more than ") && words.hasSuffix(" over the last 10.0 s"))
        // A lower limit may be held all the same.
        var one = try WatchedRun("mean > 100ms")
        one.unanswered.record(50_000_000, count: 5000)
        #expect(one.second(0, milliseconds: 1) == nil)
    }

    @Test("A server that answers nothing crosses a latency's limit once enough pushes are open for longer than that")
    func silent() throws {
        var run = try WatchedRun("p99 < 2s")
        for _ in 1...5 { #expect(run.second(1000, milliseconds: 1) == nil) }
        for open in [1000, 2000] as [UInt64] {
            run.open = open
            #expect(run.second(0, milliseconds: 1) == nil, "\(open)")
        }
        // Those of the sixth second were due two looks ago.
        run.open = 3000
        let words = "more than 2.00 s over the last 8.00 s, 1,000 pushes open for longer than the limit"
        #expect(run.second(0, milliseconds: 1) == "p99 < 2s was crossed: \(words)")
        // From the beginning, with a lower limit that nothing is known of, and where the answers come late all the same.
        var never = try WatchedRun("p50 < 100ms")
        never.open = 900
        #expect(never.second(0, milliseconds: 1) == nil)
        never.open = 1800
        #expect(never.second(0, milliseconds: 1) == nil)
        never.open = 2700
        #expect(
            never.second(0, milliseconds: 1)
                == "p50 < 100ms was crossed: more than 100 ms over the last 3.00 s, 1,800 pushes open for longer than the limit"
        )
        var lower = try WatchedRun("p50 > 100ms")
        for open in 1...9 as ClosedRange<UInt64> {
            lower.open = open * 1000
            #expect(lower.second(0, milliseconds: 1) == nil)
        }
        var late = try WatchedRun("p99 < 2s")
        for _ in 1...20 {
            late.open = 1900
            #expect(late.second(1000, milliseconds: 1900) == nil)
        }
    }

    @Test("Open pushes of a warm-up or of the delay do not count")
    func openBefore() throws {
        // Of the warm-up nothing is due that is measured; what waits when it ends is of it.
        var run = try WatchedRun("p99 < 100ms")
        for _ in 1...5 { #expect(run.second(0, milliseconds: 1) == nil) }
        run.open = 5000
        #expect(run.second(0, milliseconds: 1) == nil)
        for _ in 1...10 { #expect(run.second(1000, milliseconds: 1) == nil) }
        var delayed = try WatchedRun("p99 < 100ms", delay: 5)
        delayed.open = 5000
        for _ in 1...20 { #expect(delayed.second(1000, milliseconds: 1) == nil) }
    }

    @Test("Nothing is judged within the delay: no latency of that time ever, its counts when it is over")
    func delay() throws {
        var slow = try WatchedRun("p99 < 10ms", window: 10, delay: 20)
        for second in 1...20 { #expect(slow.second(1000, milliseconds: 1000) == nil, "second \(second)") }
        for second in 21...60 { #expect(slow.second(1000, milliseconds: 1) == nil, "second \(second)") }
        #expect(slow.second(1000, milliseconds: 50) == "p99 < 10ms was crossed: 50.0 ms over the last 10.0 s")

        var failing = try WatchedRun("failed < 5", delay: 20)
        failing.counts.failed = 7
        for second in 1...19 { #expect(failing.second(1000, milliseconds: 1) == nil, "second \(second)") }
        #expect(failing.second(1000, milliseconds: 1) == "failed < 5 was crossed: 7 so far")

        // The first look after the delay comes when it comes.
        let judge = try WatchedRun("p99 < 10ms", delay: 20).judge
        var total = LatencyHistogram()
        total.record(1_000_000_000, count: 5000)
        #expect(
            judge.crossed(
                at: 20_700_000_000, PushCounts(), total: CensoredHistogram(answered: total), due: total.count,
                planned: nil)
                == nil)
        total.record(1_000_000_000, count: 5000)
        #expect(
            judge.crossed(
                at: 21_700_000_000, PushCounts(), total: CensoredHistogram(answered: total), due: total.count,
                planned: nil)
                == "p99 < 10ms was crossed: 1.00 s over the last 1.00 s")
    }

    @Test("A server that has recovered is not held to its past; one that gets slow late is seen, however good it was")
    func recovered() throws {
        // Too few answers to be judged while it is slow, and all of them far over the limit.
        var run = try WatchedRun("p99 < 10ms && mean < 10ms && max < 10ms")
        for second in 1...30 { #expect(run.second(90, milliseconds: 5000) == nil, "second \(second)") }
        // Then enough; once the slow ones have left the window, only these count.
        for _ in 31...40 { _ = run.second(1000, milliseconds: 1) }
        for second in 41...55 { #expect(run.second(1000, milliseconds: 1) == nil, "second \(second)") }
        #expect(run.total.value(atPercentile: 50) < 2_000_000 && run.total.value(atPercentile: 99) > 10_000_000)

        var late = try WatchedRun("p50 < 10ms")
        for _ in 1...40 { #expect(late.second(100, milliseconds: 1) == nil) }
        let seen = (1...10).first { _ in late.second(100, milliseconds: 1000) != nil }
        // Of 1,000 answers more than half must be slow.
        #expect(seen == 6)
    }

    @Test("Counts that only grow are judged over the whole run and at once, shares of what is planned")
    func counts() throws {
        func verdict(_ threshold: String, failed: UInt64, rejected: UInt64 = 0, planned: UInt64?) throws -> String? {
            var run = try WatchedRun(threshold)
            for _ in 1...30 { #expect(run.second(10, milliseconds: 1, planned: planned) == nil) }
            run.counts.failed = failed
            run.counts.rejected = rejected
            return run.second(10, milliseconds: 1, planned: planned)
        }
        #expect(try verdict("failed < 10", failed: 9, planned: nil) == nil)
        #expect(try verdict("failed < 10", failed: 10, planned: nil) == "failed < 10 was crossed: 10 so far")
        #expect(try verdict("failed == 0", failed: 1, planned: 1000) == "failed == 0 was crossed: 1 so far")
        #expect(try verdict("rejected <= 1%", failed: 0, rejected: 10, planned: 1000) == nil)
        #expect(
            try verdict("rejected <= 1%", failed: 0, rejected: 11, planned: 1000)
                == "rejected <= 1% was crossed: 11 so far")
        #expect(try verdict("rejected <= 1%", failed: 0, rejected: 300, planned: nil) == nil)
        // These may still come right.
        #expect(try verdict("accepted >= 99% && rate > 1k && failed > 5", failed: 1, planned: 1000) == nil)
    }

    /// A run of some seconds in which so many pushes come due and are answered each; when it is ended, and why.
    private func rates(
        _ threshold: String, window: UInt64 = 10, delay: UInt64 = 0, isOpenLoop: Bool = true, workers: Int = 1,
        seconds: Int = 60, _ second: (Int) -> (due: UInt64, answered: UInt64)
    ) throws -> (second: Int, why: String)? {
        let judge = LiveThresholds(
            try Threshold.list(parsing: threshold), window: window * 1_000_000_000, delay: delay * 1_000_000_000,
            isOpenLoop: isOpenLoop, workers: workers)
        var counts = PushCounts()
        var due: UInt64 = 0
        for number in 1...seconds {
            let now = second(number)
            due += now.due
            counts.accepted += now.answered
            counts.sent += now.due
            let why = judge.crossed(
                at: UInt64(number) * 1_000_000_000, counts, total: CensoredHistogram(), due: due, planned: nil)
            if let why { return (number, why) }
        }
        return nil
    }

    @Test(
        "A rate far below what is asked for ends a run before the window is whole, another one after that"
    )
    func rate() throws {
        let slow = try rates("rate >= 0.95 * target") { _ in (1000, 50) }
        #expect(slow?.second == 7)
        #expect(slow?.why == "rate >= 0.95 * target was crossed: 0.0500 * target over the last 5.00 s")
        let short = try rates("goodput > 900/s") { _ in (1000, 850) }
        #expect(short?.second == 15 && short?.why == "goodput > 900/s was crossed: 850/s over the last 10.0 s")
        #expect(try rates("rate >= 0.95 * target", window: 2) { _ in (1000, 900) }?.second == 5)
        // Nothing is ever answered.
        #expect(try rates("rate >= 0.95 * target") { _ in (1000, 0) }?.second == 11)
        // What is sent is not what is answered, and an upper limit may still come right.
        for threshold in ["sent_rate >= 0.95 * target", "rate <= 10/s", "offered >= 2k"] {
            #expect(try rates(threshold) { _ in (1000, 50) } == nil, "\(threshold)")
        }
        let closed = try rates("rate >= 1k", isOpenLoop: false) { _ in (800, 800) }
        #expect(closed?.second == 12)
    }

    @Test(
        "A rate that answers are only late for, that the schedule does not ask for, or that a part of the run misses is let go on"
    )
    func heldRate() throws {
        // Answers come 3 s late, then as fast as they are due.
        #expect(try rates("rate >= 0.99 * target") { (1000, $0 > 3 ? 1000 : 0) } == nil)
        // Not asked for yet: a ramp, and exactly what is asked for.
        #expect(try rates("rate >= 5k") { (UInt64($0) * 100, UInt64($0) * 100) } == nil)
        #expect(try rates("rate >= 1k") { (1000, $0 % 2 == 0 ? 1003 : 997) } == nil)
        // One bad second of ten is less than is allowed.
        #expect(try rates("rate >= 0.8 * target") { (1000, $0 == 30 ? 0 : 1000) } == nil)
        // Within the delay, and in a warm-up, of which nothing is due.
        #expect(try rates("rate >= 0.95 * target", delay: 20) { (1000, $0 <= 20 ? 10 : 1000) } == nil)
        #expect(try rates("rate >= 0.95 * target") { ($0 <= 20 ? 0 : 1000, $0 <= 20 ? 10 : 1000) } == nil)
        // Of several workers each knows only its own.
        #expect(try rates("rate >= 1k", workers: 2) { _ in (500, 500) } == nil)
        #expect(try rates("rate >= 1k", workers: 2) { _ in (1000, 10) } == nil)
        #expect(try rates("rate >= 0.95 * target", workers: 2) { _ in (1000, 10) } != nil)
        // A few pushes are no rate.
        #expect(try rates("rate >= 0.99 * target") { ($0 % 10 == 0 ? 1 : 0, $0 % 10 == 1 && $0 > 1 ? 1 : 0) } == nil)
    }

    @Test("A rate is held though the last pushes of a step or a burst are not answered yet")
    func lateAnswers() throws {
        // Of each second the last tenth is answered in the next one: a latency of 100 ms.
        func held(_ threshold: String, window: UInt64 = 10, _ due: (Int) -> UInt64) throws -> Bool {
            try rates(threshold, window: window) {
                (due($0), due($0) - due($0) / 10 + ($0 > 1 ? due($0 - 1) / 10 : 0))
            } == nil
        }
        for window in [1, 2, 3, 10, 60] as [UInt64] {
            for begin in 1...20 {
                let step = { $0 > begin ? 5000 : 100 as UInt64 }
                #expect(try held("rate >= 0.95 * target", window: window, step), "step, \(window) s, \(begin)")
                #expect(try held("rate >= 4k", window: window, step), "absolute, \(window) s, \(begin)")
                let burst = { $0 == begin ? 150_000 : 1000 as UInt64 }
                #expect(try held("goodput >= 0.95 * target", window: window, burst), "burst, \(window) s, \(begin)")
            }
        }
        // Nothing of a burst is answered for 3 s; what is never answered is seen.
        let late = { (second: Int) -> (due: UInt64, answered: UInt64) in
            (second % 20 == 0 ? 50_000 : 100, second > 20 && second % 20 == 3 ? 50_000 : 100)
        }
        #expect(try rates("rate >= 0.95 * target", late) == nil)
        let missing = try rates("rate >= 0.95 * target") { ($0 > 20 ? 5000 : 100, $0 > 20 ? 2000 : 100) }
        #expect(missing?.second == 27)
    }

    @Test("A rate is not judged once all pushes are taken and only answers are awaited")
    func tail() throws {
        let judge = LiveThresholds(
            try Threshold.list(parsing: "rate >= 5k"), window: 10_000_000_000, delay: 0, isOpenLoop: false)
        var counts = PushCounts()
        for second in 1...60 as ClosedRange<UInt64> {
            counts.taken = min(second * 6000, 120_000)
            counts.sent = counts.taken
            counts.accepted = counts.taken - 10
            let why = judge.crossed(
                at: second * 1_000_000_000, counts, total: CensoredHistogram(), due: counts.taken, planned: 120_000)
            #expect(why == nil, "second \(second)")
        }
    }

    @Test("Thresholds that are judged early are those that end runs")
    func early() throws {
        for (text, isEarly, isInWindow) in [
            ("p99 < 1s", true, true), ("mean > 1ms", true, true), ("queue.p99 < 1s", false, false),
            ("p99{stage=hold} < 1s", false, false), ("rate >= 5", true, true), ("goodput > 0.9 * target", true, true),
            ("rate < 5", false, false), ("offered >= 5", false, false), ("failed == 0", true, false),
            ("rejected < 1%", true, false), ("failed > 5", false, false), ("accepted >= 99%", false, false),
            ("rss < 1GB", false, false), ("cpu < 2us", false, false), ("echo.failed == 0", false, false),
        ] {
            let threshold = try #require(try Threshold.list(parsing: text).first)
            #expect(threshold.isJudgedEarly == isEarly && threshold.isJudgedInWindow == isInWindow, "\(text)")
        }
    }

    @Test("The window holds exactly what was recorded within it")
    func exactly() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix(seed: seed)
        for length in [1, 4, 10, 20] as [UInt64] {
            var window = LatencyWindow(length: length * 1_000_000_000, begin: 0, total: CensoredHistogram())
            var total = LatencyHistogram()
            var seconds: [[UInt64]] = []
            for second in 1...(2 * length + 5) {
                let own = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    UInt64.random(in: 1...1_000_000_000_000, using: &random)
                        >> UInt64.random(in: 0...35, using: &random)
                }
                for value in own { total.record(value) }
                seconds.append(own)
                // A look is up to 50 ms late, which is what a watcher needs.
                let time = second * 1_000_000_000 + UInt64.random(in: 0...50_000_000, using: &random)
                let recent = window.advance(to: time, total: CensoredHistogram(answered: total)).recent.answered
                // A window of 20 s has its marks 2 s apart: it may begin a second to either side.
                let slack = length > 10 ? [-1, 0, 1] : [0]
                let counters = recent.counters
                #expect(
                    slack.contains { extra in
                        let values = seconds.suffix(Int(length) + extra).joined()
                        guard UInt64(values.count) == recent.count else { return false }
                        var expected = LatencyHistogram()
                        for value in values { expected.record(value) }
                        return expected.counters.elementsEqual(counters, by: ==)
                    }, "seed \(seed), window \(length) s, second \(second)")
            }
        }
    }

    @Test("Of a window of any length at most 12 copies are kept, and it is as long as it should be within a twentieth")
    func bounded() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix(seed: seed)
        let look = 1_000_000_000.0
        for length in [1, 1.5, 7, 10, 33, 60, 3600] {
            let nanoseconds = UInt64(length * 1e9)
            var window = LatencyWindow(length: nanoseconds, begin: 0, total: CensoredHistogram())
            // An hour's are looked at every 20 s only, for the test to be short.
            let apart = length > 100 ? 20 * look : look
            let total = LatencyHistogram()
            for turn in 1...(Int(length * 1e9 / apart) + 30) {
                let time = UInt64(Double(turn) * apart) + UInt64.random(in: 0...50_000_000, using: &random)
                let (_, own) = window.advance(to: time, total: CensoredHistogram(answered: total))
                #expect(window.kept <= 12, "seed \(seed), window \(length) s")
                guard time > nanoseconds else {
                    #expect(own == time)
                    continue
                }
                let off = abs(Double(own) - Double(nanoseconds))
                #expect(off <= max(Double(nanoseconds) / 20, apart / 2) + apart / 2 + 1e8, "seed \(seed): \(own)")
            }
        }
        // Nor does a clock that goes back, or a window of nothing, trap.
        var window = LatencyWindow(length: 0, begin: 5, total: CensoredHistogram())
        #expect(window.advance(to: 3, total: CensoredHistogram()).length == 0)
        #expect(window.advance(to: .max, total: CensoredHistogram()).recent.count == 0)
    }

    @Test("A rate whose window never holds enough answers is said to be, with a window that does")
    func warning() throws {
        let judge = try WatchedRun("p99 < 10ms").judge
        #expect(
            judge.warning(rate: 30)
                == "latency will not end the run early: at 30.0 pushes/s a window of 10.0 s never holds "
                + "1,000 answers; give --abort-on-fail-window 34s")
        #expect(judge.warning(rate: 100) == nil && judge.warning(rate: nil) == nil)
        #expect(try WatchedRun("failed < 10 && queue.p99 < 1s").judge.warning(rate: 30) == nil)
    }
}

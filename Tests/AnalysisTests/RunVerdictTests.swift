import Measurement
import Results
import SampleRuns
import Scenarios
import Testing

@testable import Analysis

@Suite struct RunVerdictTests {
    private func result(
        planned: UInt64 = 10, accepted: UInt64 = 10, rejected: UInt64 = 0, failed: UInt64 = 0, notSent: UInt64 = 0,
        lost: UInt64? = 0, duplicated: UInt64? = 0, reasons: [String: UInt64] = [:], failures: [String: UInt64] = [:],
        expected: [String] = [], interrupted: Bool = false
    ) -> ResultDocument {
        var result = ResultDocument()
        (result.run.complete, result.run.interrupted) = (!interrupted, interrupted)
        result.scenario = ["expected_reasons": .array(expected.map { .string($0) })]
        result.pushes.planned = planned
        (result.pushes.accepted, result.pushes.rejected) = (accepted, rejected)
        (result.pushes.failed, result.pushes.notSent) = (failed, notSent)
        (result.pushes.lost, result.pushes.duplicated) = (lost, duplicated)
        result.throughput = .init(offered: nil, answered: 0)
        (result.reasons, result.failures) = (reasons, failures)
        return result
    }

    @Test("A run in which every push was accepted is good, with or without a ledger")
    func good() {
        #expect(RunVerdict(result()).exitCode == 0)
        #expect(RunVerdict(result(lost: nil, duplicated: nil)).isGood)
    }

    @Test("A figure that is not known as well as was asked is 98, where nothing else is wrong")
    func precision() throws {
        var result = result()
        result.trust = .init()
        #expect(RunVerdict(result).exitCode == 0)
        result.trust?.until = .init(asked: "p99 +- 2 %", reached: false, seconds: 60)
        let verdict = RunVerdict(result)
        #expect(verdict.exitCode == 98 && !verdict.isGood && !verdict.isPrecise && verdict.problems.isEmpty)
        #expect(RunVerdict(result, thresholds: [try Threshold(parsing: "accepted > 100")]).exitCode == 99)
        result.pushes.failed = 1
        #expect(RunVerdict(result).exitCode == 1)
        result.pushes.failed = 0
        result.trust?.until?.reached = true
        #expect(RunVerdict(result).exitCode == 0)
    }

    @Test("A threshold that ended the run is crossed, though it holds over the part that was made: 99")
    func endedEarly() throws {
        var result = result(interrupted: true)
        let thresholds = try Threshold.list(parsing: "accepted > 3 && rejected < 5")
        #expect(RunVerdict(result, thresholds: thresholds).exitCode == 1)
        result.notes = ["ended early: accepted > 3 was crossed: 2 over the last 1.01 s"]
        let verdict = RunVerdict(result, thresholds: thresholds)
        #expect(verdict.exitCode == 99 && verdict.thresholds.map(\.isHeld) == [false, true])
        #expect(verdict.thresholds[0].description == "accepted > 3, while the run went on: 2 over the last 1.01 s")
    }

    @Test(
        "Doubles that --retry connection makes are judged by a threshold on them; without the one or the other they are wrong"
    )
    func doubles() throws {
        var result = result(duplicated: 2)
        let held = [try Threshold(parsing: "duplicated < 3")]
        let crossed = [try Threshold(parsing: "duplicated == 0")]
        #expect(RunVerdict(result, thresholds: held).exitCode == 1)
        result.scenario["retry"] = .string("5xx,connection")
        #expect(RunVerdict(result).exitCode == 1)
        #expect(RunVerdict(result, thresholds: held).isGood)
        #expect(RunVerdict(result, thresholds: crossed).exitCode == 99)
        #expect(RunVerdict(result, thresholds: [try Threshold(parsing: "lost == 0")]).exitCode == 1)
    }

    @Test("A threshold on retried counts what --retry sent again, too")
    func retried() throws {
        var result = result()
        (result.pushes.retried, result.retries.attempts) = (3, 4)
        #expect(RunVerdict(result, thresholds: [try Threshold(parsing: "retried == 7")]).isGood)
        #expect(!RunVerdict(result, thresholds: [try Threshold(parsing: "retried < 5")]).isGood)
    }

    @Test("Everything that can be wrong with a run is said, and makes the exit status 1")
    func bad() {
        let verdicts = [
            RunVerdict(result(planned: 11)),
            RunVerdict(result(accepted: 9, failed: 1, failures: ["push_timeout": 1])),
            RunVerdict(result(accepted: 8, notSent: 2)), RunVerdict(result(accepted: .max, rejected: 5)),
            RunVerdict(result(lost: 1)), RunVerdict(result(duplicated: 2)),
            RunVerdict(result(accepted: 8, rejected: 2, reasons: ["BadDeviceToken": 2])),
            RunVerdict(result(interrupted: true)), RunVerdict(result(planned: 0, accepted: 0)),
            RunVerdict(result(planned: 0, accepted: 0, interrupted: true)),
        ]
        for (verdict, word) in zip(
            verdicts,
            [
                "balance", "push_timeout 1", "2 pushes were not sent: ", "balance", "ledger", "more than once",
                "BadDeviceToken 2", "interrupted", "no push", "interrupted before a push was sent",
            ])
        {
            #expect(
                verdict.exitCode == 1 && verdict.problems.count == 1 && verdict.problems[0].contains(word), "\(word)")
        }
    }

    @Test("A target to which no connection was ever made is 1, whatever thresholds its run has crossed")
    func unreachable() throws {
        var result = result(accepted: 0, notSent: 10)
        result.notSent = ["no_connection": 10]
        (result.connections.connectFailures, result.connections.ends) = (3, ["connection_refused": 3])
        let thresholds = [try Threshold(parsing: "p99 < 50ms")]
        let verdict = RunVerdict(result, thresholds: thresholds)
        #expect(verdict.exitCode == 1 && verdict.thresholds.map(\.isHeld) == [false], "\(verdict)")
        result.connections.opened = 1
        #expect(RunVerdict(result, thresholds: thresholds).exitCode == 99)
    }

    @Test(
        "A closed loop whose target was gone before its time was over is not good, though every push it began was accepted"
    )
    func cutShort() {
        var result = result()
        result.run.complete = false
        result.run.durationSeconds = 1.5
        result.connections.opened = 1
        result.connections.ends = ["goaway": 1, "connection_refused": 4]
        result.scenario["duration"] = .integer(6_000_000_000)
        #expect(
            RunVerdict(result).problems == [
                "no connection for the last 4.50 s of 6.00 s: connection_refused, goaway"
            ])
        #expect(RunVerdict(result).exitCode == 1)
        // One worker of several.
        result.run.durationSeconds = 6
        #expect(
            RunVerdict(result).problems == [
                "connections were lost and not made again before the end of the run: connection_refused, goaway"
            ])
        result.run.complete = true
        #expect(RunVerdict(result).isGood)
    }

    @Test("Where connections were open and nothing could be sent the cause is said, and not that they were lost")
    func heldBack() {
        let why = "the server allows no streams (SETTINGS_MAX_CONCURRENT_STREAMS 0)"
        var result = result(planned: 0, accepted: 0)
        result.run.complete = false
        result.run.durationSeconds = 10
        result.connections.opened = 1
        result.scenario["duration"] = .integer(6_000_000_000)
        for mark in ["", "a: "] {
            result.notes = ["another", "\(mark)last connection problem: \(why)"]
            #expect(RunVerdict(result).problems == ["no push could be sent: \(why)"])
        }
        // A server that allowed streams before.
        (result.pushes.planned, result.pushes.accepted) = (10, 10)
        #expect(RunVerdict(result).problems == ["not every worker could send to the end of the run: \(why)"])
        result.run.durationSeconds = 2
        #expect(RunVerdict(result).problems == ["no push could be sent for the last 4.00 s of 6.00 s: \(why)"])
        // A number of pushes.
        (result.pushes.accepted, result.pushes.notSent, result.notSent) = (8, 2, ["no_stream": 2])
        #expect(RunVerdict(result).problems == ["2 pushes were not sent: no_stream 2: \(why)"])
        // One that was lost before is not why; what the last connection problem is may be.
        result.connections.ends = ["connection_reset": 1]
        #expect(RunVerdict(result).problems == ["2 pushes were not sent: no_stream 2: \(why)"])
        result.notes = ["last connection problem: connection_reset"]
        #expect(RunVerdict(result).problems == ["2 pushes were not sent: no_stream 2"])
    }

    @Test("Rejections for an expected reason are as wanted, others beside them are not")
    func expected() {
        let reasons: [String: UInt64] = ["BadDeviceToken": 2, "Unregistered": 1]
        #expect(
            RunVerdict(
                result(accepted: 7, rejected: 3, reasons: reasons, expected: ["BadDeviceToken", "Unregistered"])
            ).isGood)
        #expect(!RunVerdict(result(accepted: 7, rejected: 3, reasons: reasons, expected: ["Unregistered"])).isGood)
    }

    @Test(
        "Rejections are expected by reason, by status, or as those without a reason; the others are named as readers see them"
    )
    func expectedStatuses() {
        func problems(_ expected: [String]) -> [String] {
            var result = result(accepted: 2, rejected: 8, expected: expected)
            result.setRejections([
                Rejection(status: 503, reason: ""): 4, Rejection(status: 502, reason: ""): 1,
                Rejection(status: 503, reason: "ServiceUnavailable"): 2, Rejection(status: 400, reason: "Own"): 1,
            ])
            return RunVerdict(result).problems
        }
        func rejected(_ list: String, _ how: String = "") -> [String] {
            ["pushes were rejected: \(list) (accept with --expect-reasons\(how))"]
        }
        let mixed = "; none is for answers without a reason"
        #expect(
            problems([])
                == rejected("502 without a reason 1, 503 without a reason 4, Own 1, ServiceUnavailable 2", mixed))
        #expect(problems(["none", "Own"]) == rejected("ServiceUnavailable 2"))
        #expect(problems(["503"]) == rejected("502 without a reason 1, Own 1", mixed))
        #expect(problems(["503", "Own"]) == rejected("502 without a reason 1", " none"))
        #expect(problems(["none", "503", "400"]).isEmpty && problems(["502", "503", "Own"]).isEmpty)
        // Of older versions nothing but reasons is known.
        var old = result(accepted: 2, rejected: 8, reasons: ["(none)": 7, "Own": 1])
        #expect(RunVerdict(old).problems == rejected("(none) 7, Own 1", mixed))
        old.scenario["expected_reasons"] = .array([.string("none"), .string("Own")])
        #expect(RunVerdict(old).isGood)
    }

    @Test("A run whose ledger could not be read is not accounted for; another target has none")
    func noLedger() {
        var result = result(accepted: 10)
        result.pushes.lost = nil
        result.pushes.duplicated = nil
        #expect(RunVerdict(result).isGood)
        result.run.target = ResultDocument.Run.bundledMock
        #expect(
            RunVerdict(result).problems == [
                "the bundled mock's ledger could not be compared: whether all arrived is not known (the notes say why)"
            ])
        result.pushes.lost = 0
        result.pushes.duplicated = 0
        #expect(RunVerdict(result).isGood)
    }

    @Test(
        "The books hold four ends; a threshold on one says alone how many of it there may be, and nothing of the others"
    )
    func ends() throws {
        var result = result(planned: 20, accepted: 8, failed: 3, notSent: 9, failures: ["push_timeout": 3])
        result.notSent = ["overflowed": 7, "interrupted": 2]
        #expect(
            RunVerdict(result).problems == [
                "3 pushes failed: push_timeout 3", "9 pushes were not sent: overflowed 7, interrupted 2",
            ])
        let (failed, notSent) = (
            "3 pushes failed: push_timeout 3", "9 pushes were not sent: overflowed 7, interrupted 2"
        )
        for (text, left) in [
            ("accepted >= 40%", []), ("failed <= 3 && not_sent <= 9", []), ("not_sent <= 9", [failed]),
            ("failed <= 3", [notSent]), ("overflowed <= 7", [failed, notSent]),
            ("rejected <= 5%", [failed, notSent]),
        ] {
            let verdict = RunVerdict(result, thresholds: try Threshold.list(parsing: text))
            #expect(verdict.problems == left && verdict.exitCode == (left.isEmpty ? 0 : 1), "\(text)")
        }
        let crossed = RunVerdict(result, thresholds: [try Threshold(parsing: "not_sent == 0")])
        #expect(crossed.exitCode == 99 && crossed.problems == [failed])
        var full = result
        full.notSent = ["overflowed": 9]
        #expect(RunVerdict(full, thresholds: try Threshold.list(parsing: "overflowed <= 9 && failed <= 3")).isGood)
        result.pushes.planned = 19
        let unsound = RunVerdict(result, thresholds: [try Threshold(parsing: "not_sent <= 9")])
        #expect(
            unsound.problems == [
                "the books do not balance: planned 19, but accepted 8 + rejected 0 + failed 3 + not sent 9", failed,
            ])
        #expect(unsound.exitCode == 1)
    }

    @Test(
        "An open loop that sent less than nine tenths of what came due did not reach its rate, and says what held it back"
    )
    func rate() throws {
        var result = result()
        result.throughput = .init(windowSeconds: 2, offered: 20_000, sent: 18_001, answered: 18_001)
        #expect(RunVerdict(result).isGood)
        result.throughput = .init(windowSeconds: 2, offered: 20_000, sent: 1200, answered: 1200)
        result.generator.limited = true
        #expect(
            RunVerdict(result).problems == [
                "rate not reached: 1,200/s sent of 20,000/s due (6.0 %): the generator was a limit, see there"
            ])
        #expect(RunVerdict(result).exitCode == 1)
        // Whoever takes any rate is told of nothing, not even of what was not sent; and of all else.
        var slow = result
        (slow.pushes.notSent, slow.notSent) = (1, ["run_ended": 1])
        slow.pushes.planned += 1
        let anyRate = try Threshold.list(parsing: "sent_rate >= 0 && not_sent >= 0")
        #expect(RateShortfall(slow) != nil && RunVerdict(slow, thresholds: anyRate).problems.isEmpty)
        slow.pushes.planned += 1
        #expect(!RunVerdict(slow, thresholds: anyRate).problems.isEmpty)
        // A server that died is no fault of the generator's.
        (result.connections.opened, result.connections.lost) = (1, 1)
        result.connections.ends = ["connection_reset": 1]
        #expect(
            RunVerdict(result).problems.first?.hasSuffix("connections were lost or could not be made: connection_reset")
                == true)
        // What broke once the window was over held nothing back in it.
        var closedLate = result
        closedLate.connections.ends = ["connection_reset": 1, "goaway NO_ERROR": 1]
        closedLate.connections.afterWindow = .init(lost: 1, ends: ["connection_reset": 1])
        #expect(RunVerdict(closedLate).problems.first?.hasSuffix(": the generator was a limit, see there") == true)
        // What was lost in it was missing, also where it came again later; only its own causes are named.
        (closedLate.connections.opened, closedLate.connections.lost) = (2, 2)
        closedLate.connections.ends = ["connection_closed": 1, "connection_reset": 1]
        closedLate.connections.afterWindow = .init(opened: 1, lost: 1, ends: ["connection_reset": 1])
        #expect(
            RunVerdict(closedLate).problems.first?.hasSuffix(
                ": connections were lost or could not be made: connection_closed") == true)
        closedLate.connections = .init()
        (closedLate.connections.opened, closedLate.connections.connectFailures) = (1, 9)
        closedLate.connections.reconnects = 9
        closedLate.connections.afterWindow = .init(connectFailures: 9)
        #expect(RunVerdict(closedLate).problems.first?.hasSuffix(": the generator was a limit, see there") == true)
        (result.connections.opened, result.connections.lost) = (0, 0)
        // Attempts that sent pushes again are no pushes.
        (result.throughput.sent, result.throughput.sentAgain) = (24_000, 12_000)
        (result.pushes.sent, result.pushes.sentAgain) = (48_000, 24_000)
        (result.pushes.planned, result.pushes.accepted) = (24_000, 24_000)
        #expect(RunVerdict(result).problems.first?.hasPrefix("rate not reached: 12,000/s sent of 20,000/s due") == true)
        // Those of the warm-up are not of the window.
        (result.throughput.sent, result.throughput.sentAgain) = (20_000, 0)
        #expect(RunVerdict(result).problems.isEmpty)
        (result.pushes.sent, result.pushes.sentAgain) = (0, 0)
        (result.pushes.planned, result.pushes.accepted) = (10, 10)
        // All 10,000 pushes that came due were sent once, 1,500 of them lost; of 4,000 put back none had been written.
        var broken = result
        broken.throughput = .init(windowSeconds: 1, offered: 10_000, sent: 10_000, answered: 8500)
        (broken.pushes.planned, broken.pushes.sent, broken.pushes.retried) = (10_000, 10_000, 4000)
        (broken.pushes.accepted, broken.pushes.failed, broken.failures) = (8500, 1500, ["connection_reset": 1500])
        #expect(RunVerdict(broken).problems == ["1,500 pushes failed: connection_reset 1,500"])
        // The same where half came due twice as fast: what was put back after it was written is no push.
        // An older result does not tell how much that was.
        (broken.throughput.offered, broken.pushes.sent, broken.throughput.sent) = (20_000, 14_000, 14_000)
        broken.throughput.sentAgain = nil
        #expect(
            RunVerdict(broken).problems.last?.hasPrefix("rate not reached: 10,000/s sent of 20,000/s due (50.0 %)")
                == true)
        // Half were sent twice, and half never: as many attempts as came due, and half of the pushes.
        (broken.throughput.offered, broken.pushes.sent, broken.throughput.sent) = (10_000, 10_000, 10_000)
        (broken.pushes.sentAgain, broken.pushes.accepted, broken.pushes.failed) = (5000, 5000, 5000)
        (broken.throughput.sentAgain, broken.throughput.answered) = (5000, 5000)
        (broken.retries.attempts, broken.failures) = (5000, ["connection_reset": 5000])
        #expect(
            RunVerdict(broken).problems.last?.hasPrefix("rate not reached: 5,000/s sent of 10,000/s due (50.0 %)")
                == true)
        // Answered before they were whole on the wire: a server may do that.
        var early = result
        early.throughput = .init(windowSeconds: 1, offered: 10_000, sent: 0, answered: 9900)
        (early.pushes.planned, early.pushes.sent, early.pushes.accepted) = (10_000, 0, 10_000)
        #expect(RunVerdict(early).isGood)
        // Open streams without an answer are no lost connection.
        var silent = result
        silent.generator.limited = false
        silent.throughput = .init(windowSeconds: 1, offered: 10_000, sent: 1000, answered: 0)
        (silent.pushes.planned, silent.pushes.sent, silent.pushes.accepted) = (10_000, 1000, 0)
        (silent.pushes.failed, silent.failures) = (1000, ["push_timeout": 1000])
        (silent.pushes.notSent, silent.notSent) = (9000, ["run_ended": 9000])
        #expect(
            RunVerdict(silent).problems.last?.hasSuffix(": no answer to 1,000 pushes within the time-out (--timeout)")
                == true)
        silent.failures = ["push_timeout": 400, "answer_incomplete": 600]
        #expect(
            RunVerdict(silent).problems.last?.hasSuffix(
                ": no answer to 400 pushes within the time-out (--timeout), only the beginning of an answer to 600 pushes"
            )
                == true)
        // What came due while the backlog was full is the backlog's, whoever was busy besides.
        var full = result
        full.throughput.sent = 5000
        full.scenario["backlog"] = .integer(50)
        (full.pushes.planned, full.notSent) = (20_000, ["overflowed": 15_000])
        #expect(
            RunVerdict(full).problems.last?.contains(
                ": 15,000 pushes came due while no stream was free and the backlog was full (--backlog 50): ") == true,
            "\(RunVerdict(full).problems)")
        // Where the generator was away, no stream needed to be in use.
        full.generator.overflowed = 14_000
        #expect(
            RunVerdict(full).problems.last?.hasSuffix(
                ": 14,000 pushes came due while the generator itself stood still or was busy, more than the backlog holds "
                    + "(--backlog 50): the generator was a limit, see there") == true, "\(RunVerdict(full).problems)")
        full.generator.overflowed = 150
        #expect(RunVerdict(full).problems.last?.contains("while no stream was free") == true)
        full.notSent = ["overflowed": 150, "run_ended": 14_850]
        #expect(RunVerdict(full).problems.last?.contains("backlog") == false)
        result.throughput.sent = 1200
        // 100 streams, each held 80 ms, carry 1,250/s.
        result.scenario["connections"] = .number(1)
        result.scenario["streams"] = .number(100)
        (result.latency[.service].min, result.latency[.service].mean) = (79_000_000, 80_000_000)
        #expect(
            RunVerdict(result).problems.first
                == "rate not reached: 1,200/s sent of 20,000/s due (6.0 %): 100 streams (-c times -m), each held 80.0 ms on "
                + "average, carry 1,250/s")
        // Nothing was answered: nothing is known of how long streams are held.
        for mean in [0, 1e-300, -1, .infinity, .nan] {
            var silent = result
            (silent.latency[.service].min, silent.latency[.service].mean) = (0, mean)
            #expect(RunVerdict(silent).problems.first?.hasSuffix("the generator was a limit, see there") == true)
            silent.generator.limited = false
            #expect(RunVerdict(silent).problems.first?.contains("streams were not free in time") == true)
        }
        // Nor of a window that no run can have had.
        var endless = result
        endless.generator.limited = false
        endless.throughput.windowSeconds = 1e308
        #expect(RunVerdict(endless).problems.first?.hasPrefix("rate not reached") == true)
        // Where most pushes got no answer, a generator that was short of time is not why.
        var unanswered = result
        (unanswered.latency[.service].min, unanswered.latency[.service].mean) = (0, 0)
        unanswered.pushes = UnansweredRun.make(accepted: 100, unanswered: 900).pushes
        unanswered.failures = ["push_timeout": 900]
        #expect(
            RunVerdict(unanswered).problems.last?.hasSuffix("no answer to 900 pushes within the time-out (--timeout)")
                == true)
        unanswered.pushes = UnansweredRun.make(accepted: 900, unanswered: 100).pushes
        unanswered.failures = ["push_timeout": 100]
        #expect(RunVerdict(unanswered).problems.last?.hasSuffix("the generator was a limit, see there") == true)
        // Fewer than were asked for: the target allows no more. They began together, and only one round of them had the time.
        var fewer = result
        fewer.scenario["streams"] = .number(20_000)
        (fewer.throughput.answered, fewer.throughput.windowSeconds) = (333, 3)
        (fewer.latency[.service].min, fewer.latency[.service].mean) = (2_000_000_000, 2_000_000_000)
        fewer.series = [0, 1000, 1000, 1000, 1000].map { open in
            SeriesPoint(
                time: 1, sent: 1, accepted: 1, rejected: 0, failed: 0, notSent: 0, inFlight: open, backlog: 0, p50: 1,
                p99: 1)
        }
        #expect(
            RunVerdict(fewer).problems.first?.hasSuffix(
                ": 1,000 streams (no more were open at any time), each held 2.00 s on average, carry 500/s") == true,
            "\(RunVerdict(fewer).problems)")
        // It varies: whatever held it back, it was no limit.
        for index in fewer.series.indices { fewer.series[index].inFlight += index }
        #expect(RunVerdict(fewer).problems.first?.contains("streams (") == false)
        // Streams are held for long by whoever is busy all the time: more of them would not help.
        var busy = result
        busy.generator.workerLoad = [0.97]
        #expect(RunVerdict(busy).problems.first?.hasSuffix(": the generator was a limit, see there") == true)
        // As they are by a generator that is short of time, as it says itself.
        (busy, busy.generator.limited, busy.latency[.service].min) = (result, true, 1_000_000)
        #expect(RunVerdict(busy).problems.first?.hasSuffix(": the generator was a limit, see there") == true)
        busy.generator.limited = false
        #expect(RunVerdict(busy).problems.first?.hasSuffix("carry 1,250/s") == true)
        busy = result
        (busy.run.durationSeconds, busy.pushes.accepted, busy.cost.mockCPU) = (2, 2_000_000, 970)
        busy.scenario["mock_threads"] = .number(1)
        #expect(
            RunVerdict(busy).problems.contains {
                $0.hasSuffix("the bundled mock was busy 97 % of the time (--mock-threads)")
            })
        // Of two runs merged, each of which had a mock of its own.
        (busy.generator.workerLoad, busy.scenario["threads"]) = ([0.5, 0.5], .number(1))
        #expect(!RunVerdict(busy).problems.contains { $0.contains("the bundled mock was busy") })
        busy.generator.workerLoad = [0.5]
        busy.scenario["mock_threads"] = .number(2)
        #expect(RunVerdict(busy).problems.contains { $0.hasSuffix("carry 1,250/s") })
        // Figures of a file that nobody knows.
        var strange = result
        (strange.pushes.failed, strange.notSent) = (.max, ["x": .max, "y": .max])
        strange.generator.limited = false
        strange.scenario["connections"] = .number(-1e300)
        #expect(RunVerdict(strange).problems.contains { $0.hasSuffix("pushes failed or found no connection") })
        strange.scenario["connections"] = .number(1e300)
        #expect(!RunVerdict(strange).isGood)
        for text in ["rate >= 1000", "sent_rate >= 0.05 * target"] {
            #expect(RunVerdict(result, thresholds: [try Threshold(parsing: text)]).isGood, "\(text)")
        }
        for text in ["offered >= 1", "rate < 30000"] {
            #expect(!RunVerdict(result, thresholds: [try Threshold(parsing: text)]).isGood, "\(text)")
        }
        result.run.interrupted = true
        #expect(RunVerdict(result).problems.allSatisfy { !$0.contains("rate") })
        result.run.interrupted = false
        result.throughput.offered = nil
        #expect(RunVerdict(result).isGood)
    }

    @Test("The mock's memory is judged in bytes, as the client's is")
    func memory() throws {
        var result = result()
        result.cost.mockMemory = 50_000_000
        result.cost.clientMemory = 40_000_000
        for (text, isHeld) in [
            ("mock_rss < 60MB", true), ("mock_rss < 30MB", false), ("rss < 60MB", true), ("rss < 30MB", false),
        ] {
            let verdict = RunVerdict(result, thresholds: [try Threshold(parsing: text)])
            #expect(verdict.thresholds.map(\.isHeld) == [isHeld], "\(text)")
        }
    }
}

import Results
import Testing

@testable import Reports

@Suite struct ReportTests {
    @Test("Figures of files that nobody measured are written, and trap nothing", arguments: [1e300, 1e18, -1, 0])
    func absurd(value: Double) {
        for unit in [FigureUnit.bytes, .count, .nanoseconds, .perSecond] {
            #expect(!Written.figure(value, unit).isEmpty)
        }
        #expect(!Written.figure(Double(UInt64.max), .bytes).isEmpty)
    }

    private var document: ResultDocument {
        let latency = ResultDocument.Latency(
            count: 5, min: 1000, mean: 2500, p50: 2000, p90: 3000, p99: 4_000_000, p999: 5_000_000, max: 2_000_000_000)
        var result = ResultDocument()
        result.run.durationSeconds = 2
        result.run.engine = "nghttp2"
        result.run.tls = "TLSv1.3 X"
        result.pushes.planned = 1_000_000
        result.pushes.sent = 1_000_000
        result.pushes.accepted = 999_980
        result.pushes.rejected = 7
        result.pushes.failed = 3
        result.pushes.notSent = 10
        result.pushes.lost = 1
        result.pushes.duplicated = 2
        result.throughput = .init(
            windowSeconds: 2, offered: 200, sent: 499_998.5, answered: 499_998.5, accepted: 199.46)
        result.latency[.total] = latency
        result.breakdown = [
            "profile": ["alert": .init(accepted: 1_000, rejected: 2, failed: 0, notSent: 5, total: latency)]
        ]
        result.generator.reasons = ["it was busy"]
        result.generator.workerLoad = [0.5]
        result.generator.cpu.encode = 130
        result.generator.cpu.tls = 150
        result.statuses = ["200": 999_980, "400": 7]
        result.reasons = ["BadTopic": 7]
        result.failures = ["push_timeout": 3]
        (result.connections.opened, result.connections.lost, result.connections.reconnects) = (2, 1, 1)
        result.cost.clientCPU = 2345
        result.cost.mockCPU = 3456
        result.cost.clientMemory = 40_000_000
        result.cost.mockMemory = 50_000_000
        result.cost.clientAllocations = 0.01
        result.cost.tokensSigned = 1
        result.cost.measuring = 80
        result.notes = ["something"]
        result.notSent = ["overflowed": 9, "something_new": 1]
        result.latency[.total].unanswered = 2
        result.latency[.total].censored = ["mean", "p99_9", "max"]
        result.latency[.totalAccepted] = latency
        return result
    }

    @Test("The summary holds every figure with its unit, in 80 columns")
    func summary() {
        let text = SummaryReport.text(document, path: "r/result.json", problems: ["it broke"])
        #expect(
            text == """

                1,000,000 pushes planned, 999,980 accepted, 7 rejected, 3 failed,
                  10 not sent in 2.00 s
                200/s offered, 499,999/s sent, 499,999/s answered, 199.5/s accepted over 2.00 s
                ledger: 1 lost, 2 doubled

                  latency          min    mean   p50   p90    p99    p99.9          max
                  queue              -       -     -     -      -        -            -
                    encode           -       -     -     -      -        -            -
                    sign             -       -     -     -      -        -            -
                  round trip         -       -     -     -      -        -            -
                  total       us  1.00  > 2.50  2.00  3.00  4,000  > 5,000  > 2,000,000
                    accepted  us  1.00    2.50  2.00  3.00  4,000    5,000    2,000,000
                  (queue: due to written, round trip: written to answered,
                    total: due to answered)
                  2 of 5 pushes got no answer and count as longer than every answer

                  by profile  accepted  rejected  failed  not sent
                  alert          1,000         2       0         5

                  by profile  total p50       p99           max
                  alert         2.00 us  4,000 us  2,000,000 us

                statuses: 200 999,980, 400 7
                reasons: BadTopic 7
                failures: push_timeout 3 (no answer within --timeout)
                not sent: overflowed 9 (came due while --backlog pushes were waiting),
                  something_new 1
                connections: 2 opened, 1 lost, 1 reconnect (TLSv1.3 X)
                client: 2.35 us CPU a push, peak memory 40.0 MB, 0.01 allocations a push
                  of it encode 130 ns, TLS 150 ns
                mock: 3.46 us CPU a push, peak memory 50.0 MB
                measuring: 80.0 ns a push, in the client's CPU above
                the generator was a limit: it was busy
                note: something
                result: r/result.json

                FAILED: it broke

                """)
    }

    @Test("The time that the run took and the time that its rates are of say what they are where they differ")
    func spans() {
        var result = document
        result.run.durationSeconds = 1.01
        let text = SummaryReport.text(result, path: nil, problems: []).replacingOccurrences(of: "\n  ", with: " ")
        #expect(text.contains("10 not sent in 1.01 s (first due to last end)\n"), "\(text)")
        #expect(text.contains("199.5/s accepted over 2.00 s (the measured window)\n"), "\(text)")
    }

    @Test(
        "What was not measured is left out; what was not timed apart is named with the rest; what was put back has its line"
    )
    func unmeasured() {
        func lines(_ change: (inout ResultDocument) -> Void) -> [String] {
            var document = document
            change(&document)
            return SummaryReport.text(document, path: nil, problems: [], on: TextPicture(width: 400, isUnicode: true))
                .split(separator: "\n").map(String.init)
        }
        let some = lines {
            $0.generator.cpu = .init(socket: 300, other: 200)
            $0.pushes.retried = 1
        }
        #expect(some.contains("  of it socket 300 ns, encode, sign and other 200 ns"), "\(some)")
        #expect(
            some.contains { $0.hasPrefix("put back to be sent again: 1 attempt that the server had not processed") },
            "\(some)")
        let apart = lines { $0.generator.cpu = .init(encode: 1, sign: 2, other: 200) }
        #expect(apart.contains("  of it encode 1.00 ns, sign 2.00 ns, TLS, socket and other 200 ns"), "\(apart)")
        let none = lines {
            $0.generator.cpu = .init()
            ($0.cost.clientCPU, $0.cost.mockCPU, $0.cost.measuring) = (0, 0, 0)
        }
        #expect(none.contains("client: peak memory 40.0 MB") && none.contains("mock: peak memory 50.0 MB"), "\(none)")
        #expect(!none.contains { $0.contains("0.00 ns") || $0.contains("put back") || $0.contains("measuring") })
    }

    @Test("In 60 columns tables go on below and sentences on the next line")
    func narrow() {
        let text = SummaryReport.text(
            document, path: "r/result.json", problems: [], thresholds: [("p99 < 1s: 4.00 ms", true)],
            on: TextPicture(width: 60, isUnicode: true))
        #expect(
            text == """

                1,000,000 pushes planned, 999,980 accepted, 7 rejected,
                  3 failed, 10 not sent in 2.00 s
                200/s offered, 499,999/s sent, 499,999/s answered,
                  199.5/s accepted over 2.00 s
                ledger: 1 lost, 2 doubled

                  latency          min    mean   p50   p90
                  queue              -       -     -     -
                    encode           -       -     -     -
                    sign             -       -     -     -
                  round trip         -       -     -     -
                  total       us  1.00  > 2.50  2.00  3.00
                    accepted  us  1.00    2.50  2.00  3.00

                  latency           p99    p99.9          max
                  queue               -        -            -
                    encode            -        -            -
                    sign              -        -            -
                  round trip          -        -            -
                  total       us  4,000  > 5,000  > 2,000,000
                    accepted  us  4,000    5,000    2,000,000
                  (queue: due to written, round trip: written to answered,
                    total: due to answered)
                  2 of 5 pushes got no answer and count as longer than every
                    answer

                  by profile  accepted  rejected  failed  not sent
                  alert          1,000         2       0         5

                  by profile  total p50       p99           max
                  alert         2.00 us  4,000 us  2,000,000 us

                statuses: 200 999,980, 400 7
                reasons: BadTopic 7
                failures: push_timeout 3 (no answer within --timeout)
                not sent: overflowed 9 (came due while --backlog pushes were
                  waiting), something_new 1
                connections: 2 opened, 1 lost, 1 reconnect (TLSv1.3 X)
                client: 2.35 us CPU a push, peak memory 40.0 MB,
                  0.01 allocations a push
                  of it encode 130 ns, TLS 150 ns
                mock: 3.46 us CPU a push, peak memory 50.0 MB
                measuring: 80.0 ns a push, in the client's CPU above
                the generator was a limit: it was busy
                note: something
                result: r/result.json

                held: p99 < 1s: 4.00 ms
                OK: every push is accounted for, 7 rejected, 3 failed,
                  10 not sent: as thresholds or --expect-reasons allow

                """)
    }

    @Test("No line is wider than the terminal, however narrow, and nothing is left out")
    func widths() {
        let words = SummaryReport.text(
            document, path: "r", problems: ["it broke"], on: .init(width: 999, isUnicode: true)
        )
        .split { $0.isWhitespace }
        for width in 40...120 {
            let text = SummaryReport.text(
                document, path: "r", problems: ["it broke"], on: TextPicture(width: width, isUnicode: true))
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= width }, "\(width):\n\(text)")
            let shown = Set(text.split { $0.isWhitespace })
            #expect(words.allSatisfy(shown.contains), "\(width): \(words.filter { !shown.contains($0) })")
        }
    }

    @Test("Colours are around verdicts, and change nothing else")
    func colours() {
        func text(_ problems: [String], _ isHeld: Bool, _ isColoured: Bool) -> String {
            SummaryReport.text(
                document, path: nil, problems: problems, thresholds: [("p99 < 1s: 4.00 ms", isHeld)],
                on: TextPicture(width: 60, isUnicode: true, isColoured: isColoured))
        }
        for (problems, isHeld, codes) in [
            ([], true, ["\u{1B}[32mheld\u{1B}[0m:", "\u{1B}[32mOK\u{1B}[0m:"]),
            (["it broke"], false, ["\u{1B}[31mCROSSED\u{1B}[0m:", "\u{1B}[31mFAILED\u{1B}[0m: it broke"]),
        ] {
            let coloured = text(problems, isHeld, true)
            for code in codes { #expect(coloured.contains(code), "\(coloured)") }
            #expect(coloured.replacing(/\u{1B}\[[0-9]+m/, with: "") == text(problems, isHeld, false))
            #expect(!text(problems, isHeld, false).contains("\u{1B}"))
        }
    }

    @Test("A scenario's stages stand in the order of time, by their own names too; other labels by name")
    func stages() {
        var result = document
        let part = ResultDocument.Part(accepted: 1, rejected: 0, failed: 0, total: result.latency[.total])
        result.scenario["stages"] = .array([
            .string("ramp 1 2 1s"), .string("evening: hold 2 1s"), .string("ramp 2 1 1s"),
        ])
        result.breakdown = [
            "stage": ["evening": part, "ramp 2": part, "ramp": part, "(other)": part],
            "profile": ["b": part, "a": part],
        ]
        #expect(Written.parts("stage", result).map(\.label) == ["ramp", "evening", "ramp 2", "(other)"])
        #expect(Written.parts("profile", result).map(\.label) == ["a", "b"])
        let lines = SummaryReport.text(result, path: nil, problems: []).split(separator: "\n")
        let stages = lines.drop { !$0.hasPrefix("  by stage") }.dropFirst().prefix(3)
        #expect(stages.map { String($0.dropFirst(2).prefix(7)) } == ["ramp   ", "evening", "ramp 2 "], "\(lines)")
    }

    @Test("A progress line has p99 and errors first, what is left last, and no half of anything")
    func progress() {
        let progress = Progress(
            done: 250_000, planned: 1_000_000, perSecond: 123_456, inFlight: 500, p50: 1_500_000, p99: 3_000_000,
            errors: 3, secondsLeft: 6.1)
        let whole = "p99 3.00 ms  errors 3  123,456/s  25% of 1,000,000  in flight 500  p50 1.50 ms  ETA 6s"
        #expect(progress.line(width: 200) == whole)
        let atEighty = "p99 3.00 ms  errors 3  123,456/s  25% of 1,000,000  in flight 500  ETA 6s"
        #expect(progress.line(width: 79) == atEighty)
        #expect(progress.line(width: 59) == "p99 3.00 ms  errors 3  123,456/s  25% of 1,000,000  ETA 6s")
        #expect(progress.line(width: 39) == "p99 3.00 ms  errors 3  123,456/s")
        let parts = Set(whole.components(separatedBy: "  "))
        for width in 11...90 {
            let line = progress.line(width: width)
            #expect(line.count <= width && line.components(separatedBy: "  ").allSatisfy(parts.contains), "\(line)")
        }
        #expect(progress.line(width: 5) == "p99 3")
        #expect(
            Progress(
                done: 5, planned: nil, perSecond: 0, inFlight: 0, p50: 0, p99: 0, errors: 0, secondsLeft: nil
            ).line(width: 80) == "errors 0  0/s  5  in flight 0")
    }

    @Test(
        "While no connection is there for pushes that are due, the line begins with that and the backlog, at 80 columns too"
    )
    func outageLine() {
        var progress = Progress(
            done: 5000, planned: 20_000, perSecond: 0, target: 5000, inFlight: 0, p50: 0, p99: 0, errors: 0,
            elapsed: 2.2, secondsLeft: 1.8)
        #expect(!progress.line(width: 80).contains("backlog"))
        progress.backlog = 7500
        progress.outage = Progress.outage(lasts: 1_240_000_000, cause: "connection_refused", nextAttempt: 30_000_000)
        #expect(
            progress.line(width: 80)
                == "no connection for 1.2 s (connection refused), next in 30 ms  backlog 7,500")
        let connecting = Progress.outage(lasts: 1_240_000_000, cause: "", nextAttempt: nil)
        #expect(connecting == "no connection for 1.2 s, connecting")
    }
}

import Results
import Testing

@testable import Reports

@Suite struct ReportTests {
    @Test("The summary holds every figure with its unit")
    func summary() {
        let latency = ResultDocument.Latency(
            count: 5, min: 1000, mean: 2500, p50: 2000, p90: 3000, p99: 4_000_000, p999: 5_000_000, max: 2_000_000_000)
        let none = ResultDocument.Latency(count: 0, min: 0, mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0)
        var result = ResultDocument(
            run: .init(
                id: "1", name: "n", startedAt: "", durationSeconds: 2, complete: true, interrupted: false,
                engine: "nghttp2",
                target: "bundled mock", tls: "TLSv1.3 X"),
            environment: .init(
                host: "", cpu: "", cores: 1, memoryBytes: 1, kernel: "", system: "", versions: [:], commit: nil),
            scenario: [:],
            pushes: .init(
                planned: 1_000_000, sent: 1_000_000, accepted: 999_980, rejected: 7, failed: 3, notSent: 10,
                retried: 0, lost: 1, duplicated: 2),
            throughput: .init(
                windowSeconds: 2, offered: 200, sent: 499_998.5, answered: 499_998.5, accepted: 199.46),
            latency: .init(
                encode: none, sign: none, late: none, write: none, queue: none, roundTrip: none, service: none,
                total: latency, toMock: none, inMock: none, fromMock: none),
            breakdown: [
                "profile": ["alert": .init(accepted: 1_000, rejected: 2, failed: 0, notSent: 5, total: latency)]
            ],
            warmup: .init(seconds: 0, answered: 0),
            generator: .init(
                limited: false, reasons: ["it was busy"], loopLag: none, workerLoad: [0.5], steal: 0,
                cpu: .init(encode: 130, tls: 150)),
            statuses: ["200": 999_980, "400": 7], reasons: ["BadTopic": 7], failures: ["push_timeout": 3],
            connections: .init(opened: 2, lost: 1, connectFailures: 0, goAways: 0, reconnects: 1),
            cost: .init(
                clientCPU: 2345, mockCPU: 3456, clientMemory: 40_000_000, mockMemory: 50_000_000,
                clientAllocations: 0.01, mockAllocations: nil, tokensSigned: 1, clockReading: 20, histogramRecord: 4,
                measuring: 80),
            series: [], histograms: [:], notes: ["something"])
        result.notSent = ["overflowed": 9, "something_new": 1]
        result.latency.total.unanswered = 2
        result.latency.total.censored = ["mean", "p99_9", "max"]
        result.latency.totalAccepted = latency
        let text = SummaryReport.text(result, path: "r/result.json", problems: ["it broke"])
        #expect(
            text == """

                1,000,000 pushes planned, 999,980 accepted, 7 rejected, 3 failed, 10 not sent in 2.00 s
                200/s offered, 499,999/s sent, 499,999/s answered, 199.5/s accepted over 2.00 s
                ledger: 1 lost, 2 doubled

                  latency                               min       mean      p50      p90      p99      p99.9       max
                  encode                                  -          -        -        -        -          -         -
                  sign                                    -          -        -        -        -          -         -
                  queue (due to written)                  -          -        -        -        -          -         -
                  round trip (written to answered)        -          -        -        -        -          -         -
                  total (due to answered)           1.00 us  > 2.50 us  2.00 us  3.00 us  4.00 ms  > 5.00 ms  > 2.00 s
                    accepted only                   1.00 us    2.50 us  2.00 us  3.00 us  4.00 ms    5.00 ms    2.00 s
                  2 of 5 pushes got no answer and count as longer than every answer

                  by profile  accepted  rejected  failed  not sent  total p50      p99     max
                  alert          1,000         2       0         5    2.00 us  4.00 ms  2.00 s

                statuses: 200 999,980, 400 7
                reasons: BadTopic 7
                failures: push_timeout 3 (no answer within --timeout)
                not sent: overflowed 9 (came due while --backlog pushes were waiting), something_new 1
                connections: 2 opened, 1 lost, 1 reconnects (TLSv1.3 X)
                client: 2.35 us CPU a push, peak memory 40.0 MB, 0.01 allocations a push
                  of it encode 130 ns, sign 0.00 ns, TLS 150 ns, socket 0.00 ns, other 0.00 ns
                mock: 3.46 us CPU a push, peak memory 50.0 MB
                measuring: 80.0 ns a push, in the client's CPU above
                the generator was a limit: it was busy
                note: something
                result: r/result.json

                FAILED: it broke

                """)
    }

    @Test("A progress line says how far the run is and fits the width")
    func progress() {
        let progress = Progress(
            done: 250_000, planned: 1_000_000, perSecond: 123_456, inFlight: 500, p50: 1_500_000, p99: 3_000_000,
            errors: 3, secondsLeft: 6.1)
        #expect(
            progress.line(width: 200)
                == "250,000 of 1,000,000 (25%)  123,456/s  in flight 500  p50 1.50 ms  p99 3.00 ms  errors 3  ETA 6s")
        #expect(progress.line(width: 20).count == 20)
        #expect(
            Progress(
                done: 5, planned: nil, perSecond: 0, inFlight: 0, p50: 0, p99: 0, errors: 0, secondsLeft: nil
            ).line(width: 80) == "5  0/s  in flight 0  errors 0")
    }
}

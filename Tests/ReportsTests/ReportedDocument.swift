import Measurement
import Reports
import Results

/// A result for reports to show; every figure is one of its own.
enum ReportedDocument {
    static let total = ResultDocument.Latency(
        count: 1000, min: 1000, mean: 2500, p50: 2_110_000, p90: 3_220_000, p99: 4_330_000, p999: 5_440_000,
        max: 2_000_000_000)

    static func make(name: String = "n", target: Double? = nil) -> ResultDocument {
        var histogram = LatencyHistogram()
        for step in 1...1000 as ClosedRange<UInt64> { histogram.record(step * 10_000) }
        let log = HistogramCodec.encodeForLog(histogram)
        var result = ResultDocument()
        result.run.id = "00112233"
        result.run.name = name
        result.run.startedAt = "2026-11-21T00:00:00Z"
        result.run.durationSeconds = 2.25
        (result.run.engine, result.run.target, result.run.tls) = ("wire", "bundled mock", "TLSv1.3 X")
        (result.environment.host, result.environment.cpu, result.environment.cores) = ("h", "a processor", 2)
        result.environment.memoryBytes = 8_000_000_000
        (result.environment.kernel, result.environment.system) = ("6.1", "Debian")
        result.environment.versions = ["OpenSSL": "3.0"]
        result.scenario = ["streams": .integer(500), "topic": .string("com.example.app")]
        (result.pushes.planned, result.pushes.sent) = (1_000_123, 1_000_123)
        (result.pushes.accepted, result.pushes.rejected, result.pushes.failed) = (999_990, 77, 56)
        (result.pushes.lost, result.pushes.duplicated) = (3, 4)
        result.throughput = .init(offered: target, answered: 499_998.5)
        (result.latency[.roundTrip], result.latency[.total]) = (total, total)
        result.breakdown = ["profile": ["alert": .init(accepted: 1_000, rejected: 2, failed: 0, total: total)]]
        (result.generator.limited, result.generator.reasons) = (true, ["it was busy"])
        result.generator.workerLoad = [0.5]
        result.generator.cpu = .init(encode: 130, sign: 2, tls: 150, socket: 300, other: 200)
        result.statuses = ["200": 999_990, "400": 77]
        result.reasons = ["BadTopic": 77]
        result.failures = ["push_timeout": 56]
        (result.connections.opened, result.connections.lost, result.connections.reconnects) = (2, 1, 1)
        (result.cost.clientCPU, result.cost.mockCPU) = (2345, 3456)
        (result.cost.clientMemory, result.cost.mockMemory) = (40_100_000, 50_200_000)
        (result.cost.clientAllocations, result.cost.tokensSigned, result.cost.measuring) = (0.01, 1, 80)
        result.series = [
            .init(
                time: 1, sent: 500_000, accepted: 500_000, rejected: 0, failed: 0, notSent: 0, inFlight: 500,
                backlog: 0, p50: 2_000_000, p99: 4_000_000),
            .init(
                time: 2, sent: 500_123, accepted: 499_990, rejected: 77, failed: 56, notSent: 0, inFlight: 0,
                backlog: 0, p50: 3_000_000, p99: 5_000_000),
        ]
        result.histograms = ["total": log, "round_trip": log]
        result.notes = ["a note"]
        return result
    }

    /// 997 pushes answered within 9.97 ms, 3 given up after 20 s, 5 never sent.
    static func unanswered() -> ResultDocument {
        var document = make(target: 500)
        var (answered, waits) = (LatencyHistogram(), LatencyHistogram())
        for step in 1...997 as ClosedRange<UInt64> { answered.record(step * 10_000) }
        waits.record(20_000_000_000, count: 3)
        let latencies = CensoredHistogram(answered: answered, unanswered: waits)
        document.histograms["total"] = HistogramCodec.encodeForLog(answered)
        document.histograms["total_unanswered"] = HistogramCodec.encodeForLog(waits)
        document.latency[.total] = .init(latencies)
        document.latency[.totalAccepted] = .init(CensoredHistogram(answered: answered))
        document.pushes.notSent = 5
        document.pushes.planned += 5
        document.notSent = ["overflowed": 5]
        document.series[1].notSent = 5
        let total = document.latency[.total]
        document.breakdown["profile"]?["alert"]?.total = total
        return document
    }

    static func run(_ document: ResultDocument) -> ReportedRun {
        ReportedRun(
            label: document.run.name, result: document, problems: ["it broke"],
            thresholds: [(text: "p99 < 50ms: 4.33 ms", isHeld: true), (text: "rss < 1MB: 40.1 MB", isHeld: false)])
    }

    /// What a reader comes for, in any format.
    static let headlines = [
        "1,000,123 pushes", "999,990 pushes", "77 pushes", "56 pushes", "499,999 pushes/s", "2.11 ms", "4.33 ms",
        "5.44 ms", "2.00 s", "2.35 us a push", "3.46 us a push", "40.1 MB", "50.2 MB", "3 lost, 4 doubled", "2.25 s",
    ]
}

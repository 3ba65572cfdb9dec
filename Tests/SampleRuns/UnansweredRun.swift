import Measurement
import Results

/// Runs in which pushes got no answer, for tests to judge.
package enum UnansweredRun {
    /// 1,197 answers after 5 ms and 3 pushes given up after 20 s; open loop of 200/s for 6 s.
    package static func make(
        _ id: String = "u", accepted: Int = 1197, rejected: Int = 0, unanswered: Int = 3
    ) -> ResultDocument {
        var result = SampleRun.make(id, 1)
        result.run.startedAt = "2026-01-02T03:04:05Z"
        let (accepts, rejects) = (histogram(5_000_000, accepted), histogram(1_000_000, rejected))
        let waits = histogram(20_000_000_000, unanswered)
        var answers = accepts
        answers.add(rejects)
        result.histograms = [
            "total": log(answers), "total{stage=hold}": log(answers), "total_unanswered": log(waits),
            "total_unanswered{stage=hold}": log(waits),
        ]
        if rejected > 0 {
            result.histograms["total_accepted"] = log(accepts)
            result.histograms["total_rejected"] = log(rejects)
        }
        result.latency[.total] = .init(CensoredHistogram(answered: answers, unanswered: waits))
        result.latency[.totalAccepted] = .init(CensoredHistogram(answered: accepts))
        result.latency[.totalRejected] = .init(CensoredHistogram(answered: rejects))
        result.pushes.planned = UInt64(accepted + rejected + unanswered)
        result.pushes.accepted = UInt64(accepted)
        result.pushes.rejected = UInt64(rejected)
        result.pushes.failed = UInt64(unanswered)
        result.failures = ["push_timeout": UInt64(unanswered)]
        result.throughput = .init(
            windowSeconds: 6, offered: 200, sent: 200, answered: Double(accepted + rejected) / 6,
            accepted: Double(accepted) / 6)
        let part = ResultDocument.Part(
            accepted: UInt64(accepted), rejected: UInt64(rejected), failed: UInt64(unanswered),
            total: result.latency[.total])
        result.breakdown = ["stage": ["hold": part]]
        return result
    }

    private static func histogram(_ value: UInt64, _ count: Int) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        histogram.record(value, count: UInt64(count))
        return histogram
    }

    private static func log(_ histogram: LatencyHistogram) -> String { HistogramCodec.encodeForLog(histogram) }
}

import Measurement
import Testing

@testable import Results

@Suite struct LatencyTests {
    private func log(_ values: [UInt64]) -> String {
        var histogram = LatencyHistogram()
        for value in values { histogram.record(value) }
        return HistogramCodec.encodeForLog(histogram)
    }

    @Test(
        "total and its parts come with the pushes that got no answer, other latencies without; what is missing is empty"
    )
    func histograms() throws {
        var result = sampleResult()
        result.histograms = [
            "total": log([5, 6]), "total_unanswered": log([9]), "total{stage=hold}": log([5]),
            "total_unanswered{stage=hold}": log([9, 9]), "total_unanswered{stage=ramp}": log([1]), "queue": log([1]),
        ]
        func counts(_ key: String) throws -> [UInt64] {
            let latencies = try result.censoredHistogram(key)
            return [latencies.answered.count, latencies.unanswered.count]
        }
        #expect(try counts("total") == [2, 1] && counts("total{stage=hold}") == [1, 2])
        #expect(try counts("total{stage=ramp}") == [0, 1] && counts("queue") == [1, 0] && counts("sign") == [0, 0])
        // All answers are accepted ones, and stand once.
        #expect(try counts("total_accepted") == [2, 0] && counts("total_rejected") == [0, 0])
        result.histograms["total_rejected"] = log([6])
        #expect(try counts("total_accepted") == [0, 0])
        result.histograms["total_accepted"] = log([5])
        #expect(try counts("total_accepted") == [1, 0])
        result.histograms["total_unanswered"] = "damaged"
        #expect(throws: HistogramCodec.Failure.self) { try result.censoredHistogram("total") }
    }

    @Test("A latency knows which of its figures are bounds, and a figure of nothing is not known")
    func figures() throws {
        var result = sampleResult()
        result.histograms = [
            "total": log(Array(repeating: 5_000_000, count: 1197)),
            "total_unanswered": log(Array(repeating: 20_000_000_000, count: 3)),
        ]
        let latency = ResultDocument.Latency(try result.censoredHistogram("total"))
        #expect(latency.count == 1200 && latency.unanswered == 3 && latency.censored == ["mean", "p99_9", "max"])
        let p99 = try #require(latency.known(.p99))
        #expect(abs(p99 / 5e6 - 1) < 0.001 && latency.known(.p999) == nil && latency.known(.mean) == nil)
        #expect(latency.isCensored(.max) && latency.value(.max) >= 2e10 && latency.value(.p999) == Double(latency.p999))
        #expect(ResultDocument.Latency().known(.p50) == nil)
    }
}

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

    @Test(
        "Time without a connection is in words from a millisecond on, and the cause of lateness only where enough pushes came due in it"
    )
    func noConnection() {
        func figure(_ seconds: Double, longest: Double, _ cause: String?, wait: Double = 0)
            -> ResultDocument.NoConnection
        {
            .init(seconds: seconds, longest: longest, cause: cause, wait: wait)
        }
        #expect(figure(0.0009, longest: 0.0009, "connection_refused").words == nil)
        #expect(
            figure(1.98, longest: 1.98, "connection_refused", wait: 0.04).words
                == "no connection for 1.98 s: connection refused, next attempt after 40.0 ms")
        #expect(
            figure(3, longest: 1, "goaway NO_ERROR Shutdown").words
                == "no connection for 3.00 s (longest 1.00 s: goaway NO_ERROR Shutdown)")
        #expect(figure(3, longest: 3, nil).words == "no connection for 3.00 s: the first was being made")
        // One second of 100, on one of two threads: half of a percent.
        let outage = figure(1, longest: 1, "connection_refused")
        #expect(outage.cause(ofLateness: 2e9, share: 0.01, of: 100, threads: 2) == outage.words)
        #expect(outage.cause(ofLateness: 2.1e9, share: 0.01, of: 100, threads: 2) == nil)
        #expect(outage.cause(ofLateness: 1e9, share: 0.1, of: 100, threads: 2) == nil)
        #expect(outage.cause(ofLateness: 1e9, share: 0.01, of: 100, threads: 4) == nil)
    }
}

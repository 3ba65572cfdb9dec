import Measurement
import Results

/// Runs for tests to hold against each other.
package enum SampleRun {
    /// A run of which every figure is `factor` times 1,000, and whose latencies are `values`.
    package static func make(_ id: String, _ factor: Double, _ values: [UInt64] = [100, 200, 300]) -> ResultDocument {
        var histogram = LatencyHistogram()
        for value in values { histogram.record(value, count: 1000) }
        let none = ResultDocument.Latency(count: 0, min: 0, mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0)
        let figure = UInt64(1000 * factor)
        let latency = ResultDocument.Latency(
            count: 9, min: figure, mean: Double(figure), p50: figure, p90: figure, p99: figure, p999: figure,
            max: figure)
        return ResultDocument(
            run: .init(
                id: id, name: "n", startedAt: "", durationSeconds: 2, complete: true, interrupted: false,
                engine: "wire", target: "t", tls: nil),
            environment: .init(
                host: "h", cpu: "c", cores: 2, memoryBytes: 0, kernel: "", system: "", versions: ["openssl": "3.0"],
                commit: nil),
            scenario: ["streams": .integer(100)],
            pushes: .init(
                planned: 9, sent: 9, accepted: 9, rejected: 0, failed: 0, retried: 0, lost: 0, duplicated: 0),
            throughput: .init(offered: nil, answered: 1000 * factor),
            latency: .init { [.roundTrip, .total].contains($0) ? latency : none },
            breakdown: [:], warmup: .init(seconds: 0, answered: 0),
            generator: .init(
                limited: false, reasons: [], loopLag: none, workerLoad: [], steal: 0, cpu: .init()),
            statuses: [:], reasons: [:], failures: [:],
            connections: .init(opened: 1, lost: 0, connectFailures: 0, goAways: 0, reconnects: 0),
            cost: .init(
                clientCPU: 1000 * factor, mockCPU: nil, clientMemory: figure, mockMemory: nil, clientAllocations: 0,
                mockAllocations: nil, tokensSigned: 1, clockReading: 0, histogramRecord: 0, measuring: 0),
            series: [], histograms: ["total": HistogramCodec.encodeForLog(histogram)], notes: [])
    }
}

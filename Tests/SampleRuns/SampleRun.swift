import Measurement
import Results

/// Runs for tests to hold against each other.
package enum SampleRun {
    /// A run of which every figure is `factor` times 1,000, and whose latencies are `values`.
    package static func make(_ id: String, _ factor: Double, _ values: [UInt64] = [100, 200, 300]) -> ResultDocument {
        var histogram = LatencyHistogram()
        for value in values { histogram.record(value, count: 1000) }
        let figure = UInt64(1000 * factor)
        let latency = ResultDocument.Latency(
            count: 9, min: figure, mean: Double(figure), p50: figure, p90: figure, p99: figure, p999: figure,
            max: figure)
        var run = ResultDocument()
        run.run.id = id
        run.run.name = "n"
        run.run.durationSeconds = 2
        run.run.engine = "wire"
        run.run.target = "t"
        run.environment.host = "h"
        run.environment.cpu = "c"
        run.environment.cores = 2
        run.environment.versions = ["openssl": "3.0"]
        run.scenario = ["streams": .integer(100)]
        (run.pushes.planned, run.pushes.sent, run.pushes.accepted) = (9, 9, 9)
        (run.pushes.lost, run.pushes.duplicated) = (0, 0)
        run.throughput = .init(offered: nil, answered: 1000 * factor)
        (run.latency[.roundTrip], run.latency[.total]) = (latency, latency)
        run.connections.opened = 1
        run.cost.clientCPU = 1000 * factor
        run.cost.clientMemory = figure
        run.cost.clientAllocations = 0
        run.cost.tokensSigned = 1
        run.histograms = ["total": HistogramCodec.encodeForLog(histogram)]
        return run
    }
}

import Benchmark
import Stages

/// Every stage, 1,000 pushes an iteration; times are those of one push.
///
/// Held against `Thresholds` with room for a busy or slower machine: what is 2.5 times as slow has failed. What moves by
/// less is caught by `instructions.py`; the tool's own counters of instructions and allocations read 0 where the kernel has
/// none and the interposers are off, so they are not asked for.
let benchmarks: @Sendable () -> Void = {
    let names =
        ["encode-alert", "encode-silent", "encode-rich", "encode-live-activity", "encode-voip"]
        + [
            "sign-cached", "sign-each", "header-block", "header-block-huffman", "frame-write", "frame-parse",
            "histogram-record",
        ]
    for name in names {
        Benchmark(
            name,
            configuration: .init(
                metrics: [.wallClock],
                scalingFactor: .kilo, maxDuration: .seconds(2), maxIterations: 2_000,
                thresholds: [.wallClock: BenchmarkThresholds(relative: [.p90: 150])])
        ) { benchmark in
            guard let stage = try Stage.all().first(where: { $0.name == name }) else {
                benchmark.error("no stage is called \(name)")
                return
            }
            // Tables filled, tokens signed.
            blackHole(stage.run(1_000))
            benchmark.startMeasurement()
            blackHole(stage.run(UInt64(benchmark.scaledIterations.count)))
            benchmark.stopMeasurement()
        }
    }
}

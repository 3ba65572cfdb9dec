import Measurement

/// One latency into an HDR histogram.
final class RecordStage: Stage {
    private var histogram = LatencyHistogram()

    init() { super.init("histogram-record") }

    override func run(_ pushes: Range<UInt64>) -> UInt64 {
        for sequence in pushes {
            // Between 100 µs and 1.15 ms, spread like latencies of a loopback.
            histogram.record(100_000 &+ (sequence &* 0x9E37_79B9_7F4A_7C15) &>> 44)
        }
        return histogram.count
    }
}

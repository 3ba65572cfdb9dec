/// What measuring costs on this machine, timed in short loops.
public struct MeasurementCost: Sendable, Equatable {
    /// One reading of the clock that times encoding, ns.
    package let clockReading: Double
    /// One histogram record, ns.
    package let histogramRecord: Double

    /// Clock readings and histogram records each push causes; readings that pushes share (one a write, one a read) are
    /// not counted.
    static let readingsPerPush = 2.0 / 16
    /// Queue, round trip and total, and one in 16 encodings; in open loop late, write, service and the loop's lag too.
    static func recordsPerPush(isOpenLoop: Bool) -> Double { (isOpenLoop ? 7 : 3) + 1.0 / 16 }

    /// ns of CPU each push spends on being measured.
    public func perPush(isOpenLoop: Bool) -> Double {
        clockReading * Self.readingsPerPush + histogramRecord * Self.recordsPerPush(isOpenLoop: isOpenLoop)
    }

    /// Takes a millisecond or so.
    ///
    /// - Parameters:
    ///   - clock: nanoseconds, to time with.
    ///   - reading: the clock that times encoding.
    package static func calibrate(clock: () -> UInt64, reading: () -> UInt64) -> MeasurementCost {
        let rounds: UInt64 = 10_000
        var best = (clock: Double.infinity, record: Double.infinity)
        var histogram = LatencyHistogram()
        // As `Recorder` does it: a few hundred at a time.
        let staged = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: 250)
        defer { staged.deallocate() }
        for _ in 0..<5 {
            let begin = clock()
            for _ in 0..<rounds { _ = reading() }
            let middle = clock()
            for round in 0..<rounds / UInt64(staged.count) {
                for index in staged.indices {
                    staged[index] = 1_000 &+ (round &* UInt64(staged.count) &+ UInt64(index)) &* 97 % 1_000_000
                }
                histogram.record(UnsafeBufferPointer(staged))
            }
            let end = clock()
            best.clock = min(best.clock, Double(middle - begin) / Double(rounds))
            best.record = min(best.record, Double(end - middle) / Double(rounds))
        }
        return MeasurementCost(clockReading: best.clock, histogramRecord: best.record)
    }
}

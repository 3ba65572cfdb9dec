/// What measuring costs on this machine, timed in short loops.
public struct MeasurementCost: Sendable, Equatable {
    /// One clock reading, ns.
    public let clockReading: Double
    /// One histogram record, ns.
    public let histogramRecord: Double

    /// Clock readings and histogram records each push causes; readings that pushes share (one a write, one a read) are
    /// not counted.
    public static let readingsPerPush = 3.0
    public static let recordsPerPush = 5.0

    /// ns of CPU each push spends on being measured.
    public var perPush: Double { clockReading * Self.readingsPerPush + histogramRecord * Self.recordsPerPush }

    /// Takes a few milliseconds.
    ///
    /// - Parameter clock: the clock the run uses.
    public static func calibrate(clock: () -> UInt64) -> MeasurementCost {
        let rounds: UInt64 = 50_000
        var best = (clock: Double.infinity, record: Double.infinity)
        var histogram = LatencyHistogram()
        for _ in 0..<3 {
            let begin = clock()
            for _ in 0..<rounds { _ = clock() }
            let middle = clock()
            for index in 0..<rounds { histogram.record(1_000 &+ index &* 97 % 1_000_000) }
            let end = clock()
            best.clock = min(best.clock, Double(middle - begin) / Double(rounds))
            best.record = min(best.record, Double(end - middle) / Double(rounds))
        }
        return MeasurementCost(clockReading: best.clock, histogramRecord: best.record)
    }
}

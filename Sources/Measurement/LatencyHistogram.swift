import Histogram

/// Nanoseconds from 1 to 3,600,000,000,000 (one hour) with 3 significant digits, in an HDR histogram. What lies outside is
/// counted at the nearest end and in `clamped`, never lost.
///
/// Cost: about 3 ns a record, 270 KB.
public struct LatencyHistogram: Sendable {
    public static let highest: UInt64 = 3_600_000_000_000

    @usableFromInline var histogram: Histogram<UInt64>
    /// Records outside 1 ns … 1 h.
    public internal(set) var clamped: UInt64 = 0
    @usableFromInline var sum: UInt64 = 0

    /// Without memory of its own until something is recorded in a copy.
    public static let empty = LatencyHistogram()

    public init() {
        histogram = Histogram(
            lowestDiscernibleValue: 1, highestTrackableValue: Self.highest, numberOfSignificantValueDigits: .three)
    }

    @inlinable
    @inline(__always)
    public mutating func record(_ nanoseconds: UInt64) {
        if nanoseconds &- 1 < Self.highest {
            histogram.record(nanoseconds)
            sum &+= nanoseconds
        } else {
            recordClamped(nanoseconds)
        }
    }

    @usableFromInline
    mutating func recordClamped(_ nanoseconds: UInt64) {
        let value = nanoseconds == 0 ? 1 : Self.highest
        histogram.record(value)
        sum &+= value
        clamped += 1
    }

    /// Records a value so many times.
    public mutating func record(_ nanoseconds: UInt64, count: UInt64) {
        guard count > 0 else { return }
        let value = min(max(nanoseconds, 1), Self.highest)
        if value != nanoseconds { clamped += count }
        histogram.record(value, count: count)
        sum &+= value &* count
    }

    /// Forgets everything; the memory stays.
    public mutating func removeAll() {
        guard count > 0 else { return }
        histogram.reset()
        clamped = 0
        sum = 0
    }

    /// Each counter that holds something: its value and its count, ascending.
    public var counters: [(value: UInt64, count: UInt64)] {
        histogram.recordedValues().map { (histogram.lowestEquivalentForValue($0.value), $0.count) }
    }

    /// Adds another histogram's records: exactly as if all had been recorded here.
    public mutating func add(_ other: LatencyHistogram) {
        histogram.add(other.histogram)
        clamped += other.clamped
        sum &+= other.sum
    }

    public var count: UInt64 { histogram.totalCount }

    /// The value below or at which `percentile` (0…100) of the records lie, as every HdrHistogram says it: the highest value of
    /// the counter, within 0.1 % of what was recorded; 0 when there are none.
    public func value(atPercentile percentile: Double) -> UInt64 {
        if count == 0 { return 0 }
        let value = histogram.valueAtPercentile(percentile)
        return percentile > 0
            ? histogram.highestEquivalentForValue(value) : histogram.lowestEquivalentForValue(value)
    }

    /// What was recorded since `earlier`, a copy of this histogram.
    public func since(_ earlier: LatencyHistogram) -> LatencyHistogram {
        var recent = LatencyHistogram()
        guard count > earlier.count else { return recent }
        for step in histogram.recordedValues() {
            let before = earlier.histogram.countForValue(step.value)
            if step.count > before { recent.record(step.value, count: step.count - before) }
        }
        return recent
    }

    /// The counters of what was recorded since `earlier`, a copy of this histogram, ascending.
    func counters(since earlier: LatencyHistogram) -> [(value: UInt64, count: UInt64)] {
        histogram.recordedValues().compactMap { step in
            let before = earlier.histogram.countForValue(step.value)
            return step.count > before ? (step.value, step.count - before) : nil
        }
    }

    public var summary: LatencySummary {
        guard count > 0 else { return LatencySummary() }
        return LatencySummary(
            count: count, min: histogram.lowestEquivalentForValue(histogram.min), mean: Double(sum) / Double(count),
            p50: value(atPercentile: 50),
            p90: value(atPercentile: 90), p99: value(atPercentile: 99), p999: value(atPercentile: 99.9),
            max: histogram.highestEquivalentForValue(histogram.max))
    }
}

/// A histogram's figures, nanoseconds, within 0.1 % (the mean is exact); all 0 when nothing was recorded.
public struct LatencySummary: Sendable, Equatable {
    public var count: UInt64 = 0
    public var min: UInt64 = 0
    public var mean: Double = 0
    public var p50: UInt64 = 0
    public var p90: UInt64 = 0
    public var p99: UInt64 = 0
    public var p999: UInt64 = 0
    public var max: UInt64 = 0

    public init() {}

    init(
        count: UInt64, min: UInt64, mean: Double, p50: UInt64, p90: UInt64, p99: UInt64, p999: UInt64, max: UInt64
    ) {
        self.count = count
        self.min = min
        self.mean = mean
        self.p50 = p50
        self.p90 = p90
        self.p99 = p99
        self.p999 = p999
        self.max = max
    }
}

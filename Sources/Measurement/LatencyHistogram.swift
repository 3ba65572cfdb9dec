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
    /// Wide: a billion pushes of 18 s are more than 64 bits of nanoseconds.
    @usableFromInline var sum: UInt128 = 0

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
            sum &+= UInt128(nanoseconds)
        } else {
            recordClamped(nanoseconds)
        }
    }

    @usableFromInline
    mutating func recordClamped(_ nanoseconds: UInt64) {
        let value = nanoseconds == 0 ? 1 : Self.highest
        histogram.record(value)
        sum &+= UInt128(value)
        clamped += 1
    }

    /// Records a value so many times.
    public mutating func record(_ nanoseconds: UInt64, count: UInt64) {
        guard count > 0 else { return }
        let value = min(max(nanoseconds, 1), Self.highest)
        if value != nanoseconds { clamped += count }
        histogram.record(value, count: count)
        sum &+= UInt128(value) &* UInt128(count)
    }

    /// Forgets everything. The next record finds memory of its own: whoever calls this pays for it, not who records.
    public mutating func removeAll() {
        guard count > 0 else { return }
        self = .empty
        // The library's `reset` is not specialised: it takes 1 ms, a copy 20 µs. Adding nothing makes one.
        histogram.add(Self.empty.histogram)
    }

    /// Each counter that holds something: its lowest value and its count, ascending.
    public var counters: [(value: UInt64, count: UInt64)] {
        var all: [(value: UInt64, count: UInt64)] = []
        eachCounter {
            all.append(($0, $1))
            return true
        }
        return all
    }

    /// Each counter that holds something, ascending, until `body` returns false. The library's own sequences add up value times
    /// count, which overflows from 584 years of waiting on: a billion pushes of 18 s.
    private func eachCounter(_ body: (_ lowest: UInt64, _ count: UInt64) -> Bool) {
        guard count > 0 else { return }
        let highest = histogram.max
        var value = histogram.lowestEquivalentForValue(histogram.min)
        while value <= highest {
            let count = histogram.countForValue(value)
            if count > 0, !body(value, count) { return }
            value = histogram.nextNonEquivalentForValue(value)
        }
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
    public func value(atPercentile percentile: Double) -> UInt64 { values(atPercentiles: [percentile])[0] }

    /// - Parameter percentiles: ascending.
    func values(atPercentiles percentiles: [Double]) -> [UInt64] {
        guard count > 0 else { return percentiles.map { _ in 0 } }
        // One ulp less, so that rounding up does not run over into the next counter.
        let wanted = percentiles.map { percentile in
            UInt64((min(max(0, percentile.nextDown), 100) * Double(count) / 100).rounded(.up))
        }
        var values: [UInt64] = []
        var seen: UInt64 = 0
        eachCounter { value, count in
            seen += count
            while values.count < wanted.count, seen >= wanted[values.count] {
                values.append(
                    percentiles[values.count] > 0 ? histogram.highestEquivalentForValue(value) : value)
            }
            return values.count < wanted.count
        }
        return values
    }

    /// Of each bound (ascending), how many records lie at or below it, within 0.1 % of the bound.
    public func counts(upTo bounds: [UInt64]) -> [UInt64] {
        var counts: [UInt64] = []
        var seen: UInt64 = 0
        eachCounter { value, count in
            while counts.count < bounds.count, value > bounds[counts.count] { counts.append(seen) }
            seen += count
            return counts.count < bounds.count
        }
        while counts.count < bounds.count { counts.append(seen) }
        return counts
    }

    /// The steps of a percentile distribution, as HdrHistogram makes them: so many in each halving of what is left to 100 %, each
    /// with the value, the percentile it is for, and how many records lie at or below it.
    func percentileSteps(ticksPerHalfDistance: Int) -> [(value: UInt64, percentile: Double, count: UInt64)] {
        var steps: [(value: UInt64, percentile: Double, count: UInt64)] = []
        var percentile = 0.0
        var seen: UInt64 = 0
        eachCounter { lowest, records in
            seen += records
            let value = histogram.highestEquivalentForValue(lowest)
            while percentile <= 100 * Double(seen) / Double(count) {
                steps.append((value, percentile, seen))
                if seen == count { break }
                let halvings = 100 / (100 - percentile)
                percentile +=
                    100
                    / (Double(ticksPerHalfDistance)
                        * Double(sign: .plus, exponent: Int(halvings.exponent) + 1, significand: 1))
            }
            if seen == count { steps.append((value, 100, seen)) }
            return true
        }
        return steps
    }

    /// Nanoseconds, from the middles of the counters.
    var standardDeviation: Double {
        guard count > 0 else { return 0 }
        let mean = Double(sum) / Double(count)
        var squares = 0.0
        eachCounter { lowest, records in
            let deviation = Double(histogram.medianEquivalentForValue(lowest)) - mean
            squares += deviation * deviation * Double(records)
            return true
        }
        return (squares / Double(count)).squareRoot()
    }

    /// What was recorded since `earlier`, a copy of this histogram.
    public func since(_ earlier: LatencyHistogram) -> LatencyHistogram {
        var recent = LatencyHistogram()
        guard count > earlier.count else { return recent }
        for step in counters(since: earlier) { recent.record(step.value, count: step.count) }
        return recent
    }

    /// The counters of what was recorded since `earlier`, a copy of this histogram, ascending.
    func counters(since earlier: LatencyHistogram) -> [(value: UInt64, count: UInt64)] {
        counters.compactMap { value, count in
            let before = earlier.histogram.countForValue(value)
            return count > before ? (value, count - before) : nil
        }
    }

    public var summary: LatencySummary {
        guard count > 0 else { return LatencySummary() }
        let values = values(atPercentiles: [50, 90, 99, 99.9])
        return LatencySummary(
            count: count, min: histogram.lowestEquivalentForValue(histogram.min), mean: Double(sum) / Double(count),
            p50: values[0], p90: values[1], p99: values[2], p999: values[3],
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

/// Nanoseconds from 1 to 3,600,000,000,000 (one hour) with 3 significant digits, as an HDR histogram counts them: 2,048
/// counters of 1 ns, then 1,024 for each doubling (Gil Tene's HdrHistogram, smallest value 1). What lies outside is counted at
/// the nearest end and in `clamped`, never lost.
///
/// Cost: 65 instructions a record, 22 where hundreds are recorded together; 270 KB.
public struct LatencyHistogram: Sendable {
    public static let highest: UInt64 = 3_600_000_000_000

    private var counts: [UInt64]
    public private(set) var count: UInt64 = 0
    /// Records outside 1 ns … 1 h.
    public private(set) var clamped: UInt64 = 0
    /// Wide: a billion pushes of 18 s are more than 64 bits of nanoseconds.
    private var sum: UInt128 = 0
    /// The lowest and the highest counter that holds something; the first above the last while none does.
    private var first = Int.max
    private var last = -1

    /// Without memory of its own until something is recorded in a copy.
    public static let empty = LatencyHistogram()

    public init() { counts = [UInt64](repeating: 0, count: Self.place(of: Self.highest) + 1) }

    // MARK: Counters

    /// The counter of a value up to `highest`.
    @inline(__always)
    static func place(of value: UInt64) -> Int {
        let doublings = 53 &- (value | 2047).leadingZeroBitCount
        return doublings &<< 10 &+ Int(truncatingIfNeeded: value &>> UInt64(truncatingIfNeeded: doublings))
    }

    /// The lowest value of a counter.
    static func lowest(at place: Int) -> UInt64 {
        let doublings = max(0, place >> 10 - 1)
        return UInt64(place - doublings << 10) << UInt64(doublings)
    }

    /// The highest value of a counter.
    static func highest(at place: Int) -> UInt64 { lowest(at: place + 1) - 1 }

    // MARK: Recording

    @inline(__always)
    public mutating func record(_ nanoseconds: UInt64) { record(nanoseconds, count: 1) }

    /// Records a value so many times.
    @inline(__always)
    public mutating func record(_ nanoseconds: UInt64, count: UInt64) {
        guard count > 0 else { return }
        let value = min(max(nanoseconds, 1), Self.highest)
        if value != nanoseconds { clamped &+= count }
        let place = Self.place(of: value)
        counts[place] &+= count
        self.count &+= count
        sum &+= UInt128(value) &* UInt128(count)
        first = min(first, place)
        last = max(last, place)
    }

    /// Records values once each: what they share is counted once.
    public mutating func record(_ values: UnsafeBufferPointer<UInt64>) {
        guard values.count <= Self.mostTogether, values.count > 0 else {
            for value in values { record(value) }
            return
        }
        var sum: UInt64 = 0
        var (least, most) = (UInt64.max, UInt64(0))
        counts.withUnsafeMutableBufferPointer {
            let counts = $0.baseAddress!
            for nanoseconds in values {
                let value: UInt64
                if nanoseconds &- 1 < Self.highest {
                    value = nanoseconds
                } else {
                    value = nanoseconds == 0 ? 1 : Self.highest
                    clamped &+= 1
                }
                counts[Self.place(of: value)] &+= 1
                sum &+= value
                least = min(least, value)
                most = max(most, value)
            }
        }
        count &+= UInt64(values.count)
        self.sum &+= UInt128(sum)
        first = min(first, Self.place(of: least))
        last = max(last, Self.place(of: most))
    }

    /// An hour so often is within 64 bits of nanoseconds.
    private static let mostTogether = 1_000_000

    /// Forgets everything; the memory stays.
    public mutating func removeAll() {
        guard count > 0 else { return }
        counts.withUnsafeMutableBufferPointer { $0[first...last].update(repeating: 0) }
        (count, clamped, sum, first, last) = (0, 0, 0, .max, -1)
    }

    /// Adds another histogram's records: exactly as if all had been recorded here.
    public mutating func add(_ other: LatencyHistogram) {
        guard other.count > 0 else { return }
        counts.withUnsafeMutableBufferPointer { mine in
            other.counts.withUnsafeBufferPointer { theirs in
                for place in other.first...other.last { mine[place] &+= theirs[place] }
            }
        }
        count &+= other.count
        clamped &+= other.clamped
        sum &+= other.sum
        first = min(first, other.first)
        last = max(last, other.last)
    }

    // MARK: What was recorded

    /// Each counter that holds something: its lowest value and its count, ascending.
    public var counters: [(value: UInt64, count: UInt64)] {
        var all: [(value: UInt64, count: UInt64)] = []
        eachCounter {
            all.append((Self.lowest(at: $0), $1))
            return true
        }
        return all
    }

    /// Each counter that holds something, ascending, until `body` returns false.
    private func eachCounter(_ body: (_ place: Int, _ count: UInt64) -> Bool) {
        guard count > 0 else { return }
        for place in first...last where counts[place] > 0 { if !body(place, counts[place]) { return } }
    }

    /// The value below or at which `percentile` (0…100) of the records lie, as every HdrHistogram says it: the highest value of
    /// the counter, within 0.1 % of what was recorded; 0 when there are none.
    public func value(atPercentile percentile: Double) -> UInt64 { values(atPercentiles: [percentile])[0] }

    /// - Parameter percentiles: ascending.
    func values(atPercentiles percentiles: [Double]) -> [UInt64] {
        guard count > 0 else { return percentiles.map { _ in 0 } }
        // One ulp less, so that rounding up does not run over into the next counter.
        let wanted = percentiles.map { percentile in
            min(count, UInt64((min(max(0, percentile.nextDown), 100) * Double(count) / 100).rounded(.up)))
        }
        var values: [UInt64] = []
        var seen: UInt64 = 0
        eachCounter { place, count in
            seen &+= count
            while values.count < wanted.count, seen >= wanted[values.count] {
                values.append(percentiles[values.count] > 0 ? Self.highest(at: place) : Self.lowest(at: place))
            }
            return values.count < wanted.count
        }
        return values
    }

    /// Of each bound (ascending), how many records lie at or below it, within 0.1 % of the bound.
    public func counts(upTo bounds: [UInt64]) -> [UInt64] {
        var counts: [UInt64] = []
        var seen: UInt64 = 0
        eachCounter { place, count in
            while counts.count < bounds.count, Self.lowest(at: place) > bounds[counts.count] { counts.append(seen) }
            seen &+= count
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
        eachCounter { place, records in
            seen &+= records
            let value = Self.highest(at: place)
            while percentile <= 100 * Double(seen) / Double(count) {
                steps.append((value, percentile, seen))
                if seen == count { break }
                let halvings = 100 / (100 - percentile)
                let next =
                    percentile + 100
                    / (Double(ticksPerHalfDistance)
                        * Double(sign: .plus, exponent: Int(halvings.exponent) + 1, significand: 1))
                // Beyond what a Double tells from 100 there are no steps.
                guard next > percentile, next < 100 else { break }
                percentile = next
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
        eachCounter { place, records in
            let deviation = (Double(Self.lowest(at: place)) + Double(Self.highest(at: place))) / 2 - mean
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
        var all: [(value: UInt64, count: UInt64)] = []
        eachCounter { place, count in
            let before = earlier.counts[place]
            if count > before { all.append((Self.lowest(at: place), count - before)) }
            return true
        }
        return all
    }

    public var summary: LatencySummary {
        guard count > 0 else { return LatencySummary() }
        let values = values(atPercentiles: [50, 90, 99, 99.9])
        return LatencySummary(
            count: count, min: Self.lowest(at: first), mean: Double(sum) / Double(count),
            p50: values[0], p90: values[1], p99: values[2], p999: values[3],
            max: Self.highest(at: last))
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
}

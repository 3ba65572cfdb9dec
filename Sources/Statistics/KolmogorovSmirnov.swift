import Measurement

/// Kolmogorov's and Smirnov's distance of two histograms: the largest between two cumulative distributions, which sees a changed
/// tail or a second mode where medians are the same. Whether it is more than chance is `RunExchange`'s question: Kolmogorov's own
/// distribution takes every record for independent, and pushes of one run are not.
package struct KolmogorovSmirnov: Sendable, Equatable {
    /// 0…1.
    package let d: Double
    /// Where the distance is largest, the counter's lowest value; nanoseconds.
    package let place: UInt64
    /// The share of A's records at or below `place`; 0…1.
    package let below: (a: Double, b: Double)

    /// nil when a histogram is empty.
    package init?(_ a: LatencyHistogram, _ b: LatencyHistogram) { self.init(a.counters, b.counters) }

    /// - Parameters: values ascending, each once, with how often they were recorded.
    package init?(_ a: [(value: UInt64, count: UInt64)], _ b: [(value: UInt64, count: UInt64)]) {
        let n = Double(a.reduce(0) { $0 + $1.count })
        let m = Double(b.reduce(0) { $0 + $1.count })
        guard n > 0, m > 0 else { return nil }
        var (i, j) = (0, 0)
        var (seenA, seenB) = (UInt64(0), UInt64(0))
        var best: (d: Double, place: UInt64, a: Double, b: Double) = (-1, 0, 0, 0)
        while i < a.count || j < b.count {
            let value = min(i < a.count ? a[i].value : .max, j < b.count ? b[j].value : .max)
            if i < a.count, a[i].value == value {
                seenA += a[i].count
                i += 1
            }
            if j < b.count, b[j].value == value {
                seenB += b[j].count
                j += 1
            }
            let (shareA, shareB) = (Double(seenA) / n, Double(seenB) / m)
            if abs(shareA - shareB) > best.d { best = (abs(shareA - shareB), value, shareA, shareB) }
        }
        d = best.d
        place = best.place
        below = (best.a, best.b)
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.d == other.d && one.place == other.place && one.below == other.below
    }
}

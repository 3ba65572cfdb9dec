import Foundation
import Measurement

/// The two-sample Kolmogorov–Smirnov test on histograms: the largest distance between two cumulative distributions, which sees
/// a changed tail or a second mode where medians are the same.
///
/// Its p-value takes every record for independent. Pushes of one run are not, so that with many pushes p says little and D
/// decides.
package struct KolmogorovSmirnov: Sendable, Equatable {
    /// 0…1.
    package let d: Double
    /// Where the distance is largest, the counter's lowest value; nanoseconds.
    package let place: UInt64
    /// The share of A's records at or below `place`; 0…1.
    package let below: (a: Double, b: Double)
    /// Asymptotic.
    package let p: Double

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
        p = Self.survival((n / (n + m) * m).squareRoot() * best.d)
    }

    /// The chance of a distance beyond `x` in Kolmogorov's distribution; of its two series the one that converges fast.
    package static func survival(_ x: Double) -> Double {
        if x <= 0 { return 1 }
        if x < 1.18 {
            let step = Double.pi * Double.pi / (8 * x * x)
            let sum = stride(from: 1.0, through: 9, by: 2).reduce(0) { $0 + exp(-$1 * $1 * step) }
            return min(1, max(0, 1 - (2 * Double.pi).squareRoot() / x * sum))
        }
        let sum = stride(from: 1.0, through: 6, by: 1).reduce(0) {
            $0 + (Int($1) % 2 == 1 ? 1 : -1) * exp(-2 * $1 * $1 * x * x)
        }
        return min(1, max(0, 2 * sum))
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.d == other.d && one.place == other.place && one.below == other.below && one.p == other.p
    }
}

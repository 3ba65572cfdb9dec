import Foundation

/// A confidence interval of a median between two of the values themselves, whatever they are distributed like: the median lies
/// below the k-th smallest of n values with the chance that fewer than k of n tosses of a coin are heads (David, Nagaraja: Order
/// Statistics, 2003, section 7.1). The narrowest that covers 95 %; of fewer than six values none does, and it is their span.
package struct MedianInterval: Sendable, Equatable {
    /// Of the values as they are.
    package let median: Double
    package let low: Double
    package let high: Double
    /// In which share of repetitions the interval holds the true median: 0.5 of two values, 0.75 of three, 0.875, 0.9375, then
    /// 0.95 or more.
    package let coverage: Double

    /// nil of fewer than two values, or of one that is not finite.
    package init?(_ values: [Double]) {
        guard values.count > 1, values.allSatisfy(\.isFinite) else { return nil }
        let values = values.sorted()
        let place = RankTail.place(below: 0.025, of: (values.count - 1) / 2) { Self.tail(values.count, $0) }
        median = Quantile.of(values, 0.5)
        low = values[place]
        high = values[values.count - 1 - place]
        coverage = 1 - 2 * Self.tail(values.count, place)
    }

    /// The chance of at most `most` heads of `tosses`.
    private static func tail(_ tosses: Int, _ most: Int) -> Double {
        let n = Double(tosses)
        let all = lgamma(n + 1) - n * log(2.0)
        var sum = 0.0
        for heads in 0...most {
            let k = Double(heads)
            let ways: Double = all - lgamma(k + 1) - lgamma(n - k + 1)
            sum += exp(ways)
        }
        return sum
    }
}

/// Quantiles of a few numbers.
package enum Quantile {
    /// The middle value, or the mean of the two middle ones; nil of nothing.
    package static func median(_ values: [Double]) -> Double? { values.isEmpty ? nil : of(values.sorted(), 0.5) }

    /// Linear between neighbours (type 7 of Hyndman and Fan, what NumPy and R do).
    ///
    /// - Parameters:
    ///   - sorted: ascending, at least one.
    ///   - share: 0…1.
    package static func of(_ sorted: [Double], _ share: Double) -> Double {
        let place = share * Double(sorted.count - 1)
        let low = Int(place)
        let high = min(low + 1, sorted.count - 1)
        return sorted[low] + (place - Double(low)) * (sorted[high] - sorted[low])
    }

    /// Between which a share of what was drawn lies, so that one more of the same distribution lies there that often: the places
    /// (n + 1) p and (n + 1) (1 − p), linear between neighbours (type 6 of Hyndman and Fan). Of too few, fewer than 39 for 95 %, the
    /// least and the most, which hold less. nil of nothing.
    ///
    /// - Parameters:
    ///   - sorted: finite.
    ///   - share: 0…1.
    package static func limits(_ sorted: [Double], holding share: Double) -> ClosedRange<Double>? {
        guard !sorted.isEmpty else { return nil }
        let outside = max(0, Double(sorted.count + 1) * (1 - share) / 2 - 1)
        let low = Int(outside)
        let part = outside - Double(low)
        func from(_ place: Int, towards next: Int) -> Double { (1 - part) * sorted[place] + part * sorted[next] }
        let middle = (sorted.count - 1) / 2
        if low >= middle { return sorted[middle]...sorted[sorted.count - 1 - middle] }
        let last = sorted.count - 1 - low
        let limits = (from(low, towards: low + 1), from(last, towards: last - 1))
        return min(limits.0, limits.1)...max(limits.0, limits.1)
    }
}

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
}

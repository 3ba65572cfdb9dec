import Foundation

/// The Mann–Kendall test, two-sided: do values tend to rise or to fall in their order? (Mann: Nonparametric Tests Against Trend,
/// 1945; ties as Kendall: Rank Correlation Methods, 1970, section 4.) It takes values for independent of their neighbours.
package struct MannKendall: Sendable, Equatable {
    /// Fewer values do not come near the normal distribution.
    package static let fewest = 8

    /// Pairs of which the later value is larger, less those of which it is smaller.
    package let s: Int
    /// 0…1, by the normal approximation, without a correction for continuity.
    package let p: Double

    /// nil of fewer than `fewest` values, or of one that is not a number.
    package init?(_ values: [Double]) {
        guard values.count >= Self.fewest, !values.contains(where: \.isNaN) else { return nil }
        var s = 0
        for later in values.indices {
            for earlier in 0..<later where values[earlier] != values[later] {
                s += values[earlier] < values[later] ? 1 : -1
            }
        }
        self.s = s
        func pairs(_ count: Double) -> Double { count * (count - 1) * (2 * count + 5) }
        let ties = Dictionary(values.map { ($0, 1.0) }, uniquingKeysWith: +).values.reduce(0) { $0 + pairs($1) }
        let variance = (pairs(Double(values.count)) - ties) / 18
        p = variance > 0 ? min(1, erfc(abs(Double(s)) / (2 * variance).squareRoot())) : 1
    }
}

/// Holm's correction for several tests at once (Holm: A Simple Sequentially Rejective Multiple Test Procedure, 1979): the chance
/// of calling even one figure different that is not is at most the level, however the figures hang together.
package enum Holm {
    /// The adjusted p-values, in the order of the given ones: the smallest times their number, the next times one less, and so
    /// on, each at least the one before and at most 1. What is at or below a level may be called at it.
    package static func adjusted(_ values: [Double]) -> [Double] {
        var adjusted = values
        var least = 0.0
        for (place, index) in values.indices.sorted(by: { values[$0] < values[$1] }).enumerated() {
            least = min(1, max(least, values[index] * Double(values.count - place)))
            adjusted[index] = least
        }
        return adjusted
    }
}

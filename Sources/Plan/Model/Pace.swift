/// How fast something counts up: the slope of the line through all (time, count), by least squares. What comes in bursts, a
/// round trip apart, is told from it within a few round trips, whichever part of a burst is seen last.
struct Pace {
    private var count = 0.0
    private var first = (time: 0.0, number: 0.0)
    private var sums = (time: 0.0, number: 0.0, square: 0.0, product: 0.0)

    /// - Parameter time: nanoseconds.
    mutating func add(_ time: Double, _ number: Int) {
        if count == 0 { first = (time, Double(number)) }
        // From the first one, so that no digits are lost.
        let (x, y) = (time - first.time, Double(number) - first.number)
        count += 1
        sums.time += x
        sums.number += y
        sums.square += x * x
        sums.product += x * y
    }

    /// 0 of fewer than two different times.
    var perSecond: Double {
        let spread = sums.square - sums.time * sums.time / max(count, 1)
        guard count > 1, spread > 0 else { return 0 }
        return (sums.product - sums.time * sums.number / count) / spread * 1e9
    }
}

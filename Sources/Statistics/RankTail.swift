/// Where intervals from ranks end.
enum RankTail {
    /// The highest place, from 0 to `most`, of which a lower tail is at most `error`; 0 when no tail is: the interval is then as
    /// wide as it can be, and covers less.
    ///
    /// - Parameter tail: the chance that the statistic is at or below a place; ascending.
    static func place(below error: Double, of most: Int, tail: (Int) -> Double) -> Int {
        // What is the error exactly must not fail for the last digit of a sum.
        let error = error * (1 + 1e-12)
        var (low, high) = (0, most)
        while low < high {
            let middle = (low + high + 1) / 2
            if tail(middle) <= error { low = middle } else { high = middle - 1 }
        }
        return low
    }

    /// Of how often each value of a statistic comes about: the chance of it or a lower one.
    static func shares(_ ways: [Double]) -> [Double] {
        let all = ways.reduce(0, +)
        var sum = 0.0
        return ways.map { count in
            sum += count
            return sum / all
        }
    }
}

import Glibc

/// How popular the members of a family are by Zipf's law: the k-th in proportion to 1/k^exponent.
enum Popularity {
    /// Shares of one choice among `count`; they add up to `total`.
    static func shares(_ count: Int, exponent: Double, total: Double = 1) -> [Double] {
        guard count > 0 else { return [] }
        let weights = (1...count).map { pow(Double($0), -exponent) }
        let sum = weights.reduce(0, +)
        return weights.map { $0 / sum * total }
    }

    /// Shares of independent tags of which a device has `mean` on average; none above 1: what the first ones cannot
    /// take is spread over the others.
    ///
    /// - Precondition: `mean` is 0 to `count`.
    static func independent(_ count: Int, exponent: Double, mean: Double) -> [Double] {
        let weights = (1...max(count, 1)).map { pow(Double($0), -exponent) }
        var rest: [Double] = weights
        // Of the weights from each place on.
        for place in stride(from: count - 2, through: 0, by: -1) { rest[place] += rest[place + 1] }
        var full = 0
        while full < count, weights[full] * (mean - Double(full)) > rest[full] { full += 1 }
        return (0..<count).map { place in
            place < full ? 1 : min(1, max(0, weights[place] / rest[full] * (mean - Double(full))))
        }
    }
}

import Synchronization

/// Wilcoxon's signed-rank test of pairs (Wilcoxon: Individual Comparisons by Ranking Methods, 1945), exact.
package enum SignedRank {
    /// In how many of the 2ⁿ choices of signs of the ranks 1…n the ranks with a minus add up to each W, from 0 to n (n + 1) / 2.
    ///
    /// - Parameter n: 1 … 400: more would not fit into a Double.
    package static func ways(_ n: Int) -> [Double] {
        if let known = counted.withLock({ $0[n] }) { return known }
        var ways = [1.0]
        for rank in 1...n {
            var longer = ways + [Double](repeating: 0, count: rank)
            for (sum, count) in ways.enumerated() { longer[sum + rank] += count }
            ways = longer
        }
        counted.withLock { $0[n] = ways }
        return ways
    }

    /// The highest k with P(W ≤ k) ≤ error; nil when there is none.
    package static func rank(_ n: Int, error: Double) -> Int? { HodgesLehmann.rank(ways(n), error: error) }

    /// A gate asks for the same few again at every look, for several metrics.
    private static let counted = Mutex<[Int: [Double]]>([:])
}

import Foundation
import Synchronization

/// Wilcoxon's signed-rank test, two-sided: do the differences of pairs tend to one side of 0? (Wilcoxon: Individual Comparisons
/// by Ranking Methods, 1945.) Equal differences share the mean of their places; one of 0 has a place and no sign (Pratt: Remarks
/// on Zeros and Ties in the Wilcoxon Signed Rank Procedures, 1959). Of at most `mostExact` pairs all signs are counted, beyond
/// them the normal approximation is taken, corrected for continuity.
///
/// Where a toss of a coin decided which side of a pair came first, the signs of the differences are that toss, as long as the
/// sides are the same: the test then holds its level whatever the values follow, their neighbours or the time of day.
package struct SignedRank: Sendable, Equatable {
    package static let mostExact = 100

    /// The places of the differences above 0, by size, added up; 0 … n (n + 1) / 2.
    package let w: Double
    /// 0…1.
    package let p: Double

    /// nil of no difference, or of one that is not finite.
    package init?(_ differences: [Double]) {
        guard !differences.isEmpty, differences.allSatisfy(\.isFinite) else { return nil }
        let ranks = Ranks.of(differences.map { abs($0) })
        let places = zip(differences, ranks).filter { $0.0 != 0 }
        w = places.reduce(0) { $0 + ($1.0 > 0 ? $1.1 : 0) }
        let all = places.reduce(0) { $0 + $1.1 }
        let smaller = min(w, all - w)
        if differences.count <= Self.mostExact {
            // Doubled, so that shared places are whole numbers.
            let ways = Self.ways(places.map { Int(2 * $0.1) })
            p = min(1, 2 * ways[...Int(2 * smaller)].reduce(0, +) / ways.reduce(0, +))
        } else {
            let deviation = (places.reduce(0) { $0 + $1.1 * $1.1 } / 4).squareRoot()
            p = deviation > 0 ? min(1, erfc(max(0, all / 2 - smaller - 0.5) / deviation / 2.0.squareRoot())) : 1
        }
    }

    /// The smallest p-value of so many pairs: all differences on one side.
    package static func smallestP(_ pairs: Int) -> Double { min(1, exp2(Double(1 - pairs))) }

    /// With how many of all signs of these places each sum of those above 0 comes about.
    private static func ways(_ places: [Int]) -> [Double] {
        var ways = [Double](repeating: 0, count: places.reduce(1, +))
        ways[0] = 1
        var most = 0
        for place in places {
            for sum in stride(from: most, through: 0, by: -1) { ways[sum + place] += ways[sum] }
            most += place
        }
        return ways
    }

    /// In how many of the 2ⁿ choices of signs of the ranks 1…n the ranks with a plus add up to each W, from 0 to n (n + 1) / 2.
    ///
    /// - Parameter n: 1 … 400: more would not fit into a Double.
    package static func ways(_ n: Int) -> [Double] {
        if let known = counted.withLock({ $0[n] }) { return known }
        let ways = ways(Array(1...n))
        counted.withLock { $0[n] = ways }
        return ways
    }

    /// The highest k with P(W ≤ k) ≤ error; nil when there is none.
    package static func rank(_ n: Int, error: Double) -> Int? { HodgesLehmann.rank(ways(n), error: error) }

    /// A gate asks for the same few again at every look, for several metrics.
    private static let counted = Mutex<[Int: [Double]]>([:])

    /// The distribution of W without ties, when the sides are the same.
    package struct Tails {
        private let sums: [Double]
        private let mean: Double
        private let deviation: Double

        package init(_ pairs: Int) {
            let n = Double(pairs)
            mean = n * (n + 1) / 4
            deviation = (n * (n + 1) * (2 * n + 1) / 24).squareRoot()
            sums = pairs <= SignedRank.mostExact ? RankTail.shares(SignedRank.ways(max(1, pairs))) : []
        }

        /// The chance of a W at or below `most`.
        package func atMost(_ most: Int) -> Double {
            sums.isEmpty ? erfc((mean - Double(most) - 0.5) / deviation / 2.0.squareRoot()) / 2 : sums[most]
        }
    }
}

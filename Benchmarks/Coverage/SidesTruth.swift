import Foundation
import Statistics

/// What `compare` and `ab` make of two sides whose true ratio is known: how often their intervals hold it, how often equal sides
/// are called different, and how often sides that differ by the margin are called the same. One figure, judged alone.
struct SidesTruth {
    /// How the runs were made, and are held against each other.
    enum Design: String, CaseIterable {
        /// A B B A …, all runs of the one against all of the other.
        case alternating = "`compare`, runs alternated"
        /// All of A, then all of B.
        case after = "`compare`, B after A"
        /// In rounds, with a toss of a coin for the order of each.
        case rounds = "`ab`"

        /// Whether the run at a place in time, from 0, is one of B's.
        ///
        /// - Parameters:
        ///   - runs: a side.
        ///   - a, b: how many of each side were made before.
        func isB(_ place: Int, of runs: Int, _ a: Int, _ b: Int, _ random: inout SplitMix) -> Bool {
            switch self {
            case .alternating: place % 4 == 1 || place % 4 == 2
            case .after: place >= runs
            // The second run of a round is what the first was not.
            case .rounds: place % 2 == 0 ? random.next() >> 63 == 1 : a > b
            }
        }

        /// What `compare` makes of the order; `ab` drew it.
        func order(_ runs: Int) -> RunOrder { self == .after ? RunOrder(before: runs, after: runs) : .independent }
    }

    static let level = 0.05
    static let margin = 0.02

    /// What the interval says it covers; nil where there is none.
    private(set) var said: Double?
    private(set) var covered = Trial()
    private(set) var calledDifferent = Trial()
    private(set) var calledSame = Trial()

    init(_ design: Design, _ noise: Noise, runs: Int, draws: Int, seed: UInt64) {
        var random = SplitMix(seed: seed)
        let order = design.order(runs)
        for _ in 0..<draws {
            // Twice as much as A, of runs that differ by 5 %.
            let (a, b) = Self.sides(design, noise, runs, ratio: 2, spread: 0.05, &random)
            if let interval = Self.interval(design, order, a, b, 0.95) {
                said = interval.coverage
                covered.count(interval.low <= 2 && interval.high >= 2)
            }
            let p =
                design == .rounds
                ? SignedRank(zip(a, b).map { log($1 / 2) - log($0) })?.p
                : MannWhitney(a, b.map { $0 / 2 }).map { order.p($0.p) }
            calledDifferent.count((p ?? 1) <= Self.level)
            // Just as much more as is not the same, of runs that differ by 1 %.
            let (x, y) = Self.sides(design, noise, runs, ratio: 1 + Self.margin, spread: 0.01, &random)
            calledSame.count((Self.interval(design, order, x, y, 0.9)?.sameWithin ?? 1) <= Self.margin)
        }
    }

    private static func interval(
        _ design: Design, _ order: RunOrder, _ a: [Double], _ b: [Double], _ confidence: Double
    ) -> RatioInterval? {
        design == .rounds
            ? RatioInterval(rounds: a, b, confidence: confidence)
            : RatioInterval(a, b, in: order, confidence: confidence)
    }

    private static func sides(
        _ design: Design, _ noise: Noise, _ runs: Int, ratio: Double, spread: Double, _ random: inout SplitMix
    ) -> (a: [Double], b: [Double]) {
        var (a, b): ([Double], [Double]) = ([], [])
        for (place, factor) in noise.factors(2 * runs, spread: spread, &random).enumerated() {
            if design.isB(place, of: runs, a.count, b.count, &random) {
                b.append(ratio * factor)
            } else {
                a.append(factor)
            }
        }
        return (a, b)
    }
}

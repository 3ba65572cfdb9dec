import Foundation
import Statistics

/// What `history` finds in a figure of which the truth is known, looked at after each run.
enum HistoryTruth {
    static let spread = 0.05

    /// In which share of series without a change any look finds one, by each of some counts of runs; ascending.
    static func alarms(_ noise: Noise, by counts: [Int], level: Double, draws: Int, seed: UInt64) -> [Double] {
        let look = ChangePoints.look(level)
        let first = ChangePoints.fewest(level: look)
        var random = SplitMix(seed: seed)
        var found = [Int](repeating: 0, count: counts.count)
        for _ in 0..<draws {
            let values = noise.factors(counts.last ?? 0, spread: spread, &random)
            let alarm = values.indices.dropFirst(first - 1).first {
                !ChangePoints(Array(values[...$0]), level: look).starts.isEmpty
            }
            guard let alarm else { continue }
            for (place, count) in counts.enumerated() where alarm < count { found[place] += 1 }
        }
        return found.map { Double($0) / Double(draws) }
    }

    /// A change by so many spreads, with so many runs before and after it.
    struct Change {
        let spreads: Double
        let before: Int
        let after: Int
        /// One look, with the last run, finds it, at most two runs away.
        private(set) var seen = Trial()
        /// Of those that were found, the interval holds the true ratio.
        private(set) var covered = Trial()

        init(
            _ noise: Noise, spreads: Double, before: Int, after: Int, level: Double, draws: Int, seed: UInt64
        ) {
            (self.spreads, self.before, self.after) = (spreads, before, after)
            var random = SplitMix(seed: seed)
            let ratio = exp(spreads * HistoryTruth.spread)
            for _ in 0..<draws {
                let values = noise.factors(before + after, spread: HistoryTruth.spread, &random).enumerated().map {
                    $0.offset < before ? $0.element : ratio * $0.element
                }
                let found = ChangePoints(values, level: ChangePoints.look(level))
                let place = found.starts.firstIndex { abs($0 - before) <= 2 }
                seen.count(place != nil)
                guard let place else { continue }
                let stretches = found.segments(of: values.count)
                let sides = (before: stretches[place], after: stretches[place + 1])
                let order = RunOrder(before: sides.before.count, after: sides.after.count)
                guard
                    let interval = RatioInterval(Array(values[sides.before]), Array(values[sides.after]), in: order)
                else { continue }
                covered.count(interval.low <= ratio && interval.high >= ratio)
            }
        }
    }
}

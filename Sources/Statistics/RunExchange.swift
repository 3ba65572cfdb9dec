import Measurement

/// Is the distance between two sides' distributions more than runs make anyway? Runs are exchanged between the sides, and how
/// often that gives a distance as large is counted (a permutation test): all exchanges where there are at most `most`, else as
/// many at random. Pushes of one run resemble each other, so that a test of pushes alone calls runs of the same thing different;
/// this one does not.
package enum RunExchange {
    /// What is observed is one of them.
    package static let most = 1024
    /// Distances are taken at so many places at most, equally many records apart.
    package static let places = 500

    /// The p-value: 1/1,024 … 1. nil when the sides have so few runs that no exchange could give one at the level, or no
    /// records.
    ///
    /// - Parameters:
    ///   - inRounds: each run of A is exchanged with the run of B at its place only.
    ///   - seed: the same seed gives the same exchanges.
    package static func p(
        _ a: [LatencyHistogram], _ b: [LatencyHistogram], inRounds: Bool = false, level: Double = 0.05, seed: UInt64 = 1
    ) -> Double? {
        guard !a.isEmpty, !b.isEmpty, !inRounds || a.count == b.count else { return nil }
        let smallest = inRounds ? SignedRank.smallestP(a.count) : MannWhitney.smallestP(a.count, b.count)
        guard smallest <= level else { return nil }
        let runs = cumulative(a + b)
        guard let width = runs.first?.count, width > 0 else { return nil }
        let totals = (0..<width).map { place in runs.reduce(0) { $0 + $1[place] } }
        var sum = [Double](repeating: 0, count: width)
        /// The distance between these runs, as many as A has, and the others.
        func distance(_ chosen: some Sequence<Int>) -> Double {
            for place in 0..<width { sum[place] = 0 }
            for index in chosen {
                let run = runs[index]
                for place in 0..<width { sum[place] += run[place] }
            }
            let (allA, allB) = (sum[width - 1], totals[width - 1] - sum[width - 1])
            guard allA > 0, allB > 0 else { return 0 }
            var most = 0.0
            for place in 0..<width {
                let apart = abs(sum[place] / allA - (totals[place] - sum[place]) / allB)
                if apart > most { most = apart }
            }
            return most
        }
        let observed = distance(0..<a.count)
        var (asLarge, seen) = (0, 0)
        func look(_ chosen: some Sequence<Int>) {
            if distance(chosen) >= observed - 1e-12 { asLarge += 1 }
            seen += 1
        }
        // 2 / smallest is how many exchanges there are.
        if 2 / smallest <= Double(most) + 0.5, runs.count < UInt64.bitWidth {
            if inRounds {
                for flips in 0..<UInt64(1) << UInt64(a.count) { look(side(flips, of: a.count)) }
            } else {
                for mask in Subsets(of: runs.count, choosing: a.count) {
                    look(runs.indices.filter { mask >> $0 & 1 == 1 })
                }
            }
        } else {
            var random = SplitMix(seed: seed)
            var order = Array(runs.indices)
            look(0..<a.count)
            while seen < most {
                if inRounds {
                    look((0..<a.count).map { $0 + (random.next() >> 63 == 1 ? a.count : 0) })
                } else {
                    order.shuffle(using: &random)
                    look(order[..<a.count])
                }
            }
        }
        return Double(asLarge) / Double(seen)
    }

    /// The runs on A's side when those of some rounds are exchanged: a bit a round.
    private static func side(_ flips: UInt64, of rounds: Int) -> [Int] {
        (0..<rounds).map { $0 + (flips >> UInt64($0) & 1 == 1 ? rounds : 0) }
    }

    /// Of each run, how many records lie at or below each of some values; the last value is the largest of all.
    private static func cumulative(_ runs: [LatencyHistogram]) -> [[Double]] {
        var all = LatencyHistogram()
        for run in runs { all.add(run) }
        let step = Double(all.count) / Double(places)
        var grid: [UInt64] = []
        var (seen, due) = (0.0, step)
        for (value, count) in all.counters {
            seen += Double(count)
            if seen >= due || seen == Double(all.count) {
                grid.append(value)
                due = seen + step
            }
        }
        return runs.map { run in
            let counters = run.counters
            var (index, below) = (0, 0.0)
            return grid.map { value in
                while index < counters.count, counters[index].value <= value {
                    below += Double(counters[index].count)
                    index += 1
                }
                return below
            }
        }
    }
}

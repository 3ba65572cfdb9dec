import Measurement

/// Is the distance between two sides' distributions more than runs make anyway? Runs are exchanged between the sides at random,
/// and how often that gives a distance as large is counted (a permutation test). Pushes of one run resemble each other, so that
/// a test of pushes alone calls runs of the same thing different; this one does not.
package enum RunExchange {
    package static let exchanges = 999
    /// Distances are taken at so many places at most, equally many records apart.
    package static let places = 500

    /// The p-value: 1/1,000 … 1. nil when the sides have so few runs that no exchange could give one at the level, or no
    /// records.
    ///
    /// - Parameter seed: the same seed gives the same exchanges.
    package static func p(
        _ a: [LatencyHistogram], _ b: [LatencyHistogram], level: Double = 0.05, seed: UInt64 = 1
    ) -> Double? {
        guard MannWhitney.smallestP(a.count, b.count) <= level else { return nil }
        let runs = cumulative(a + b)
        guard let width = runs.first?.count, width > 0 else { return nil }
        let totals = (0..<width).map { place in runs.reduce(0) { $0 + $1[place] } }
        var order = Array(runs.indices)
        var sum = [Double](repeating: 0, count: width)
        /// The distance between the first runs of `order`, as many as A has, and the others.
        func distance() -> Double {
            for place in 0..<width { sum[place] = 0 }
            for index in order[..<a.count] {
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
        let observed = distance()
        var random = SplitMix(seed: seed)
        var asLarge = 1
        for _ in 0..<exchanges {
            order.shuffle(using: &random)
            if distance() >= observed - 1e-12 { asLarge += 1 }
        }
        return Double(asLarge) / Double(exchanges + 1)
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

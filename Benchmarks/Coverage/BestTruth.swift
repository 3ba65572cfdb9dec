import Statistics

/// How often points that are all equal are told from the best of their sweep, which is the one that was luckiest. Each repetition goes
/// through all points, in an order that is drawn anew.
struct BestTruth {
    /// Of the points that are as good as the best, and are not named it.
    private(set) var toldApart = Trial()

    init(_ noise: Noise, points: Int, runs: Int, draws: Int, seed: UInt64) {
        var random = SplitMix(seed: seed)
        for _ in 0..<draws {
            var values = [[Double]](repeating: [], count: points)
            let factors = noise.factors(points * runs, spread: 0.05, &random)
            for run in 0..<runs {
                for (place, point) in (0..<points).shuffled(using: &random).enumerated() {
                    values[point].append(factors[run * points + place])
                }
            }
            let medians = values.map { Quantile.median($0) ?? 0 }
            guard let best = medians.indices.max(by: { medians[$0] < medians[$1] }) else { continue }
            for other in values.indices where other != best {
                toldApart.count(RatioInterval(values[best], values[other])?.tellsApart == true)
            }
        }
    }
}

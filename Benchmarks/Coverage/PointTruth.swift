import Statistics

/// How often the interval of a sweep's point holds the point's true median. The points' runs are made in an order that is drawn
/// anew for each repetition, so that runs that follow their neighbours are seldom of one point.
struct PointTruth {
    static let points = 6

    private(set) var said: Double?
    private(set) var covered = Trial()

    init(_ noise: Noise, runs: Int, draws: Int, seed: UInt64) {
        var random = SplitMix(seed: seed)
        for _ in 0..<draws {
            let factors = noise.factors(runs * Self.points, spread: 0.05, &random)
            let values = (0..<runs).map { factors[$0 * Self.points + random.below(Self.points)] }
            guard let interval = MedianInterval(values) else { continue }
            said = interval.coverage
            covered.count(interval.low <= 1 && interval.high >= 1)
        }
    }
}

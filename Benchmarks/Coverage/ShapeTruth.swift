import Foundation
import Measurement
import Statistics

/// How often all latencies of equal sides are said to differ in shape. Each run has 200 latencies that differ by 5 %, all of them higher
/// or lower than another run's by as much as runs differ: pushes of one run resemble each other.
struct ShapeTruth {
    /// One of the two distributions that are judged at once.
    static let level = 0.025
    static let latencies = 200

    private(set) var calledDifferent = Trial()

    init(_ design: SidesTruth.Design, _ noise: Noise, runs: Int, draws: Int, seed: UInt64) {
        var random = SplitMix(seed: seed)
        let order = design.order(runs)
        for _ in 0..<draws {
            var sides: [[LatencyHistogram]] = [[], []]
            for (place, factor) in noise.factors(2 * runs, spread: 0.05, &random).enumerated() {
                var histogram = LatencyHistogram()
                for value in Noise.logNormal.factors(Self.latencies, spread: 0.05, &random) {
                    histogram.record(UInt64(min(1e6 * factor * value, 1e15)), count: 10)
                }
                let isB = design.isB(place, of: runs, sides[0].count, sides[1].count, &random)
                sides[isB ? 1 : 0].append(histogram)
            }
            let p = RunExchange.p(
                sides[0], sides[1], inRounds: design == .rounds, level: order.independentP(Self.level))
            calledDifferent.count(p.map { order.p($0) <= Self.level } == true)
        }
    }
}

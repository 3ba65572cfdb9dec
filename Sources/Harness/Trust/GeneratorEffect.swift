import Measurement
import Results
import Scenarios
import Settings
import Statistics

/// How much longer a generator's own lateness can have made the percentiles of the total latency.
///
/// Each push's lateness (the event loop's lag) is known, but not together with its latency. Whatever goes with what: without lateness the
/// percentile p is at least the measured percentile p − e, less the lateness that all but a share e of pushes had. The largest such bound
/// over some e is taken.
struct GeneratorEffect {
    /// A figure that may be too long.
    struct Moved: Equatable {
        let name: String
        /// By so much at most, ns.
        let excess: UInt64
    }

    let moved: [Moved]
    /// Thresholds that are crossed, and may not be without the lateness.
    let crossed: [Threshold]

    /// A rate that is lower by less is not worth a word, as a share.
    static let tolerance = BlockFigure.tolerance

    /// - Parameters:
    ///   - lag: how late pushes were by the generator's own fault.
    ///   - totals: their total latencies.
    ///   - blocks: of these, by which intervals of figures are made.
    /// - Returns: nil where nothing was moved.
    init?(lag: LatencyHistogram, totals: CensoredHistogram, blocks: [LatencyBlock], thresholds: [Threshold]) {
        moved = Precision.figures.compactMap { name, percentile in
            guard let (value, least) = Self.bounds(percentile, lag, totals),
                value - least >= GeneratorVerdict.noticedLag, BlockFigure.isNoticeable(from: least, to: value)
            else { return nil }
            if let figure = BlockFigure(percentile, blocks) {
                switch figure.without {
                // It is known to no better than that.
                case .fewPushes, .unanswered: return nil
                case nil: if let low = figure.low, least >= low { return nil }
                // What changed may have changed by this.
                case .fewBlocks, .notSteady, .notIndependent: break
                }
            }
            return Moved(name: name, excess: value - least)
        }
        crossed = thresholds.filter { threshold in
            guard case .latency(Stage.total.key, .percentile(let percentile), nil) = threshold.metric,
                [.below, .atMost].contains(threshold.comparison),
                let (value, least) = Self.bounds(percentile, lag, totals)
            else { return false }
            let holds = [value, least].map { threshold.comparison.holds(Double($0), threshold.limit) }
            return holds == [false, true]
        }
        if moved.isEmpty, crossed.isEmpty { return nil }
    }

    /// The most that a figure may be too long by, ns.
    var excess: UInt64 { moved.map(\.excess).max() ?? 0 }

    /// `p90 and p99 may be up to 2.80 ms too long`.
    var words: String {
        guard moved.isEmpty else {
            return
                "\(Units.listed(moved.map(\.name))) may be up to \(Units.duration(nanoseconds: Double(excess))) too long"
        }
        return "\(Units.listed(crossed.map(\.text))) may be crossed for that alone"
    }

    /// A percentile, and the least that it can be without lateness, ns; nil of none, and of one that is only known from below.
    private static func bounds(
        _ percentile: Double, _ lag: LatencyHistogram, _ totals: CensoredHistogram
    ) -> (value: UInt64, least: UInt64)? {
        let figure = totals.value(atPercentile: percentile)
        guard totals.count > 0, lag.count > 0, !figure.isCensored else { return nil }
        let (below, above) = (percentile / 100, 1 - percentile / 100)
        let shares =
            [0, 0.05, 0.1, 0.2, 0.5, 1].map { $0 * above } + [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].map { $0 * below }
        var least: UInt64 = 0
        for share in shares {
            let late = lag.value(atPercentile: 100 * (1 - share))
            let other = totals.value(atPercentile: 100 * (below - share)).value
            least = max(least, other - min(other, late))
        }
        return (figure.value, min(least, figure.value))
    }

    /// Whether a rate may be lower by more than it is known to, where its sender was held up for a share of the time.
    static func isRateMoved(by share: Double, _ blocks: [LatencyBlock]) -> Bool {
        guard share >= tolerance else { return false }
        let rates = blocks.filter { $0.length > 0 }.map { Double($0.count) / $0.length }
        let count = Double(rates.count)
        // Of one block nothing is known.
        guard rates.count > 1, case let mean = rates.reduce(0, +) / count, mean > 0 else { return false }
        let variance = rates.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
        let margin = StudentDistribution.quantile(0.975, degrees: rates.count - 1) * (variance / count).squareRoot()
        return share > margin / mean
    }
}

import Foundation
import Statistics

/// What pacing costs a worker besides the pushes: an open loop sleeps and wakes, and its batches are small. From runs at a rate.
///
/// A worker of fewer pushes than `denseFrom` wakes for each; of more, for those that came due together, which takes much less. So each
/// of both kinds says what its own rates cost. Between measured rates the CPU time of a second is a straight line; it begins at none
/// without pushes, and ends at all of it where a worker is busy all the time and its batches are full.
struct PaceCost: Sendable {
    /// Pushes a second of a worker from which on the client gathers them (`Pace.denseFrom` of Transport, in its quantum).
    static let denseFrom = 30_000.0

    private struct Point {
        /// Pushes a second of a worker.
        let rate: Double
        /// CPU time beyond that of a closed loop, ns a second.
        let extra: Double
        /// Due to answered besides the link, ns, at `TimeDistribution.shares`.
        let totals: [Double]?
    }

    private let points: [Point]

    var isMeasured: Bool { !points.isEmpty }
    /// Pushes a second of a worker that were measured; nil when none were.
    var range: ClosedRange<Double>? { points.first.flatMap { first in points.last.map { first.rate...$0.rate } } }

    /// - Parameters:
    ///   - samples: runs at a rate, of one kind of server and link.
    ///   - closed: CPU time a push of a closed loop with the same settings, ns.
    init(_ samples: [CostSample], closed: (CostSample) -> Double) {
        // Rates of repeated runs differ by chance: a thousandth is one.
        let groups = Dictionary(grouping: samples) { sample in
            (log(max(1, (sample.pace ?? 0) / Double(sample.threads))) * 100).rounded()
        }
        points = groups.sorted { $0.key < $1.key }.map { _, runs in
            let rate = Quantile.median(runs.map { ($0.pace ?? 0) / Double($0.threads) })!
            let extra = Quantile.median(runs.map { $0.clientCPU - closed($0) })!
            let totals = runs.compactMap { run in
                run.totals?.count == TimeDistribution.shares.count
                    ? run.totals?.map { max(0, $0 - Double(run.roundTrip)) } : nil
            }
            return Point(
                rate: rate, extra: rate * extra,
                totals: totals.isEmpty
                    ? nil : TimeDistribution.shares.indices.map { place in Quantile.median(totals.map { $0[place] })! })
        }
    }

    /// CPU time a push of a worker at a rate, ns.
    ///
    /// - Parameter closed: that of a closed loop, ns, above 0.
    func cost(at rate: Double, closed: Double) -> Double {
        let rate = max(rate, 1e-6)
        return use(at: rate, closed: closed) / rate
    }

    /// The largest rate of a worker that takes no more than so much of its time, pushes a second.
    ///
    /// - Parameter share: of a core, above 0 up to 1.
    func rate(using share: Double, closed: Double) -> Double {
        let wanted = share * 1e9
        let dense = knots(closed, isDense: true)
        if dense[0].use <= wanted { return Self.rate(wanted, on: dense) }
        return min(Self.denseFrom, Self.rate(wanted, on: knots(closed, isDense: false)))
    }

    /// The first rate on a line through knots at which so much CPU time is used.
    private static func rate(_ wanted: Double, on knots: [Knot]) -> Double {
        for (before, after) in zip(knots, knots.dropFirst()) where after.use >= wanted {
            let part = after.use > before.use ? (wanted - before.use) / (after.use - before.use) : 1
            return before.rate + part * (after.rate - before.rate)
        }
        return knots[knots.count - 1].rate
    }

    private func use(at rate: Double, closed: Double) -> Double {
        let knots = knots(closed, isDense: rate >= Self.denseFrom)
        for (before, after) in zip(knots, knots.dropFirst()) where rate <= after.rate {
            return before.use + (rate - before.rate) / (after.rate - before.rate) * (after.use - before.use)
        }
        return rate * closed
    }

    private typealias Knot = (rate: Double, use: Double)

    /// Rates, and the CPU time that a second takes there, ns; from none to where pushes are dense, or from there to a busy worker.
    private func knots(_ closed: Double, isDense: Bool) -> [Knot] {
        let most = 1e9 / closed
        let known: [Knot] = points.filter { $0.rate > 0 && $0.rate < most && ($0.rate >= Self.denseFrom) == isDense }
            .map { point in
                // What is measured may be above one core by chance, or with helping threads; a worker has one.
                (point.rate, min(1e9, max(point.rate * closed * 0.1, point.rate * closed + point.extra)))
            }
        if isDense {
            guard let first = known.first else {
                // Only thinner ones were measured, and are all that is known.
                let thin = knots(closed, isDense: false)
                return [thin[thin.count - 1], (max(most, thin[thin.count - 1].rate * (1 + 1e-9)), 1e9)]
            }
            // What sleeping and waking costs there is as much a second until pushes get thin.
            let begin = (Self.denseFrom, max(0, first.use - (first.rate - Self.denseFrom) * closed))
            return (first.rate > Self.denseFrom ? [begin] : []) + known + [(most, 1e9)]
        }
        let end = min(Self.denseFrom, most)
        guard let last = known.last else {
            // The first that is dense is as near as it gets.
            let first = points.first { $0.rate > 0 && $0.rate < most }
            let use = first.map { min(1e9, max(0, $0.rate * closed + $0.extra)) / $0.rate * end } ?? end * closed
            return [(0, 0), (end, use)]
        }
        let before = known.dropLast().last ?? (0, 0)
        let slope = max(closed, (last.use - before.use) / (last.rate - before.rate))
        return [(0, 0)] + known + (last.rate < end ? [(end, min(1e9, last.use + slope * (end - last.rate)))] : [])
    }

    /// How long pushes took from being due to their answer at a rate, besides the link; nil when no run says so. Between measured
    /// rates, those of dense pushes or those of thin ones, each share lies on a line over the logarithm of the rate, beyond them it is
    /// that of the nearest.
    func totals(at rate: Double) -> TimeDistribution? {
        let all = points.compactMap { point in point.totals.map { (rate: point.rate, values: $0) } }
        let alike = all.filter { ($0.rate >= Self.denseFrom) == (rate >= Self.denseFrom) }
        let known = alike.isEmpty ? all : alike
        guard let first = known.first, let last = known.last else { return nil }
        if rate <= first.rate { return .measured(first.values) }
        for (before, after) in zip(known, known.dropFirst()) where rate <= after.rate {
            let part = log(rate / before.rate) / log(after.rate / before.rate)
            return .measured(zip(before.values, after.values).map { $0 + part * ($1 - $0) })
        }
        return .measured(last.values)
    }
}

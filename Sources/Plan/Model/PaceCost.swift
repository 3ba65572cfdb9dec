import Foundation
import Statistics

/// What pacing costs a worker besides the pushes: an open loop sleeps and wakes, and its batches are small. From runs at a rate.
///
/// Between measured rates the extra CPU time of a second is a straight line; it begins at none without pushes, and ends at none
/// where a worker is busy all the time and its batches are full.
struct PaceCost: Sendable {
    private struct Point {
        /// Pushes a second of a worker.
        let rate: Double
        /// CPU time beyond that of a closed loop, ns a second.
        let extra: Double
        /// Due to answered, ns, at `TimeDistribution.shares`.
        let totals: [Double]?
    }

    private let points: [Point]

    var isMeasured: Bool { !points.isEmpty }
    /// Pushes a second of a worker that were measured; nil when none were.
    var range: ClosedRange<Double>? { points.first.flatMap { first in points.last.map { first.rate...$0.rate } } }

    /// - Parameters:
    ///   - samples: runs at a rate, of one kind of server.
    ///   - closed: CPU time a push of a closed loop with the same settings, ns.
    init(_ samples: [CostSample], closed: (CostSample) -> Double) {
        // Rates of repeated runs differ by chance: a thousandth is one.
        let groups = Dictionary(grouping: samples) { sample in
            (log(max(1, (sample.pace ?? 0) / Double(sample.threads))) * 100).rounded()
        }
        points = groups.sorted { $0.key < $1.key }.map { _, runs in
            let rate = Quantile.median(runs.map { ($0.pace ?? 0) / Double($0.threads) })!
            let extra = Quantile.median(runs.map { $0.clientCPU - closed($0) })!
            let totals = runs.compactMap { $0.totals?.count == TimeDistribution.shares.count ? $0.totals : nil }
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
        guard rate > 0 else { return knots(closed).dropFirst().first.map { $0.use / $0.rate } ?? closed }
        return use(at: rate, closed: closed) / rate
    }

    /// The rate of a worker that spends so much of its time, pushes a second: the first that does.
    ///
    /// - Parameter share: of a core, above 0 up to 1.
    func rate(using share: Double, closed: Double) -> Double {
        let wanted = share * 1e9
        let knots = knots(closed)
        for (before, after) in zip(knots, knots.dropFirst()) where after.use >= wanted {
            let part = (wanted - before.use) / (after.use - before.use)
            return before.rate + part * (after.rate - before.rate)
        }
        return wanted / closed
    }

    private func use(at rate: Double, closed: Double) -> Double {
        let knots = knots(closed)
        for (before, after) in zip(knots, knots.dropFirst()) where rate <= after.rate {
            return before.use + (rate - before.rate) / (after.rate - before.rate) * (after.use - before.use)
        }
        return rate * closed
    }

    /// Rates, and the CPU time that a second takes there, ns; from none to a busy worker.
    private func knots(_ closed: Double) -> [(rate: Double, use: Double)] {
        let most = 1e9 / closed
        var knots: [(rate: Double, use: Double)] = [(0, 0)]
        for point in points where point.rate < most {
            // What is measured may be above one core by chance, or with helping threads; a worker has one.
            knots.append((point.rate, min(1e9, max(point.rate * closed * 0.1, point.rate * closed + point.extra))))
        }
        return knots + [(most, 1e9)]
    }

    /// How long pushes took from being due to their answer at a rate, without a link; nil when no run says so. Between measured
    /// rates each share lies on a line over the logarithm of the rate, beyond them it is that of the nearest.
    func totals(at rate: Double) -> TimeDistribution? {
        let known = points.compactMap { point in point.totals.map { (rate: point.rate, values: $0) } }
        guard let first = known.first, let last = known.last else { return nil }
        if rate <= first.rate { return .measured(first.values) }
        for (before, after) in zip(known, known.dropFirst()) where rate <= after.rate {
            let part = log(rate / before.rate) / log(after.rate / before.rate)
            return .measured(zip(before.values, after.values).map { $0 + part * ($1 - $0) })
        }
        return .measured(last.values)
    }
}

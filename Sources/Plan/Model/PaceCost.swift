import Foundation
import Statistics

/// What pacing costs a worker besides the pushes: an open loop sleeps and wakes, and its batches are small. From runs at a rate.
///
/// A worker of fewer pushes than `denseFrom` wakes for each; of more, for those that came due together, which takes much less. So each
/// of both kinds says what its own rates cost. Between measured rates the CPU time of a second is a straight line; it begins at none
/// without pushes, and ends at all of it where a worker is busy all the time and its batches are full. Where only one kind was measured,
/// all is one line.
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
    /// Thin and dense pushes were measured; else all rates lie on one line.
    private let hasBothKinds: Bool

    var isMeasured: Bool { !points.isEmpty }
    /// Pushes a second of a worker that were measured; nil when none were.
    var range: ClosedRange<Double>? { points.first.flatMap { first in points.last.map { first.rate...$0.rate } } }

    /// - Parameters:
    ///   - samples: runs at a rate, of one kind of server and link.
    ///   - closed: CPU time a push of a closed loop with the same settings, ns.
    init(_ samples: [CostSample], closed: (CostSample) -> Double) {
        let runs = samples.map { (rate: ($0.pace ?? 0) / Double($0.threads), run: $0) }.filter { $0.rate > 0 }
        // Rates of repeated runs differ by chance: those within a twentieth are one.
        var groups: [[(rate: Double, run: CostSample)]] = []
        for run in runs.sorted(by: { $0.rate < $1.rate }) {
            if let last = groups.indices.last, run.rate <= 1.05 * groups[last][0].rate {
                groups[last].append(run)
            } else {
                groups.append([run])
            }
        }
        points = groups.map { runs in
            let rate = Quantile.median(runs.map(\.rate))!
            let extra = Quantile.median(runs.map { $0.run.clientCPU - closed($0.run) })!
            // What the mock's flags add to an answer belongs to no other plan.
            let totals = runs.map(\.run).compactMap { run in
                run.totals?.count == TimeDistribution.shares.count && run.isPlain
                    ? run.totals?.map { max(0, $0 - Double(run.roundTrip)) } : nil
            }
            return Point(
                rate: rate, extra: rate * extra,
                totals: totals.isEmpty
                    ? nil : TimeDistribution.shares.indices.map { place in Quantile.median(totals.map { $0[place] })! })
        }
        hasBothKinds = Set(points.map { $0.rate >= Self.denseFrom }).count == 2
    }

    /// CPU time a push of a worker at a rate, ns.
    ///
    /// - Parameter closed: that of a closed loop, ns, above 0.
    func cost(at rate: Double, closed: Double) -> Double {
        let rate = max(rate, 1e-6)
        return use(at: rate, closed: closed) / rate
    }

    /// CPU time a push at the rate from which on pushes are gathered, ns, where they are not yet and where they are; nil: not measured.
    func costAtBorder(closed: Double) -> (thin: Double, dense: Double)? {
        guard hasBothKinds, let thin = knots(closed, isDense: false).last,
            let dense = knots(closed, isDense: true).first
        else { return nil }
        return (thin.use / thin.rate, dense.use / dense.rate)
    }

    /// The largest rate of a worker that takes no more than so much of its time, pushes a second. Thin pushes may take more: a worker that
    /// cannot keep up with waking for each gathers them.
    ///
    /// - Parameter share: of a core, above 0 up to 1.
    func rate(using share: Double, closed: Double) -> Double {
        let wanted = share * 1e9
        let dense = knots(closed, isDense: true)
        if dense[0].use <= wanted || !hasBothKinds { return Self.rate(wanted, on: dense) }
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

    /// Rates, and the CPU time that a second takes there, ns: from none to a busy worker, or to or from where pushes are dense.
    private func knots(_ closed: Double, isDense: Bool) -> [Knot] {
        // A closed loop that was not busy may have cost more.
        let most = max(1e9 / closed, (points.last?.rate ?? 0) * 1.001)
        let known: [Knot] = points.filter { !hasBothKinds || ($0.rate >= Self.denseFrom) == isDense }
            .map { ($0.rate, Self.sane($0.rate * closed + $0.extra, at: $0.rate, closed)) }
        guard hasBothKinds, let first = known.first, let last = known.last else {
            return [(0, 0)] + known + [(most, max(1e9, known.last?.use ?? 0))]
        }
        if isDense {
            // What sleeping and waking costs there is as much a second until pushes get thin.
            let use = Self.sane(first.use - (first.rate - Self.denseFrom) * closed, at: Self.denseFrom, closed)
            return (first.rate > Self.denseFrom ? [(Self.denseFrom, use)] : []) + known + [(most, 1e9)]
        }
        let before = known.dropLast().last ?? (0, 0)
        let slope = max(closed, (last.use - before.use) / (last.rate - before.rate))
        let end = Self.sane(last.use + slope * (Self.denseFrom - last.rate), at: Self.denseFrom, closed)
        return [(0, 0)] + known + (last.rate < Self.denseFrom ? [(Self.denseFrom, end)] : [])
    }

    /// What is measured may be above one core by chance, or with helping threads; a worker has one. And by chance it may be less than
    /// any push costs.
    private static func sane(_ use: Double, at rate: Double, _ closed: Double) -> Double {
        min(1e9, max(0.1 * rate * closed, use))
    }

    /// How long pushes took from being due to their answer at a rate, besides the link; nil when no run says so. Between measured
    /// rates, those of dense pushes or those of thin ones, each share lies on a line over the logarithm of the rate, beyond them it is
    /// that of the nearest.
    func totals(at rate: Double) -> TimeDistribution? {
        let all = points.compactMap { point in point.totals.map { (rate: point.rate, values: $0) } }
        let alike = all.filter { ($0.rate >= Self.denseFrom) == (rate >= Self.denseFrom) }
        let known = hasBothKinds && !alike.isEmpty ? alike : all
        guard let first = known.first, let last = known.last else { return nil }
        if rate <= first.rate { return .measured(first.values) }
        for (before, after) in zip(known, known.dropFirst()) where rate <= after.rate {
            let part = log(rate / before.rate) / log(after.rate / before.rate)
            return .measured(zip(before.values, after.values).map { $0 + part * ($1 - $0) })
        }
        return .measured(last.values)
    }
}

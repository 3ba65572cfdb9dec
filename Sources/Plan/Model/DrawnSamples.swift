import Foundation
import Statistics

/// Runs as they might have come out as well: each setting's medians, times how far some run was from its own setting's mean. What runs
/// differ by is taken from all settings together, as the two or three runs of one say little about it. A run resembles the one before
/// it as much as those that were measured do.
struct DrawnSamples {
    /// Logarithms of a run's figures, less their means over its setting: of client CPU, mock CPU, rate and what an answer takes besides
    /// the link.
    private typealias Residual = SIMD4<Double>

    private struct Group {
        var runs: [CostSample] = []
        /// Runs of one process have one peak of memory: those without are no draw of it.
        var memories: [UInt64] = []
        var medians: Residual = .zero
        var knowsMock = false
        var isPaced: Bool { runs[0].pace != nil }
    }

    /// Runs as fast as they go, or runs at a rate, which scatter more.
    private struct Pool {
        var residuals: [Residual] = []
        /// Root of the mean square of each figure.
        var scale: Residual = .zero
    }

    private var groups: [Group] = []
    /// Of each run, in the order in which they were made: its group, and whether its memory is known.
    private var order: [(group: Int, knowsMemory: Bool)] = []
    private var pools: [Bool: Pool] = [:]
    /// Of what a run and the next one differ from their settings by, −`most` … `most`: where runs do not resemble each other at all, as
    /// many calibrations find less than nothing as more, and intervals of those that take it for nothing hold too much.
    private(set) var correlation = RunOrder.correlation

    private static let most = 0.7
    /// Of fewer pairs of neighbours the usual correlation says more than they do.
    private static let fewestPairs = 20
    /// As a calibration of 30 runs has, of which docs/planning.md says what intervals hold.
    private static let manyDegrees = 20

    /// - Parameters:
    ///   - samples: in the order in which they were made.
    ///   - settings: of each sample, which runs it is a repetition of.
    init(_ samples: [CostSample], settings: [Int]) {
        groups = Array(repeating: Group(), count: (settings.max() ?? -1) + 1)
        order = zip(samples, settings).map { ($1, $0.clientMemory != nil) }
        for (sample, setting) in zip(samples, settings) { groups[setting].runs.append(sample) }
        var residuals: [[Residual]] = []
        for place in groups.indices where !groups[place].runs.isEmpty {
            let runs = groups[place].runs
            let figures = [
                runs.map(\.clientCPU), runs.map { $0.mockCPU ?? 0 }, runs.map(\.perSecond),
                runs.map { $0.service - Double($0.roundTrip) },
            ]
            groups[place].memories = runs.compactMap(\.clientMemory)
            groups[place].knowsMock = runs.allSatisfy { $0.mockCPU != nil }
            groups[place].medians = Residual(figures.map { Quantile.median($0) ?? 0 })
            let own = figures.map(Self.residuals)
            residuals.append(runs.indices.map { run in Residual(own.map { $0[run] }) })
            if runs.count > 1 { pools[groups[place].isPaced, default: Pool()].residuals += residuals[place] }
        }
        // The spread itself is known from so many runs only: drawn ones deviate as Student's t does. Where many degrees are left when each
        // setting has its mean, these are added again: without them intervals of runs with heavy tails would hold too much.
        let free = groups.reduce(0) { $0 + max(0, $1.runs.count - 1) }
        let repeated = groups.reduce(0) { $0 + ($1.runs.count > 1 ? $1.runs.count : 0) }
        let degrees = free < Self.manyDegrees ? free : repeated - 1
        let wider = StudentDistribution.quantile(0.975, degrees: max(1, degrees)) / StudentDistribution.normal
        for key in pools.keys {
            pools[key]!.residuals = pools[key]!.residuals.map { $0 * wider }
            pools[key]!.scale = Self.scale(pools[key]!.residuals)
        }
        // Back into the order of time.
        var next = groups.map { _ in 0 }
        let inOrder = settings.map { setting -> Double? in
            defer { next[setting] += 1 }
            guard groups[setting].runs.count > 1, let scale = pools[groups[setting].isPaced]?.scale[0], scale > 0 else {
                return nil
            }
            return residuals[setting][next[setting]][0] / scale
        }
        if let seen = Self.correlation(inOrder, settings) { correlation = seen }
    }

    /// All of them, drawn anew: what they differ by is an autoregressive process of the first order.
    func draw(_ random: inout SplitMix) -> [CostSample] {
        let fresh = (1 - correlation * correlation).squareRoot()
        var last = Residual.zero
        return order.enumerated().map { place, run in
            let group = groups[run.group]
            var drawn = group.runs[random.below(group.runs.count)]
            drawn.clientMemory = run.knowsMemory ? group.memories[random.below(group.memories.count)] : nil
            guard let pool = pools[group.isPaced] ?? pools[!group.isPaced] else { return drawn }
            let one = pool.residuals[random.below(pool.residuals.count)]
            // In units of the pool's scale, as the run before may have been of the other.
            let unit = (one / pool.scale).replacing(with: 0, where: pool.scale .<= 0)
            last = place == 0 ? unit : correlation * last + fresh * unit
            let residual = last * pool.scale
            drawn.clientCPU = group.medians[0] * exp(residual[0])
            if group.knowsMock { drawn.mockCPU = group.medians[1] * exp(residual[1]) }
            drawn.perSecond = group.medians[2] * exp(residual[2])
            let besides = group.medians[3]
            drawn.service = Double(drawn.roundTrip) + (besides > 0 ? besides * exp(residual[3]) : besides)
            return drawn
        }
    }

    /// Of so few values the distances from their mean are too small by √((n − 1) / n), which is put back; none where a value has no
    /// logarithm.
    private static func residuals(_ values: [Double]) -> [Double] {
        guard values.count > 1, values.allSatisfy({ $0 > 0 && $0.isFinite }) else { return values.map { _ in 0 } }
        let logarithms = values.map { log($0) }
        let count = Double(values.count)
        let mean = logarithms.reduce(0, +) / count
        return logarithms.map { ($0 - mean) * (count / (count - 1)).squareRoot() }
    }

    private static func scale(_ residuals: [Residual]) -> Residual {
        let sum = residuals.reduce(Residual.zero) { $0 + $1 * $1 }
        return (sum / Double(max(1, residuals.count))).squareRoot()
    }

    /// Of neighbours of different settings: those of one setting have a mean of their own taken out of both.
    ///
    /// - Parameter residuals: in units of their scale; nil: of a setting that was run once.
    private static func correlation(_ residuals: [Double?], _ settings: [Int]) -> Double? {
        let known = residuals.indices.filter { residuals[$0] != nil }
        let ranks = Ranks.of(known.map { residuals[$0]! })
        var centred = [Double?](repeating: nil, count: residuals.count)
        for (place, rank) in zip(known, ranks) { centred[place] = rank - Double(known.count + 1) / 2 }
        var (products, squares, pairs) = (0.0, 0.0, 0)
        for place in residuals.indices.dropFirst() where settings[place] != settings[place - 1] {
            guard let one = centred[place - 1], let other = centred[place] else { continue }
            products += one * other
            squares += (one * one + other * other) / 2
            pairs += 1
        }
        guard pairs >= fewestPairs, squares > 0 else { return nil }
        return min(most, max(-most, products / squares))
    }
}

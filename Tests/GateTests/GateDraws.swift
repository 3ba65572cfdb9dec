import Foundation
import Results
import Statistics

@testable import Gate

/// Invented noise, and gates of it. `Benchmarks/gate_truths.py` draws the same numbers from the same seeds.
struct GateDraws {
    enum Noise: String, CaseIterable {
        /// Normal, 2.4 % from round to round.
        case independent
        /// Normal, 1.9 %; one round in ten costs more, by 6 % on the average (exponential).
        case outliers
        /// Autoregressive of the first order: a round's correlation with the one before is 0.4; 2.4 %.
        case correlated
    }

    private var random: SplitMix
    let noise: Noise

    init(_ noise: Noise, seed: UInt64) {
        self.noise = noise
        random = SplitMix(seed: seed)
    }

    /// 0 … below 1, a multiple of 2⁻⁵³.
    mutating func uniform() -> Double { Double(random.next() >> 11) / 9_007_199_254_740_992 }

    /// Box and Muller 1958.
    private mutating func normal() -> Double {
        let distance = (-2 * log(1 - uniform())).squareRoot()
        return distance * cos(2 * .pi * uniform())
    }

    /// Logarithms of costs that follow each other.
    mutating func sequence(_ count: Int) -> [Double] {
        var last = normal()
        return (0..<count).map { index in
            switch noise {
            case .independent: return 0.024 * normal()
            case .outliers:
                let usual = 0.019 * normal()
                let isFar = uniform() < 0.1
                return usual + (isFar ? -0.06 * log(1 - uniform()) : 0)
            case .correlated:
                if index > 0 { last = 0.4 * last + (1 - 0.4 * 0.4).squareRoot() * normal() }
                return 0.024 * last
            }
        }
    }

    /// A gate against a baseline, to its end.
    ///
    /// - Parameters:
    ///   - factors: by which each judged cost grew since.
    ///   - known: rounds of the baseline.
    mutating func gate(_ factors: [Double], known: Int, most: Int) -> GateProgress {
        let names = Array(GateMetric.judgedByDefault.prefix(factors.count))
        let rules = GateRules(metrics: names, tolerance: 0.03, mostRounds: most)
        let before = names.map { _ in sequence(known).map { 100 * exp($0) } }
        let rounds = factors.map { factor in sequence(most).map { 100 * factor * exp($0) } }
        let baseline = BaselineDocument(
            name: "b", reason: "r", updatedAt: "2026-01-01T00:00:00Z", version: "0", commit: nil, scenario: [:],
            machine: .init(host: "h", cpu: "c", cores: 2, kernel: "k", system: "s"), kernel: "record/1",
            oneCore: true,
            metrics: zip(names, before).map { .init(name: $0, unit: .nanoseconds, raw: $1, normalised: $1) })
        var progress = GateProgress(baseline, rules)
        for index in 0..<most {
            let values = Dictionary(uniqueKeysWithValues: zip(names, rounds.map { $0[index] }))
            let round = GateDocument.Round(values: values, kernelBefore: 1, kernelAfter: 1)
            if progress.add(round, isLast: false) == .decided { break }
        }
        return progress
    }

    /// A gate of pairs, to its end; the two rounds of a pair follow each other, in an order drawn by lot.
    ///
    /// - Parameters:
    ///   - factors: by which each judged cost of this build is larger.
    ///   - drift: by how much the logarithm of what everything costs grows from a round to the next.
    mutating func pairs(_ factors: [Double], most: Int, drift: Double = 0) -> GateProgress {
        let names = Array(GateMetric.judgedByDefault.prefix(factors.count))
        let rules = GateRules(metrics: names, tolerance: 0.03, mostRounds: most)
        let noises = factors.map { _ in sequence(2 * most) }
        var progress = GateProgress(nil, rules)
        for index in 0..<most {
            let isBaseFirst = uniform() < 0.5
            func values(isBase: Bool) -> [String: Double] {
                let place = 2 * index + (isBase == isBaseFirst ? 0 : 1)
                let costs = zip(noises, factors).map { noise, factor in
                    100 * (isBase ? 1 : factor) * exp(noise[place] + drift * Double(place))
                }
                return Dictionary(uniqueKeysWithValues: zip(names, costs))
            }
            let round = GateDocument.Round(
                values: values(isBase: false), kernelBefore: 1, kernelAfter: 1, base: values(isBase: true),
                isBaseFirst: isBaseFirst)
            if progress.add(round, isLast: false) == .decided { break }
        }
        return progress
    }
}

import Foundation
import Testing

@testable import Gate

/// The rule, written a second time in Python, on the same numbers.
@Suite struct GateAgreementTests {
    /// What `Benchmarks/gate_truths.py --fixture` prints: 24 rounds of a baseline, or pairs; at most 32 rounds.
    private static let gates: [(GateDraws.Noise, Double, Bool, UInt64, GateDocument.Verdict, Int)] = [
        (.independent, 1.0, false, 1, .pass, 32),
        (.independent, 1.0, true, 2, .pass, 8),
        (.independent, 1.03, false, 3, .cannotTell, 32),
        (.independent, 1.03, true, 4, .cannotTell, 32),
        (.independent, 1.05, false, 5, .cannotTell, 32),
        (.independent, 1.05, true, 6, .cannotTell, 32),
        (.independent, 1.08, false, 7, .regression, 16),
        (.independent, 1.08, true, 8, .regression, 16),
        (.outliers, 1.0, false, 9, .pass, 16),
        (.outliers, 1.0, true, 10, .pass, 8),
        (.outliers, 1.03, false, 11, .cannotTell, 32),
        (.outliers, 1.03, true, 12, .cannotTell, 32),
        (.outliers, 1.05, false, 13, .regression, 16),
        (.outliers, 1.05, true, 14, .cannotTell, 32),
        (.outliers, 1.08, false, 15, .regression, 16),
        (.outliers, 1.08, true, 16, .regression, 16),
        (.correlated, 1.0, false, 17, .pass, 32),
        (.correlated, 1.0, true, 18, .pass, 16),
        (.correlated, 1.03, false, 19, .cannotTell, 32),
        (.correlated, 1.03, true, 20, .cannotTell, 32),
        (.correlated, 1.05, false, 21, .cannotTell, 32),
        (.correlated, 1.05, true, 22, .regression, 32),
        (.correlated, 1.08, false, 23, .regression, 16),
        (.correlated, 1.08, true, 24, .regression, 16),
    ]

    @Test("Gates end with the verdict, and after as many rounds, as the same rule in Python")
    func agree() {
        for (noise, factor, arePairs, seed, verdict, rounds) in Self.gates {
            var draws = GateDraws(noise, seed: seed)
            let gate = arePairs ? draws.pairs([factor, 1], most: 32) : draws.gate([factor, 1], known: 24, most: 32)
            let isSame = verdict == .pass ? [.pass, .improved].contains(gate.verdict) : gate.verdict == verdict
            #expect(
                isSame && gate.rounds.count == rounds,
                "\(noise) \(factor) \(arePairs ? "pairs" : "baseline") seed \(seed): \(gate.verdict) after \(gate.rounds.count)"
            )
        }
    }
}

import Foundation
import Testing

@testable import Gate

/// The rule, written a second time in Python, on the same numbers.
@Suite struct GateAgreementTests {
    /// What `Benchmarks/gate_truths.py --fixture` prints: 24 rounds of a baseline, or pairs; at most 32 rounds.
    private static let gates: [(GateDraws.Noise, Double, Bool, UInt64, GateDocument.Verdict, Int, Double, Double)] = [
        (.independent, 1.0, false, 1, .pass, 32, 0.97111, 1.02165),
        (.independent, 1.0, true, 2, .pass, 8, 0.00000, 1.01277),
        (.independent, 1.03, false, 3, .cannotTell, 32, 1.00271, 1.03722),
        (.independent, 1.03, true, 4, .cannotTell, 32, 1.01690, 1.04269),
        (.independent, 1.05, false, 5, .cannotTell, 32, 1.02804, 1.07207),
        (.independent, 1.05, true, 6, .cannotTell, 32, 1.02763, 1.06633),
        (.independent, 1.08, false, 7, .regression, 16, 1.05139, 1.10798),
        (.independent, 1.08, true, 8, .regression, 16, 1.04990, 1.09675),
        (.outliers, 1.0, false, 9, .pass, 16, 0.96746, 1.02177),
        (.outliers, 1.0, true, 10, .pass, 8, 0.00000, 1.01792),
        (.outliers, 1.03, false, 11, .cannotTell, 32, 1.02304, 1.06260),
        (.outliers, 1.03, true, 12, .cannotTell, 32, 1.00642, 1.03501),
        (.outliers, 1.05, false, 13, .regression, 16, 1.03507, 1.07240),
        (.outliers, 1.05, true, 14, .cannotTell, 32, 1.02664, 1.06442),
        (.outliers, 1.08, false, 15, .regression, 16, 1.06302, 1.11541),
        (.outliers, 1.08, true, 16, .regression, 16, 1.03502, 1.11017),
        (.correlated, 1.0, false, 17, .pass, 32, 0.98481, 1.02923),
        (.correlated, 1.0, true, 18, .pass, 16, 0.96783, 1.01888),
        (.correlated, 1.03, false, 19, .cannotTell, 32, 0.99789, 1.05855),
        (.correlated, 1.03, true, 20, .cannotTell, 32, 1.01567, 1.04425),
        (.correlated, 1.05, false, 21, .cannotTell, 32, 1.00020, 1.07463),
        (.correlated, 1.05, true, 22, .regression, 32, 1.03793, 1.06205),
        (.correlated, 1.08, false, 23, .regression, 16, 1.04432, 1.09006),
        (.correlated, 1.08, true, 24, .regression, 16, 1.06435, 1.09823),
    ]

    @Test("Gates end with the verdict, after as many rounds and with the interval, as the same rule in Python")
    func agree() throws {
        for (noise, factor, arePairs, seed, verdict, rounds, low, high) in Self.gates {
            var draws = GateDraws(noise, seed: seed)
            let gate = arePairs ? draws.pairs([factor, 1], most: 32) : draws.gate([factor, 1], known: 24, most: 32)
            let isSame = verdict == .pass ? [.pass, .improved].contains(gate.verdict) : gate.verdict == verdict
            let grown = try #require(gate.metrics.first)
            let ends = [abs((grown.low ?? 0) - low), abs((grown.high ?? .infinity) - high)]
            #expect(
                isSame && gate.rounds.count == rounds && ends.allSatisfy { $0 < 5e-5 },
                "\(noise) \(factor) \(arePairs) seed \(seed): \(gate.verdict) after \(gate.rounds.count), \(grown)")
        }
    }
}

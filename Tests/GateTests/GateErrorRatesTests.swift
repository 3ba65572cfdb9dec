import Foundation
import Testing

@testable import Gate

/// How often gates are wrong, over invented noise; docs/gate.md has the table of `Benchmarks/gate_truths.py`, which draws more.
@Suite struct GateErrorRatesTests {
    /// Of so many gates, the seeds are 1 and so on, how many ended with which verdict.
    private func count(
        _ gates: UInt64, _ noise: GateDraws.Noise, _ gate: (inout GateDraws) -> GateProgress
    ) -> [GateDocument.Verdict: Int] {
        var counts: [GateDocument.Verdict: Int] = [:]
        for seed in 1...gates {
            var draws = GateDraws(noise, seed: seed)
            counts[gate(&draws).verdict, default: 0] += 1
        }
        return counts
    }

    @Test(
        "Against a baseline, of a cost at the tolerance 1 gate in 100 is a regression at most, and 5 pass",
        arguments: GateDraws.Noise.allCases)
    func baseline(noise: GateDraws.Noise) {
        let counts = count(300, noise) { $0.gate([1.03], known: 32, most: 32) }
        // The promised shares and three deviations.
        #expect(counts[.regression, default: 0] <= 8 && counts[.pass, default: 0] <= 26, "\(noise) \(counts)")
    }

    @Test("The same of pairs, though rounds resemble each other", arguments: GateDraws.Noise.allCases)
    func pairs(noise: GateDraws.Noise) {
        let counts = count(300, noise) { $0.pairs([1.03], most: 32) }
        #expect(counts[.regression, default: 0] <= 8 && counts[.pass, default: 0] <= 26, "\(noise) \(counts)")
    }

    @Test("A machine that gets dearer by 0.2 % a round makes no regression of pairs, and none of 10 % is missed")
    func drift() {
        let edge = count(300, .independent) { $0.pairs([1.03], most: 32, drift: 0.002) }
        #expect(edge[.regression, default: 0] <= 8 && edge[.pass, default: 0] <= 26, "\(edge)")
        let slower = count(100, .independent) { $0.pairs([1.1], most: 64, drift: 0.002) }
        #expect(slower[.regression, default: 0] >= 98, "\(slower)")
    }

    @Test("What costs the same passes, and what costs 10 % more is a regression", arguments: GateDraws.Noise.allCases)
    func power(noise: GateDraws.Noise) {
        let same = count(100, noise) { $0.gate([1], known: 32, most: 64) }
        // Where rounds resemble each other they take longer to say so than there is time for, one in ten.
        let passed = noise == .correlated ? 80 : 98
        #expect(same[.regression] == nil && same[.pass, default: 0] >= passed, "\(noise) \(same)")
        let slower = count(100, noise) { $0.gate([1.1], known: 32, most: 64) }
        #expect(slower[.regression, default: 0] >= 98 && slower[.pass] == nil, "\(noise) \(slower)")
        let pairs = count(100, noise) { $0.pairs([1.1], most: 64) }
        #expect(pairs[.regression, default: 0] >= 98 && pairs[.pass] == nil, "\(noise) \(pairs)")
    }
}

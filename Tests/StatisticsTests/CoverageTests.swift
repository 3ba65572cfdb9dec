import Statistics
import Testing

@testable import coverage

/// A few draws of what `make bench-coverage` draws many of: the tables of docs/comparing.md.
@Suite struct CoverageTests {
    private let seed: UInt64 = 20_261_126
    private let draws = 600

    /// Not further from what it says than 4.5 deviations of as many draws: once in 150,000 times.
    private func isNear(_ trial: Trial, _ said: Double?) -> Bool {
        guard let said else { return false }
        return abs(trial.share - said) <= 4.5 * (said * (1 - said) / Double(trial.draws)).squareRoot()
    }

    /// Not above it by more.
    private func isAtMost(_ trial: Trial, _ level: Double) -> Bool {
        trial.share <= level + 4.5 * (level * (1 - level) / Double(trial.draws)).squareRoot()
    }

    /// The interval covers what it says, and no verdict is wrong more often than it may be.
    ///
    /// - Parameter orMore: it may cover more.
    private func expectHeld(_ design: SidesTruth.Design, _ noise: Noise, _ runs: Int, orMore: Bool = false) {
        let truth = SidesTruth(design, noise, runs: runs, draws: draws, seed: seed)
        let note = "\(design), \(noise), \(runs) runs a side, seed \(seed): \(truth)"
        #expect(isNear(truth.covered, truth.said) || orMore && truth.covered.share > truth.said ?? 1, "\(note)")
        #expect(isAtMost(truth.calledDifferent, SidesTruth.level), "\(note)")
        #expect(isAtMost(truth.calledSame, SidesTruth.level), "\(note)")
    }

    @Test(
        "Intervals of rounds cover what they say, though runs follow their neighbours; equal sides are seldom different",
        arguments: Noise.allCases)
    func rounds(_ noise: Noise) {
        for runs in [3, 6, 12] {
            expectHeld(.rounds, noise, runs)
        }
    }

    @Test(
        "So do intervals of groups, as long as runs do not follow their neighbours",
        arguments: [Noise.logNormal, .heavy])
    func groups(_ noise: Noise) {
        for (design, runs) in [(SidesTruth.Design.alternating, 3), (.alternating, 6), (.alternating, 12)] {
            expectHeld(design, noise, runs)
        }
    }

    @Test(
        "Where B was made after A they cover at least that, though runs follow their neighbours",
        arguments: Noise.allCases)
    func after(_ noise: Noise) {
        for runs in [4, 6, 12] {
            expectHeld(.after, noise, runs, orMore: true)
        }
    }

    @Test("Intervals of a sweep's medians cover what they say: 75 % of three runs", arguments: Noise.allCases)
    func points(_ noise: Noise) {
        for runs in [2, 3, 5, 8, 30] {
            let truth = PointTruth(noise, runs: runs, draws: draws, seed: seed)
            #expect(isNear(truth.covered, truth.said), "\(noise), \(runs) runs, seed \(seed): \(truth)")
        }
        #expect(PointTruth(noise, runs: 3, draws: 1, seed: 1).said.map { abs($0 - 0.75) < 1e-12 } == true)
    }

    @Test(
        "Of two equal points with three runs one in ten is told from the best, of many points more",
        arguments: Noise.allCases)
    func best(_ noise: Noise) {
        let shares = [2, 12].map {
            BestTruth(noise, points: $0, runs: 3, draws: draws, seed: seed).toldApart
        }
        // Neighbours that are alike are in both.
        let isRight = noise == .correlated ? isAtMost(shares[0], 0.1) : isNear(shares[0], 0.1)
        #expect(isRight, "\(noise), seed \(seed): \(shares)")
        #expect(shares[1].share > 0.1 && shares[1].share < 0.3, "\(noise), seed \(seed): \(shares)")
    }

    @Test(
        "Looked at after each of its first 50 runs, a figure without a change seldom shows one", arguments: [0.05, 0.2])
    func alarms(_ level: Double) {
        let draws = 40
        let alarms = HistoryTruth.alarms(.heavy, by: [50], level: level, draws: draws, seed: seed)
        // Binomial(40, 0.05): more than 9 four times in 100,000; (40, 0.2): more than 18 once in 10,000 times.
        #expect(alarms[0] * Double(draws) <= (level == 0.05 ? 9 : 18) + 1e-9, "seed \(seed): \(alarms)")
    }

    @Test("Shapes of equal sides are seldom said to differ, though pushes of one run resemble each other")
    func shapes() {
        for (design, runs) in [(SidesTruth.Design.alternating, 5), (.after, 8), (.rounds, 8)] {
            for noise in Noise.allCases {
                let truth = ShapeTruth(design, noise, runs: runs, draws: 30, seed: seed)
                // Binomial(30, 0.025): more than 5 once in 10,000 times.
                #expect(truth.calledDifferent.hits <= 5, "\(noise), \(runs) runs, seed \(seed): \(truth)")
            }
        }
    }
}

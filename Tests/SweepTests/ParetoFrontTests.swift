import Statistics
import Testing

@testable import Sweep

@Suite struct ParetoFrontTests {
    @Test("A front by hand: a beaten point is off it, equal points are on it together")
    func byHand() {
        #expect(ParetoFront.indices(of: [[1, 5], [2, 2], [5, 1], [3, 3], [2, 2], [2, 6]]) == [0, 1, 2, 4])
        #expect(ParetoFront.indices(of: []) == [])
        #expect(ParetoFront.indices(of: [[4, 4, 4]]) == [0])
    }

    @Test("The front is that of holding every point against every other")
    func bruteForce() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(seed: seed)
        for round in 0..<200 {
            let width = Int.random(in: 1...4, using: &random)
            // Few different values, so that there are ties.
            let points = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                (0..<width).map { _ in Double(Int.random(in: 0...8, using: &random)) }
            }
            let expected = points.indices.filter { index in
                !points.contains { other in
                    var isWorse = false
                    var isBetter = false
                    for (mine, theirs) in zip(points[index], other) {
                        if theirs > mine { isWorse = true }
                        if theirs < mine { isBetter = true }
                    }
                    return isBetter && !isWorse
                }
            }
            #expect(ParetoFront.indices(of: points) == expected, "seed \(seed), round \(round)")
        }
    }
}

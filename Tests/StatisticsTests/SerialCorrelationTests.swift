import Foundation
import Testing

@testable import Statistics

@Suite struct SerialCorrelationTests {
    @Test("The correlation of ranks with their neighbours, each sequence about its own median, as NumPy has it")
    func fixed() throws {
        // r = scipy.stats.rankdata(concatenate(a - median(a), b - median(b))) - 7.5; the 12 products of neighbours
        let sequences = [[3.1, 4.0, 3.7, 5.2, 4.9, 5.0, 4.1, 3.9], [2.0, 2.2, 9.5, 2.1, 1.9, 2.4]]
        let found = try #require(SerialCorrelation(sequences))
        #expect(abs(found.lag1 - 0.007709251101321585) < 1e-12 && abs(found.upper - 0.4211316006285981) < 1e-12)
        #expect(SerialCorrelation([[1], []]) == nil)
        let same = try #require(SerialCorrelation([[5, 5, 5, 5]]))
        #expect(same.lag1 == 0 && same.stretch >= 1)
        let rising = try #require(SerialCorrelation([(0..<64).map(Double.init)]))
        #expect(rising.upper == SerialCorrelation.most && abs(rising.stretch - 19.0.squareRoot()) < 1e-12)
    }

    @Test("Of 40 values that resemble each other by 0.4, what it may be is above that in most draws")
    func upper() throws {
        var random = SplitMix(seed: 11)
        func normal() -> Double {
            (-2 * log(Double.random(in: Double.leastNonzeroMagnitude..<1, using: &random))).squareRoot()
                * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
        }
        var above = 0
        var sum = 0.0
        for _ in 0..<1000 {
            let sequences = [32, 8].map { count -> [Double] in
                var last = normal()
                return (0..<count).map { _ in
                    defer { last = 0.4 * last + (1 - 0.16).squareRoot() * normal() }
                    return last
                }
            }
            let correlation = try #require(SerialCorrelation(sequences))
            if correlation.upper >= 0.4 { above += 1 }
            sum += correlation.lag1
        }
        // One standard error: 84 in 100 of a normal estimate.
        #expect((750...930).contains(above) && (0.2..<0.4).contains(sum / 1000), "\(above) \(sum / 1000)")
    }
}

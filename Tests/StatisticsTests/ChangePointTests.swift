import Foundation
import Testing

@testable import Statistics

@Suite struct ChangePointTests {
    /// Three changes, two outliers: 12 values around 100, 8 around 120, 11 around 108, 9 around 90.
    private let planted: [Double] = (0..<40).map { index in
        let base = index < 12 ? 100.0 : index < 20 ? 120 : index < 31 ? 108 : 90
        let noise = Double((index * 37) % 11 - 5) * 0.7
        return base + noise + (index == 5 || index == 26 ? 30 : 0)
    }

    private func normal(_ random: inout SplitMix) -> Double {
        (-2 * log(Double.random(in: 1e-12..<1, using: &random))).squareRoot()
            * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
    }

    @Test("Ranks are SciPy's: equal values share the mean of their places")
    func ranks() {
        // rankdata([3, 1, 2, 3, 3, 0])
        #expect(Ranks.of([3, 1, 2, 3, 3, 0]) == [5, 2, 3, 5, 5, 1] && Ranks.of([]).isEmpty)
    }

    @Test("The largest split is the one that trying all splits and ends by the definition finds")
    func definition() throws {
        // By NumPy, straight from the definition, of rankdata(planted): 181.365 before 31.
        let first = try #require(ChangePoints.split(Ranks.of(planted), 0, 40))
        #expect(first.start == 31 && abs(first.distance - 181.365) < 1e-9)
        let tied: [Double] = [3, 3, 4, 3, 5, 4, 9, 8, 9, 3, 9, 8]
        // The same of rankdata([3, 3, 4, 3, 5, 4, 9, 8, 9, 3, 9, 8]).
        let second = try #require(ChangePoints.split(Ranks.of(tied), 0, 12))
        #expect(second.start == 6 && abs(second.distance - 15.733333333333336) < 1e-9)
        for seed in 1...30 as ClosedRange<UInt64> {
            var random = SplitMix(seed: seed)
            let values = (0..<14).map { _ in normal(&random).rounded() }
            let split = try #require(ChangePoints.split(values, 2, 13))
            let expected = plainSplit(Array(values[2..<13]))
            #expect(split.start == expected.start + 2 && abs(split.distance - expected.distance) < 1e-9, "seed \(seed)")
        }
        #expect(ChangePoints.split(planted, 3, 8) == nil)
    }

    /// Every split with every end, each distance by its definition.
    private func plainSplit(_ values: [Double]) -> (start: Int, distance: Double) {
        func mean(_ a: ArraySlice<Double>, _ b: ArraySlice<Double>, pairs: Int) -> Double {
            a.reduce(0) { sum, x in b.reduce(sum) { $0 + abs(x - $1) } } / Double(pairs)
        }
        var best = (start: 0, distance: -Double.infinity)
        for end in 6...values.count {
            for split in 3...(end - 3) {
                let (x, y) = (values[..<split], values[split..<end])
                let (n, m) = (x.count, y.count)
                let energy =
                    2 * mean(x, y, pairs: n * m) - mean(x, x, pairs: n * (n - 1)) - mean(y, y, pairs: m * (m - 1))
                let distance = Double(n * m) / Double(n + m) * energy
                if distance > best.distance + 1e-12 { best = (split, distance) }
            }
        }
        return best
    }

    @Test("Planted changes are found where they are, whatever outliers lie between them")
    func found() {
        // ruptures 1.1.10, Dynp(model="l1", min_size=3, jump=1), three changes of rankdata(planted): 12, 20, 31.
        let points = ChangePoints(planted)
        #expect(points.starts == [12, 20, 31] && points.p.allSatisfy { $0 <= 0.01 }, "\(points)")
        #expect(points.segments(of: 40) == [0..<12, 12..<20, 20..<31, 31..<40])
        #expect(points == ChangePoints(planted.map { exp($0 / 20) }), "order is all that counts")
        #expect(ChangePoints(Array(planted[..<12])).starts.isEmpty)
        #expect(ChangePoints([]).starts.isEmpty && ChangePoints([1, 2]).segments(of: 2) == [0..<2])
        #expect(ChangePoints([Double](repeating: 7, count: 50)).starts.isEmpty)
    }

    @Test("A permutation test's p-value is the one of many more shuffles, within what 999 leave open")
    func chance() throws {
        // By NumPy, 20,000 shuffles: 0.0252; the standard error of 999 is 0.005.
        let points = ChangePoints([3, 3, 4, 3, 5, 4, 9, 8, 9, 4.5, 9, 8], level: 0.1)
        #expect(points.starts == [6])
        let p = try #require(points.p.first)
        #expect(abs(p - 0.0252) < 0.02, "\(p)")
    }

    @Test("Without a change, one is found in about one series of a hundred, heavy tails or not")
    func falseAlarms() {
        let noises: [(String, (inout SplitMix) -> Double)] = [
            ("normal", { normal(&$0) }), ("Cauchy", { tan(.pi * (Double.random(in: 0..<1, using: &$0) - 0.5)) }),
            ("log-normal", { exp(normal(&$0)) }), ("rounded", { normal(&$0).rounded() }),
        ]
        for (name, noise) in noises {
            let seed: UInt64 = 20_261_121
            var random = SplitMix(seed: seed)
            let alarms = (0..<300).count { index in
                !ChangePoints((0..<20).map { _ in noise(&random) }, seed: UInt64(index)).starts.isEmpty
            }
            // Binomial(300, 0.01): more than 11 less than once in 10,000 times.
            #expect(alarms <= 11, "\(name), seed \(seed): \(alarms) of 300")
        }
    }

    @Test("A change by three standard deviations is found, and where it is")
    func power() {
        let seed: UInt64 = 7
        var random = SplitMix(seed: seed)
        var (seen, near) = (0, 0)
        for index in 0..<50 {
            let values = (0..<20).map { ($0 < 10 ? 0 : 3) + normal(&random) }
            let starts = ChangePoints(values, seed: UInt64(index)).starts
            if !starts.isEmpty { seen += 1 }
            if starts.contains(where: { abs($0 - 10) <= 1 }) { near += 1 }
        }
        // Of a thousand series, 97 and 93 %.
        #expect(seen >= 42 && near >= 38, "seed \(seed): \(seen), \(near) of 50")
    }

    @Test("How few values can show a change follows from the level")
    func fewest() {
        #expect(ChangePoints.fewest(level: 0.01) == 10 && ChangePoints.fewest(level: 0.05) == 8)
        #expect(ChangePoints.fewest(level: 0.005) == 11)
        // Three low, three high and the others between are rarer; nothing is found in what is said to be too little.
        for order in [[0, 1, 2, 5, 6, 7, 3, 4], [0, 1, 2, 6, 7, 8, 3, 4, 5]] as [[Double]] {
            for seed in 1...20 as ClosedRange<UInt64> {
                #expect(ChangePoints(order, level: 0.005, seed: seed).starts.isEmpty, "\(order), seed \(seed)")
            }
        }
        #expect(ChangePoints((0..<9).map { $0 < 4 ? 0 : 1 + Double($0) }).starts.isEmpty)
    }
}

import Testing

@testable import Analysis
@testable import Statistics

@Suite struct LimitSearchTests {
    @Test(
        "The limit of a server is found from below and from above, within the precision",
        arguments: [3.0, 777, 20_000, 1_234_567])
    func highest(_ limit: Double) async throws {
        for start in [1.0, 1000, 5_000_000] {
            let search = LimitSearch(.highest, from: start, in: 1...10_000_000, precision: 0.02, isWhole: false)
            let answer = try await search.run { value, _ in value <= limit }
            let value = try #require(answer.value)
            #expect(value <= limit && value >= limit * 0.97, "\(start): \(value)")
            #expect(answer.beyond! > limit && answer.probes.count < 50)
            #expect(
                answer.probes.suffix(2).allSatisfy { $0.purpose == .confirming && $0.isReached && $0.value == value })
        }
    }

    @Test("The fewest connections are found exactly")
    func fewest() async throws {
        for needed in [1.0, 2, 7, 100, 1000] {
            let answer = try await LimitSearch(.lowest, from: 1, in: 1...1024, precision: 0.001, isWhole: true)
                .run { value, _ in value >= needed }
            #expect(answer.value == needed, "\(needed): \(answer)")
        }
    }

    @Test("A goal that is never or always reached is said to be; luck is not confirmed")
    func edges() async throws {
        let search = LimitSearch(.highest, from: 100, in: 1...1000, precision: 0.02, isWhole: false)
        let never = try await search.run { _, _ in false }
        #expect(never.value == nil && never.beyond == 1 && !never.isUnsteady)
        let always = try await search.run { _, _ in true }
        #expect(always.value == 1000 && always.beyond == nil)
        // Between 500 and 600 the goal is reached only the first time it is tried.
        var tried: Set<Int> = []
        let lucky = try await search.run { value, _ in
            value < 500 ? true : value > 600 ? false : tried.insert(Int(value)).inserted
        }
        #expect(lucky.value! < 500 || lucky.probes.count > 4, "\(lucky)")
        #expect(lucky.value! <= 505)
    }

    @Test("A miss is tried again before it counts, whether the search grows, shrinks, halves or confirms")
    func retries() async throws {
        let search = LimitSearch(.highest, from: 100, in: 1...10_000, precision: 0.02, isWhole: false)
        let undisturbed = try await search.run { value, _ in value <= 1100 }
        let best = try #require(undisturbed.value)
        // Each probe that was made is disturbed in turn, and no other: the answer stays, within the precision.
        for turn in undisturbed.probes.indices where undisturbed.probes[turn].isReached {
            var made = 0
            let answer = try await search.run { value, _ in
                made += 1
                return value <= 1100 && made != turn + 1
            }
            #expect(answer.value == best, "probe \(turn + 1) disturbed: \(answer)")
            let disturbed = answer.probes[turn]
            #expect(answer.misses.count == (disturbed.value == best ? 1 : 0) && answer.misses.of >= 3, "\(answer)")
            #expect(!disturbed.isReached && disturbed.purpose == undisturbed.probes[turn].purpose)
            #expect(
                answer.probes[(turn + 1)...].contains {
                    $0.value == disturbed.value && $0.isReached && $0.purpose != .searching
                }, "probe \(turn + 1): \(answer)")
        }
        // From above, only the miss beside the first value that is reached decides something.
        let above = try await LimitSearch(.highest, from: 6400, in: 1...10_000, precision: 0.02, isWhole: false)
            .run { value, _ in value <= 1100 }
        #expect(above.probes.prefix(5).map(\.value) == [6400, 3200, 1600, 800, 1600], "\(above)")
        #expect(above.probes.prefix(5).map(\.purpose) == [.searching, .searching, .searching, .searching, .retrying])
    }

    @Test("What is reached now and then and never confirmed gives no answer, after a bounded number of probes")
    func unsteady() async throws {
        let search = LimitSearch(.highest, from: 1000, in: 1...10_000_000, precision: 0.02, isWhole: false)
        // Any new value is reached, none twice.
        let answer = try await search.run { _, purpose in purpose == .searching }
        #expect(answer.value == nil && answer.isUnsteady && answer.probes.count <= 400, "\(answer.probes.count)")
    }

    /// 4,000 searches of a known limit from 20,000 to 2,000,000 pushes/s, from 1,000 on, as `pushload search` does. Measured:
    ///
    /// | of the probes are wrong | end below 90 % of the limit | above it | probes: mean | 99 % | most |
    /// | --- | --- | --- | --- | --- | --- |
    /// | none | 0 | 0 | 22.4 | 26 | 27 |
    /// | 2 % of what should be reached | 0.33 % | 0 | 22.8 | 27 | 29 |
    /// | 2 % of either | 0.35 % | 0.03 % | 24.2 | 44 | 63 |
    ///
    /// Before a miss was tried again it took 18.6, 17.5 and 17.9 probes, and 0, 20.4 % and 20.7 % ended below 90 %.
    @Test(
        "With 2 % of probes wrong, at most 1 % of searches end below 90 % of the limit or above it",
        arguments: [(0.0, 0.0), (0.02, 0.0), (0.02, 0.02)])
    func disturbed(misses: Double, hits: Double) async throws {
        let seed: UInt64 = 1
        var random = SplitMix(seed: seed)
        let searches = 4000
        var below = 0
        var above = 0
        var without = 0
        var probes: [Int] = []
        for _ in 0..<searches {
            let limit = 20_000 * Double.random(in: 1...100, using: &random)
            let search = LimitSearch(.highest, from: 1000, in: 1...10_000_000, precision: 0.02, isWhole: false)
            let answer = try await search.run { value, _ in
                let isWrong = Double.random(in: 0..<1, using: &random) < (value <= limit ? misses : hits)
                return (value <= limit) != isWrong
            }
            probes.append(answer.probes.count)
            guard let value = answer.value else {
                without += 1
                continue
            }
            if value < 0.9 * limit { below += 1 }
            if value > limit { above += 1 }
        }
        probes.sort()
        let figures =
            "seed \(seed), \(misses) missed and \(hits) reached wrongly: of \(searches), \(below) below, \(above) above, "
            + "\(without) without; probes: mean \(Double(probes.reduce(0, +)) / Double(searches)), "
            + "99 % \(probes[searches * 99 / 100]), most \(probes[searches - 1])"
        #expect(below * 100 <= searches && above * 100 <= searches && without == 0, "\(figures)")
        #expect(probes[searches - 1] <= 150, "\(figures)")
    }
}

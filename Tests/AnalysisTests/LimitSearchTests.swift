import Testing

@testable import Analysis

@Suite struct LimitSearchTests {
    @Test(
        "The limit of a server is found from below and from above, within the precision",
        arguments: [3.0, 777, 20_000, 1_234_567])
    func highest(_ limit: Double) async throws {
        for start in [1.0, 1000, 5_000_000] {
            let search = LimitSearch(.highest, from: start, in: 1...10_000_000, precision: 0.02, isWhole: false)
            let answer = try await search.run { $0 <= limit }
            let value = try #require(answer.value)
            #expect(value <= limit && value >= limit * 0.97, "\(start): \(value)")
            #expect(answer.beyond! > limit && answer.probes.count < 50)
            #expect(answer.probes.suffix(2).allSatisfy { $0.isConfirmation && $0.isReached && $0.value == value })
        }
    }

    @Test("The fewest connections are found exactly")
    func fewest() async throws {
        for needed in [1.0, 2, 7, 100, 1000] {
            let answer = try await LimitSearch(.lowest, from: 1, in: 1...1024, precision: 0.001, isWhole: true)
                .run { $0 >= needed }
            #expect(answer.value == needed, "\(needed): \(answer)")
        }
    }

    @Test("A goal that is never or always reached is said to be; luck is not confirmed")
    func edges() async throws {
        let search = LimitSearch(.highest, from: 100, in: 1...1000, precision: 0.02, isWhole: false)
        let never = try await search.run { _ in false }
        #expect(never.value == nil && never.beyond == 1)
        let always = try await search.run { _ in true }
        #expect(always.value == 1000 && always.beyond == nil)
        // Between 500 and 600 the goal is reached only the first time it is tried.
        var tried: Set<Int> = []
        let lucky = try await search.run { value in
            value < 500 ? true : value > 600 ? false : tried.insert(Int(value)).inserted
        }
        #expect(lucky.value! < 500 || lucky.probes.count > 4, "\(lucky)")
        #expect(lucky.value! <= 505)
    }
}

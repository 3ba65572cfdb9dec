import Testing

@testable import Measurement

@Suite("Breakdowns")
struct BreakdownTests {
    @Test("A label that is called as what is left over counts with it")
    func other() {
        let names = (0..<80).map { $0 == 5 ? Breakdown.other : "n\($0)" }
        let breakdown = Breakdown("profile", labels: names)
        for place in names.indices {
            breakdown.answered(breakdown.place(number: place), isAccepted: true, total: 1, isMeasured: false)
        }
        var merged = MergedBreakdowns()
        merged.add(breakdown)
        merged.add(breakdown)
        let outcomes = merged.outcomes["profile"] ?? [:]
        #expect(outcomes.values.reduce(0) { $0 + $1.accepted } == 160 && outcomes.count == Breakdown.most - 1)
        #expect(outcomes[Breakdown.other]?.accepted == 36)
    }
}

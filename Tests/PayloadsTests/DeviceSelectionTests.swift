import Testing

@testable import Payloads

@Suite("Selected devices")
struct DeviceSelectionTests {
    @Test("Ranks give the chosen rows in order, whoever asks for which of them", arguments: 0..<UInt64(24))
    func ranks(_ seed: UInt64) {
        var state = seed
        func draw() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            return Mix.finalise(state)
        }
        let total = [UInt32(1), 63, 64, 65, 511, 512, 513, 70_000, 200_000][Int(draw() % 9)]
        let share = [0.0001, 0.01, 0.3, 0.9, 1][Int(draw() % 5)]
        let rows = (0..<total).filter { _ in Double(draw() >> 11) * 0x1p-53 < share }
        let selection = DeviceSelection(of: total) { choose in
            for row in rows + [total, .max] { choose(row) }
        }
        #expect(selection.count == UInt64(rows.count), "seed \(seed)")
        #expect(rows.indices.allSatisfy { selection.row(UInt64($0)) == rows[$0] }, "seed \(seed)")
        #expect(selection.row(UInt64(rows.count)) == .max)
        guard !rows.isEmpty else { return }
        for workers in [1, 2, 3, 8, 64, 700] {
            for worker in 0..<min(workers, rows.count) {
                var place = DeviceSelection.Place()
                // Round, and again from the first.
                let ranks = Array(stride(from: worker, to: rows.count, by: workers)) + [worker, worker]
                let wrong = ranks.filter { selection.row(UInt64($0), from: &place) != rows[$0] }
                #expect(wrong.isEmpty, "seed \(seed), \(workers) workers")
            }
            var place = DeviceSelection.Place()
            for _ in 0..<20 {
                let rank = Int(draw() % UInt64(rows.count))
                #expect(selection.row(UInt64(rank), from: &place) == rows[rank], "seed \(seed), at random")
            }
        }
    }
}

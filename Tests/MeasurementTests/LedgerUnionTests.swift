import Foundation
import Testing

@testable import Measurement

@Suite struct LedgerUnionTests {
    @Test(
        "Several mocks' ledgers are united bit by bit; each arrival after the first is a doubled one, wherever it was")
    func model() throws {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func random(_ below: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % below
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("union-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for _ in 0..<20 {
            var arrivals: [UInt64: Int] = [:]
            var union = LedgerUnion()
            for mock in 0..<(1 + random(4)) {
                let book = LedgerBook(capacity: 20_000)
                let ledger = try #require(book.entry(run: 3)?.ledger)
                _ = book.entry(run: 4)?.ledger.mark(random(20_000))
                let reach = 1 + random(20_000)
                for _ in 0..<random(2000) {
                    let push = random(reach)
                    ledger.mark(push)
                    arrivals[push, default: 0] += 1
                }
                try LedgerFile.write(book, to: "\(folder)/\(mock)")
                #expect(try union.add("\(folder)/\(mock)", run: 3) == .run)
            }
            let accepted = try #require(DeliveryLedger(capacity: 20_000))
            var ours: Set<UInt64> = []
            for _ in 0..<2000 {
                let push = random(20_000)
                accepted.mark(push)
                ours.insert(push)
            }
            let compared = union.compared(with: accepted)
            #expect(compared.lost == UInt64(ours.count { arrivals[$0] == nil }), "seed \(seed)")
            #expect(compared.unanswered == UInt64(arrivals.keys.count { !ours.contains($0) }), "seed \(seed)")
            #expect(compared.duplicated == UInt64(arrivals.values.reduce(0) { $0 + $1 - 1 }), "seed \(seed)")
        }
    }

    @Test("Arrivals beyond a ledger are counted; a file without the run says whose it is; damage is found")
    func files() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("union-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let book = LedgerBook(capacity: 100)
        try LedgerFile.write(book, to: path)
        var union = LedgerUnion()
        #expect(try union.add(path, run: 7) == .nothing)
        for push in [1, 2, 200] as [UInt64] { book.entry(run: 9)?.ledger.mark(push) }
        try LedgerFile.write(book, to: path)
        #expect(try union.add(path, run: 7) == .otherRun(9))
        #expect(try union.add(path, run: 9) == .run && union.beyond == 1)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for place in whole.indices {
            var bytes = whole
            bytes[place] ^= 1
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(throws: LedgerFile.Failure.self, "byte \(place)") {
                var union = LedgerUnion()
                _ = try union.add(path, run: 9)
            }
        }
        for length in whole.indices {
            try whole.prefix(length).write(to: URL(fileURLWithPath: path))
            #expect(throws: LedgerFile.Failure.self, "\(length) bytes") {
                var union = LedgerUnion()
                _ = try union.add(path, run: 9)
            }
        }
    }
}

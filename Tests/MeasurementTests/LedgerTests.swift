import Foundation
import Testing

@testable import Measurement

@Suite struct LedgerTests {
    @Test("Threads mark each push exactly once, and every repetition is counted")
    func threads() async throws {
        let ledger = try #require(DeliveryLedger(capacity: 100_000))
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for sequence in stride(from: UInt64(worker), to: 100_000, by: 4) { ledger.mark(sequence) }
                    for sequence in stride(from: UInt64(0), to: 1000, by: 10) { ledger.mark(sequence) }
                }
            }
        }
        #expect(ledger.delivered == 100_000 && ledger.duplicated == 400 && ledger.outOfRange == 0)
        ledger.mark(100_000)
        #expect(ledger.outOfRange == 1 && ledger.delivered == 100_000)
    }

    @Test("Ledgers of any size, marked in any order, hold exactly what was marked, and so do their files")
    func model() throws {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func random(_ below: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % below
        }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ledger-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for round in 0..<40 {
            // Around the bounds of words and blocks, too.
            let sizes: [UInt64] = [1, 63, 64, 65, 8191, 8192, 8193, 24_576]
            let capacity = sizes[round % 8] + random(round < 8 ? 1 : 20_000)
            let book = LedgerBook(capacity: capacity)
            let theirs = try #require(book.entry(run: 3)?.ledger)
            let ours = try #require(DeliveryLedger(capacity: capacity))
            var (reached, accepted): (Set<UInt64>, Set<UInt64>) = ([], [])
            let marked = 1 + random(capacity)
            for _ in 0..<random(400) {
                let sequence = random(4) == 0 ? marked - 1 : random(marked)
                #expect(theirs.mark(sequence) == reached.insert(sequence).inserted)
                if random(3) > 0 {
                    ours.mark(sequence)
                    accepted.insert(sequence)
                }
                let other = random(capacity)
                if random(5) == 0 {
                    ours.mark(other)
                    accepted.insert(other)
                }
            }
            #expect(theirs.delivered == UInt64(reached.count), "seed \(seed)")
            #expect(ours.delivered == UInt64(accepted.count), "seed \(seed)")
            #expect(UInt64(theirs.usedWords) <= (capacity + 63) / 64, "seed \(seed)")
            for ledger in [ours, try #require(ours.copy(atMost: .max))] {
                var inOrder: [UInt64] = []
                ledger.forEach { inOrder.append($0) }
                #expect(inOrder == accepted.sorted(), "seed \(seed)")
            }
            #expect((0..<capacity).allSatisfy { ours.contains($0) == accepted.contains($0) }, "seed \(seed)")
            try LedgerFile.write(book, to: path)
            let compared = try LedgerFile.compare(path, run: 3, accepted: ours)
            #expect(compared.lost == UInt64(accepted.subtracting(reached).count), "seed \(seed)")
            #expect(compared.unanswered == UInt64(reached.subtracting(accepted).count), "seed \(seed)")
        }
    }

    @Test(
        "Each push has a bit of its own, and threads that share pushes out evenly no cache line",
        arguments: [2, 4, 8, 16])
    func lines(_ threads: UInt64) {
        var bits: Set<[UInt64]> = []
        var owners: [Int: UInt64] = [:]
        for sequence in UInt64(0)..<100_000 {
            let (word, bit) = DeliveryLedger.place(sequence)
            #expect(bit.nonzeroBitCount == 1 && bits.insert([UInt64(word), bit]).inserted && word < 100_000 / 64 + 128)
            let owner = owners[word / 8] ?? sequence % threads
            #expect(owner == sequence % threads)
            owners[word / 8] = owner
        }
    }

    @Test("What did not arrive is named")
    func missing() throws {
        let ledger = try #require(DeliveryLedger(capacity: 1 << 32))
        for sequence in UInt64(0)..<200 where sequence != 5 && sequence != 64 && sequence != 199 {
            ledger.mark(sequence)
        }
        #expect(ledger.missing(of: 200, limit: 10) == [5, 64, 199])
        #expect(ledger.missing(of: 200, limit: 2) == [5, 64])
    }

    @Test("A ledger file shows push by push what was lost and what was never answered")
    func file() throws {
        let book = LedgerBook(capacity: 10_000)
        let theirs = try #require(book.entry(run: 7)?.ledger)
        _ = book.entry(run: 8)?.ledger.mark(3)
        let ours = try #require(DeliveryLedger(capacity: 10_000))
        for sequence in UInt64(0)..<1000 {
            if sequence % 100 != 0 { theirs.mark(sequence) }
            if sequence % 250 != 1 { ours.mark(sequence) }
        }
        ours.mark(5000)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ledger-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try LedgerFile.write(book, to: path)
        // Lost: 0, 100 … 900 and 5000. Unanswered: 1, 251, 501, 751.
        #expect(try LedgerFile.compare(path, run: 7, accepted: ours) == .init(lost: 11, unanswered: 4))
        #expect(try LedgerFile.compare(path, run: 9, accepted: ours).lost == ours.delivered)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        try bytes.prefix(60).write(to: URL(fileURLWithPath: path))
        #expect { try LedgerFile.compare(path, run: 7, accepted: ours) } throws: {
            "\($0)" == "\(path): the ledger file is truncated"
        }
        try Data("hello".utf8).write(to: URL(fileURLWithPath: path))
        #expect { try LedgerFile.compare(path, run: 7, accepted: ours) } throws: {
            "\($0)" == "\(path): not a ledger file"
        }
    }

    @Test("A book holds a bounded number of runs")
    func book() {
        let book = LedgerBook(capacity: 64)
        for run in 0..<UInt64(LedgerBook.runLimit) { #expect(book.entry(run: run) != nil) }
        #expect(book.entry(run: 1000) == nil && book.entry(run: 3) != nil)
    }

    @Test("A process's CPU time grows with its work, and a process that is not there has none")
    func cost() throws {
        let before = try #require(ProcessCost.sample())
        var sum: UInt64 = 0
        while try #require(ProcessCost.sample()).cpu < before.cpu + 20_000_000 { sum &+= 1 }
        #expect(sum > 0 && before.peakMemory > 1_000_000)
        #expect(ProcessCost.sample(pid: 1 << 30) == nil)
    }

    @Test("A counted number of allocations is counted")
    func allocations() throws {
        guard let before = AllocationCount.current() else { return }
        var pointers: [UnsafeMutableRawPointer] = []
        pointers.reserveCapacity(10_000)
        for _ in 0..<10_000 { pointers.append(.allocate(byteCount: 48, alignment: 8)) }
        let after = try #require(AllocationCount.current())
        for pointer in pointers { pointer.deallocate() }
        #expect(after - before >= 10_000)
    }

    @Test("Measuring has a cost, and it is made of what each push causes")
    func measuring() {
        var time: UInt64 = 0
        let clock = {
            time += 10
            return time
        }
        let cost = MeasurementCost.calibrate(clock: clock, reading: clock)
        #expect(cost.clockReading >= 10 && cost.clockReading < 11)
        #expect(cost.perPush(isOpenLoop: false) == cost.clockReading / 8 + cost.histogramRecord * 3.0625)
        #expect(cost.perPush(isOpenLoop: true) == cost.clockReading / 8 + cost.histogramRecord * 7.0625)
    }
}

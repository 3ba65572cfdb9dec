import Foundation
import Scenarios
import Testing

@testable import Harness

@Suite struct RunJournalTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/journal-\(UUID())"

    private func journal(rate: Double?, threads: Int = 2, isCurrent: @escaping @Sendable () -> Bool = { true }) throws
        -> RunJournal
    {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var scenario = Scenario()
        (scenario.pushes, scenario.rate) = (10_000_000, rate)
        (scenario.threads, scenario.connections) = (threads, threads)
        let output = RunOutput(folder: folder, isShard: true, isCurrent: isCurrent, warn: { _ in })
        return RunJournal(output, inputs: try RunInputs(scenario))
    }

    @Test("What may be sent is written down before, two seconds of the rate ahead")
    func ahead() throws {
        let journal = try journal(rate: 1000)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(journal.reservations.map(\.end) == [0, 0])
        journal.look([], at: 0, start: 0, clock: 1)
        // Each thread has 500 a second.
        #expect(journal.reservations.map(\.end) == [1000, 1000])
        journal.look([100, 900], at: 1_000_000_000, start: 500_000_000, clock: 1_000_000_000)
        // By then the thousands of two and a half seconds.
        #expect(journal.reservations.map(\.end) == [1250, 1250])
        let written = try #require(RunJournal.read(folder + "/journal.json"))
        #expect(written.positions == [1250, 1250] && written.elapsed == 500_000_000)
    }

    @Test("A closed loop has as much ahead as its fastest thread needs, and never less than it had")
    func closedLoop() throws {
        let journal = try journal(rate: nil, threads: 1)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        journal.look([0], at: 1, start: 1, clock: 1)
        #expect(journal.reservations[0].end == 65_536)
        // 40,000 in 20 ms.
        journal.look([40_000], at: 20_000_001, start: 1, clock: 20_000_001)
        #expect(journal.reservations[0].end == 4_040_000)
        journal.look([41_000], at: 3_000_000_001, start: 1, clock: 3_000_000_001)
        #expect(journal.reservations[0].end == 4_041_000)
    }

    @Test("A thread takes nothing beyond what is written down, and goes on when more is")
    func bound() throws {
        let journal = try journal(rate: nil, threads: 1)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var scenario = Scenario()
        scenario.pushes = 100_000
        var supply = PushSupply(try RunInputs(scenario), reservation: journal.reservations[0])
        supply.begin(1)
        var push: (sequence: UInt64, due: UInt64) = (0, 0)
        func take() -> Bool { if case .push = supply.take(5, &push) { true } else { false } }
        #expect(!take())
        journal.look([0], at: 1, start: 1, clock: 1)
        var count = 0
        while take() { count += 1 }
        #expect(count == 65_536 && !supply.isUsedUp)
        journal.look([65_536], at: 2, start: 1, clock: 2)
        while take() { count += 1 }
        #expect(count == 100_000 && supply.isUsedUp)
    }

    @Test("A journal that cannot be written reserves nothing more, and ends the run after ten seconds")
    func unwritable() throws {
        let journal = try journal(rate: 1000)
        journal.look([], at: 0, start: 0, clock: 1)
        try FileManager.default.removeItem(atPath: folder)
        journal.look([900, 900], at: 2, start: 1, clock: 1_000_000_000)
        #expect(journal.reservations.map(\.end) == [1000, 1000] && journal.failure == nil)
        journal.look([900, 900], at: 3, start: 1, clock: 10_900_000_000)
        #expect(journal.failure == nil)
        journal.look([900, 900], at: 4, start: 1, clock: 11_000_000_000)
        #expect(journal.failure?.contains("cannot write") == true)
        // Whatever came before, the end of the run is written or not, and no more.
        journal.end([900, 900], elapsed: 1)
    }

    @Test("What comes in a burst, or later at a higher rate, is not reserved before it is two seconds off")
    func stages() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var scenario = Scenario()
        scenario.stages = try LoadStage.parse("hold 200 10s, burst 5000, hold 20k 1s")
        let output = RunOutput(folder: folder, isShard: true, warn: { _ in })
        let journal = RunJournal(output, inputs: try RunInputs(scenario))
        journal.look([0], at: 0, start: 0, clock: 1)
        #expect(journal.reservations[0].end == 400)
        journal.look([0], at: 0, start: 1, clock: 4_000_000_001)
        #expect(journal.reservations[0].end == 1200)
        journal.look([0], at: 0, start: 1, clock: 8_100_000_001)
        #expect(journal.reservations[0].end == 9000)
    }

    @Test("One whose part was taken up writes no journal any more, and must end")
    func replaced() throws {
        let journal = try journal(rate: 1000, isCurrent: { false })
        defer { try? FileManager.default.removeItem(atPath: folder) }
        journal.look([], at: 0, start: 0, clock: 1)
        #expect(journal.reservations.map(\.end) == [0, 0] && journal.failure?.contains("another process") == true)
        #expect(RunJournal.read(folder + "/journal.json") == nil)
    }
}

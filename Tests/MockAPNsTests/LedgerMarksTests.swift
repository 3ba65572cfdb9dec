import Foundation
import Measurement
import Payloads
import Testing

@testable import MockAPNs

@Suite struct LedgerMarksTests {
    @Test("Pushes of several runs in any order are ticked off in their own ledgers; those of none are counted")
    func runs() throws {
        let book = LedgerBook(capacity: 1000)
        let statistics = MockStatistics()
        var marks = LedgerMarks(book, statistics)
        let state = RequestState()
        for sequence in 0..<100 as Range<UInt64> {
            marks.tickOff((run: RunID(sequence % 3), sequence: sequence), state, now: 1)
        }
        marks.tickOff(nil, state, now: 1)
        #expect(
            book.runs.map(\.ledger.delivered).sorted() == [33, 33, 34]
                && statistics.untracked.load(ordering: .relaxed) == 1)
        let first = try #require(book.runs.first { $0.run == 0 }).ledger
        #expect(first.missing(of: 6, limit: 10) == [1, 2, 4, 5])
    }

    @Test("Times are noted of the first run only, also when pushes of others come between")
    func times() throws {
        let book = LedgerBook(capacity: 1000, timesInterval: 2)
        var marks = LedgerMarks(book, MockStatistics())
        let state = RequestState()
        var samples: [Int] = []
        for sequence in 0..<100 as Range<UInt64> {
            for run in [7, 8] as [UInt64] {
                state.timesSample = -1
                marks.tickOff((run: RunID(run), sequence: sequence), state, now: 1000 + sequence)
                if state.timesSample >= 0 { samples.append(state.timesSample) }
            }
        }
        marks.noteDepartures(samples, now: 5000)
        #expect(samples == Array(0..<50))
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("marks-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let first = try #require(book.runs.first)
        try PushTimesFile.write(try #require(first.times), run: 7, of: .mock, to: path)
        let written = try PushTimesFile.read(path, run: 7, of: .mock).samples
        #expect(
            written.count == 50 && written.allSatisfy { (1000..<1100).contains($0.arrival) && $0.departure == 5000 })
        #expect(book.runs[1].times == nil && first.ledger.delivered == 100)
    }

    @Test("After the book was begun anew a push is in a new ledger of its run, not in the old one")
    func restart() throws {
        let book = LedgerBook(capacity: 1000)
        var marks = LedgerMarks(book, MockStatistics())
        let state = RequestState()
        marks.tickOff((run: RunID(7), sequence: 1), state, now: 1)
        book.reset()
        marks.restart()
        marks.tickOff((run: RunID(7), sequence: 2), state, now: 1)
        let ledger = try #require(book.runs.first).ledger
        #expect(book.runs.count == 1 && ledger.missing(of: 3, limit: 10) == [0, 1])
    }
}

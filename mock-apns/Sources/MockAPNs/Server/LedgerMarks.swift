import Measurement
import Payloads

/// One worker's marks in the ledgers of runs: which pushes it accepted, and when those came and were answered whose times are wanted.
struct LedgerMarks {
    private let book: LedgerBook
    /// The worker's.
    private let statistics: MockStatistics
    /// The run of the last push: mostly the next one is of the same.
    private var current: LedgerBook.Entry?

    init(_ book: LedgerBook, _ statistics: MockStatistics) {
        self.book = book
        self.statistics = statistics
    }

    /// Notes an accepted push in its run's ledger, and when it came if it is one whose times are wanted.
    @inline(__always)
    mutating func tickOff(_ trace: (run: RunID, sequence: UInt64)?, _ state: RequestState, now: UInt64) {
        guard let trace else {
            MockStatistics.increment(statistics.untracked)
            return
        }
        meet(trace.run)
        guard let current else {
            MockStatistics.increment(statistics.untracked)
            return
        }
        current.ledger.mark(trace.sequence)
        if let times = current.times {
            state.timesSample = times.sample(trace.sequence)
            if state.timesSample >= 0 { times.note(.arrival, sample: state.timesSample, at: now) }
        }
    }

    /// Whose push it is, by the run's place; nil: without a trace tag, or of a run too many.
    mutating func traced(_ trace: (run: RunID, sequence: UInt64)?) -> TracedPush? {
        guard let trace else { return nil }
        meet(trace.run)
        guard let place = current?.place else { return nil }
        return TracedPush(run: trace.run.rawValue, place: place, sequence: trace.sequence)
    }

    /// Makes the run `current`.
    @inline(__always)
    private mutating func meet(_ run: RunID) {
        if run.rawValue != current?.run { current = book.entry(run: run.rawValue) }
    }

    /// Notes that the answers to these samples leave now.
    func noteDepartures(_ samples: [Int], now: UInt64) {
        guard let times = book.runs.first?.times else { return }
        for sample in samples { times.note(.departure, sample: sample, at: now) }
    }

    /// The book was begun anew.
    mutating func restart() { current = nil }
}

import Measurement
import Payloads

/// One worker's marks in the ledgers of runs: which pushes it accepted, and when those came and were answered whose times are wanted.
///
/// All workers mark in the same ledgers. References to these are not counted: the counts would be in one cache line that every push of
/// every worker writes, twice a reference.
struct LedgerMarks {
    private let book: LedgerBook
    /// The worker's.
    private let statistics: MockStatistics
    /// Of the run of the last push, mostly of the next one too: keeps what is below.
    private var entry: LedgerBook.Entry?
    private var run: UInt64 = 0
    private var place = 0
    private var ledger: Unmanaged<DeliveryLedger>?
    private var times: Unmanaged<PushTimes>?
    /// Where times are noted: the first run's, once a sample of it has come.
    private var noted: PushTimes?

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
        guard let ledger else {
            MockStatistics.increment(statistics.untracked)
            return
        }
        ledger._withUnsafeGuaranteedRef { _ = $0.mark(trace.sequence) }
        if let times {
            state.timesSample = times._withUnsafeGuaranteedRef { $0.sample(trace.sequence) }
            if state.timesSample >= 0 { noteArrival(state.timesSample, times.takeUnretainedValue(), now) }
        }
    }

    private mutating func noteArrival(_ sample: Int, _ times: PushTimes, _ now: UInt64) {
        times.note(.arrival, sample: sample, at: now)
        if noted == nil { noted = times }
    }

    /// Whose push it is, by the run's place; nil: without a trace tag, or of a run too many.
    mutating func traced(_ trace: (run: RunID, sequence: UInt64)?) -> TracedPush? {
        guard let trace else { return nil }
        meet(trace.run)
        return ledger == nil
            ? nil : TracedPush(run: trace.run.rawValue, place: place, sequence: trace.sequence)
    }

    /// Makes the run that of `ledger`.
    @inline(__always)
    private mutating func meet(_ run: RunID) {
        if run.rawValue != self.run || ledger == nil { look(for: run.rawValue) }
    }

    private mutating func look(for run: UInt64) {
        entry = book.entry(run: run)
        self.run = run
        place = entry?.place ?? 0
        ledger = entry.map { .passUnretained($0.ledger) }
        times = entry?.times.map { .passUnretained($0) }
    }

    /// Notes that the answers to these samples leave now.
    func noteDepartures(_ samples: [Int], now: UInt64) {
        guard let noted else { return }
        for sample in samples { noted.note(.departure, sample: sample, at: now) }
    }

    /// The book was begun anew.
    mutating func restart() { (entry, ledger, times, noted) = (nil, nil, nil, nil) }
}

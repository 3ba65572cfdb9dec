import Measurement
import Transport

/// All workers of a run at about one moment.
struct RunSnapshot: Sendable {
    /// Of the worker that was seen last, ns.
    var time: UInt64 = 0
    var counts = PushCounts()
    var inFlight = 0
    var backlog: UInt64 = 0
    /// Of the worker that has been without a connection for longest.
    var noConnection = NoConnection()
    /// Of each worker its first push that has neither been taken nor overflowed.
    var positions: [UInt64] = []
    /// Of each worker.
    var windows: [RateWindow] = []
    /// Pushes that failed, and that were never begun, by cause; empty while there are none.
    var failures: [UInt64] = []
    var notSent: [UInt64] = []
    /// For who publishes it: since the start, ns, and latencies of the whole run so far.
    var elapsed: UInt64 = 0
    var totals = TotalLatencies()

    init() {}

    /// Measured pushes that have come due.
    var due: UInt64 { windows.reduce(0) { $0 + $1.offered } }

    /// From when on pushes are measured, ns since the start; the start where no worker knows.
    func measuredFrom(_ start: UInt64) -> UInt64 {
        let from = windows.map(\.from).min() ?? .max
        return from == .max ? 0 : from - min(from, start)
    }

    mutating func add(_ worker: WorkerSnapshot) {
        time = max(time, worker.time)
        counts.add(worker.counts)
        inFlight += worker.inFlight
        backlog += worker.backlog
        noConnection.add(worker.noConnection)
        windows.append(worker.window)
        positions.append(worker.position)
        Self.add(worker.failures, to: &failures)
        Self.add(worker.notSent, to: &notSent)
    }

    private static func add(_ counts: [UInt64], to sum: inout [UInt64]) {
        if sum.isEmpty { sum = counts } else { for (index, count) in counts.enumerated() { sum[index] += count } }
    }
}

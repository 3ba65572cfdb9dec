import Measurement
import Synchronization
import Transport

/// What a worker shows of itself while it runs.
struct WorkerSnapshot: Sendable {
    /// When it was taken, ns of the worker's clock; 0 before the first.
    var time: UInt64 = 0
    var counts = PushCounts()
    var inFlight = 0
    /// Open loop: pushes due and not on a stream.
    var backlog: UInt64 = 0
    /// For how long it has had no connection for pushes that were due.
    var noConnection = NoConnection()
    /// Its first push that has neither been taken nor overflowed.
    var position: UInt64 = 0
    var window = RateWindow()
    /// By cause; empty while there are none.
    var failures: [UInt64] = []
    var notSent: [UInt64] = []
}

/// Hands what a worker has measured to whoever watches the run. The worker does something only when it was asked, and then
/// exchanges its histograms for empty ones: nothing is copied on its time.
final class SnapshotBox: Sendable {
    private struct Contents {
        var snapshot = WorkerSnapshot()
        /// Of the time since they were last taken.
        var totals = TotalLatencies()
        var isFresh = false
    }

    private let wanted = Atomic<Bool>(false)
    private let contents = Mutex(Contents())

    /// The last snapshot; asks for the next. For one watcher.
    ///
    /// - Parameter totals: empty; gets the total latencies since the last call.
    func take(_ totals: inout TotalLatencies) -> WorkerSnapshot {
        let snapshot = contents.withLock {
            if $0.isFresh { swap(&$0.totals, &totals) }
            $0.isFresh = false
            return $0.snapshot
        }
        wanted.store(true, ordering: .relaxed)
        return snapshot
    }

    /// Called by the worker, often.
    ///
    /// - Parameter isLast: the worker has ended: it is seen so, whether anybody has asked or not.
    func offer(
        _ recorder: Recorder, window: RateWindow, inFlight: Int, backlog: UInt64, position: UInt64,
        noConnection: NoConnection = NoConnection(), time: UInt64, isLast: Bool = false
    ) {
        guard wanted.exchange(false, ordering: .relaxed) || isLast else { return }
        contents.withLock {
            $0.snapshot.time = time
            $0.snapshot.counts = recorder.counts
            $0.snapshot.inFlight = inFlight
            $0.snapshot.backlog = backlog
            $0.snapshot.position = position
            $0.snapshot.noConnection = noConnection
            $0.snapshot.window = window
            if recorder.counts.failed > 0 { recorder.copyFailures(to: &$0.snapshot.failures) }
            if recorder.counts.notSent > 0 { recorder.copyNotSent(to: &$0.snapshot.notSent) }
            // They are due, and were not taken.
            if time >= window.from { $0.snapshot.window.noteDue(count: backlog) }
            // Not yet taken: the worker keeps what has come since for the next time.
            if !$0.isFresh {
                recorder.handOver(&$0.totals)
            } else if isLast {
                var rest = TotalLatencies()
                recorder.handOver(&rest)
                $0.totals.add(rest)
            }
            $0.isFresh = true
        }
    }
}

import Synchronization

/// What a worker shows of itself while it runs.
public struct WorkerSnapshot: Sendable {
    /// When it was taken, ns of the worker's clock; 0 before the first.
    public var time: UInt64 = 0
    public var counts = PushCounts()
    public var inFlight = 0
    /// Open loop: pushes due and not on a stream.
    public var backlog: UInt64 = 0
    /// All latencies so far, intended time to answer.
    public var total = LatencyHistogram()

    public init() {}
}

/// Hands snapshots from one worker to whoever shows progress. The worker copies only when it was asked.
public final class SnapshotBox: Sendable {
    private let wanted = Atomic<Bool>(false)
    private let value = Mutex(WorkerSnapshot())

    public init() {}

    /// The last snapshot; asks for the next.
    public func read() -> WorkerSnapshot {
        let snapshot = value.withLock { $0 }
        wanted.store(true, ordering: .relaxed)
        return snapshot
    }

    /// Called by the worker, often.
    public func offer(_ recorder: Recorder, inFlight: Int, backlog: UInt64, time: UInt64) {
        guard wanted.exchange(false, ordering: .relaxed) else { return }
        value.withLock {
            $0.time = time
            $0.counts = recorder.counts
            $0.inFlight = inFlight
            $0.backlog = backlog
            $0.total = recorder[.total]
        }
    }
}

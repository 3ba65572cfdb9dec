/// The pushes of one worker among several: those whose number leaves the same rest.
public struct WorkerShare: Sendable, Equatable {
    public let worker: UInt64
    public let workers: UInt64

    public init(worker: Int, workers: Int) {
        self.worker = UInt64(worker)
        self.workers = UInt64(workers)
    }

    /// The run's number of this worker's push `index`.
    @inlinable
    @inline(__always)
    public func sequence(_ index: UInt64) -> UInt64 { index &* workers &+ worker }

    /// How many of `total` pushes are this worker's.
    public func count(of total: UInt64) -> UInt64 {
        total > worker ? (total - worker - 1) / workers + 1 : 0
    }
}

/// When each push is due. A pure value: asked for push i, it always says the same.
public enum ArrivalSchedule: Sendable, Equatable {
    /// Closed loop: a push is due when a stream is free for it.
    case asFastAsPossible
    /// Open loop: push i is due i / rate seconds after the start, whatever the answers do.
    case constant(perSecond: Double)

    /// Due time of push `index` in nanoseconds after the start; nil in closed loop. Errors do not add up: each is within
    /// 1 ns of exact for indexes below 2^53.
    @inlinable
    @inline(__always)
    public func dueOffset(_ index: UInt64) -> UInt64? {
        switch self {
        case .asFastAsPossible: nil
        case .constant(let rate): Self.offset(index, rate)
        }
    }

    /// Whole seconds and the rest apart, so that a long run keeps nanoseconds.
    @inlinable
    static func offset(_ index: UInt64, _ rate: Double) -> UInt64 {
        let position = Double(index)
        let seconds = (position / rate).rounded(.down)
        let rest = position.addingProduct(-seconds, rate)
        return UInt64(seconds) &* 1_000_000_000 &+ UInt64(max(0, rest / rate * 1e9).rounded())
    }

    /// How many pushes are due within the first `duration` nanoseconds; nil in closed loop.
    public func count(within duration: UInt64) -> UInt64? {
        guard case .constant(let rate) = self else { return nil }
        var guess = UInt64(Double(duration) / 1e9 * rate)
        while Self.offset(guess, rate) < duration { guess += 1 }
        while guess > 0, Self.offset(guess - 1, rate) >= duration { guess -= 1 }
        return guess
    }
}

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

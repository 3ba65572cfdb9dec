import Glibc
import Synchronization

/// Two moments in the life of one push of every `interval`: at the client when it left and when its answer came, at the mock
/// when it came and when its answer left. Both sides pick the same pushes by their numbers, spread so that no worker or
/// device is preferred. For many threads, without locks; 16 bytes a sample.
public final class PushTimes: Sendable {
    public enum Moment: Int, Sendable {
        case arrival = 0
        case departure = 1
    }

    /// One push in so many, a power of two.
    public let interval: UInt64
    /// Of a mock that serves clients elsewhere, and of those clients: enough for 32 samples a second at 10,000 pushes a second, and
    /// few enough that many workers' files are small.
    public static let sharedInterval: UInt64 = 256
    /// Samples there may be: later pushes are not sampled.
    public static let most = 1 << 20
    private let shift: UInt64
    private let highest = Atomic<Int>(0)
    nonisolated(unsafe) private let times: UnsafeMutablePointer<Atomic<UInt64>>

    /// - Parameters:
    ///   - interval: rounded up to a power of two, at least 2.
    ///   - planned: pushes to come: memory for their samples is taken now, so that a run does not grow by it; for others, and
    ///     where that is not known, as it is used.
    /// - Returns: nil when the address space cannot be had.
    public init?(interval: UInt64, planned: UInt64 = 0) {
        var shift: UInt64 = 1
        while shift < 40, 1 << shift < interval { shift += 1 }
        self.shift = shift
        self.interval = 1 << shift
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let memory = mmap(nil, Self.most * 16, PROT_READ | PROT_WRITE, flags, -1, 0), memory != MAP_FAILED
        else { return nil }
        // Zero pages are valid zero atomics.
        times = memory.assumingMemoryBound(to: Atomic<UInt64>.self)
        let samples = Int(min(planned >> shift, UInt64(Self.most)))
        for place in stride(from: 0, to: samples * 2, by: 4096 / 8) { times[place].store(0, ordering: .relaxed) }
    }

    deinit { munmap(times, Self.most * 16) }

    /// An interval that gives about 65,536 samples of `planned` pushes, but at least 16.
    public static func interval(planned: UInt64?) -> UInt64 { max(16, (planned ?? 1 << 22) / 65_536) }

    /// The sample that push `sequence` is; -1 when it is none.
    @inline(__always)
    public func sample(_ sequence: UInt64) -> Int {
        // One of each block of pushes, by a hash of the block's number.
        let block = sequence >> shift
        let chosen = (block &* 0x9E37_79B9_7F4A_7C15) >> (64 - shift)
        return sequence & (interval - 1) == chosen && block < UInt64(Self.most) ? Int(block) : -1
    }

    /// - Parameters:
    ///   - sample: as `sample(_:)` gave it.
    ///   - time: nanoseconds of the monotonic clock.
    public func note(_ moment: Moment, sample: Int, at time: UInt64) {
        times[sample * 2 + moment.rawValue].store(time, ordering: .relaxed)
        if sample >= highest.load(ordering: .relaxed) { highest.max(sample + 1, ordering: .relaxed) }
    }

    func time(_ moment: Moment, sample: Int) -> UInt64 {
        times[sample * 2 + moment.rawValue].load(ordering: .relaxed)
    }

    /// Samples up to the last one noted, so far.
    var used: Int { highest.load(ordering: .relaxed) }
}

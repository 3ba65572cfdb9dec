import Glibc
import Synchronization

/// When each accepted push of a run was due, by its sequence number: for who learns later what became of it. 8 bytes a push, of
/// address space until they are used. For many threads, without locks.
public final class IntendedTimes: Sendable {
    /// Pushes that it has room for.
    public let capacity: UInt64
    nonisolated(unsafe) private let times: UnsafeMutablePointer<Atomic<UInt64>>

    /// - Returns: nil when the address space cannot be had.
    public init?(capacity: UInt64) {
        let (size, overflow) = Int(clamping: capacity).multipliedReportingOverflow(by: 8)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard !overflow, size > 0, let memory = mmap(nil, size, PROT_READ | PROT_WRITE, flags, -1, 0),
            memory != MAP_FAILED
        else { return nil }
        // Zero pages are valid zero atomics.
        times = memory.assumingMemoryBound(to: Atomic<UInt64>.self)
        self.capacity = capacity
    }

    deinit { munmap(times, Int(capacity) * 8) }

    /// - Parameters:
    ///   - due: nanoseconds of the monotonic clock, below 2^63.
    ///   - isMeasured: it is in no warm-up.
    public func note(_ sequence: UInt64, due: UInt64, isMeasured: Bool = true) {
        guard sequence < capacity else { return }
        times[Int(sequence)].store(isMeasured ? due : due | Self.warmup, ordering: .relaxed)
    }

    /// nil: the push was not accepted.
    public func due(_ sequence: UInt64) -> (time: UInt64, isMeasured: Bool)? {
        guard sequence < capacity else { return nil }
        let due = times[Int(sequence)].load(ordering: .relaxed)
        return due == 0 ? nil : (due & ~Self.warmup, due & Self.warmup == 0)
    }

    private static let warmup: UInt64 = 1 << 63
}

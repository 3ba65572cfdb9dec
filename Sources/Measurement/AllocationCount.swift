#if Jemalloc
    import CJemalloc
#endif

/// Allocations counted by jemalloc (package trait `Jemalloc`, on by default).
public enum AllocationCount {
    /// Allocation requests of the whole process so far; nil when jemalloc is not the allocator.
    ///
    /// Other threads' last few hundred may be missing until they end or call `flushThread`.
    public static func current() -> UInt64? {
        #if Jemalloc
            flushThread()
            // Writing the epoch makes jemalloc add up its counters anew.
            var epoch: UInt64 = 1
            var size = MemoryLayout<UInt64>.size
            guard mallctl("epoch", nil, nil, &epoch, size) == 0 else { return nil }
            var total: UInt64 = 0
            // 4096 is MALLCTL_ARENAS_ALL.
            for name in ["stats.arenas.4096.small.nrequests", "stats.arenas.4096.large.nrequests"] {
                var value: UInt64 = 0
                size = MemoryLayout<UInt64>.size
                guard mallctl(name, &value, &size, nil, 0) == 0 else { return nil }
                total += value
            }
            return total > 0 ? total : nil
        #else
            return nil
        #endif
    }

    /// Hands the calling thread's cached counts over to the process's.
    public static func flushThread() {
        #if Jemalloc
            _ = mallctl("thread.tcache.flush", nil, nil, nil, 0)
        #endif
    }
}

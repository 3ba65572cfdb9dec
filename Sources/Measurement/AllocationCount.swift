#if Jemalloc
    import CJemalloc
#endif

/// Allocations counted by jemalloc (package trait `Jemalloc`, on by default).
public enum AllocationCount {
    /// Allocation requests of the process so far, but for threads that are left out; nil when jemalloc is not the allocator.
    ///
    /// Other threads' last few hundred may be missing until they end or call `flushThread`.
    public static func current() -> UInt64? {
        #if Jemalloc
            flushThread()
            // Writing the epoch makes jemalloc add up its counters anew.
            var epoch: UInt64 = 1
            let size = MemoryLayout<UInt64>.size
            guard mallctl("epoch", nil, nil, &epoch, size) == 0 else { return nil }
            var total: UInt64 = 0
            var leftOut: UInt64 = 0
            for kind in ["small", "large"] {
                // 4096 is MALLCTL_ARENAS_ALL.
                guard let all = requests(4096, kind) else { return nil }
                total += all
                if let uncounted { leftOut += requests(uncounted, kind) ?? 0 }
            }
            return total > leftOut ? total - leftOut : nil
        #else
            return nil
        #endif
    }

    #if Jemalloc
        private static func requests(_ arena: UInt32, _ kind: String) -> UInt64? {
            var value: UInt64 = 0
            var size = MemoryLayout<UInt64>.size
            return mallctl("stats.arenas.\(arena).\(kind).nrequests", &value, &size, nil, 0) == 0 ? value : nil
        }

        /// Where threads allocate that are left out; nil when there is none to be had.
        private static let uncounted: UInt32? = {
            var arena: UInt32 = 0
            var size = MemoryLayout<UInt32>.size
            return mallctl("arenas.create", &arena, &size, nil, 0) == 0 ? arena : nil
        }()
    #endif

    /// What the calling thread allocates from now on does not count.
    public static func leaveThreadOut() {
        #if Jemalloc
            guard var arena = uncounted else { return }
            _ = mallctl("thread.arena", nil, nil, &arena, MemoryLayout<UInt32>.size)
        #endif
    }

    /// Hands the calling thread's cached counts over to the process's.
    public static func flushThread() {
        #if Jemalloc
            _ = mallctl("thread.tcache.flush", nil, nil, nil, 0)
        #endif
    }
}

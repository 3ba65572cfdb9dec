import Glibc

/// CLOCK_MONOTONIC through the vDSO: about 23 ns a reading here (10 million in a loop).
public enum MonotonicClock {
    /// Nanoseconds since an arbitrary point that is the same for all processes of the machine.
    @inlinable
    @inline(__always)
    public static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000 &+ UInt64(truncatingIfNeeded: time.tv_nsec)
    }

    /// Whole seconds since 1970, UTC.
    public static func unixSeconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }

    /// UNIX time, milliseconds.
    public static func unixMilliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

import Glibc

/// What the calling thread had of the processor, and what it missed.
public enum ThreadTime {
    /// CPU time, ns.
    public static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Time it could have run and had no core, ns: the second number of /proc/thread-self/schedstat; nil where the kernel
    /// does not count it.
    package static func runQueueDelay() -> UInt64? {
        guard let file = fopen("/proc/thread-self/schedstat", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        return runQueueDelay(
            schedstat: String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    /// - Parameter schedstat: time on a core (ns), time waiting for one (ns), time slices.
    static func runQueueDelay(schedstat: String) -> UInt64? {
        let numbers = schedstat.split(whereSeparator: \.isWhitespace)
        return numbers.count == 3 ? UInt64(numbers[1]) : nil
    }
}

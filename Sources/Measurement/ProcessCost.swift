import Glibc

/// CPU time and memory of a process, of this user, on this machine.
package struct ProcessCost: Sendable, Equatable {
    /// User and system time of all threads so far, ns.
    package let cpu: UInt64
    /// Most memory resident at once so far, bytes.
    package let peakMemory: UInt64

    /// Reads the figures of `pid`; nil when there is no such process.
    package static func sample(pid: pid_t = getpid()) -> ProcessCost? {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0,
            let memory = peakMemory(pid: pid)
        else { return nil }
        return ProcessCost(cpu: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec), peakMemory: memory)
    }

    /// `VmHWM` of /proc/<pid>/status.
    private static func peakMemory(pid: pid_t) -> UInt64? {
        guard let file = fopen("/proc/\(pid)/status", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            let digits = text.utf8.filter { (48...57).contains($0) }
            return UInt64(String(decoding: Array(digits), as: UTF8.self)).map { $0 * 1024 }
        }
        return nil
    }
}

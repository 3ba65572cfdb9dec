import CEpoll
import Glibc

/// Which cores a process runs on.
public enum CoreAffinity {
    /// The cores that the calling thread may use, ascending.
    public static func allowed() -> [Int] {
        var set = cpu_set_t()
        guard sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else { return [] }
        return withUnsafeBytes(of: &set) { bytes in
            (0..<(bytes.count * 8)).filter { bytes[$0 / 8] & 1 << ($0 % 8) != 0 }
        }
    }

    /// Keeps the calling thread, and the threads and processes it will start, to `cores`.
    ///
    /// - Returns: false when that is not allowed.
    public static func keepThread(to cores: [Int]) -> Bool {
        var set = set(of: cores)
        return sched_setaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0
    }

    private static func set(of cores: [Int]) -> cpu_set_t {
        var set = cpu_set_t()
        withUnsafeMutableBytes(of: &set) { bytes in
            for core in cores where core < bytes.count * 8 { bytes[core / 8] |= 1 << (core % 8) }
        }
        return set
    }

    /// Keeps all threads that process `pid` has now, and all threads and processes these will start, to `cores`.
    ///
    /// - Returns: false when that is not allowed, or there is no such process.
    @discardableResult
    public static func keep(pid: pid_t, to cores: [Int]) -> Bool {
        var set = set(of: cores)
        guard let folder = opendir("/proc/\(pid)/task") else { return false }
        defer { closedir(folder) }
        var isKept = false
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let thread = pid_t(name) else { continue }
            if sched_setaffinity(thread, MemoryLayout<cpu_set_t>.size, &set) == 0 { isKept = true }
        }
        return isKept
    }
}

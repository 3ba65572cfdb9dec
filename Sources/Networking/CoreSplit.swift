import CEpoll
import Glibc

/// Cores for client and mock, none for both, so that they do not wander into each other's way: who shares a
/// core with whom, and for how long, is most of the noise of CPU time a push.
public struct CoreSplit: Sendable, Equatable {
    /// Core numbers.
    public let client: [Int]
    public let mock: [Int]

    /// As many cores as each side has threads, or halves of what there is; nil with fewer than two.
    public init?(client: Int, mock: Int) { self.init(cores: Self.allowed(), client: client, mock: mock) }

    init?(cores: [Int], client: Int, mock: Int) {
        guard cores.count > 1, client > 0, mock > 0 else { return nil }
        let isEnough = client + mock <= cores.count
        let place = isEnough ? mock : cores.count / 2
        self.mock = Array(cores[..<place])
        self.client = Array(cores[place..<(isEnough ? place + client : cores.count)])
    }

    /// The cores that the calling thread may use, ascending.
    static func allowed() -> [Int] {
        var set = cpu_set_t()
        guard sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else { return [] }
        return withUnsafeBytes(of: &set) { bytes in
            (0..<(bytes.count * 8)).filter { bytes[$0 / 8] & 1 << ($0 % 8) != 0 }
        }
    }

    /// Keeps all threads that process `pid` has now, and those they will start, to `cores`.
    ///
    /// - Returns: false when that is not allowed, or there is no such process.
    @discardableResult
    public static func keep(pid: pid_t, to cores: [Int]) -> Bool {
        var set = cpu_set_t()
        withUnsafeMutableBytes(of: &set) { bytes in
            for core in cores where core < bytes.count * 8 { bytes[core / 8] |= 1 << (core % 8) }
        }
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

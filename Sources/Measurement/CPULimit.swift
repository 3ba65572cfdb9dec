import Foundation

/// How often a container's CPU limit (cgroup version 1 or 2) stopped its processes: `nr_periods`, `nr_throttled` and the time of `cpu.stat`.
package struct CPULimit: Sendable, Equatable {
    /// Periods in which the limit was counted, and of these those in which it was reached.
    package var periods: UInt64
    package var throttled: UInt64
    /// How long threads were kept from running, of all cores, nanoseconds.
    package var time: UInt64

    package init(periods: UInt64, throttled: UInt64, time: UInt64) {
        (self.periods, self.throttled, self.time) = (periods, throttled, time)
    }

    /// - Parameter text: of a `cpu.stat`; nil without both counts.
    package init?(stat text: String) {
        var values: [Substring: UInt64] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, let value = UInt64(words[1]) { values[words[0]] = value }
        }
        guard let periods = values["nr_periods"], let throttled = values["nr_throttled"] else { return nil }
        // Version 1 has nanoseconds, version 2 microseconds.
        let time =
            values["throttled_time"]
            ?? values["throttled_usec"].map { $0.multipliedReportingOverflow(by: 1000).partialValue }
        self.init(periods: periods, throttled: throttled, time: time ?? 0)
    }

    /// What happened since `earlier`.
    package func since(_ earlier: CPULimit) -> CPULimit {
        .init(
            periods: periods - min(periods, earlier.periods), throttled: throttled - min(throttled, earlier.throttled),
            time: time - min(time, earlier.time))
    }

    /// The group of this process and those above it, each of which may have a limit, by path.
    ///
    /// - Parameters:
    ///   - membership: the text of `/proc/self/cgroup`; nil: that of this process.
    ///   - root: where control groups are mounted.
    package static func sample(
        membership: String? = nil, root: String = "/sys/fs/cgroup"
    ) -> [String: CPULimit] {
        var found: [String: CPULimit] = [:]
        for line in (membership ?? text(of: "/proc/self/cgroup") ?? "").split(separator: "\n") {
            // 5:cpu,cpuacct:/path, or 0::/path of version 2.
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let isUnified = parts[1].isEmpty
            guard isUnified || parts[1].split(separator: ",").contains("cpu") else { continue }
            let mounts = isUnified ? [root, root + "/unified"] : ["\(root)/\(parts[1])", root + "/cpu"]
            for mount in mounts {
                // A container sees its own group at the root, whatever the path is outside.
                var path = parts[2].hasSuffix("/") ? parts[2].dropLast() : parts[2]
                while true {
                    let file = "\(mount)\(path)/cpu.stat"
                    if found[file] == nil, let limit = text(of: file).flatMap({ CPULimit(stat: $0) }) {
                        found[file] = limit
                    }
                    guard let slash = path.lastIndex(of: "/") else { break }
                    path = path[..<slash]
                }
            }
        }
        return found
    }

    /// Of several groups the one that was stopped most since `earlier`; nil where none has a limit.
    package static func most(_ now: [String: CPULimit], since earlier: [String: CPULimit]) -> CPULimit? {
        now.compactMap { path, limit in earlier[path].map { limit.since($0) } }.filter { $0.periods > 0 }
            .max { ($0.throttled, $0.periods) < ($1.throttled, $1.periods) }
    }

    private static func text(of path: String) -> String? {
        (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { $0.utf8.count < 100_000 ? $0 : nil }
    }
}

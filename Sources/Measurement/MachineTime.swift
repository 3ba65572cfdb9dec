import Glibc

/// The machine's CPU time since it was started, from /proc/stat, in ticks.
package struct MachineTime: Sendable {
    private let total: UInt64
    private let steal: UInt64

    package static func sample() -> MachineTime {
        guard let file = fopen("/proc/stat", "r") else { return MachineTime(total: 0, steal: 0) }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        guard fgets(&line, Int32(line.count), file) != nil else { return MachineTime(total: 0, steal: 0) }
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        // cpu user nice system idle iowait irq softirq steal
        let numbers = text.split(separator: " ").dropFirst().prefix(8).compactMap { UInt64($0) }
        return MachineTime(total: numbers.reduce(0, +), steal: numbers.count == 8 ? numbers[7] : 0)
    }

    /// The share of all CPU time since `earlier` that the hypervisor gave to others, 0 to 1.
    package func stealShare(since earlier: MachineTime) -> Double {
        total > earlier.total ? Double(steal - min(steal, earlier.steal)) / Double(total - earlier.total) : 0
    }
}

import CEpoll
import Foundation
import Glibc

/// Short times in the processor's own counter: about 9 ns a reading here, where `MonotonicClock` takes 23. For differences
/// within a thread only; where the counter cannot be trusted it is the monotonic clock.
public struct CycleClock: Sendable {
    /// Nanoseconds of one count; 0 when the monotonic clock is used.
    private let nanosecondsPerCycle: Double
    @usableFromInline let usesCounter: Bool

    /// Measured once a process, over 5 ms against the monotonic clock.
    public static let shared = CycleClock()

    private init() {
        // The kernel uses the counter itself when it is constant and the same on all cores.
        let source =
            (try? String(
                contentsOfFile: "/sys/devices/system/clocksource/clocksource0/current_clocksource", encoding: .utf8))
            ?? ""
        let isTrusted = source.hasPrefix("tsc") || source.hasPrefix("kvm-clock") || source.hasPrefix("arch_sys_counter")
        guard isTrusted, pushload_cycles() != 0 else {
            nanosecondsPerCycle = 0
            usesCounter = false
            return
        }
        let (cycles, time) = (pushload_cycles(), MonotonicClock.now())
        var end = time
        while end - time < 5_000_000 { end = MonotonicClock.now() }
        let counted = pushload_cycles() &- cycles
        nanosecondsPerCycle = counted > 0 ? Double(end - time) / Double(counted) : 0
        usesCounter = nanosecondsPerCycle > 0
    }

    /// A reading, of use only to `nanoseconds`.
    @inlinable
    @inline(__always)
    public func now() -> UInt64 { usesCounter ? pushload_cycles() : MonotonicClock.now() }

    /// The time between two readings.
    @inline(__always)
    public func nanoseconds(from begin: UInt64, to end: UInt64) -> UInt64 {
        guard end > begin else { return 1 }
        return usesCounter ? UInt64(Double(end &- begin) * nanosecondsPerCycle) | 1 : end &- begin
    }
}

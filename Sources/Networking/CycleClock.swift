import CEpoll
import Foundation
import Glibc

/// Short times in the processor's own counter: about 9 ns a reading here, where `MonotonicClock` takes 23. For differences
/// within a thread only; where the counter cannot be trusted it is the monotonic clock.
public struct CycleClock: Sendable {
    /// Nanoseconds of one count; 0 when the monotonic clock is used.
    private let nanosecondsPerCycle: Double
    @usableFromInline let usesCounter: Bool

    /// Measured once a process, over 5 ms and more against the monotonic clock.
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
        let begin = Self.reading()
        // Asleep: a process that sends little should not spend more on its clock.
        while MonotonicClock.now() - begin.time < 5_000_000 { usleep(5000) }
        let end = Self.reading()
        let cost = Double(end.time - begin.time) / Double(end.cycles &- begin.cycles)
        // What counts otherwise, or went back, is no clock: counters of 10 MHz to 10 GHz there are.
        usesCounter = (0.1...100).contains(cost)
        nanosecondsPerCycle = usesCounter ? cost : 0
    }

    /// Both clocks at one moment. A thread that has to leave its core between two readings would spoil every time there is: of
    /// several pairs the one counts that took the least.
    private static func reading() -> (cycles: UInt64, time: UInt64) {
        var best: (cycles: UInt64, time: UInt64) = (0, 0)
        var least = UInt64.max
        for _ in 0..<16 {
            let before = MonotonicClock.now()
            let cycles = pushload_cycles()
            let after = MonotonicClock.now()
            guard after - before < least else { continue }
            least = after - before
            best = (cycles, before + least / 2)
        }
        return best
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

import Foundation

/// How far a worker's clock is off the one that gave the start, from four times as NTP has them (RFC 5905 section 8): the worker wrote
/// a beat (t1), the other saw it (t2) and wrote the start (t3), the worker read that (t4).
struct WorkerClock: Sendable, Equatable {
    /// To be added to the worker's own time, seconds.
    let offset: Double
    /// The offset is right to within this, seconds: half of what both ways took.
    let bound: Double

    init(t1: Double, t2: Double, t3: Double, t4: Double) {
        offset = ((t2 - t1) + (t3 - t4)) / 2
        bound = max(0, ((t2 - t1) + (t4 - t3)) / 2)
    }

    /// The clocks are certain to differ: clocks that are kept right are closer than files travel.
    var isOff: Bool { abs(offset) > bound }

    /// The same moment by the worker's own clock.
    func own(_ time: Double) -> Double { isOff ? time - offset : time }

    /// Seconds since 1970.
    static func now() -> Double { Date().timeIntervalSince1970 }
}

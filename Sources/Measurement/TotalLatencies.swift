/// Latencies from the intended send time, apart by how pushes ended. Nanoseconds.
///
/// 270 KB, and as much again for each of `rejected`, `unanswered` and `warmup` from their first push on.
public struct TotalLatencies: Sendable {
    /// Measured pushes, answered with status 200.
    public private(set) var accepted = LatencyHistogram()
    /// Measured pushes, answered with another status.
    public private(set) var rejected: LatencyHistogram?
    /// Measured pushes without an answer: how long each had been waited for when it was given up.
    public private(set) var unanswered: LatencyHistogram?
    /// Answered pushes of the warm-up.
    public private(set) var warmup: LatencyHistogram?

    public init() {}

    mutating func accepted(_ times: UnsafeBufferPointer<UInt64>) { accepted.record(times) }

    mutating func rejected(_ time: UInt64) {
        if rejected == nil { rejected = LatencyHistogram() }
        rejected!.record(time)
    }

    mutating func unanswered(_ time: UInt64, count: UInt64) {
        if unanswered == nil { unanswered = LatencyHistogram() }
        unanswered!.record(time, count: count)
    }

    mutating func warmup(_ time: UInt64) {
        if warmup == nil { warmup = LatencyHistogram() }
        warmup!.record(time)
    }

    public mutating func add(_ other: TotalLatencies) {
        if other.accepted.count > 0 { accepted.add(other.accepted) }
        Self.add(other.rejected, to: &rejected)
        Self.add(other.unanswered, to: &unanswered)
        Self.add(other.warmup, to: &warmup)
    }

    private static func add(_ other: LatencyHistogram?, to histogram: inout LatencyHistogram?) {
        guard let other, other.count > 0 else { return }
        if histogram == nil { histogram = other } else { histogram!.add(other) }
    }

    /// Forgets everything; the memory stays.
    public mutating func removeAll() {
        accepted.removeAll()
        rejected?.removeAll()
        unanswered?.removeAll()
        warmup?.removeAll()
    }

    /// Measured pushes that were answered.
    public var answered: LatencyHistogram {
        guard let rejected, rejected.count > 0 else { return accepted }
        var all = accepted
        all.add(rejected)
        return all
    }

    /// Every measured push.
    public var all: CensoredHistogram {
        CensoredHistogram(answered: answered, unanswered: unanswered ?? .empty)
    }

    /// Every answered push, the warm-up's too.
    public var everyAnswer: LatencyHistogram {
        guard let warmup, warmup.count > 0 else { return answered }
        var all = answered
        all.add(warmup)
        return all
    }
}


/// One worker's measurements. Only the worker's thread records; another thread reads snapshots.
///
/// Cost a push: five histogram records of about 3 ns and a few counters; no allocation, no lock. A snapshot is taken when
/// it was asked for, at the worker's next tick.
public final class Recorder {
    public private(set) var counts = PushCounts()
    public private(set) var encode = LatencyHistogram()
    public private(set) var sign = LatencyHistogram()
    public private(set) var queue = LatencyHistogram()
    public private(set) var roundTrip = LatencyHistogram()
    public private(set) var total = LatencyHistogram()
    /// By failure cause; the caller's numbering.
    public private(set) var failures: [UInt64]
    /// By HTTP status.
    public private(set) var statuses = [UInt64](repeating: 0, count: 1000)
    /// By reason text, at most `reasonLimit` different ones; the rest count as `otherReason`.
    public private(set) var reasons: [String: UInt64] = [:]

    /// Most reasons told apart: Apple names 31.
    public static let reasonLimit = 64
    public static let otherReason = "(other)"
    public static let noReason = "(none)"

    /// - Parameter causes: how many failure causes there are.
    public init(causes: Int) { failures = [UInt64](repeating: 0, count: causes) }

    @inline(__always)
    public func take() { counts.taken &+= 1 }

    @inline(__always)
    public func composed(sign signTime: UInt64, encode encodeTime: UInt64) {
        sign.record(signTime)
        encode.record(encodeTime)
    }

    @inline(__always)
    public func written(queue time: UInt64) {
        counts.sent &+= 1
        queue.record(time)
    }

    public func accepted(roundTrip trip: UInt64, total time: UInt64) {
        counts.accepted &+= 1
        statuses[200] &+= 1
        roundTrip.record(trip)
        total.record(time)
    }

    public func rejected(status: Int, reason: UnsafeBufferPointer<UInt8>, roundTrip trip: UInt64, total time: UInt64) {
        counts.rejected &+= 1
        statuses[min(max(status, 0), 999)] &+= 1
        roundTrip.record(trip)
        total.record(time)
        let name = reason.isEmpty ? Self.noReason : String(decoding: reason, as: UTF8.self)
        if reasons[name] != nil || reasons.count < Self.reasonLimit {
            reasons[name, default: 0] += 1
        } else {
            reasons[Self.otherReason, default: 0] += 1
        }
    }

    public func failed(cause: Int) {
        counts.failed &+= 1
        failures[cause] &+= 1
    }

    public func retried() { counts.retried &+= 1 }
}

/// What several workers measured, added up.
public struct MergedMeasurements: Sendable {
    public private(set) var counts = PushCounts()
    public private(set) var histograms: [LatencyHistogram] = Stage.allCases.map { _ in LatencyHistogram() }
    public private(set) var failures: [UInt64]
    public private(set) var statuses = [UInt64](repeating: 0, count: 1000)
    public private(set) var reasons: [String: UInt64] = [:]

    public init(causes: Int) { failures = [UInt64](repeating: 0, count: causes) }

    public mutating func add(_ recorder: Recorder) {
        counts.add(recorder.counts)
        histograms[Stage.encode.rawValue].add(recorder.encode)
        histograms[Stage.sign.rawValue].add(recorder.sign)
        histograms[Stage.queue.rawValue].add(recorder.queue)
        histograms[Stage.roundTrip.rawValue].add(recorder.roundTrip)
        histograms[Stage.total.rawValue].add(recorder.total)
        for index in failures.indices { failures[index] += recorder.failures[index] }
        for index in statuses.indices { statuses[index] += recorder.statuses[index] }
        for (name, count) in recorder.reasons { reasons[name, default: 0] += count }
    }

    /// Pushes that were never taken from the plan fail with `cause`.
    public mutating func addFailures(_ count: UInt64, cause: Int) {
        counts.failed += count
        failures[cause] += count
    }

    public subscript(stage: Stage) -> LatencyHistogram { histograms[stage.rawValue] }
}

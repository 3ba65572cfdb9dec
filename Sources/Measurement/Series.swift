/// One interval of a run, usually a second.
public struct SeriesPoint: Sendable, Equatable {
    /// The interval's end, seconds since the start.
    public var time: Double
    /// Pushes handed to the kernel, and ended one way or the other, within the interval.
    public var sent: UInt64
    public var accepted: UInt64
    public var rejected: UInt64
    public var failed: UInt64
    /// Never begun.
    public var notSent: UInt64
    /// Open streams at its end.
    public var inFlight: Int
    /// Open loop: pushes due and not on a stream, at its end.
    public var backlog: UInt64
    /// Intended time to answer of the measured answers within it, ns; 0 when there were none.
    public var p50: UInt64
    public var p99: UInt64
}

/// Turns snapshots of all workers, one after the other, into a series.
public struct SeriesBuilder: Sendable {
    public private(set) var points: [SeriesPoint] = []
    /// The total latencies of each interval, as a log has them.
    public private(set) var intervals: [HistogramLog.Interval] = []
    private var last = PushCounts()

    public init() {}

    /// Adds the interval since the last call, with the latencies in it.
    public mutating func add(time: Double, counts: PushCounts, inFlight: Int, backlog: UInt64, totals: TotalLatencies) {
        let recent = totals.answered
        let start = points.last?.time ?? 0
        for (tag, histogram) in [("total", recent), ("unanswered", totals.unanswered ?? LatencyHistogram())]
        where histogram.count > 0 {
            intervals.append(.init(start: start, length: max(0, time - start), tag: tag, histogram: histogram))
        }
        points.append(
            SeriesPoint(
                time: time, sent: counts.sent - last.sent, accepted: counts.accepted - last.accepted,
                rejected: counts.rejected - last.rejected, failed: counts.failed - last.failed,
                notSent: counts.notSent - last.notSent, inFlight: inFlight,
                backlog: backlog,
                p50: recent.value(atPercentile: 50), p99: recent.value(atPercentile: 99)))
        last = counts
    }
}

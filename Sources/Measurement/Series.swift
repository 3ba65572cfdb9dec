/// One interval of a run, as its result has it too: a step of the run's watcher (about 100 ms), the rest of one at the end, or
/// several merged.
public struct SeriesPoint: Codable, Sendable, Equatable {
    /// The interval's end, seconds since the start.
    public var time: Double
    /// Pushes handed to the kernel, and ended one way or the other, within the interval.
    public var sent: UInt64
    public var accepted: UInt64
    public var rejected: UInt64
    public var failed: UInt64
    /// Never begun.
    public var notSent: UInt64
    /// Open streams at its end; of merged intervals the most.
    public var inFlight: Int
    /// Open loop: pushes due and not on a stream, likewise.
    public var backlog: UInt64
    /// Intended time to answer of the measured answers within it, ns; 0 when there were none. Of merged intervals the largest
    /// of each: of the worst among them.
    public var p50: UInt64
    public var p99: UInt64

    enum CodingKeys: String, CodingKey {
        case sent, accepted, rejected, failed, backlog
        case time = "t"
        case notSent = "not_sent"
        case inFlight = "in_flight"
        case p50 = "p50_ns"
        case p99 = "p99_ns"
    }

    public init(
        time: Double, sent: UInt64, accepted: UInt64, rejected: UInt64, failed: UInt64, notSent: UInt64, inFlight: Int,
        backlog: UInt64, p50: UInt64, p99: UInt64
    ) {
        self.time = time
        self.sent = sent
        self.accepted = accepted
        self.rejected = rejected
        self.failed = failed
        self.notSent = notSent
        self.inFlight = inFlight
        self.backlog = backlog
        self.p50 = p50
        self.p99 = p99
    }

    /// Neighbours as one, `size` (1 or more) at a time; at the end there may be fewer.
    public static func merged(_ points: [SeriesPoint], by size: Int) -> [SeriesPoint] {
        stride(from: 0, to: points.count, by: size).map { first in
            var merged = points[first]
            for next in points[(first + 1)..<min(first + size, points.count)] { merged.merge(next) }
            return merged
        }
    }

    /// Adds the interval that follows.
    public mutating func merge(_ next: SeriesPoint) {
        time = next.time
        sent &+= next.sent
        accepted &+= next.accepted
        rejected &+= next.rejected
        failed &+= next.failed
        notSent &+= next.notSent
        inFlight = max(inFlight, next.inFlight)
        backlog = max(backlog, next.backlog)
        p50 = max(p50, next.p50)
        p99 = max(p99, next.p99)
    }
}

/// Turns snapshots of all workers, one after the other, into a series of bounded length: when it is full, neighbours are
/// merged in pairs, and from then on each point takes twice as many intervals.
public struct SeriesBuilder: Sendable {
    /// Points there may be. Of intervals of 100 ms: each to itself for 102 s; of a week each point has 8,192 of them.
    public static let most = 1024

    public private(set) var points: [SeriesPoint] = []
    /// Intervals each point takes, a power of two, and how many the last one has.
    private var width = 1
    private var filled = 0
    private var last = PushCounts()
    private let most: Int

    public init() { self.init(most: Self.most) }

    /// - Parameter most: points there may be, an even number.
    init(most: Int) { self.most = most }

    /// Adds the interval since the last call.
    ///
    /// - Parameters:
    ///   - time: its end, seconds since the start; one before the last point's counts as that.
    ///   - counts: since the start.
    ///   - totals: total latencies within it.
    public mutating func add(time: Double, counts: PushCounts, inFlight: Int, backlog: UInt64, totals: TotalLatencies) {
        let answered = totals.answered
        let next = SeriesPoint(
            time: max(time, points.last?.time ?? 0), sent: counts.sent - last.sent,
            accepted: counts.accepted - last.accepted, rejected: counts.rejected - last.rejected,
            failed: counts.failed - last.failed, notSent: counts.notSent - last.notSent, inFlight: inFlight,
            backlog: backlog, p50: answered.value(atPercentile: 50), p99: answered.value(atPercentile: 99))
        last = counts
        if filled > 0, filled < width {
            points[points.count - 1].merge(next)
            filled += 1
            return
        }
        if points.count == most {
            points = points(atMost: most / 2)
            width *= 2
        }
        points.append(next)
        filled = 1
    }

    /// The points with neighbours merged in pairs, fours and so on, until there are at most so many.
    public func points(atMost limit: Int) -> [SeriesPoint] {
        var size = 1
        while (points.count + size - 1) / size > limit { size *= 2 }
        return SeriesPoint.merged(points, by: size)
    }
}

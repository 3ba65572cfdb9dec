/// Latencies of which some are only known from below: a push that never got its answer was waited for so long, and would have
/// taken longer. It counts as longer than every answer, so that figures do not improve as a server gets worse.
public struct CensoredHistogram: Sendable {
    /// Latencies of the pushes that were answered.
    public var answered: LatencyHistogram
    /// Of those that were not: how long each had been waited for when it was given up.
    public var unanswered: LatencyHistogram

    package init(answered: LatencyHistogram = LatencyHistogram(), unanswered: LatencyHistogram = LatencyHistogram()) {
        self.answered = answered
        self.unanswered = unanswered
    }

    /// A figure that is either known, or only known to be larger than `value`.
    public struct Figure: Sendable, Equatable {
        /// Nanoseconds.
        public let value: UInt64
        package let isCensored: Bool
    }

    /// All pushes.
    public var count: UInt64 { answered.count &+ unanswered.count }

    /// All together, as if each unanswered push had been answered when it was given up, and no sooner than the last of those that
    /// were: what it says of those is a bound.
    package var lowerBound: LatencyHistogram {
        guard answered.count > 0 else { return unanswered }
        var all = answered
        let longest = answered.value(atPercentile: 100)
        if unanswered.value(atPercentile: 0) >= longest {
            all.add(unanswered)
            return all
        }
        for (value, count) in unanswered.counters { all.record(max(value, longest), count: count) }
        return all
    }

    public mutating func add(_ other: CensoredHistogram) {
        answered.add(other.answered)
        unanswered.add(other.unanswered)
    }

    /// What was recorded since `earlier`, a copy of this one.
    public func since(_ earlier: CensoredHistogram) -> CensoredHistogram {
        CensoredHistogram(
            answered: answered.since(earlier.answered), unanswered: unanswered.since(earlier.unanswered))
    }

    /// What `percentile` (0…100) of the pushes were answered within: the answer's latency where so many were answered, else
    /// censored, with the largest value that is certain.
    public func value(atPercentile percentile: Double) -> Figure {
        if unanswered.count == 0 { return Figure(value: answered.value(atPercentile: percentile), isCensored: false) }
        return figure(percentile, lowerBound)
    }

    private func figure(_ percentile: Double, _ all: LatencyHistogram) -> Figure {
        let rank = max(1, (percentile / 100 * Double(count) - 1e-9).rounded(.up))
        let known = Double(answered.count)
        // The same rank among the answered ones; half a record lower, so that rounding does not take the next.
        if rank <= known {
            return Figure(value: answered.value(atPercentile: (rank - 0.5) / known * 100), isCensored: false)
        }
        return Figure(value: all.value(atPercentile: (rank - 0.5) / Double(count) * 100), isCensored: true)
    }

    /// The figures of results: each with whether it is censored.
    package var summary: CensoredSummary {
        guard unanswered.count > 0 else { return CensoredSummary(figures: answered.summary) }
        let all = lowerBound
        var figures = all.summary
        var censored: Set<String> = ["mean", "max"]
        func take(_ name: String, _ figure: Figure) -> UInt64 {
            if figure.isCensored { censored.insert(name) }
            return figure.value
        }
        figures.p50 = take("p50", figure(50, all))
        figures.p90 = take("p90", figure(90, all))
        figures.p99 = take("p99", figure(99, all))
        figures.p999 = take("p99_9", figure(99.9, all))
        if answered.count > 0 { figures.min = answered.summary.min } else { censored.insert("min") }
        return CensoredSummary(figures: figures, unanswered: unanswered.count, censored: censored)
    }
}

/// A summary, and which of its figures are only known to be larger than what stands there.
public struct CensoredSummary: Sendable, Equatable {
    package var figures: LatencySummary
    /// Those of `figures.count` that got no answer.
    public var unanswered: UInt64 = 0
    /// Names as results spell them: `min`, `mean`, `p50`, `p90`, `p99`, `p99_9`, `max`.
    package var censored: Set<String> = []
}

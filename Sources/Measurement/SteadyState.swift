/// Finds the end of the warm-up: rate and latency have stopped changing.
///
/// Looks at two adjacent windows of half a second. Steady is when their rates differ by at most 5 % and their median
/// latencies by at most 10 % (or 50 µs), three looks in a row.
public struct SteadyState: Sendable {
    /// One look: nanoseconds since the start, pushes ended so far, all total latencies so far.
    private struct Look {
        let time: UInt64
        let ended: UInt64
        let total: LatencyHistogram
    }

    private static let window: UInt64 = 500_000_000
    /// Between looks at least, nanoseconds.
    static let pause: UInt64 = 100_000_000
    private static let agreeingLooks = 3
    private static let rateTolerance = 0.05
    private static let latencyTolerance = 0.10
    private static let latencyFloor = 50_000.0

    private var looks: [Look] = []
    private var agreeing = 0

    public init() {}

    /// - Returns: true once steady.
    public mutating func look(at time: UInt64, ended: UInt64, total: LatencyHistogram) -> Bool {
        if let last = looks.last, time < last.time + Self.pause { return agreeing >= Self.agreeingLooks }
        looks.append(Look(time: time, ended: ended, total: total))
        let newest = looks[looks.count - 1]
        guard let middle = looks.last(where: { $0.time + Self.window <= newest.time }),
            let oldest = looks.last(where: { $0.time + Self.window <= middle.time })
        else { return false }
        looks.removeAll { $0.time < oldest.time }
        agreeing = Self.agree(Self.figures(oldest, middle), Self.figures(middle, newest)) ? agreeing + 1 : 0
        return agreeing >= Self.agreeingLooks
    }

    private static func figures(_ from: Look, _ to: Look) -> (rate: Double, median: Double) {
        let rate = Double(to.ended - from.ended) / Double(to.time - from.time)
        return (rate, Double(to.total.percentilesSince(from.total).p50))
    }

    private static func agree(_ a: (rate: Double, median: Double), _ b: (rate: Double, median: Double)) -> Bool {
        guard a.rate > 0, b.rate > 0 else { return false }
        return abs(a.rate - b.rate) <= rateTolerance * max(a.rate, b.rate)
            && abs(a.median - b.median) <= max(latencyFloor, latencyTolerance * max(a.median, b.median))
    }
}

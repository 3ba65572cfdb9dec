/// What a fan-out's echo follows from: H(t), the requests that a push causes within t, as a sample of devices made them.
///
/// Of D pushes at equal distances over T the backend gets r(t) = D / T × (H(t) − H(t − T)) requests a second at time t after the first.
/// Those between t and t + w are D / T times the sum, over the delays a of the sample's requests, of what [a, a + T] has in common with
/// [t, t + w], over the number of devices: linear between a − w, a, a + T − w and a + T, so that the most of it is found exactly by
/// going through these. Times are nanoseconds.
struct EchoResponse {
    /// Each once, ascending, and how many requests have it.
    private let delays: [Double]
    private let counts: [Double]
    let devices: Int

    init(_ delays: some Sequence<UInt64>, devices: Int) {
        var (distinct, counts): ([Double], [Double]) = ([], [])
        for delay in delays.sorted().lazy.map({ Double($0) }) {
            if distinct.last == delay {
                counts[counts.count - 1] += 1
            } else {
                distinct.append(delay)
                counts.append(1)
            }
        }
        (self.delays, self.counts, self.devices) = (distinct, counts, max(1, devices))
    }

    /// H(t), requests a push; of all at `.infinity`.
    func perPush(within time: Double) -> Double {
        zip(delays, counts).reduce(0) { $0 + ($1.0 <= time ? $1.1 : 0) } / Double(devices)
    }

    /// Requests of a push by `time` after the first of many that are sent over `spread`.
    func perPush(by time: Double, spread: Double) -> Double {
        let spread = max(spread, 1)
        let sum = zip(delays, counts).reduce(0) { $0 + min(max(time - $1.0, 0), spread) * $1.1 }
        return sum / spread / Double(devices)
    }

    /// What a request with this delay has of [after, after + window]: 0 to the shorter of spread and window.
    static func overlap(_ delay: Double, spread: Double, window: Double, after: Double) -> Double {
        max(0, min(delay + spread, after + window) - max(delay, after))
    }

    /// The busiest window: how many requests a push causes in it on average, and when it begins after the first push, the first of
    /// several such.
    func busiest(spread: Double, window: Double) -> (perPush: Double, after: Double) {
        let (spread, window) = (max(spread, 1), max(window, 1))
        let height = min(spread, window)
        // Where a request's part of the window begins to grow, is whole, begins to shrink, and is none.
        let bends = [(-window, 1.0), (height - window, -1), (spread - height, -1), (spread, 1)]
        var (sum, slope, now) = (0.0, 0.0, 0.0)
        var places = [0, 0, 0, 0]
        for (delay, count) in zip(delays, counts) {
            sum += Self.overlap(delay, spread: spread, window: window, after: 0) * count
            for (bend, (offset, change)) in bends.enumerated() where delay + offset <= 0 {
                slope += change * count
                places[bend] += 1
            }
        }
        var (most, after) = (sum, 0.0)
        // Once the last is whole it grows no more.
        while places[1] < delays.count {
            var next = Double.infinity
            for bend in 0..<4 where places[bend] < delays.count {
                next = min(next, delays[places[bend]] + bends[bend].0)
            }
            sum += slope * (next - now)
            now = next
            if sum > most * (1 + 1e-12) { (most, after) = (sum, now) }
            for bend in 0..<4 {
                while places[bend] < delays.count, delays[places[bend]] + bends[bend].0 <= now {
                    slope += bends[bend].1 * counts[places[bend]]
                    places[bend] += 1
                }
            }
        }
        return (most / spread / Double(devices), after)
    }

    /// The most requests within a second of a fan-out.
    func peak(pushes: Double, spread: Double) -> Double {
        pushes * busiest(spread: spread, window: Self.second).perPush
    }

    static let second = 1e9

    /// The shortest time from `spread` on, over which pushes must be spread for the peak to be what `holds` takes; nil: none up to
    /// `longest`. Exact to a ten-thousandth.
    ///
    /// The most requests in a second times the time, Q(T) = T × peak(T), only grows with the time, because a longer one has all that a
    /// shorter one has. So where the peak is above the limit no time below Q(T) / limit holds either, and nothing is skipped by going
    /// there, whatever the peak does in between.
    func shortest(
        pushes: Double, from spread: Double, limit: Double, longest: Double, holds: (Double) -> Bool
    ) -> Double? {
        var spread = max(spread, 1)
        while spread <= longest {
            let peak = peak(pushes: pushes, spread: spread)
            if holds(peak) { return spread }
            guard limit > 0 else { return nil }
            spread *= max(peak / limit, 1.0001)
        }
        return nil
    }
}

import PlainHTTP

/// How long one worker's answers took, in the buckets of the metrics: written by the worker alone, readable by any thread.
/// Counted once for all answers that are written together to requests that were read together.
final class AnswerTimes: Sendable {
    private static let bounds = MetricsText.latencyBounds
    /// One for each bound, one for what is above all, and nanoseconds.
    private let counters = OwnCounters(count: bounds.count + 2)
    private static let nanoseconds = bounds.count + 1

    /// So many answers took so long, ns.
    func note(_ count: UInt64, _ time: UInt64) {
        counters.add(count, at: Self.bounds.firstIndex { time <= $0 } ?? Self.bounds.count)
        counters.add(count &* time, at: Self.nanoseconds)
    }

    func restart() { counters.restart() }

    /// All workers' at one moment.
    struct Counts: Sendable, Equatable {
        private var buckets = [UInt64](repeating: 0, count: AnswerTimes.bounds.count + 1)
        private var seconds = 0.0

        mutating func add(_ times: AnswerTimes) {
            for index in buckets.indices { buckets[index] += times.counters.value(at: index) }
            seconds += Double(times.counters.value(at: AnswerTimes.nanoseconds)) / 1e9
        }

        var metrics: MetricsText.Histogram {
            var below: [UInt64] = []
            for count in buckets { below.append((below.last ?? 0) + count) }
            let count = below.removeLast()
            return .init(below: below, count: count, sum: seconds)
        }
    }
}

import PlainHTTP
import Synchronization

/// How long one worker's answers took, in the buckets of the metrics: written by the worker alone, readable by any thread.
/// Counted once for all answers that are written together to requests that were read together.
final class AnswerTimes: Sendable {
    private static let bounds = MetricsText.latencyBounds
    /// One for each bound, and one for what is above all.
    nonisolated(unsafe) private let buckets: UnsafeMutablePointer<Atomic<UInt64>>
    private let nanoseconds = Atomic<UInt64>(0)

    init() {
        buckets = .allocate(capacity: Self.bounds.count + 1)
        for index in 0...Self.bounds.count { (buckets + index).initialize(to: Atomic(0)) }
    }

    deinit { buckets.deallocate() }

    /// So many answers took so long, ns.
    func note(_ count: UInt64, _ time: UInt64) {
        Self.add(count, to: buckets[Self.bounds.firstIndex { time <= $0 } ?? Self.bounds.count])
        Self.add(count &* time, to: nanoseconds)
    }

    func restart() {
        for index in 0...Self.bounds.count { buckets[index].store(0, ordering: .relaxed) }
        nanoseconds.store(0, ordering: .relaxed)
    }

    /// Only the owner writes, so a plain load and store is enough.
    private static func add(_ count: UInt64, to counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }

    /// All workers' at one moment.
    struct Counts: Sendable, Equatable {
        private var buckets = [UInt64](repeating: 0, count: AnswerTimes.bounds.count + 1)
        private var seconds = 0.0

        mutating func add(_ times: AnswerTimes) {
            for index in buckets.indices { buckets[index] += times.buckets[index].load(ordering: .relaxed) }
            seconds += Double(times.nanoseconds.load(ordering: .relaxed)) / 1e9
        }

        var metrics: MetricsText.Histogram {
            var below: [UInt64] = []
            for count in buckets { below.append((below.last ?? 0) + count) }
            let count = below.removeLast()
            return .init(below: below, count: count, sum: seconds)
        }
    }
}

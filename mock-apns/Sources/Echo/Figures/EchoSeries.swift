/// How many requests devices made, and how many answers were complete, over time: buckets of 100 ms; when there would be more than
/// 36,000, neighbours are merged, and buckets are twice as long from then on.
package struct EchoSeries: Sendable, Equatable {
    static let mostBuckets = 36_000
    /// Nanoseconds of the monotonic clock; 0: there is none yet.
    package private(set) var start: UInt64 = 0
    /// Nanoseconds.
    package private(set) var interval: UInt64 = 100_000_000
    /// As many as answers.
    package private(set) var requests: [UInt64] = []
    package private(set) var answered: [UInt64] = []

    mutating func addRequest(at time: UInt64) {
        let place = place(of: time)
        requests[place] += 1
    }

    mutating func addAnswer(at time: UInt64) {
        let place = place(of: time)
        answered[place] += 1
    }

    /// What came before the first bucket is in it.
    private mutating func place(of time: UInt64) -> Int {
        if requests.isEmpty { start = time - time % interval }
        while (time - min(time, start)) / interval >= UInt64(Self.mostBuckets) { merge() }
        let place = Int((time - min(time, start)) / interval)
        if place >= requests.count {
            let more = [UInt64](repeating: 0, count: place + 1 - requests.count)
            requests += more
            answered += more
        }
        return place
    }

    private mutating func merge() {
        interval *= 2
        func merged(_ counts: [UInt64]) -> [UInt64] {
            stride(from: 0, to: counts.count, by: 2).map { counts[$0] + ($0 + 1 < counts.count ? counts[$0 + 1] : 0) }
        }
        requests = merged(requests)
        answered = merged(answered)
    }
}

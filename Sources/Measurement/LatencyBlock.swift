/// Total latencies of measured pushes that ended within one stretch of a run, kept small: only counters that hold something.
///
/// 8 bytes a counter, of which there are a few hundred to some thousands, at most 33,000.
public struct LatencyBlock: Sendable, Equatable {
    /// The stretch, seconds since the run's start.
    public private(set) var from: Double
    public private(set) var to: Double
    /// Counters of a `LatencyHistogram`, ascending: the place in the upper 16 bits, how many records in the others.
    private var counters: [UInt64]
    public private(set) var answered: UInt64
    /// Without an answer: longer than all that were answered.
    public private(set) var unanswered: UInt64

    private static let countBits: UInt64 = 48
    private static let mostCount: UInt64 = 1 << countBits - 1

    public init(from: Double, to: Double, _ latencies: LatencyHistogram, unanswered: UInt64 = 0) {
        (self.from, self.to) = (from, to)
        counters = latencies.counters.map {
            UInt64(LatencyHistogram.place(of: $0.value)) << Self.countBits | min($0.count, Self.mostCount)
        }
        answered = latencies.count
        self.unanswered = unanswered
    }

    /// Pushes.
    public var count: UInt64 { answered &+ unanswered }
    /// Seconds.
    public var length: Double { to - from }

    /// Pushes that took longer than what the counter of `value` holds, nanoseconds; those without an answer are among them.
    package func above(_ value: UInt64) -> UInt64 {
        let place = UInt64(LatencyHistogram.place(of: min(max(value, 1), LatencyHistogram.highest)))
        var above = unanswered
        for counter in counters.reversed() {
            guard counter >> Self.countBits > place else { break }
            above &+= counter & Self.mostCount
        }
        return above
    }

    /// Adds the stretch that follows.
    package mutating func merge(_ next: LatencyBlock) {
        to = max(to, next.to)
        answered &+= next.answered
        unanswered &+= next.unanswered
        var merged: [UInt64] = []
        merged.reserveCapacity(max(counters.count, next.counters.count))
        var (mine, theirs) = (counters[...], next.counters[...])
        while let a = mine.first, let b = theirs.first {
            let (placeA, placeB) = (a >> Self.countBits, b >> Self.countBits)
            if placeA == placeB {
                let sum = min(a & Self.mostCount &+ b & Self.mostCount, Self.mostCount)
                merged.append(placeA << Self.countBits | sum)
                mine.removeFirst()
                theirs.removeFirst()
            } else if placeA < placeB {
                merged.append(a)
                mine.removeFirst()
            } else {
                merged.append(b)
                theirs.removeFirst()
            }
        }
        counters = merged + mine + theirs
    }

    /// Adds the counters to a histogram.
    package func add(to histogram: inout LatencyHistogram) {
        for counter in counters {
            histogram.record(
                LatencyHistogram.lowest(at: Int(counter >> Self.countBits)), count: counter & Self.mostCount)
        }
    }

    /// Neighbours as one, in pairs; of an odd number the last three are one.
    public static func paired(_ blocks: [LatencyBlock]) -> [LatencyBlock] {
        guard blocks.count > 1 else { return blocks }
        let pairs = blocks.count / 2
        return (0..<pairs).map { pair in
            var merged = blocks[2 * pair]
            for next in blocks[(2 * pair + 1)..<(pair == pairs - 1 ? blocks.count : 2 * pair + 2)] {
                merged.merge(next)
            }
            return merged
        }
    }
}

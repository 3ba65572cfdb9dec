/// The round trip in its parts, nanoseconds.
public struct OneWayTimes: Sendable {
    /// From the start of the write that handed over its last byte to the mock having read it.
    public private(set) var toMock = LatencyHistogram.empty
    /// From then to the start of the write of the answer.
    public private(set) var inMock = LatencyHistogram.empty
    /// From then to the answer being read.
    public private(set) var fromMock = LatencyHistogram.empty
    /// Samples whose four times do not belong together: sent more than once, or one end saw only part.
    public private(set) var unmatched: UInt64 = 0
    /// How far the times of each sample may be wrong because its two clocks were compared through the network; of none where one
    /// clock was read at both ends.
    package private(set) var bounds = LatencyHistogram.empty

    public init() {}

    /// Of one clock that is read at both ends. 0 for a time that was not seen; a push the client did not measure (`sent` and `read`
    /// 0) counts nowhere.
    public mutating func add(sent: UInt64, received: UInt64, answered: UInt64, read: UInt64) {
        if sent == 0 || read == 0 { return }
        guard sent <= received, received <= answered, answered <= read else {
            unmatched += 1
            return
        }
        toMock.record(max(1, received - sent))
        inMock.record(max(1, answered - received))
        fromMock.record(max(1, read - answered))
    }

    /// Of two clocks, one of which was found to be ahead of the other by `clocks`. A time that is not larger than the bound may come
    /// out below 0: it counts as 1 ns.
    package mutating func add(_ sample: PushStamps, _ clocks: ClockOffset) {
        let (offset, bound) = clocks.at(sample.sent)
        guard sample.isPossible else {
            unmatched += 1
            return
        }
        let there = sample.received - offset - sample.sent
        let back = sample.read - (sample.answered - offset)
        guard min(there, back) >= -bound else {
            unmatched += 1
            return
        }
        toMock.record(UInt64(max(1, there)))
        inMock.record(UInt64(max(1, sample.answered - sample.received)))
        fromMock.record(UInt64(max(1, back)))
        bounds.record(UInt64(max(1, bound)))
    }

    /// Counts samples that no mock can be found for.
    package mutating func addUnmatched(_ count: UInt64) { unmatched &+= count }

    package mutating func add(_ other: OneWayTimes) {
        toMock.add(other.toMock)
        inMock.add(other.inMock)
        fromMock.add(other.fromMock)
        bounds.add(other.bounds)
        unmatched &+= other.unmatched
    }

    /// The median of the ways there and back, and that of their bounds, ns, where the clocks are not known well enough to tell the
    /// one from the other: the bounds are larger. nil: they are.
    package var unknownWays: (median: UInt64, bound: UInt64)? {
        var ways = toMock
        ways.add(fromMock)
        let (median, bound) = (ways.value(atPercentile: 50), bounds.value(atPercentile: 50))
        return bound > median ? (median, bound) : nil
    }
}

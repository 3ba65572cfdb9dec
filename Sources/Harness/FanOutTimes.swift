import Measurement

/// When the accepted answers of each send came, from the send's start, in microseconds: of nanoseconds a histogram ends after an
/// hour, of these after 1,000.
///
/// Cost a push: a look at which send it is of, and one time put beside others; 256 of them together go into a histogram.
final class FanOutTimes {
    /// Of each send, behind pointers: no check of exclusivity, no reference counted.
    private let histograms: UnsafeMutablePointer<LatencyHistogram>
    private let starts: UnsafeMutablePointer<UInt64>
    private let firsts: UnsafeMutablePointer<UInt64>
    private let staged: UnsafeMutablePointer<UInt64>
    private let stagedCounts: UnsafeMutablePointer<Int>
    private let count: Int
    private static let stagedMost = 256

    init(_ sends: Sends) {
        count = sends.all.count
        histograms = .allocate(capacity: count)
        starts = .allocate(capacity: count)
        firsts = .allocate(capacity: count)
        for (place, send) in sends.all.enumerated() {
            (histograms + place).initialize(to: LatencyHistogram())
            (starts + place).initialize(to: send.start)
            (firsts + place).initialize(to: send.first)
        }
        staged = .allocate(capacity: count * Self.stagedMost)
        stagedCounts = .allocate(capacity: count)
        stagedCounts.initialize(repeating: 0, count: count)
    }

    deinit {
        histograms.deinitialize(count: count)
        histograms.deallocate()
        starts.deallocate()
        firsts.deallocate()
        staged.deallocate()
        stagedCounts.deallocate()
    }

    /// - Parameters:
    ///   - sequence: of the push.
    ///   - time: from the run's start to its accepted answer, ns.
    @inline(__always)
    func accepted(_ sequence: UInt64, at time: UInt64) {
        var place = 0
        while place &+ 1 < count, sequence >= firsts[place &+ 1] { place &+= 1 }
        let begun = starts[place]
        let kept = stagedCounts[place]
        // Rounded up.
        staged[place &* Self.stagedMost &+ kept] = time > begun ? (time &- begun &- 1) / 1000 &+ 1 : 1
        stagedCounts[place] = kept &+ 1
        if kept &+ 1 == Self.stagedMost { empty(place) }
    }

    private func empty(_ place: Int) {
        histograms[place].record(
            UnsafeBufferPointer(start: staged + place * Self.stagedMost, count: stagedCounts[place]))
        stagedCounts[place] = 0
    }

    /// Everything recorded so far, send by send, µs; by the recording thread, or when it has ended.
    var all: [LatencyHistogram] {
        (0..<count).map { place in
            empty(place)
            return histograms[place]
        }
    }
}

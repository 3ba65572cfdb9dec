import Measurement

/// The latencies of the last so many seconds of a run, from histograms that only grow.
///
/// It keeps copies of them, a tenth of the window apart, each 540 KB: twelve at most. The window therefore begins at
/// the kept moment nearest to where it should, at most a twentieth of its length away (or half the time between two looks).
struct LatencyWindow: Sendable {
    private struct Mark: Sendable {
        /// Nanoseconds since the start of the run.
        let time: UInt64
        let total: CensoredHistogram
    }

    private let length: UInt64
    private let step: UInt64
    /// Ascending; the first is where the window begins.
    private var marks: [Mark]

    /// How many copies are kept.
    var kept: Int { marks.count }

    /// - Parameters:
    ///   - length: nanoseconds.
    ///   - begin: nanoseconds since the start of the run, `total` what was recorded until then: nothing before enters.
    init(length: UInt64, begin: UInt64, total: CensoredHistogram) {
        self.length = length
        step = max(1, length / 10)
        marks = [Mark(time: begin, total: total)]
    }

    /// What was recorded within the window that ends now, and its true length in nanoseconds.
    ///
    /// - Parameters:
    ///   - elapsed: nanoseconds since the start of the run; not less than at the call before.
    ///   - total: all that was recorded since the start.
    mutating func advance(to elapsed: UInt64, total: CensoredHistogram) -> (recent: CensoredHistogram, length: UInt64) {
        while marks.count > 1, distance(of: marks[1], at: elapsed) <= distance(of: marks[0], at: elapsed) {
            marks.removeFirst()
        }
        let first = marks[0]
        if elapsed / step > marks[marks.count - 1].time / step { marks.append(Mark(time: elapsed, total: total)) }
        return (total.since(first.total), elapsed - min(elapsed, first.time))
    }

    /// How far a mark is from where a window that ends at `elapsed` should begin, nanoseconds.
    private func distance(of mark: Mark, at elapsed: UInt64) -> UInt64 {
        let age = elapsed - min(elapsed, mark.time)
        return age > length ? age - length : length - age
    }
}

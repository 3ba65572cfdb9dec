import Measurement

/// The series of several workers as one, on the clock they have in common, one worker at a time, in any order.
///
/// Bins of one length from the start: 100 ms, and twice as long whenever there would be more than `SeriesBuilder.most`. A worker's
/// point that lies in several bins gives each its share of the counts, rounded so that their sum is the point's. What is in flight and
/// the backlog are those of the points at a bin's end, added; p50 and p99 the largest of the points that lie in it.
struct SeriesSum {
    /// Microseconds, as all times here: whole numbers are the same however they were added up.
    private static let shortest: UInt64 = 100_000
    /// Points that say to be later count as being there: 30 years.
    private static let longest = 1e9

    private struct Bin {
        var counts = Counts()
        var inFlight: UInt64 = 0
        var backlog: UInt64 = 0
        var p50: UInt64 = 0
        var p99: UInt64 = 0
    }

    /// Sent, accepted, rejected, failed, not sent.
    private typealias Counts = SIMD8<UInt64>

    private var bins: [Bin] = []
    private var width = shortest
    /// Of the last point.
    private var end: UInt64 = 0

    /// - Parameter begun: when the worker's series begins, seconds after the common start.
    mutating func add(_ points: [SeriesPoint], begun: Double) {
        var from = Self.time(begun)
        for point in points {
            let to = max(from, Self.time(begun + point.time))
            add(point, from: from, to: to)
            from = to
        }
    }

    /// What is no time is the start.
    private static func time(_ seconds: Double) -> UInt64 {
        seconds.isFinite ? UInt64((min(max(0, seconds), longest) * 1e6).rounded()) : 0
    }

    private mutating func add(_ point: SeriesPoint, from: UInt64, to: UInt64) {
        end = max(end, to)
        while to > width * UInt64(SeriesBuilder.most) { widen() }
        // A bin has its end, and not its begin.
        let last = to > 0 ? (to - 1) / width : 0
        let first = min(last, from / width)
        while bins.count <= last { bins.append(Bin()) }
        let counts = Counts(point.sent, point.accepted, point.rejected, point.failed, point.notSent, 0, 0, 0)
        var given = Counts()
        for bin in first...last {
            let index = Int(bin)
            let edge = (bin + 1) * width
            let until = bin == last ? counts : Self.part(counts, edge - from, of: to - from)
            bins[index].counts &+= until &- given
            given = until
            bins[index].p50 = max(bins[index].p50, point.p50)
            bins[index].p99 = max(bins[index].p99, point.p99)
            // Of the bin's end.
            if edge > from, edge <= to {
                bins[index].inFlight &+= UInt64(max(0, point.inFlight))
                bins[index].backlog &+= point.backlog
            }
        }
    }

    /// Counts that belong to the first `time` of so much `whole` time, which is more.
    private static func part(_ counts: Counts, _ time: UInt64, of whole: UInt64) -> Counts {
        var part = Counts()
        for place in counts.indices where counts[place] > 0 {
            part[place] = whole.dividingFullWidth(counts[place].multipliedFullWidth(by: time)).quotient
        }
        return part
    }

    private mutating func widen() {
        bins = stride(from: 0, to: bins.count, by: 2).map { index in
            var pair = bins[index]
            let next = index + 1 < bins.count ? bins[index + 1] : Bin()
            pair.counts &+= next.counts
            (pair.inFlight, pair.backlog) = (next.inFlight, next.backlog)
            (pair.p50, pair.p99) = (max(pair.p50, next.p50), max(pair.p99, next.p99))
            return pair
        }
        width *= 2
    }

    var points: [SeriesPoint] {
        bins.enumerated().map { index, bin in
            SeriesPoint(
                time: Double(min(end, UInt64(index + 1) * width)) / 1e6, sent: bin.counts[0], accepted: bin.counts[1],
                rejected: bin.counts[2], failed: bin.counts[3], notSent: bin.counts[4],
                inFlight: Int(clamping: bin.inFlight), backlog: bin.backlog, p50: bin.p50, p99: bin.p99)
        }
    }
}

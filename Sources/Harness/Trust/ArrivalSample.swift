/// When some of a worker's pushes were begun: for a stretch of rounds one after the other, ten times a second, how far it had come.
/// Pushes of one round share a reading of the clock, so that a round is one point, however many pushes it began.
///
/// Cost a push: a load and a branch where no stretch is open; 66 KB of an open loop, reserved before.
struct ArrivalSample: Sendable {
    struct Point: Sendable, Equatable {
        /// The worker's push that was begun first in its round.
        let push: UInt64
        /// ns of the monotonic clock.
        let time: UInt64
    }

    static let pointsEach = 129
    /// More are thinned out, and come half as often from then on.
    static let mostStretches = 32

    private var points: [Point] = []
    /// Where each stretch begins among the points.
    private var begins: [Int] = []
    /// Points that the open stretch still takes.
    private var left = 0
    private var last: UInt64 = 0
    private var pause: UInt64 = 100_000_000
    private var next: UInt64 = 0

    /// Each with its points in the order of time.
    var stretches: [ArraySlice<Point>] { zip(begins, begins.dropFirst() + [points.count]).map { points[$0..<$1] } }

    @inline(__always)
    mutating func began(_ push: UInt64, at time: UInt64) {
        if left == 0 || time == last { return }
        note(push, time)
    }

    @inline(never)
    private mutating func note(_ push: UInt64, _ time: UInt64) {
        left -= 1
        last = time
        points.append(Point(push: push, time: time))
    }

    /// Begins the next stretch, where it is time for one: of an open loop, some fifty times a second.
    mutating func tick(_ now: UInt64) {
        guard left == 0, now >= next else { return }
        if begins.isEmpty { points.reserveCapacity(Self.mostStretches * Self.pointsEach) }
        if begins.count == Self.mostStretches { thin() }
        begins.append(points.count)
        left = Self.pointsEach
        last = 0
        next = now &+ pause
    }

    private mutating func thin() {
        let kept = stretches.enumerated().filter { $0.offset % 2 == 0 }.map { Array($0.element) }
        points.removeAll(keepingCapacity: true)
        begins.removeAll(keepingCapacity: true)
        for stretch in kept {
            begins.append(points.count)
            points += stretch
        }
        pause *= 2
    }
}

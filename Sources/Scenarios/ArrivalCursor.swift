import Glibc

/// The position of push i, in expected pushes; asked with ascending numbers.
struct PositionProcess: Sendable {
    private let arrivals: Arrivals
    private let seed: UInt64
    /// Of the Poisson process: the last event, and its number plus one.
    private(set) var sum = 0.0
    private var reached: UInt64 = 0

    init(_ arrivals: Arrivals, _ seed: UInt64) {
        self.arrivals = arrivals
        self.seed = seed &* 0xD134_2543_DE82_EF95
    }

    /// 0 ..< 1, by number.
    @inline(__always)
    private func draw(_ number: UInt64) -> Double {
        var mixed = seed &+ (number &+ 1) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) * 0x1p-53
    }

    func jittered(_ index: UInt64) -> Double {
        guard case .jitter(let share) = arrivals else { return Double(index) }
        return Double(index) + share * draw(index)
    }

    /// The Poisson process goes on after event `index`, which lies at `position`, without the events before it.
    mutating func jump(to index: UInt64, at position: Double) {
        guard arrivals == .poisson, reached <= index else { return }
        (sum, reached) = (position, index &+ 1)
    }

    @inline(__always)
    mutating func position(_ index: UInt64) -> Double {
        switch arrivals {
        case .constant: return Double(index)
        case .jitter: return jittered(index)
        case .poisson:
            while reached <= index {
                sum -= log(1 - draw(reached))
                reached += 1
            }
            return sum
        }
    }
}

/// Walks a schedule. Several may walk the same one, each over its own pushes.
///
/// Cost: about 10 ns a push at a constant rate; a Poisson process also visits the pushes between (20 ns each).
public struct ArrivalCursor: Sendable {
    private let schedule: LoadSchedule
    private var process: PositionProcess
    private var place = 0
    /// The first push of which the gap before it has not been passed, `.max` when there is none, that gap's place, and due times
    /// left out before it.
    private var nextGap: UInt64
    private var gap = 0
    private var leftOut: UInt64 = 0
    /// What the segment at `place` comes to where its rate is constant: its positions, pushes a second, and when it starts, s.
    private var constant: (from: Double, to: Double, rate: Double, start: Double)?

    init(_ schedule: LoadSchedule) {
        self.schedule = schedule
        process = PositionProcess(schedule.arrivals, schedule.seed)
        nextGap = schedule.gaps.first?.push ?? .max
    }

    /// When push `index` is due, nanoseconds after the start. Numbers must not fall from call to call.
    public mutating func due(_ index: UInt64) -> UInt64 {
        if index >= nextGap { passGaps(before: index) }
        let index = index &+ leftOut
        if let trace = schedule.trace { return index < trace.count ? trace[Int(index)] : schedule.duration }
        let position = process.position(index)
        if let constant, position < constant.to { return Self.due(position, constant) }
        while place < schedule.segments.count - 1, position >= schedule.segments[place].to { place += 1 }
        guard place < schedule.segments.count else { return 0 }
        let segment = schedule.segments[place]
        if case .constant(let rate) = segment.curve {
            let now = (segment.from, segment.to, rate, segment.start)
            constant = now
            return Self.due(position, now)
        }
        constant = nil
        let time = LoadSchedule.time(
            segment.curve, max(0, position - segment.from), limit: segment.end - segment.start)
        return Self.nearest(max(0, (segment.start + time) * 1e9))
    }

    /// At a cost that does not depend on how long they are.
    private mutating func passGaps(before index: UInt64) {
        while gap < schedule.gaps.count, schedule.gaps[gap].push <= index {
            let passed = schedule.gaps[gap]
            leftOut = passed.slots
            process.jump(to: passed.push &+ passed.slots, at: passed.position)
            gap += 1
        }
        nextGap = gap < schedule.gaps.count ? schedule.gaps[gap].push : .max
    }

    /// The first push from `index` on that is due at `time` (ns after the start) or later; `end` when none before that is. As with
    /// `due`, numbers must not fall from call to call.
    ///
    /// Cost: some ten due times, of a Poisson process all from `index` to the one found.
    package mutating func first(notBefore time: UInt64, from index: UInt64, before end: UInt64) -> UInt64 {
        if schedule.arrivals == .poisson {
            var index = index
            while index < end, due(index) < time { index += 1 }
            return index
        }
        func isEarlier(_ index: UInt64) -> Bool {
            var walk = self
            return walk.due(index) < time
        }
        // With steps that double, so that of a schedule without an end nothing far away is asked for.
        var (low, high, step): (UInt64, UInt64, UInt64) = (index, index, 1)
        while high < end, isEarlier(high) {
            low = high + 1
            high = end - high > step ? high + step : end
            step &*= 2
        }
        while low < high {
            let middle = low + (high - low) / 2
            if isEarlier(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Of Poisson arrivals: the position of the push last asked for; otherwise 0.
    package var position: Double { process.sum }

    /// Whole seconds and the rest apart, so that a long run keeps its nanoseconds.
    @inline(__always)
    private static func due(
        _ position: Double, _ segment: (from: Double, to: Double, rate: Double, start: Double)
    ) -> UInt64 {
        let inside = max(0, position - segment.from)
        let seconds = UInt64(inside / segment.rate)
        let rest = inside.addingProduct(-Double(seconds), segment.rate) / segment.rate
        let whole = UInt64(segment.start)
        return (seconds &+ whole) &* 1_000_000_000
            &+ nearest(max(0, (rest + segment.start - Double(whole)) * 1e9))
    }

    /// `rounded()` of a number that is not negative, without a call.
    @inline(__always)
    private static func nearest(_ number: Double) -> UInt64 {
        let whole = UInt64(number)
        return number - Double(whole) >= 0.5 ? whole &+ 1 : whole
    }

    /// The stage of the push last asked for.
    public var stage: Int { place < schedule.segments.count ? schedule.segments[place].stage : 0 }
}

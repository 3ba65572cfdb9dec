import Glibc

/// When each push is due: the open loop of a run as a small value. It knows its stages' rates, so that push i can be asked
/// for; `ArrivalCursor` walks it.
///
/// In a unit of its own, "expected pushes so far", every arrival process is the same: push i lies at position i (constant),
/// i plus a random part of 1 (jitter), or at the i-th event of a Poisson process of rate 1. A stage maps positions to times.
public struct LoadSchedule: Sendable, Equatable {
    /// One stage in time and in positions.
    struct Segment: Sendable, Equatable {
        enum Curve: Sendable, Equatable {
            /// Pushes a second.
            case constant(Double)
            case ramp(from: Double, slope: Double)
            case sine(mean: Double, amplitude: Double, period: Double)
            case instant
        }

        let curve: Curve
        /// Seconds.
        let start: Double
        let end: Double
        /// Expected pushes.
        let from: Double
        let to: Double
        let stage: Int
    }

    let segments: [Segment]
    /// Recorded due times, nanoseconds; nil when stages say.
    let trace: [UInt64]?
    public let arrivals: Arrivals
    public let seed: UInt64
    /// Names of the stages, in order.
    public let stageNames: [String]
    /// Pushes in all.
    public private(set) var count: UInt64
    /// When the last stage ends, nanoseconds.
    public let duration: UInt64
    /// When each stage begins, seconds after the start; those that the end cuts off, at the end.
    public let stageTimes: [Double]
    /// The first push of each stage; of one without pushes, the next one's.
    public let stagePushes: [UInt64]

    /// - Parameters:
    ///   - limit: no more pushes than this.
    ///   - length: none due after this, nanoseconds.
    public init(
        stages: [LoadStage], arrivals: Arrivals = .constant, seed: UInt64 = 1, limit: UInt64? = nil,
        length: UInt64? = nil
    ) {
        var segments: [Segment] = []
        var time = 0.0
        var position = 0.0
        let lastTime = length.map { Double($0) / 1e9 } ?? .infinity
        var times: [Double] = []
        for (index, stage) in stages.enumerated() where time < lastTime {
            times.append(time)
            let planned = stage.duration.map { Double($0) / 1e9 } ?? .infinity
            let room = min(planned, lastTime - time)
            let curve: Segment.Curve
            var span = room
            switch stage.shape {
            case .hold(let rate): curve = .constant(rate)
            case .ramp(let from, let to): curve = .ramp(from: from, slope: (to - from) / planned)
            case .sine(let mean, let amplitude, let period):
                curve = .sine(mean: mean, amplitude: amplitude, period: Double(period) / 1e9)
            case .burst: curve = .instant
            case .pause: curve = .constant(0)
            }
            if case .burst(let pushes) = stage.shape {
                segments.append(
                    Segment(
                        curve: .instant, start: time, end: time, from: position, to: position + Double(pushes),
                        stage: index))
                position += Double(pushes)
                if room.isFinite { time += room }
                continue
            }
            if let pushes = stage.pushes {
                let wanted = Double(pushes)
                if !span.isFinite || Self.expected(curve, span) > wanted {
                    span = Self.time(curve, wanted, limit: span)
                }
            }
            let amount = Self.expected(curve, span)
            if amount > 0 {
                segments.append(
                    Segment(
                        curve: curve, start: time, end: time + span, from: position, to: position + amount,
                        stage: index))
            }
            position += amount
            time += span
        }
        let last = limit.flatMap { Self.position(of: $0, arrivals, seed, before: position) }
        if let last {
            segments = Self.cut(segments, at: last)
            time = segments.last?.end ?? 0
        }
        self.segments = segments
        trace = nil
        self.arrivals = arrivals
        self.seed = seed
        stageNames = LoadStage.told(apart: stages.map(\.name))
        let end = time
        stageTimes = times.map { min($0, end) } + [Double](repeating: end, count: stages.count - times.count)
        duration = UInt64(min(time, 1e9) * 1e9)
        let most = limit ?? .max
        var begins = [Double](repeating: last ?? position, count: stages.count + 1)
        for segment in segments { begins[segment.stage] = segment.from }
        for place in stages.indices.reversed() { begins[place] = min(begins[place], begins[place + 1]) }
        let counts = Self.counts(upTo: last == nil ? begins : begins.dropLast(), arrivals, seed, limit: most)
        count = last == nil ? counts[stages.count] : most
        stagePushes = Array(counts.prefix(stages.count))
    }

    /// The position at which the push would be due that is one too many; nil when there are no more than `limit` anyway.
    private static func position(
        of limit: UInt64, _ arrivals: Arrivals, _ seed: UInt64, before end: Double
    ) -> Double? {
        guard arrivals == .poisson else { return Double(limit) < end ? Double(limit) : nil }
        var process = PositionProcess(arrivals, seed)
        for number in 0..<limit where process.position(number) >= end { return nil }
        let next = process.position(limit)
        return next < end ? next : nil
    }

    /// The segments up to a position; nothing is due in what comes then.
    private static func cut(_ segments: [Segment], at end: Double) -> [Segment] {
        segments.filter { $0.from < end }.map { segment in
            guard segment.to > end else { return segment }
            let span = time(segment.curve, end - segment.from, limit: segment.end - segment.start)
            return Segment(
                curve: segment.curve, start: segment.start, end: segment.start + span, from: segment.from, to: end,
                stage: segment.stage)
        }
    }

    /// A constant rate, until `limit` or `length`.
    public init(
        rate: Double, arrivals: Arrivals = .constant, seed: UInt64 = 1, limit: UInt64?, length: UInt64?
    ) {
        // Poisson arrivals of so many expected pushes may be fewer: the limit alone says where they end.
        let stage = LoadStage(
            name: "hold", shape: .hold(rate: rate), duration: length, pushes: arrivals == .poisson ? nil : limit)
        self.init(stages: [stage], arrivals: arrivals, seed: seed, limit: limit, length: length)
    }

    /// Due times as they were recorded, ascending, nanoseconds from the start.
    public init(trace: [UInt64], limit: UInt64? = nil, length: UInt64? = nil) {
        segments = []
        var kept = trace
        if let length { kept = kept.filter { $0 < length } }
        if let limit { kept = Array(kept.prefix(Int(clamping: limit))) }
        self.trace = kept
        arrivals = .constant
        seed = 0
        stageNames = ["replay"]
        stageTimes = [0]
        stagePushes = [0]
        count = UInt64(kept.count)
        duration = kept.last ?? 0
    }

    /// From which push on how many due times before it are nobody's.
    private(set) var gaps: [Gap] = []

    struct Gap: Sendable, Equatable {
        let push: UInt64
        let slots: UInt64
    }

    /// The same with some due times left out, of which nothing comes.
    ///
    /// - Parameters:
    ///   - gaps: ascending: from push `push` on, `slots` due times in all have been left out.
    ///   - count: pushes that are left.
    public func leavingOut(_ gaps: [(push: UInt64, slots: UInt64)], count: UInt64) -> LoadSchedule {
        var schedule = self
        schedule.gaps = gaps.filter { $0.slots > 0 }.map { Gap(push: $0.push, slots: $0.slots) }
        schedule.count = count
        return schedule
    }

    /// A walk from the first push on.
    public func cursor() -> ArrivalCursor { ArrivalCursor(self) }

    /// The rate meant at a time (seconds), pushes/s; of a burst and a trace, 0.
    public func rate(at time: Double) -> Double {
        guard let segment = segments.first(where: { time >= $0.start && time < $0.end }) else { return 0 }
        let inside = time - segment.start
        switch segment.curve {
        case .constant(let rate): return rate
        case .ramp(let from, let slope): return from + slope * inside
        case .sine(let mean, let amplitude, let period): return mean + amplitude * sin(2 * .pi * inside / period)
        case .instant: return 0
        }
    }

    /// Pushes meant to be due by a time (seconds), a burst whole from its moment on; of a trace 0.
    public func expected(by time: Double) -> Double {
        guard let segment = segments.last(where: { $0.start <= time }) else { return 0 }
        guard segment.curve != .instant else { return min(segment.to, Double(count)) }
        let inside = Self.expected(segment.curve, min(time, segment.end) - segment.start)
        return min(segment.from + inside, segment.to, Double(count))
    }

    /// The highest rate meant at any time; infinite with a burst or a trace.
    public var peakRate: Double {
        if trace != nil { return .infinity }
        return segments.map { segment in
            switch segment.curve {
            case .constant(let rate): rate
            case .ramp(let from, let slope): max(from, from + slope * (segment.end - segment.start))
            case .sine(let mean, let amplitude, _): mean + amplitude
            case .instant: .infinity
            }
        }.max() ?? 0
    }

    // MARK: Positions and times

    /// Expected pushes in the first `time` seconds of a curve.
    static func expected(_ curve: Segment.Curve, _ time: Double) -> Double {
        switch curve {
        case .constant(let rate): rate == 0 ? 0 : rate * time
        case .ramp(let from, let slope): from * time + slope * time * time / 2
        case .sine(let mean, let amplitude, let period):
            mean * time + amplitude * period / (2 * .pi) * (1 - cos(2 * .pi * time / period))
        case .instant: 0
        }
    }

    /// When a curve has `amount` expected pushes behind it, seconds.
    @inline(__always)
    static func time(_ curve: Segment.Curve, _ amount: Double, limit: Double) -> Double {
        if amount <= 0 { return 0 }
        switch curve {
        case .constant(let rate): return amount / rate
        case .ramp(let from, let slope):
            // The root that does not cancel; below 0 only by rounding, at the end of a ramp to nothing.
            let root = max(0, from * from + 2 * slope * amount).squareRoot()
            return from + root > 0 ? 2 * amount / (from + root) : limit
        case .sine(let mean, let amplitude, let period):
            return sineTime(curve, amount, mean: mean, amplitude: amplitude, period: period)
        case .instant: return 0
        }
    }

    /// Newton's steps, kept inside a bracket.
    private static func sineTime(
        _ curve: Segment.Curve, _ amount: Double, mean: Double, amplitude: Double, period: Double
    ) -> Double {
        // The wave is never more than this far from its mean.
        var low = max(0, amount / mean - amplitude * period / (.pi * mean))
        var high = amount / mean
        var guess = (low + high) / 2
        for _ in 0..<60 {
            let error = expected(curve, guess) - amount
            if error > 0 { high = guess } else { low = guess }
            let rate = mean + amplitude * sin(2 * .pi * guess / period)
            var next = rate > 0 ? guess - error / rate : (low + high) / 2
            if !(next > low && next < high) { next = (low + high) / 2 }
            if abs(next - guess) < 1e-10 { return next }
            guess = next
        }
        return guess
    }

    /// How many pushes have a position below each of `ends`, which do not fall; no more than `limit`.
    private static func counts(
        upTo ends: [Double], _ arrivals: Arrivals, _ seed: UInt64, limit: UInt64
    ) -> [UInt64] {
        var process = PositionProcess(arrivals, seed)
        var count: UInt64 = 0
        return ends.map { end in
            guard end < 1e18 else { return limit }
            // Positions are whole numbers, or between them and the next: within rounding of a whole number is on it.
            let whole = end > 0 ? UInt64(max(1, (end - 1e-6).rounded(.up))) : 0
            switch arrivals {
            case .constant: count = whole
            case .jitter:
                count = whole
                while count > 0, process.jittered(count - 1) >= end { count -= 1 }
            case .poisson: while count < limit, process.position(count) < end { count += 1 }
            }
            return min(count, limit)
        }
    }
}

/// The position of push i, in expected pushes; asked with ascending numbers.
struct PositionProcess: Sendable {
    private let arrivals: Arrivals
    private let seed: UInt64
    /// Of the Poisson process: the last event, and its number plus one.
    private var sum = 0.0
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
    private let hasGaps: Bool
    private var place = 0
    /// What the segment at `place` comes to where its rate is constant: its positions, pushes a second, and when it starts, s.
    private var constant: (from: Double, to: Double, rate: Double, start: Double)?

    init(_ schedule: LoadSchedule) {
        self.schedule = schedule
        process = PositionProcess(schedule.arrivals, schedule.seed)
        hasGaps = !schedule.gaps.isEmpty
    }

    /// When push `index` is due, nanoseconds after the start. Numbers must not fall from call to call.
    public mutating func due(_ index: UInt64) -> UInt64 {
        var index = index
        if hasGaps, let gap = schedule.gaps.last(where: { $0.push <= index }) { index += gap.slots }
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

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
        var begins = [Double](repeating: position, count: stages.count + 1)
        for segment in segments { begins[segment.stage] = segment.from }
        for place in stages.indices.reversed() { begins[place] = min(begins[place], begins[place + 1]) }
        let (counts, last) = Self.counts(upTo: begins, arrivals, seed, limit: limit ?? .max)
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
        count = counts[stages.count]
        stagePushes = Array(counts.prefix(stages.count))
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

    /// Due times that are nobody's.
    package private(set) var gaps: [Gap] = []

    /// Due times one after the other of which nothing comes.
    package struct Gap: Sendable, Equatable {
        /// The first push after it.
        package let push: UInt64
        /// How many due times have been left out before that push, with those of all gaps before.
        package let slots: UInt64
        /// The position of that push: a Poisson process goes on there, so that nothing of the gap is drawn again.
        package let position: Double
        /// When its first due time is, and when that push is due, ns.
        package let from: UInt64
        package let until: UInt64

        package init(push: UInt64, slots: UInt64, position: Double, from: UInt64, until: UInt64) {
            (self.push, self.slots, self.position) = (push, slots, position)
            (self.from, self.until) = (from, until)
        }
    }

    /// The same with some due times left out, of which nothing comes.
    ///
    /// - Parameters:
    ///   - gaps: ascending.
    ///   - count: pushes that are left.
    package func leavingOut(_ gaps: [Gap], count: UInt64) -> LoadSchedule {
        var schedule = self
        schedule.gaps = gaps
        schedule.count = count
        return schedule
    }

    /// A walk from the first push on.
    public func cursor() -> ArrivalCursor { ArrivalCursor(self) }

    /// The rate meant at a time (seconds), pushes/s; of a burst, a trace and a gap, 0.
    public func rate(at time: Double) -> Double {
        let isGap = gaps.contains { time >= Double($0.from) / 1e9 && time < Double($0.until) / 1e9 }
        guard !isGap, let segment = segments.first(where: { time >= $0.start && time < $0.end }) else { return 0 }
        let inside = time - segment.start
        switch segment.curve {
        case .constant(let rate): return rate
        case .ramp(let from, let slope): return from + slope * inside
        case .sine(let mean, let amplitude, let period): return mean + amplitude * sin(2 * .pi * inside / period)
        case .instant: return 0
        }
    }

    /// When the rate that is meant changes, seconds: a moment, or from when to when it does; none of one rate, and of a trace.
    package var turns: [ClosedRange<Double>] {
        var turns: [ClosedRange<Double>] = []
        for (place, segment) in segments.enumerated() {
            let before = place > 0 ? segments[place - 1] : nil
            switch segment.curve {
            case .ramp, .sine: turns.append(segment.start...max(segment.start, segment.end))
            case .instant: turns.append(segment.start...segment.start)
            case .constant:
                if let before, before.curve != segment.curve || before.end < segment.start {
                    turns.append(segment.start...segment.start)
                }
            }
            // A pause has no segment.
            if let before, before.end < segment.start { turns.append(before.end...before.end) }
        }
        return turns
    }

    /// Pushes meant to be due by a time (seconds), a burst whole from its moment on, none in a gap; of a trace 0.
    public func expected(by time: Double) -> Double {
        let leftOut = gaps.reduce(0.0) { sum, gap in
            let from = Double(gap.from) / 1e9
            return from < time ? sum + position(at: min(time, Double(gap.until) / 1e9)) - position(at: from) : sum
        }
        return min(position(at: time) - leftOut, Double(count))
    }

    /// Expected pushes by a time (seconds), whoever they are for.
    private func position(at time: Double) -> Double {
        guard let segment = segments.last(where: { $0.start <= time }) else { return 0 }
        guard segment.curve != .instant else { return segment.to }
        return min(segment.from + Self.expected(segment.curve, min(time, segment.end) - segment.start), segment.to)
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

    /// How many pushes have a position below each of `ends`, which do not fall; no more than `limit`. Of a Poisson process every
    /// event is drawn, once.
    ///
    /// - Returns: besides, the position of the push that would be one too many; nil when the last end is not beyond it.
    private static func counts(
        upTo ends: [Double], _ arrivals: Arrivals, _ seed: UInt64, limit: UInt64
    ) -> (counts: [UInt64], limit: Double?) {
        var process = PositionProcess(arrivals, seed)
        var count: UInt64 = 0
        let last = ends.last ?? 0
        let counts = ends.map { end -> UInt64 in
            // Without an end there is nothing to count but the limit.
            if arrivals == .poisson, end < 1e18 || limit != .max {
                while count < limit, process.position(count) < end { count += 1 }
                return count
            }
            guard end < 1e18 else { return limit }
            // Positions are whole numbers, or between them and the next: within rounding of a whole number is on it.
            count = end > 0 ? UInt64(max(1, (end - 1e-6).rounded(.up))) : 0
            if case .jitter = arrivals {
                while count > 0, process.jittered(count - 1) >= end { count -= 1 }
            }
            return min(count, limit)
        }
        guard arrivals == .poisson else { return (counts, Double(limit) < last ? Double(limit) : nil) }
        guard limit != .max, counts.last == limit else { return (counts, nil) }
        let next = process.position(limit)
        return (counts, next < last ? next : nil)
    }
}

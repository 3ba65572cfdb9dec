import Foundation

/// Finds the end of the warm-up: rate, latency and the number of unanswered pushes have stopped changing.
///
/// What was answered becomes intervals of 100 ms (longer below 50 answers a second). The newest 2 s are looked at, or the
/// newest 3, 4, 6, 8 or 10 s where noise hides what they do. They are steady when, by their Theil-Sen lines,
///
/// - the latency's geometric mean and the rate changed by at most 8 %, the 90th percentile by at most 15 %, or by no more than
///   their noise explains (2.3, 3 and 2.6 standard errors); differences under 50 µs do not count;
/// - the last three values lie where the others do, by the same tolerances;
/// - the noise is small enough that a change that matters would have been seen: the standard error of the latency's change is
///   at most 2.05 % a second of the window and 9 % by the answers' own scatter, 1.4 times that in all; of the rate's change
///   18 %, of the 90th percentile's 20 % (at 10 s three times as much of each);
/// - latency surely grows by less than 10 ms a second (at 1 % more pushes than can be answered it grows so, however long it
///   already is), and did not grow by 5 ms a second in the second half of the time so far;
/// - unanswered pushes grow by at most 0.5 % of the answers, or no more than their noise explains, and that at most
///   2 % or three times their square root.
///
/// Simulated feeds, 1000 seeds each, latencies lognormal (sigma 0.6) with 1 % three to seventy times as long:
///
/// - steady from the start, Poisson: found within 3 s at 5000 and 100,000 answers a second in 100 %, within 5 s at 200 in
///   96.5 % (even numbers: 98.2 %), at the latest after 6.8 s; with sigma 1 and 2 % long ones, at 200 a second, after 8 to 11 s
///   (300 seeds);
/// - a level that wanders by 3 % (first-order autoregression, 0.5 and 0.7 an interval): within 3 s in 98 %; by 5 %: in 77 %;
/// - from 50 to 5 ms in 10 s, linear or exponential, open or closed loop: found within 5 s after the level is within 10 % of
///   its end, and no more than 0.3 s before, in 99.9 % at 5000 a second, 100 % at 100,000 and 98.6 % or more at 200;
/// - a step from 5 to 20 ms: never found across it;
/// - 2 or 10 % more pushes than are answered, latency growing evenly, 60 s, 200 seeds: never found. The same as a queue with
///   Poisson arrivals or noisy service is a random walk with a small drift. Never found within 40 s at 10 %: in 99.5 % or more;
///   at 2 % and 5000 a second in 100 % (even arrivals), 95 % (Poisson), 82 % (Poisson, exponential service); at 2 % and 200 a
///   second, where the drift is far below the noise, in 83 to 94 %.
///
/// Memory: a hundred intervals and one histogram. Cost: ten looks a second, 0.15 ms each and 60 ns a counter of the histogram
/// that holds something: 0.7 ms at 10,000 of them.
public struct SteadyState: Sendable {
    /// An interval lasts so long at least, seconds: two looks, a little early; and has so many answers, or lasts a second.
    private static let pause = 0.09
    private static let fewestAnswers = 5.0
    private static let longest = 1.0
    /// Windows: so many intervals, of which so many are taken as one.
    private static let windows = [(20, 1), (30, 1), (40, 2), (60, 3), (80, 4), (100, 5)]

    /// Of the logarithms, so shares; the noise beside in standard errors.
    private static let tolerance = 0.08
    private static let levelNoise = 2.3
    private static let rateNoise = 3.0
    private static let highTolerance = 0.15
    private static let highNoise = 2.6
    private static let levelErrorMost = 0.09
    private static let levelErrorPerSecond = 0.0205
    private static let levelErrorBeside = 1.4
    private static let rateErrorMost = 0.18
    private static let highErrorMost = 0.20
    /// In the longest window the error may be so many times as large: there is nothing to wait for.
    private static let lastLeniency = 3.0
    /// Latencies closer than this are the same, nanoseconds.
    private static let floor = 50_000.0
    /// Growth of latency, nanoseconds a second: what the window must exclude, and what the longer past must not show.
    private static let growthExcluded = 10_000_000.0
    private static let growthMost = 5_000_000.0
    /// Growth of unanswered pushes, as a share of the answers: what is nothing, and what is too much however noisy.
    private static let queueTolerance = 0.005
    private static let queueMost = 0.02

    private var last: (time: UInt64, total: LatencyHistogram)?
    private var recent: [AnswerInterval] = []
    private var past = AnswerHistory()
    private var isSteady = false

    package init() {}

    /// Called often; looks when a tenth of a second has passed.
    ///
    /// - Parameters:
    ///   - time: ns since the start.
    ///   - total: latencies of all answers so far, intended send time to answer.
    ///   - unanswered: pushes due and not yet answered: in flight and waiting for a stream.
    /// - Returns: true once steady; never before there were answers.
    public mutating func look(at time: UInt64, total: LatencyHistogram, unanswered: UInt64) -> Bool {
        guard let last else {
            // What was before the first answer is no rate.
            if total.count > 0 { self.last = (time, total) }
            return false
        }
        guard time > last.time, total.count > last.total.count else { return isSteady }
        let seconds = Double(time - last.time) / 1e9
        guard seconds >= Self.pause,
            Double(total.count - last.total.count) >= Self.fewestAnswers || seconds >= Self.longest
        else { return isSteady }
        self.last = (time, total)
        let interval = AnswerInterval(seconds: seconds, total: total, since: last.total, unanswered: unanswered)
        return interval.answers > 0 ? look(interval) : isSteady
    }

    /// Adds the next interval, which has answers.
    mutating func look(_ interval: AnswerInterval) -> Bool {
        recent.append(interval)
        if recent.count > Self.windows.last!.0 { recent.removeFirst() }
        past.add(interval)
        isSteady = isLevel()
        return isSteady
    }

    /// The first window that tells decides; one that changes without doubt makes an end.
    private func isLevel() -> Bool {
        for (count, group) in Self.windows {
            guard recent.count >= count else { return false }
            let window = recent.suffix(count)
            let parts = stride(from: window.startIndex, to: window.endIndex, by: group).map {
                AnswerInterval.joined(window[$0..<$0 + group])
            }
            switch Self.judge(parts, intervals: count) {
            case .changing: return false
            case .unclear: continue
            case .level: return !past.grew(by: Self.growthMost, floor: Self.floor)
            }
        }
        return false
    }

    private enum Finding { case level, unclear, changing }

    private static func judge(_ parts: [AnswerInterval], intervals: Int) -> Finding {
        let seconds = parts.reduce(0) { $0 + $1.seconds }
        let answers = parts.reduce(0) { $0 + $1.answers }
        let leniency = intervals == windows.last!.0 ? lastLeniency : 1
        // The answers' own scatter is the least error: 20 values may look quieter than they are.
        let within = parts.reduce(0) { $0 + $1.variance * $1.answers }
        let ownError = (12 * within).squareRoot() / answers
        let level = Trend(parts.map(\.level), leastError: ownError)
        let same = floor / exp(level.median)
        let levelError = max(same / 2, leniency * min(levelErrorMost, levelErrorPerSecond * seconds))
        let finding = judge(
            level, max(tolerance, same), noise: levelNoise, errorMost: levelErrorBeside * levelError)
        if finding != .level { return finding }
        if ownError > levelError { return .unclear }
        let rate = judge(
            Trend(parts.map { log($0.answers / $0.seconds) }), tolerance, noise: rateNoise,
            errorMost: leniency * rateErrorMost)
        if rate != .level { return rate }
        let high = judge(
            Trend(parts.map(\.high)), max(highTolerance, same), noise: highNoise,
            errorMost: max(same, leniency * highErrorMost))
        if high != .level { return high }
        return isQueueLevel(parts, answers, intervals) && isGrowthExcluded(parts, seconds) ? .level : .unclear
    }

    private static func judge(
        _ trend: Trend, _ tolerance: Double, noise: Double, errorMost: Double
    ) -> Finding {
        let (change, lead) = (abs(trend.change), abs(trend.lead))
        if change > max(1.5 * tolerance, 3.5 * trend.error) || lead > max(1.5 * tolerance, 4 * trend.leadError) {
            return .changing
        }
        return trend.error <= errorMost && change <= max(tolerance, noise * trend.error)
            && lead <= max(tolerance, 3 * trend.leadError) ? .level : .unclear
    }

    private static func isQueueLevel(_ parts: [AnswerInterval], _ answers: Double, _ intervals: Int) -> Bool {
        let values = parts.map(\.unanswered)
        let middle = Trend.median(values)
        // Counted at one moment each: no surer than a Poisson number.
        let queue = Trend(values, leastError: (12 * middle / Double(intervals)).squareRoot())
        let explained = min(3 * queue.error, max(queueMost * answers, 3 * middle.squareRoot()))
        return queue.change <= max(3, queueTolerance * answers, explained)
    }

    private static func isGrowthExcluded(_ parts: [AnswerInterval], _ seconds: Double) -> Bool {
        let latency = Trend(parts.map { exp($0.level) })
        return latency.change + 3 * latency.cautiousError <= max(floor, growthExcluded * seconds)
    }
}

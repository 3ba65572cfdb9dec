import Measurement
import Scenarios
import Settings
import Synchronization

/// Thresholds that can be seen to be crossed while a run goes on, before it is over.
///
/// - Statistics of total latency, over a sliding window: a server that has recovered is not held to its past. Fewer than
///   `fewest` pushes within it are not judged; those without an answer count as longer than all answers, and so does one that
///   is open when it was due longer ago than an upper limit allows (`OpenPushes`), but for the mean, which one push says little
///   of: that is crossed when what is known of it is over the limit.
/// - Rates with a lower limit, over the same window, once it is whole; from a third of it on, where they are far less than half
///   of what they are to be (`RecentRates`). With a schedule only as far as it asked for that rate within the window, and only
///   until all planned pushes are taken.
/// - `failed` and `rejected` with an upper limit, over the whole run, at once: these counts only grow. A share is one of the
///   pushes planned.
///
/// Everything else (other stages, parts, memory) is known at the end only. Nothing is judged before `delay`; latencies and
/// rates of that time do not enter, counts do.
package final class LiveThresholds: Sendable {
    /// Fewer pushes say too little about a percentile.
    static let fewest: UInt64 = 1000

    private let thresholds: [Threshold]
    private let window: UInt64
    private let delay: UInt64
    /// One of the thresholds is on total latency.
    private let isLatencyJudged: Bool
    /// One of them is on a rate.
    private let isRateJudged: Bool
    private let isOpenLoop: Bool
    /// The run has no other workers: their rates are not known here, and a limit is on the sum.
    private let isAlone: Bool
    private struct State {
        var latencies: LatencyWindow?
        var open: OpenPushes?
        var rates: RecentRates?
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - window: how far back latencies are judged, nanoseconds.
    ///   - delay: nothing is judged before so long after the start, nanoseconds.
    ///   - isOpenLoop: a schedule says when pushes are due.
    ///   - workers: of the run, each of which judges its own pushes; a rate of several is judged only as a share of its target.
    package init(
        _ thresholds: [Threshold], window: UInt64, delay: UInt64, isOpenLoop: Bool = true, workers: Int = 1
    ) {
        self.thresholds = thresholds
        self.window = window
        self.delay = delay
        self.isOpenLoop = isOpenLoop
        isAlone = workers == 1
        isRateJudged = thresholds.contains { threshold in
            if case .rate = threshold.metric { threshold.isJudgedEarly } else { false }
        }
        isLatencyJudged = thresholds.contains {
            if case .latency("total", _, nil) = $0.metric { true } else { false }
        }
        state = Mutex(
            delay == 0
                ? State(
                    latencies: LatencyWindow(length: window, begin: 0, total: CensoredHistogram()),
                    open: OpenPushes(begin: 0, due: 0, ended: 0)) : State())
    }

    /// Looks at the run once more: about once a second, in the order of time.
    ///
    /// - Parameters:
    ///   - elapsed: nanoseconds since the start.
    ///   - counts: since the start, like `total`.
    ///   - due: measured pushes that have come due since the start, whether they have ended or not.
    ///   - planned: pushes of the whole run; nil as long as that is not known.
    /// - Returns: the first threshold that is crossed, in words; nil when none is.
    package func crossed(
        at elapsed: UInt64, _ counts: PushCounts, total: CensoredHistogram, due: UInt64, planned: UInt64?
    ) -> String? {
        guard elapsed >= delay else { return nil }
        let latest = isLatencyJudged ? advance(to: elapsed, total, due: due) : nil
        // Once all pushes are taken, rates fall because only open pushes are left.
        let isTaking = planned.map { counts.taken < $0 } ?? true
        let rates = isRateJudged && isTaking ? advanceRates(to: elapsed, counts, due: due) : nil
        for threshold in thresholds {
            switch threshold.metric {
            case .latency("total", let statistic, nil):
                guard let (latest, length, open) = latest else { continue }
                var recent = latest
                // One of them makes a mean censored, but not large.
                let waiting = statistic == .mean ? 0 : threshold.longest.map { open.olderThan($0) } ?? 0
                if waiting > 0, let longest = threshold.longest { recent.unanswered.record(longest, count: waiting) }
                guard recent.count >= Self.fewest else { continue }
                let (value, isCensored) = ThresholdVerdict.value(statistic, recent)
                // A mean that is only known to be larger may be within an upper limit that is larger too.
                let isBound = isCensored && statistic == .mean
                if isBound, threshold.longest == nil { continue }
                if isCensored && !isBound || !threshold.comparison.holds(value, threshold.limit) {
                    return "\(threshold.text) was crossed: \(isCensored ? "more than " : "")"
                        + "\(Units.duration(nanoseconds: value)) over the last "
                        + Units.duration(nanoseconds: Double(length))
                        + (waiting > 0 ? ", \(Units.grouped(waiting)) pushes open for longer than the limit" : "")
                }
            case .count(let name, let isShare):
                guard [.below, .atMost, .equal].contains(threshold.comparison) else { continue }
                let count: UInt64
                switch name {
                case "rejected": count = counts.rejected
                case "failed": count = counts.failed
                default: continue
                }
                guard let limit = isShare ? planned.map({ Double($0) * threshold.limit }) : threshold.limit else {
                    continue
                }
                if Double(count) > limit || (threshold.comparison == .below && Double(count) >= limit && count > 0) {
                    return "\(threshold.text) was crossed: \(Units.grouped(count)) so far"
                }
            case .rate(let rate, let ofTarget) where threshold.isJudgedEarly && (ofTarget || isAlone):
                guard let rates, let value = rates.missed(rate, threshold.limit, ofTarget: ofTarget, isOpenLoop) else {
                    continue
                }
                return "\(threshold.text) was crossed: "
                    + (ofTarget ? "\(Units.fixed(value, places: 4)) * target" : Units.perSecond(value))
                    + " over the last \(Units.duration(nanoseconds: Double(rates.length)))"
            default: continue
            }
        }
        return nil
    }

    private func advanceRates(to elapsed: UInt64, _ counts: PushCounts, due: UInt64) -> RecentRates? {
        state.withLock { state in
            // Before anything is due that is measured: a warm-up.
            guard due > 0 else {
                state.rates = nil
                return nil
            }
            let look = RecentRates.Look(
                time: elapsed, due: due, answered: counts.accepted + counts.rejected, accepted: counts.accepted,
                sent: counts.sent)
            var rates = state.rates ?? RecentRates(window: window, look)
            rates.add(look)
            state.rates = rates
            return rates
        }
    }

    private func advance(
        to elapsed: UInt64, _ total: CensoredHistogram, due: UInt64
    ) -> (recent: CensoredHistogram, length: UInt64, open: OpenPushes) {
        state.withLock { state in
            // The first look after the delay: what was before it does not enter, nor does a warm-up.
            if total.count == 0, due == 0 { state = State() }
            var window = state.latencies ?? LatencyWindow(length: window, begin: elapsed, total: total)
            let latest = window.advance(to: elapsed, total: total)
            state.latencies = window
            var open = state.open ?? OpenPushes(begin: elapsed, due: due, ended: total.count)
            open.advance(to: elapsed, due: due, ended: total.count, keeping: longest)
            // It begins when something is due that is measured: what waits then is of a warm-up.
            state.open = due > 0 ? open : nil
            return (latest.recent, latest.length, open)
        }
    }

    /// The largest upper limit on a total latency, ns; 0 when there is none.
    private var longest: UInt64 {
        thresholds.compactMap { threshold in
            if case .latency("total", _, nil) = threshold.metric { threshold.longest } else { nil }
        }.max() ?? 0
    }

    /// Says so when a window never holds enough answers to be judged; nil when it may, or no latency would be.
    ///
    /// - Parameter rate: pushes a second that are due; nil when that is not one number.
    package func warning(rate: Double?) -> String? {
        guard isLatencyJudged, let rate, rate > 0, rate * Double(window) / 1e9 < Double(Self.fewest) else {
            return nil
        }
        let needed = (Double(Self.fewest) / rate).rounded(.up)
        return "latency will not end the run early: at \(Units.fixed(rate, places: 1)) pushes/s a window of "
            + "\(Units.duration(nanoseconds: Double(window))) never holds \(Units.grouped(Self.fewest)) answers; give "
            + "--abort-on-fail-window \(Units.fixed(needed, places: 0))s"
    }
}

extension Threshold {
    /// Of a latency with an upper limit: that, ns; nil otherwise.
    fileprivate var longest: UInt64? {
        guard comparison == .below || comparison == .atMost, limit >= 1, limit < 1e18 else { return nil }
        return UInt64(limit)
    }
}

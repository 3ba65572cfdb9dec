import Measurement
import Scenarios
import Settings
import Synchronization

/// Thresholds that can be seen to be crossed while a run goes on, before it is over.
///
/// - Statistics of total latency, over a sliding window: a server that has recovered is not held to its past. Fewer than
///   `fewest` pushes within it are not judged; those without an answer count as longer than all answers.
/// - `failed` and `rejected` with an upper limit, over the whole run, at once: these counts only grow. A share is one of the
///   pushes planned.
///
/// Everything else (other stages, parts, rates, memory) is known at the end only. Nothing is judged before `delay`; latencies
/// of that time do not enter, counts do.
public final class LiveThresholds: Sendable {
    /// Fewer pushes say too little about a percentile.
    public static let fewest: UInt64 = 1000

    private let thresholds: [Threshold]
    private let window: UInt64
    private let delay: UInt64
    /// One of the thresholds is on total latency.
    private let isLatencyJudged: Bool
    private let latencies: Mutex<LatencyWindow?>

    /// - Parameters:
    ///   - window: how far back latencies are judged, nanoseconds.
    ///   - delay: nothing is judged before so long after the start, nanoseconds.
    public init(_ thresholds: [Threshold], window: UInt64, delay: UInt64) {
        self.thresholds = thresholds
        self.window = window
        self.delay = delay
        isLatencyJudged = thresholds.contains {
            if case .latency("total", _, nil) = $0.metric { true } else { false }
        }
        latencies = Mutex(
            delay == 0 ? LatencyWindow(length: window, begin: 0, total: CensoredHistogram()) : nil)
    }

    /// Looks at the run once more: about once a second, in the order of time.
    ///
    /// - Parameters:
    ///   - elapsed: nanoseconds since the start.
    ///   - counts: since the start, like `total`.
    ///   - planned: pushes of the whole run; nil when that is not known.
    /// - Returns: the first threshold that is crossed, in words; nil when none is.
    public func crossed(
        at elapsed: UInt64, _ counts: PushCounts, total: CensoredHistogram, planned: UInt64?
    ) -> String? {
        guard elapsed >= delay else { return nil }
        let latest = isLatencyJudged ? advance(to: elapsed, total) : nil
        for threshold in thresholds {
            switch threshold.metric {
            case .latency("total", let statistic, nil):
                guard let (recent, length) = latest, recent.count >= Self.fewest else { continue }
                let (value, isCensored) = ThresholdVerdict.value(statistic, recent)
                if isCensored || !threshold.comparison.holds(value, threshold.limit) {
                    return "\(threshold.text) was crossed: \(isCensored ? "more than " : "")"
                        + "\(Units.duration(nanoseconds: value)) over the last "
                        + Units.duration(nanoseconds: Double(length))
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
            default: continue
            }
        }
        return nil
    }

    private func advance(to elapsed: UInt64, _ total: CensoredHistogram) -> (CensoredHistogram, UInt64) {
        latencies.withLock { latencies in
            // The first look after the delay: what was before it does not enter, nor does a warm-up.
            if total.count == 0 { latencies = nil }
            var window = latencies ?? LatencyWindow(length: window, begin: elapsed, total: total)
            let latest = window.advance(to: elapsed, total: total)
            latencies = window
            return latest
        }
    }

    /// Says so when a window never holds enough answers to be judged; nil when it may, or no latency would be.
    ///
    /// - Parameter rate: pushes a second that are due; nil when that is not one number.
    public func warning(rate: Double?) -> String? {
        guard isLatencyJudged, let rate, rate > 0, rate * Double(window) / 1e9 < Double(Self.fewest) else {
            return nil
        }
        let needed = (Double(Self.fewest) / rate).rounded(.up)
        return "latency will not end the run early: at \(Units.fixed(rate, places: 1)) pushes/s a window of "
            + "\(Units.duration(nanoseconds: Double(window))) never holds \(Units.grouped(Self.fewest)) answers; give "
            + "--abort-on-fail-window \(Units.fixed(needed, places: 0))s"
    }
}

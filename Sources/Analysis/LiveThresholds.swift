import Measurement
import Scenarios
import Settings

/// Thresholds that can be seen to be crossed while a run goes on: on total latency, and on counts that only grow.
public struct LiveThresholds: Sendable {
    private let thresholds: [Threshold]
    /// Fewer answers say too little about a percentile.
    static let fewest: UInt64 = 1000

    public init(_ thresholds: [Threshold]) { self.thresholds = thresholds }

    /// The first one that is crossed, in words; nil when none is.
    ///
    /// - Parameter planned: pushes of the whole run; nil when that is not known.
    public func crossed(_ counts: PushCounts, total: LatencyHistogram, planned: UInt64?) -> String? {
        for threshold in thresholds {
            switch threshold.metric {
            case .latency("total", let statistic, nil):
                guard total.count >= Self.fewest else { continue }
                let value = ThresholdVerdict.value(statistic, total)
                if !threshold.comparison.holds(value, threshold.limit) {
                    return "\(threshold.text) was crossed: \(Units.duration(nanoseconds: value))"
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
}

import Measurement
import Results
import Scenarios
import Settings

/// A run's figure held against a threshold.
public struct ThresholdVerdict: Sendable, Equatable {
    public let threshold: Threshold
    /// In the threshold's own unit (nanoseconds, pushes, share, bytes, pushes/s); nil when the run has no such figure.
    public let value: Double?
    /// What there is no figure of is not held: a threshold nobody checked would be worse than none.
    public var isHeld: Bool { value.map { threshold.comparison.holds($0, threshold.limit) } ?? false }

    public init(_ threshold: Threshold, _ result: ResultDocument) {
        self.threshold = threshold
        value = Self.value(threshold.metric, result)
    }

    private static func value(_ metric: Threshold.Metric, _ result: ResultDocument) -> Double? {
        switch metric {
        case .latency(let stage, let statistic, let part):
            let key = part.map { ResultDocument.histogramKey($0.dimension, $0.label) } ?? stage
            guard let text = result.histograms[key], let histogram = try? HistogramCodec.decodeFromLog(text),
                histogram.count > 0
            else { return nil }
            return value(statistic, histogram)
        case .count(let name, let isShare):
            guard let count = count(name, result) else { return nil }
            guard isShare else { return Double(count) }
            return result.pushes.planned > 0 ? Double(count) / Double(result.pushes.planned) : nil
        case .rate(let ofTarget):
            guard ofTarget else { return result.throughput.answered }
            return result.throughput.offered.map { result.throughput.answered / $0 }
        case .memory("rss"): return Double(result.cost.clientMemory)
        case .memory: return result.cost.mockMemory.map { Double($0) }
        case .cpu: return result.cost.clientCPU
        }
    }

    /// Nanoseconds.
    public static func value(_ statistic: Threshold.Statistic, _ histogram: LatencyHistogram) -> Double {
        let summary = histogram.summary
        return switch statistic {
        case .percentile(let percentile): Double(histogram.value(atPercentile: percentile))
        case .mean: summary.mean
        case .min: Double(summary.min)
        case .max: Double(summary.max)
        }
    }

    private static func count(_ name: String, _ result: ResultDocument) -> UInt64? {
        let pushes = result.pushes
        return switch name {
        case "accepted": pushes.accepted
        case "rejected": pushes.rejected
        case "failed": pushes.failed
        case "retried": pushes.retried
        case "lost": pushes.lost
        case "duplicated": pushes.duplicated
        case "overflowed": result.failures["overflowed"] ?? 0
        default: nil
        }
    }

    /// `p99 < 50ms: 43.2 ms, 13.6 % below` or `p99 < 50ms: 61.0 ms, 22.0 % above`.
    public var description: String {
        guard let value else { return "\(threshold.text): the run has no such figure" }
        let limit = threshold.limit
        let margin =
            limit == 0
            ? "" : ", \(Units.fixed(abs(value / limit - 1) * 100, places: 1)) % \(value <= limit ? "below" : "above")"
        return "\(threshold.text): \(written(value))\(margin)"
    }

    private func written(_ value: Double) -> String {
        switch threshold.metric {
        case .latency, .cpu: Units.duration(nanoseconds: value)
        case .count(_, let isShare):
            isShare ? "\(Units.fixed(value * 100, places: 3)) %" : Units.grouped(UInt64(value))
        case .rate(let ofTarget):
            ofTarget ? "\(Units.fixed(value, places: 4)) * target" : "\(Units.grouped(UInt64(value.rounded())))/s"
        case .memory: Units.bytes(UInt64(value))
        }
    }
}

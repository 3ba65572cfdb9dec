import Measurement
import Results
import Scenarios
import Settings

/// A run's figure held against a threshold.
package struct ThresholdVerdict: Sendable, Equatable {
    let threshold: Threshold
    /// In the threshold's own unit (nanoseconds, pushes, share, bytes, pushes/s); nil when the run has no such figure.
    let value: Double?
    /// Of a latency that is only known to be larger than `value`: how many pushes of how many got no answer.
    let unanswered: Unanswered?
    /// On the latency of rejections, where nothing was rejected.
    private let isWithoutRejections: Bool

    struct Unanswered: Sendable, Equatable {
        let count: UInt64
        let whole: UInt64
    }

    /// What there is no figure of, or one only known from below, is not held: a threshold nobody could check would be worse
    /// than none. Of no rejections at all none was slower than the limit.
    package var isHeld: Bool {
        if isWithoutRejections { return [.below, .atMost].contains(threshold.comparison) }
        return value.map { unanswered == nil && threshold.comparison.holds($0, threshold.limit) } ?? false
    }

    package init(_ threshold: Threshold, _ result: ResultDocument) {
        self.threshold = threshold
        if case .latency(let stage, let statistic, let part) = threshold.metric {
            let key =
                part.flatMap { Self.isWhole($0, result) ? nil : $0 }
                .map { ResultDocument.histogramKey($0.dimension, $0.label) } ?? stage
            guard let latencies = try? result.censoredHistogram(key), latencies.count > 0 else {
                (value, unanswered) = (nil, nil)
                isWithoutRejections = stage == "total_rejected" && result.pushes.rejected == 0
                return
            }
            let isCensored: Bool
            (value, isCensored) = Self.value(statistic, latencies)
            unanswered = isCensored ? .init(count: latencies.unanswered.count, whole: latencies.count) : nil
        } else {
            value = Self.value(threshold.metric, result)
            unanswered = nil
        }
        isWithoutRejections = false
    }

    /// A run's only send is not kept apart: its figures are the run's.
    private static func isWhole(_ part: Threshold.Part, _ result: ResultDocument) -> Bool {
        part.dimension == "send" && result.onlySend?.name == part.label
    }

    private static func value(_ metric: Threshold.Metric, _ result: ResultDocument) -> Double? {
        switch metric {
        case .latency: return nil
        case .count(let name, let isShare):
            guard let count = count(name, result) else { return nil }
            guard isShare else { return Double(count) }
            return result.pushes.planned > 0 ? Double(count) / Double(result.pushes.planned) : nil
        case .rate(let rate, let ofTarget):
            guard let value = self.rate(rate, result.throughput) else { return nil }
            guard ofTarget else { return value }
            return result.throughput.offered.flatMap { $0 > 0 ? value / $0 : nil }
        case .memory("rss"): return result.isPartial ? nil : Double(result.cost.clientMemory)
        case .memory: return result.cost.mockMemory.map { Double($0) }
        case .cpu: return result.isPartial || !result.hasAnswers ? nil : result.cost.clientCPU
        case .noConnection: return result.connections.noConnection.map { $0.seconds * 1e9 }
        case .echo(let name, let isShare):
            guard let echo = result.echo, let count = count(name, echo) else { return nil }
            guard isShare else { return Double(count) }
            return echo.requests > 0 ? Double(count) / Double(echo.requests) : nil
        }
    }

    private static func rate(_ rate: Threshold.Rate, _ throughput: ResultDocument.Throughput) -> Double? {
        guard throughput.hasRates else { return nil }
        return switch rate {
        case .offered: throughput.offered
        case .sent: throughput.sent
        case .answered: throughput.answered
        case .accepted: throughput.accepted
        }
    }

    /// Nanoseconds.
    package static func value(_ statistic: Threshold.Statistic, _ histogram: LatencyHistogram) -> Double {
        let summary = histogram.summary
        return switch statistic {
        case .percentile(let percentile): Double(histogram.value(atPercentile: percentile))
        case .mean: summary.mean
        case .min: Double(summary.min)
        case .max: Double(summary.max)
        }
    }

    /// Nanoseconds, and whether that is only what is known to be exceeded.
    static func value(_ statistic: Threshold.Statistic, _ latencies: CensoredHistogram) -> (Double, Bool) {
        if case .percentile(let percentile) = statistic {
            let figure = latencies.value(atPercentile: percentile)
            return (Double(figure.value), figure.isCensored)
        }
        let figure: LatencyFigure = statistic == .mean ? .mean : statistic == .min ? .min : .max
        let latency = ResultDocument.Latency(latencies)
        return (latency.value(figure), latency.isCensored(figure))
    }

    private static func count(_ name: String, _ result: ResultDocument) -> UInt64? {
        let pushes = result.pushes
        return switch name {
        case "accepted": pushes.accepted
        case "rejected": pushes.rejected
        case "failed": pushes.failed
        case "not_sent": pushes.notSent
        case "retried": pushes.retried &+ result.retries.attempts
        case "lost": pushes.lost
        case "duplicated": pushes.duplicated
        case "overflowed": result.notSent["overflowed"] ?? 0
        default: nil
        }
    }

    private static func count(_ name: String, _ echo: ResultDocument.Echo) -> UInt64? {
        switch name {
        case "peak": echo.peakPerSecond
        case "requests": echo.requests
        case "answered": echo.answered
        case "failed": echo.failed
        case "given_up": echo.givenUp
        case "not_begun": echo.notBegun
        case "retries": echo.retries
        default: nil
        }
    }

    /// `p99 < 50ms: 43.2 ms, 13.6 % below`, `p99 < 50ms: 61.0 ms, 22.0 % above`, `p99 < 50ms: 2.00 s, 40 times the limit`, or `p99.9 < 50ms: not known, more than 20.0 s
    /// (3 of 1,200 pushes got no answer)`.
    package var description: String {
        if isWithoutRejections { return "\(threshold.text): nothing rejected" }
        guard let value else { return "\(threshold.text): the run has no such figure" }
        if let unanswered {
            return "\(threshold.text): not known, more than \(written(value)) (\(Units.grouped(unanswered.count)) of "
                + "\(Units.grouped(unanswered.whole)) \(lacking))"
        }
        return "\(threshold.text): \(written(value))\(Self.margin(value / threshold.limit))"
    }

    /// `, 22.0 % above`; `, just below` within a twentieth of a percent; `, 3,215 times the limit` where percents would be
    /// thousands; empty at the limit itself and without a ratio.
    private static func margin(_ ratio: Double) -> String {
        guard ratio.isFinite else { return "" }
        guard ratio > 10 else {
            let side = ratio < 1 ? "below" : "above"
            let percent = abs(ratio - 1) * 100
            return percent >= 0.05
                ? ", \(Units.fixed(percent, places: 1)) % \(side)" : percent > 0 ? ", just \(side)" : ""
        }
        return ", \(Units.grouped(UInt64(min(ratio, 1e18).rounded()))) times the limit"
    }

    /// What pushes, or requests, of which a latency is not known did not have.
    private var lacking: String {
        switch threshold.metric {
        case .latency(Threshold.echo, _, _): "requests got no answer"
        case .latency(Stage.timeToScreen.key, _, _): "pushes were not shown"
        case .latency(Stage.timeToContent.key, _, _): "pushes did not have their content"
        default: "pushes got no answer"
        }
    }

    private static func whole(_ value: Double) -> UInt64 { UInt64(exactly: value.rounded(.down)) ?? .max }

    private func written(_ value: Double) -> String {
        switch threshold.metric {
        case .latency, .cpu, .noConnection: Units.duration(nanoseconds: value)
        case .echo("peak", _): "\(Units.perSecond(value))"
        case .count(_, let isShare), .echo(_, let isShare):
            isShare ? "\(Units.fixed(value * 100, places: 3)) %" : Units.grouped(Self.whole(value))
        case .rate(_, let ofTarget):
            ofTarget ? "\(Units.fixed(value, places: 4)) * target" : Units.perSecond(value)
        case .memory: Units.bytes(Self.whole(value))
        }
    }
}

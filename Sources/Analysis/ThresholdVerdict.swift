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
    /// What it names did not happen: no rejection, no answer 500, no request of a device.
    private let isOfNone: Bool
    /// By how much it was crossed while the run went on, which ended it; nil: it did not.
    private let early: String?

    struct Unanswered: Sendable, Equatable {
        let count: UInt64
        let whole: UInt64
    }

    /// A threshold that names some of the pushes (or requests of devices) is held where there were none of them. Otherwise what there
    /// is no figure of, or one only known from below, is not held: a threshold nobody could check would be worse than none.
    package var isHeld: Bool {
        if early != nil { return false }
        return isOfNone
            || value.map { unanswered == nil && threshold.comparison.holds($0, threshold.limit) } ?? false
    }

    package init(_ threshold: Threshold, _ result: ResultDocument) {
        self.threshold = threshold
        let start = "ended early: \(threshold.text) was crossed: "
        early = result.notes.first { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
        if case .latency(let stage, let statistic, let part) = threshold.metric {
            let key =
                part.flatMap { Self.isWhole($0, result) ? nil : $0 }
                .map { ResultDocument.histogramKey($0.dimension, $0.label) } ?? stage
            guard let latencies = try? result.censoredHistogram(key), latencies.count > 0 else {
                (value, unanswered) = (nil, nil)
                isOfNone = result.histograms[key] == nil && Self.areNone(stage, part, result)
                return
            }
            let isCensored: Bool
            (value, isCensored) = Self.value(statistic, latencies)
            unanswered = isCensored ? .init(count: latencies.unanswered.count, whole: latencies.count) : nil
        } else {
            value = Self.value(threshold.metric, result)
            unanswered = nil
        }
        if case .echo(_, isShare: true) = threshold.metric {
            isOfNone = result.echo?.requests == 0
        } else {
            isOfNone = false
        }
    }

    /// Of the pushes, or requests, that a latency is of there were none, though others were measured.
    private static func areNone(_ stage: String, _ part: Threshold.Part?, _ result: ResultDocument) -> Bool {
        guard result.latency[.total].count > 0 else { return false }
        if let part {
            // What stands among the others, or would have come, is not known.
            guard result.run.complete, let labels = result.breakdown[part.dimension], labels[Breakdown.other] == nil
            else { return false }
            return labels[part.label].map { $0.accepted + $0.rejected + $0.failed + $0.notSent == 0 } ?? true
        }
        switch stage {
        case Stage.totalAccepted.key: return result.pushes.accepted == 0
        case Stage.totalRejected.key: return result.pushes.rejected == 0
        case Threshold.echo: return result.echo?.requests == 0
        case Stage.timeToScreen.key, Stage.timeToContent.key:
            return result.devices != nil && result.pushes.accepted == 0
        default: return false
        }
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
        case .noConnection:
            return result.isPartial ? nil : result.connections.noConnection.map { $0.seconds * 1e9 }
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

    /// `p99 2.28 ms < 50 ms`, `p99 61.0 ms, not < 50 ms (22.0 % above the limit)`, `p99{status=500} < 50ms: no such push`, or
    /// `p99.9 < 50ms: not known, more than 20.0 s (3 of 1,200 pushes got no answer)`.
    package var description: String {
        if let early { return "\(threshold.text), while the run went on: \(early)" }
        if isOfNone { return "\(threshold.text): no such \(isOfRequests ? "request" : "push")" }
        guard let value else { return "\(threshold.text): the run has no such figure" }
        if let unanswered {
            return "\(threshold.text): not known, more than \(written(value)) (\(Units.grouped(unanswered.count)) of "
                + "\(Units.grouped(unanswered.whole)) \(lacking))"
        }
        let limit = "\(threshold.comparison.rawValue) \(limit)"
        guard !isHeld else { return "\(threshold.name) \(written(value)) \(limit)" }
        return "\(threshold.name) \(written(value)), not \(limit)\(Self.margin(value / threshold.limit))"
    }

    /// As it was written, with a blank before its unit: `50 ms`, `99.9 %`, `0.95 * target`, `20k`.
    private var limit: String {
        if case .rate(_, ofTarget: true) = threshold.metric {
            return threshold.limitText.replacing("*", with: " * ")
        }
        let number = threshold.limitText.prefix { $0.isNumber || $0 == "." }
        let unit = threshold.limitText.dropFirst(number.count)
        let isPlain =
            switch threshold.metric {
            case .latency, .memory, .cpu, .noConnection: !unit.contains(where: \.isNumber)
            case .count, .rate, .echo: unit == "%"
            }
        return isPlain && !unit.isEmpty ? "\(number) \(unit)" : threshold.limitText
    }

    /// ` (22.0 % above the limit)`; `just above` within a twentieth of a percent, `40 times the limit` above 2; empty at the limit
    /// itself and without a ratio.
    private static func margin(_ ratio: Double) -> String {
        guard ratio.isFinite, ratio != 1 else { return "" }
        if ratio > 2 { return " (\(Units.change(ratio)) the limit)" }
        let size = abs(ratio - 1) < 0.0005 ? "just" : Units.change(ratio)
        return " (\(size) \(ratio < 1 ? "below" : "above") the limit)"
    }

    private var isOfRequests: Bool {
        switch threshold.metric {
        case .latency(Threshold.echo, _, _), .echo: true
        default: false
        }
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

import Results
import Settings
import Statistics

/// A figure of a run that comparisons look at.
package struct ComparedMetric: Sendable {
    let name: String
    let unit: ComparisonDocument.Unit
    /// What a higher value means.
    let higher: ComparisonDocument.Verdict
    let lower: ComparisonDocument.Verdict
    /// nil when the run has no such figure.
    let value: @Sendable (ResultDocument) -> Double?
    /// What the figure is only known to be larger than, with why; nil where it is known.
    var bound: @Sendable (ResultDocument) -> String? = { _ in nil }
    /// Unless it is asked for: in which runs it says anything that others do not.
    var isOfUse: @Sendable (ResultDocument) -> Bool = { _ in true }

    static let all: [ComparedMetric] = [
        ComparedMetric(name: "rate", unit: .perSecond, higher: .faster, lower: .slower) {
            $0.throughput.answered > 0 ? $0.throughput.answered : nil
        },
        // Where nothing is rejected it is the rate.
        ComparedMetric(
            name: "goodput", unit: .perSecond, higher: .faster, lower: .slower,
            value: { $0.throughput.answered > 0 ? $0.throughput.accepted : nil }, isOfUse: { $0.pushes.rejected > 0 }),
        cost("client CPU a push", .nanoseconds) { $0.clientCPU },
        cost("mock CPU a push", .nanoseconds) { $0.mockCPU },
        cost("allocations a push", .count) { $0.clientAllocations },
        cost("client peak memory", .bytes) { Double($0.clientMemory) },
        latency("total p50", \.total, .p50), latency("total p90", \.total, .p90),
        latency("total p99", \.total, .p99), latency("total p99.9", \.total, .p999),
        latency("round trip p50", \.roundTrip, .p50), latency("round trip p99", \.roundTrip, .p99),
    ]

    /// The names of all figures, in the order they are shown.
    package static var names: [String] { all.map(\.name) }

    static func named(_ name: String) -> ComparedMetric? { all.first { $0.name == name } }

    private static func cost(
        _ name: String, _ unit: ComparisonDocument.Unit, _ value: @escaping @Sendable (ResultDocument.Cost) -> Double?
    ) -> ComparedMetric {
        ComparedMetric(name: name, unit: unit, higher: .more, lower: .less) { value($0.cost) }
    }

    private static func latency(
        _ name: String, _ stage: KeyPath<ResultDocument.Latencies, ResultDocument.Latency> & Sendable,
        _ figure: LatencyFigure
    ) -> ComparedMetric {
        ComparedMetric(
            name: name, unit: .nanoseconds, higher: .slower, lower: .faster,
            value: { $0.latency[keyPath: stage].known(figure) },
            bound: {
                let latency = $0.latency[keyPath: stage]
                guard latency.isCensored(figure) else { return nil }
                return "more than \(Units.duration(nanoseconds: latency.value(figure))): "
                    + "\(Units.grouped(latency.unanswered)) of \(Units.grouped(latency.count)) pushes got no answer"
            })
    }

    /// The values of two sides, one a run, held against each other; judged as one of so many figures only by `judged`.
    func compare(_ a: [Double], _ b: [Double]) -> ComparisonDocument.Metric {
        let medians = (a: Quantile.median(a) ?? 0, b: Quantile.median(b) ?? 0)
        let test = a.count > 1 && b.count > 1 ? MannWhitney(a, b) : nil
        var metric = ComparisonDocument.Metric(
            name: name, unit: unit, a: a, b: b, medianA: medians.a, medianB: medians.b,
            ratio: medians.a > 0 && medians.b > 0 ? medians.b / medians.a : nil, low: nil, high: nil, p: test?.p,
            adjusted: nil, delta: test?.delta, detectable: nil, verdict: .noRatio)
        let interval = BootstrapRatio(a, b)
        metric.low = interval?.low
        metric.high = interval?.high
        return metric
    }

    /// The figures of one comparison with their verdicts: Holm's correction for all that can be judged, so that the chance of
    /// calling any figure different that is not stays below the level. The smallest ratio that could have been seen is one
    /// seen at the strictest step of that correction.
    static func judged(_ metrics: [ComparisonDocument.Metric]) -> [ComparisonDocument.Metric] {
        var metrics = metrics
        let tested = metrics.indices.filter { metrics[$0].ratio != nil && metrics[$0].p != nil }
        let adjusted = Holm.adjusted(tested.compactMap { metrics[$0].p })
        for (index, p) in zip(tested, adjusted) {
            metrics[index].adjusted = p
            metrics[index].detectable = DetectableRatio.of(
                metrics[index].a, metrics[index].b, level: ResultComparison.level / Double(tested.count))
        }
        for index in metrics.indices { metrics[index].verdict = verdict(metrics[index], of: tested.count) }
        return metrics
    }

    /// The fewest runs a side of which a difference can be called when so many figures are judged.
    static func fewestRuns(_ judged: Int) -> Int {
        (2...).first { MannWhitney.smallestP($0, $0) * Double(max(judged, 1)) <= ResultComparison.level } ?? .max
    }

    private static func verdict(
        _ metric: ComparisonDocument.Metric, of judged: Int
    ) -> ComparisonDocument.Verdict {
        guard metric.ratio != nil else { return .noRatio }
        guard let p = metric.adjusted else { return .oneRun }
        guard let low = metric.low, let high = metric.high else { return .noRatio }
        let smallest = MannWhitney.smallestP(metric.a.count, metric.b.count) * Double(judged)
        guard smallest <= ResultComparison.level else { return .tooFewRuns }
        guard p <= ResultComparison.level, low > 1 || high < 1, let figure = named(metric.name) else {
            return .noDifference
        }
        return low > 1 ? figure.higher : figure.lower
    }
}

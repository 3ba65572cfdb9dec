import Results

/// A figure of a run that comparisons look at.
public struct ComparedMetric: Sendable {
    let name: String
    let unit: ComparisonDocument.Unit
    /// What a higher value means.
    let higher: ComparisonDocument.Verdict
    let lower: ComparisonDocument.Verdict
    /// nil when the run has no such figure.
    let value: @Sendable (ResultDocument) -> Double?

    static let all: [ComparedMetric] = [
        ComparedMetric(name: "rate", unit: .perSecond, higher: .faster, lower: .slower) {
            $0.throughput.perSecond > 0 ? $0.throughput.perSecond : nil
        },
        cost("client CPU a push", .nanoseconds) { $0.clientCPU },
        cost("mock CPU a push", .nanoseconds) { $0.mockCPU },
        cost("allocations a push", .count) { $0.clientAllocations },
        cost("client peak memory", .bytes) { Double($0.clientMemory) },
        latency("total p50", \.total, \.p50), latency("total p90", \.total, \.p90),
        latency("total p99", \.total, \.p99), latency("total p99.9", \.total, \.p999),
        latency("round trip p50", \.roundTrip, \.p50), latency("round trip p99", \.roundTrip, \.p99),
    ]

    /// The names of all figures, in the order they are shown.
    public static var names: [String] { all.map(\.name) }

    static func named(_ name: String) -> ComparedMetric? { all.first { $0.name == name } }

    private static func cost(
        _ name: String, _ unit: ComparisonDocument.Unit, _ value: @escaping @Sendable (ResultDocument.Cost) -> Double?
    ) -> ComparedMetric {
        ComparedMetric(name: name, unit: unit, higher: .more, lower: .less) { value($0.cost) }
    }

    private static func latency(
        _ name: String, _ stage: KeyPath<ResultDocument.Latencies, ResultDocument.Latency> & Sendable,
        _ statistic: KeyPath<ResultDocument.Latency, UInt64> & Sendable
    ) -> ComparedMetric {
        ComparedMetric(name: name, unit: .nanoseconds, higher: .slower, lower: .faster) {
            let latency = $0.latency[keyPath: stage]
            return latency.count > 0 ? Double(latency[keyPath: statistic]) : nil
        }
    }

    /// The values of two sides, one a run, held against each other.
    func compare(_ a: [Double], _ b: [Double]) -> ComparisonDocument.Metric {
        let medians = (a: Quantile.median(a) ?? 0, b: Quantile.median(b) ?? 0)
        let test = a.count > 1 && b.count > 1 ? MannWhitney(a, b) : nil
        var metric = ComparisonDocument.Metric(
            name: name, unit: unit, a: a, b: b, medianA: medians.a, medianB: medians.b,
            ratio: medians.a > 0 && medians.b > 0 ? medians.b / medians.a : nil, low: nil, high: nil, p: test?.p,
            delta: test?.delta, detectable: DetectableRatio.of(a, b), verdict: .noRatio)
        let interval = BootstrapRatio(a, b)
        metric.low = interval?.low
        metric.high = interval?.high
        metric.verdict = verdict(metric)
        return metric
    }

    private func verdict(_ metric: ComparisonDocument.Metric) -> ComparisonDocument.Verdict {
        guard metric.ratio != nil else { return .noRatio }
        guard let p = metric.p else { return .oneRun }
        guard let low = metric.low, let high = metric.high else { return .noRatio }
        guard MannWhitney.smallestP(metric.a.count, metric.b.count) < ResultComparison.level else { return .tooFewRuns }
        guard p < ResultComparison.level, low > 1 || high < 1 else { return .noDifference }
        return low > 1 ? higher : lower
    }
}

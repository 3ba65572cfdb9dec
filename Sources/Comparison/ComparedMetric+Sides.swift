import Analysis
import Results
import Statistics

extension ComparedMetric {
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
    ) -> FigureVerdict {
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

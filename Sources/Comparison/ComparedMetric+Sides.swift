import Analysis
import Foundation
import Results
import Statistics

extension ComparedMetric {
    /// The values of two sides, one a run, held against each other; judged as one of so many figures only by `judged`.
    ///
    /// - Parameter order: in which runs of groups were made.
    func compare(
        _ a: [Double], _ b: [Double], by analysis: ComparisonDocument.Analysis, in order: RunOrder = .independent
    ) -> ComparisonDocument.Metric {
        let medians = (a: Quantile.median(a) ?? 0, b: Quantile.median(b) ?? 0)
        var metric = ComparisonDocument.Metric(
            name: name, unit: unit, a: a, b: b, medianA: medians.a, medianB: medians.b, ratio: nil, low: nil, high: nil,
            coverage: nil, sameWithin: nil, p: nil, adjusted: nil, delta: nil, detectable: nil, verdict: .noRatio)
        if medians.a > 0, medians.b > 0, a.count == 1 || b.count == 1 { metric.ratio = medians.b / medians.a }
        guard a.count > 1, b.count > 1, let test = MannWhitney(a, b) else { return metric }
        metric.delta = test.delta
        switch analysis {
        case .groups: metric.p = order.p(test.p)
        case .rounds:
            let arePositive = (a + b).allSatisfy { $0 > 0 }
            metric.p = SignedRank(zip(a, b).map { arePositive ? log($1) - log($0) : $1 - $0 })?.p
        }
        func interval(_ confidence: Double) -> RatioInterval? {
            switch analysis {
            case .groups: RatioInterval(a, b, in: order, confidence: confidence)
            case .rounds: RatioInterval(rounds: a, b, confidence: confidence)
            }
        }
        if let interval = interval(0.95) {
            (metric.ratio, metric.coverage) = (interval.ratio, interval.coverage)
            (metric.low, metric.high) = (interval.low, interval.high)
        }
        // Two one-sided tests at 5 % exclude what lies beyond an interval that covers 90 %.
        metric.sameWithin = interval(0.9)?.sameWithin
        return metric
    }

    /// The figures of one comparison with their verdicts: Holm's correction for all that can be judged, so that the chance of
    /// calling any figure different that is not stays below the level. The smallest ratio that could have been seen is one
    /// seen at the strictest step of that correction. That a figure is the same is said of it alone.
    static func judged(
        _ metrics: [ComparisonDocument.Metric], by analysis: ComparisonDocument.Analysis,
        in order: RunOrder = .independent, margin: Double
    ) -> [ComparisonDocument.Metric] {
        var metrics = metrics
        // What is 0 in all runs is never called different.
        let tested = metrics.indices.filter { index in
            metrics[index].p != nil && (metrics[index].a + metrics[index].b).contains { $0 != 0 }
        }
        let adjusted = Holm.adjusted(tested.compactMap { metrics[$0].p })
        let level = ResultComparison.level / Double(tested.count)
        for (index, p) in zip(tested, adjusted) {
            let (a, b) = (metrics[index].a, metrics[index].b)
            metrics[index].adjusted = p
            metrics[index].detectable =
                switch analysis {
                case .groups: DetectableRatio.of(a, b, level: level, in: order)
                case .rounds: DetectableRatio.of(rounds: a, b, level: level)
                }
        }
        for index in metrics.indices {
            metrics[index].verdict = verdict(metrics[index], of: tested.count, by: analysis, in: order, margin)
        }
        return metrics
    }

    /// The fewest runs a side, or rounds, of which a difference can be called when so many figures are judged.
    static func fewestRuns(
        _ judged: Int, by analysis: ComparisonDocument.Analysis, in order: RunOrder = .independent
    ) -> Int {
        (2...).first { runs in
            let order = order == .independent ? order : RunOrder(before: runs, after: runs)
            return smallestP(runs, runs, analysis, order) * Double(max(judged, 1)) <= ResultComparison.level
        } ?? .max
    }

    private static func smallestP(
        _ a: Int, _ b: Int, _ analysis: ComparisonDocument.Analysis, _ order: RunOrder
    ) -> Double {
        switch analysis {
        case .groups: order.p(MannWhitney.smallestP(a, b))
        case .rounds: SignedRank.smallestP(a)
        }
    }

    private static func verdict(
        _ metric: ComparisonDocument.Metric, of judged: Int, by analysis: ComparisonDocument.Analysis,
        in order: RunOrder,
        _ margin: Double
    ) -> FigureVerdict {
        guard metric.a.count > 1, metric.b.count > 1 else { return metric.ratio == nil ? .noRatio : .oneRun }
        guard let p = metric.adjusted else { return .noRatio }
        guard let low = metric.low, let high = metric.high else {
            // There is no ratio to 0, but what is larger is known.
            guard p <= ResultComparison.level, metric.medianA != metric.medianB, let figure = named(metric.name) else {
                return .noRatio
            }
            return metric.medianB > metric.medianA ? figure.higher : figure.lower
        }
        if p <= ResultComparison.level, low > 1 || high < 1, let figure = named(metric.name) {
            return low > 1 ? figure.higher : figure.lower
        }
        if let least = metric.sameWithin, least <= margin { return .same }
        let smallest = smallestP(metric.a.count, metric.b.count, analysis, order) * Double(judged)
        return smallest <= ResultComparison.level ? .noDifference : .tooFewRuns
    }
}

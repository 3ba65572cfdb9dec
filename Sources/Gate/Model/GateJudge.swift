import Results
import Statistics

/// Rounds held against a baseline.
enum GateJudge {
    /// - Parameter rounds: at least one.
    /// - Returns: every metric that both have; `pass`, `improved`, `regression` (which is to be confirmed) or `cannotTell` of
    ///   those that are judged.
    static func judge(
        _ baseline: BaselineDocument, _ rounds: [GateDocument.Round], _ rules: GateRules
    ) -> [GateDocument.Metric] {
        GateMetric.all.compactMap { metric in
            guard let known = baseline.metrics.first(where: { $0.name == metric.name }) else { return nil }
            return judge(metric, known, rounds, rules)
        }
    }

    /// One verdict of all metrics.
    static func verdict(_ metrics: [GateDocument.Metric]) -> GateDocument.Verdict {
        let verdicts = metrics.map(\.verdict)
        if verdicts.contains(.regression) { return .regression }
        if verdicts.contains(.cannotTell) { return .cannotTell }
        return verdicts.contains(.improved) ? .improved : .pass
    }

    private static func judge(
        _ metric: GateMetric, _ known: BaselineDocument.Metric, _ rounds: [GateDocument.Round], _ rules: GateRules
    ) -> GateDocument.Metric? {
        let raw = rounds.compactMap { $0.values[metric.name] }
        guard let before = Quantile.median(known.raw), let now = Quantile.median(raw) else { return nil }
        let isJudged = rules.metrics.contains(metric.name)
        let interval = HodgesLehmann(
            metric.isNormalised ? known.normalised ?? [] : known.raw, metric.values(rounds),
            error: rules.errorPerInterval)
        let limit = 1 + rules.tolerance
        var judged = GateDocument.Metric(
            name: metric.name, unit: metric.unit, baseline: before, now: now, ratio: interval?.ratio,
            low: interval?.low, high: interval?.high, tolerated: isJudged ? (metric.isGain ? 1 / limit : limit) : nil,
            verdict: .information)
        guard isJudged else { return judged }
        if abs(now - before) < metric.leastDifference {
            judged.verdict = .pass
        } else if let interval {
            // A gain's ratio upside down is a cost's.
            let (low, high) =
                metric.isGain ? (1 / interval.high, 1 / interval.low) : (interval.low, interval.high)
            judged.verdict =
                low > limit ? .regression : high < 1 / limit ? .improved : high < limit ? .pass : .cannotTell
        } else {
            judged.verdict = .cannotTell
        }
        return judged
    }
}

import Results
import Statistics

/// Rounds held against a baseline, or against those of the base beside them.
enum GateJudge {
    /// - Parameters:
    ///   - baseline: nil: each round has the base's beside it.
    ///   - rounds: at least one.
    /// - Returns: every metric that both sides have; `pass`, `improved`, `regression` or `cannotTell` of those that are judged.
    static func judge(
        _ baseline: BaselineDocument?, _ rounds: [GateDocument.Round], _ rules: GateRules
    ) -> [GateDocument.Metric] {
        GateMetric.all.compactMap { metric in
            guard let baseline else { return judgePairs(metric, rounds, rules) }
            guard let known = baseline.metrics.first(where: { $0.name == metric.name }) else { return nil }
            let before = metric.isNormalised ? known.normalised ?? [] : known.raw
            return judged(metric, known.raw, rounds.compactMap { $0.values[metric.name] }, rules) {
                GateInterval(before.map(metric.cost), metric.values(rounds).map(metric.cost), rules, limit: $0)
            }
        }
    }

    /// One verdict of all metrics.
    static func verdict(_ metrics: [GateDocument.Metric]) -> GateDocument.Verdict {
        let verdicts = metrics.map(\.verdict)
        if verdicts.contains(.regression) { return .regression }
        // Where nothing was judged nothing has passed.
        if verdicts.contains(.cannotTell) || verdicts.allSatisfy({ $0 == .information }) { return .cannotTell }
        return verdicts.contains(.improved) ? .improved : .pass
    }

    /// Both rounds of a pair are made one after the other on the same core: they need no reference kernel.
    private static func judgePairs(
        _ metric: GateMetric, _ rounds: [GateDocument.Round], _ rules: GateRules
    ) -> GateDocument.Metric? {
        let pairs = rounds.compactMap { round -> (base: Double, now: Double)? in
            guard let base = round.base?[metric.name], let now = round.values[metric.name] else { return nil }
            return (base, now)
        }
        return judged(metric, pairs.map(\.base), pairs.map(\.now), rules) {
            GateInterval(pairs: pairs.map { metric.cost($0.now) / metric.cost($0.base) }, rules, limit: $0)
        }
    }

    /// - Parameters:
    ///   - base, now: as measured.
    ///   - interval: of what the metric costs, with the ratio that is tolerated.
    private static func judged(
        _ metric: GateMetric, _ base: [Double], _ now: [Double], _ rules: GateRules,
        _ interval: (Double) -> GateInterval?
    ) -> GateDocument.Metric? {
        guard let before = Quantile.median(base), let after = Quantile.median(now) else { return nil }
        let limit = max(rules.limit, metric.cost(before + metric.leastDifference) / metric.cost(before))
        let interval = interval(limit)
        let isJudged = rules.metrics.contains(metric.name)
        // What a gain's ratio is upside down is a cost's.
        func shown(_ ratio: Double?) -> Double? {
            guard let ratio, ratio > 0, ratio.isFinite else { return nil }
            return metric.isGain ? 1 / ratio : ratio
        }
        let ends = [shown(interval?.low), shown(interval?.high)]
        let verdict = isJudged ? interval?.verdict ?? .cannotTell : .information
        return GateDocument.Metric(
            name: metric.name, unit: metric.unit, base: before, now: after, ratio: shown(interval?.ratio),
            low: ends[metric.isGain ? 1 : 0], high: ends[metric.isGain ? 0 : 1],
            correlation: interval?.correlation?.lag1, stretch: interval?.correlation?.stretch,
            tolerated: isJudged ? (metric.isGain ? 1 / limit : limit) : nil, verdict: verdict)
    }
}

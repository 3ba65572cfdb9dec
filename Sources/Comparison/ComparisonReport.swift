import Reports
import Results
import Settings
import Statistics

/// A comparison for a person at a terminal.
enum ComparisonReport {
    static func text(_ comparison: ComparisonDocument, on picture: TextPicture = .plain) -> String {
        // Nothing of the table means anything before that is known.
        let shared = ComparisonWarnings.shared(comparison.a.runs, comparison.b.runs)
        var lines = ["", "A: \(named(comparison.a))", "B: \(named(comparison.b))"] + analysis(comparison)
        lines += (shared.map { ["warning: \($0)"] } ?? []) + [""]
        var table = TextTable()
        table.add(header("A", "B", comparison))
        for row in rows(comparison) {
            table.add(row.dropLast() + [coloured(row.last ?? "", picture)])
        }
        lines += table.lines(width: picture.width) + [""]
        for distribution in comparison.distributions { lines.append(line(distribution)) }
        for warning in comparison.warnings where warning != shared { lines.append("warning: \(warning)") }
        return TextLines.fitted(lines, width: picture.width).joined(separator: "\n") + "\n"
    }

    private static func coloured(_ verdict: String, _ picture: TextPicture) -> String {
        switch verdict.prefix(while: \.isLetter) {
        case "faster", "less", "the": picture.good(verdict)
        case "slower", "more": picture.bad(verdict)
        default: verdict
        }
    }

    /// What an interval covers goes by the number of runs alone.
    static func header(_ a: String, _ b: String, _ comparison: ComparisonDocument) -> [String] {
        let coverage = comparison.metrics.lazy.compactMap(\.coverage).first
        let interval = coverage.map { "\(Units.fixed($0 * 100, places: 0)) % interval" } ?? "interval"
        return ["median", a, b, "B/A", interval, "p", "adjusted", "delta", "verdict"]
    }

    /// How the sides were held against each other, where it is not each run against each, as if they owed nothing to their order.
    static func analysis(_ comparison: ComparisonDocument) -> [String] {
        guard comparison.a.runs.count > 1, comparison.b.runs.count > 1 else { return [] }
        switch comparison.analysis {
        case .rounds: return ["\(comparison.a.runs.count) rounds: each run of B against the run of A in its round"]
        case .groups:
            guard comparison.stretch >= 1.005 else { return [] }
            let covered = comparison.metrics.lazy.compactMap(\.coverage).first.map {
                RunOrder.independentCoverage($0, stretch: comparison.stretch)
            }
            return [
                "runs of a side were made together, and may resemble their neighbours: intervals are "
                    + "\(Units.fixed(comparison.stretch, places: 2)) times as wide for it, and p larger"
                    + (covered.map { " (where they do not, they cover \(Units.fixed($0 * 100, places: 0)) %)" } ?? "")
            ]
        }
    }

    /// One row a figure. Why nothing can be called is said once.
    static func rows(_ comparison: ComparisonDocument) -> [[String]] {
        var said: Set<String> = []
        return comparison.metrics.map { metric in
            let verdict = verdict(metric, comparison)
            let short = shortVerdict(metric)
            let isSaid = short != nil && !said.insert(verdict).inserted
            let interval = metric.low.flatMap { low in metric.high.map { "\(three(low)) - \(three($0))" } }
            return [Written.title(metric.name)] + Written.pair(metric.medianA, metric.medianB, metric.unit) + [
                metric.ratio.map(three) ?? "-", interval ?? "-", metric.p.map(Written.chance) ?? "-",
                metric.adjusted.map(Written.chance) ?? "-", metric.delta.map { Units.fixed($0, places: 2) } ?? "-",
                isSaid ? short ?? verdict : verdict,
            ]
        }
    }

    /// Of a figure of which the number of runs says nothing can be called.
    private static func shortVerdict(_ metric: ComparisonDocument.Metric) -> String? {
        switch metric.verdict {
        case .tooFewRuns: "too few runs"
        case .oneRun: "no interval"
        default: nil
        }
    }

    /// Of runs of the same thing: how far each figure's ratio is from sure, half the width of its interval. Intervals of ratios are as wide
    /// one way as the other in factors, so that half of it is a factor too.
    static func noise(_ comparison: ComparisonDocument, on picture: TextPicture = .plain) -> String {
        let rows: [[String]] = comparison.metrics.compactMap { metric in
            guard let low = metric.low, let high = metric.high, low > 0 else { return nil }
            return [Written.title(metric.name), Units.change(max(high, 1 / low))]
        }
        guard !rows.isEmpty else { return "\nnoise floor: not known; it takes two rounds and more (--rounds)\n" }
        var table = TextTable()
        table.add(["noise floor", "up to"])
        for row in rows { table.add(row) }
        return "\n" + table.lines(width: picture.width).joined(separator: "\n") + "\n"
    }

    private static func named(_ side: ComparisonDocument.Side) -> String {
        "\(side.name) (\(side.runs.count) \(side.runs.count == 1 ? "run" : "runs"))"
    }

    /// `slower by 8.1 %`, `slower: 16 times`, `the same within 2 %`, `no difference seen (could have seen 3.1 %)`.
    static func verdict(_ metric: ComparisonDocument.Metric, _ comparison: ComparisonDocument) -> String {
        let same = "the same within \(margin(comparison.margin))"
        switch metric.verdict {
        case .faster, .slower, .more, .less:
            let isSame = metric.sameWithin.map { $0 <= comparison.margin } == true
            let word = metric.verdict.rawValue
            return (metric.ratio.map { Units.verdict(word, $0) } ?? word) + (isSame ? ", \(same)" : "")
        case .same: return same
        case .noDifference:
            guard let detectable = metric.detectable else { return "no difference seen" }
            // Larger than what is usually seen, and not seen: one or two runs speak against all others.
            if let ratio = metric.ratio, max(ratio, 1 / ratio) >= detectable {
                let what = comparison.analysis == .rounds ? "rounds" : "runs of a side"
                return "no difference seen: \(what) differ too much from each other"
            }
            return "no difference seen (could have seen \(Units.change(detectable)))"
        case .tooFewRuns:
            let fewest = comparison.fewestRuns
            return "too few runs to call a difference ("
                + (comparison.analysis == .rounds ? "\(fewest) rounds can)" : "\(fewest) a side can)")
        case .oneRun:
            if metric.a.count == 1, metric.b.count == 1 { return "one run a side: no interval" }
            return "only one run of \(metric.a.count == 1 ? "A" : "B"): no interval"
        case .noRatio:
            guard (metric.a + metric.b).contains(where: { $0 != 0 }) else { return "both 0" }
            return metric.medianA > 0 && metric.medianB > 0 ? "no ratio: 0 in some runs" : "no ratio to 0"
        }
    }

    /// `2 %`, `0.25 %`.
    private static func margin(_ share: Double) -> String {
        let percent = share * 100
        let isWhole = abs(percent - percent.rounded()) < 1e-9
        return "\(Units.fixed(percent, places: isWhole ? 0 : 2)) %"
    }

    static func line(_ distribution: ComparisonDocument.Distribution) -> String {
        let name = distribution.name == "round_trip" ? "round trip" : distribution.name
        let distance = "D \(three(distribution.d))" + (distribution.p.map { ", p \(Written.chance($0))" } ?? "")
        func share(_ value: Double) -> String { "\(Units.fixed(value * 100, places: 0)) %" }
        let place =
            "most at \(Units.duration(nanoseconds: Double(distribution.place))): "
            + "\(share(distribution.belowA)) of A below, \(share(distribution.belowB)) of B"
        switch distribution.differs {
        case true?: return "\(name): the shapes differ \(place) (\(distance))"
        case false?: return "\(name): no difference of shapes seen, apart \(place) (\(distance))"
        case nil: return "\(name): too few runs to tell whether the shapes differ, apart \(place) (\(distance))"
        }
    }

    private static func three(_ value: Double) -> String { Units.fixed(value, places: 3) }
}

import Reports
import Results
import Settings

/// The outcome of a gate for a person at a terminal.
enum GateReport {
    static func text(_ gate: GateDocument, on picture: TextPicture = .plain) -> String {
        var table = TextTable()
        table.add(["median", base(gate), "now", "ratio", "interval", "verdict"])
        for metric in gate.metrics { table.add(cells(metric)) }
        var lines = table.lines(width: picture.width) + [""]
        lines += notes(gate)
        lines += gate.warnings.map { "warning: \($0)" }
        let words = sentence(gate)
        let verdict = String(words.prefix { $0 != ":" && $0 != "," })
        let coloured =
            switch gate.verdict {
            case .pass, .information, .improved: picture.good(verdict)
            case .regression: picture.bad(verdict)
            case .cannotTell: picture.doubtful(verdict)
            }
        lines.append(coloured + words.dropFirst(verdict.count))
        return TextLines.fitted(lines, width: picture.width).joined(separator: "\n") + "\n"
    }

    /// What the table's columns do not say themselves.
    static func notes(_ gate: GateDocument) -> [String] {
        var notes: [String] = []
        notes.append(
            gate.comparison == .baseline
                ? "ratio: of costs after dividing both by the machine's speed that day, not of the two medians; what is no CPU time is not divided"
                : "ratio: of the rounds of each pair, not of the two medians")
        for metric in gate.metrics where metric.tolerated != nil {
            guard let least = GateMetric.named(metric.name)?.leastDifference, least > 0 else { continue }
            notes.append(
                "\(title(metric.name)): \(Written.figure(least, metric.unit)) more is tolerated, however large the ratio"
            )
        }
        return notes
    }

    /// What the gate has to say, in one line.
    static func sentence(_ gate: GateDocument) -> String {
        let arePairs = gate.comparison == .pairs
        let rounds =
            "\(Units.counted(gate.rounds.count, arePairs ? "pair" : "round")) in \(Units.fixed(gate.seconds, places: 1)) s"
        let against = "\(base(gate)) \(gate.base)"
        func list(_ verdict: GateDocument.Verdict) -> String {
            gate.metrics.filter { $0.verdict == verdict }.map { metric in
                metric.ratio.map { "\(title(metric.name)) \(change($0))" } ?? title(metric.name)
            }.joined(separator: ", ")
        }
        return switch gate.verdict {
        case .pass, .information: "PASS: no cost above what is tolerated (\(against); \(rounds))"
        case .improved:
            "PASS, improved: \(list(.improved)) (\(against); \(rounds))"
                + (arePairs ? "" : "; pushload gate --update --baseline FILE --reason '...' makes this the baseline")
        case .regression: "REGRESSION: \(list(.regression)) (\(against); \(rounds))"
        case .cannotTell:
            "CANNOT TELL: \(list(.cannotTell)), of which "
                + (gate.metrics.contains { $0.verdict == .cannotTell && ($0.low != nil || $0.high != nil) }
                    ? "the interval reaches beyond what is tolerated" : "there is no interval yet")
                + " (\(against); \(rounds)); "
                + "more rounds (--budget, --max-rounds) or a quieter machine may tell"
                + (gate.rounds.count < GateRules.fewestForRegression
                    ? "; a regression takes \(GateRules.fewestForRegression) or more" : "")
        }
    }

    /// What the rounds are held against.
    static func base(_ gate: GateDocument) -> String { gate.comparison == .pairs ? "base" : "baseline" }

    /// How a baseline that was renewed differs from the one before.
    static func update(
        _ baseline: BaselineDocument, before: BaselineDocument?, path: String, on picture: TextPicture = .plain
    ) -> String {
        guard let before else {
            var table = TextTable()
            table.add(["median", "baseline"])
            for metric in baseline.metrics {
                table.add([title(metric.name), Written.figure(middle(metric.raw), metric.unit)])
            }
            return table.lines(width: picture.width).joined(separator: "\n")
                + "\n\nnew baseline: \(path) (\(Units.counted(baseline.metrics.first?.raw.count ?? 0, "round")))\n"
        }
        var table = TextTable()
        table.add(["median", "before", "now", "moved by"])
        for metric in baseline.metrics {
            guard let old = before.metrics.first(where: { $0.name == metric.name }) else { continue }
            var moved = "-"
            let isSameKernel = baseline.kernel == before.kernel
            let (then, now) =
                isSameKernel && metric.normalised != nil && old.normalised != nil
                ? (middle(old.normalised ?? []), middle(metric.normalised ?? []))
                : (middle(old.raw), middle(metric.raw))
            if then > 0, now > 0 { moved = change(now / then) }
            let values = Written.pair(middle(old.raw), middle(metric.raw), metric.unit)
            table.add([title(metric.name)] + values + [moved])
        }
        var lines = table.lines(width: picture.width) + [""]
        if baseline.kernel == before.kernel, baseline.metrics.contains(where: { $0.normalised != nil }) {
            lines.append("moved by: CPU times after dividing both by the machine's speed that day")
        }
        if before.scenario != baseline.scenario { lines.append("the scenario is another one") }
        if before.machine != baseline.machine { lines.append("the machine is another one") }
        lines.append("renewed: \(path) (it was of \(before.updatedAt): \(before.reason))")
        return TextLines.fitted(lines, width: picture.width).joined(separator: "\n") + "\n"
    }

    static func cells(_ metric: GateDocument.Metric) -> [String] {
        let interval: String? =
            switch (metric.low, metric.high) {
            case (let low?, let high?): "\(three(low)) - \(three(high))"
            case (let low?, nil): "from \(three(low))"
            case (nil, let high?): "to \(three(high))"
            case (nil, nil): nil
            }
        return [title(metric.name)] + Written.pair(metric.base, metric.now, metric.unit)
            + [metric.ratio.map(three) ?? "-", interval ?? "-", verdict(metric)]
    }

    static func title(_ name: String) -> String {
        switch name {
        case "client_cpu": "client CPU a push"
        case "mock_cpu": "mock CPU a push"
        case "allocations": "allocations a push"
        case "total_p50": "total p50"
        case "total_p99": "total p99"
        default: Written.title(name)
        }
    }

    /// `pass`, `regression by 8.1 %`.
    static func verdict(_ metric: GateDocument.Metric) -> String {
        switch metric.verdict {
        case .pass: "pass"
        case .regression: metric.ratio.map { "regression: \(change($0))" } ?? "regression"
        case .improved: metric.ratio.map { "improved: \(change($0))" } ?? "improved"
        case .cannotTell: "cannot tell"
        case .information: "(not judged)"
        }
    }

    /// `+8.1 %`; above 2 the factor, `3.1 times`.
    static func change(_ ratio: Double) -> String {
        guard ratio <= 2 else { return Units.change(ratio) }
        let size = Units.fixed(abs(ratio - 1) * 100, places: 1)
        return "\(ratio < 1 && size != "0.0" ? "-" : "+")\(size) %"
    }

    static func three(_ value: Double) -> String { Units.fixed(value, places: 3) }

    private static func middle(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}

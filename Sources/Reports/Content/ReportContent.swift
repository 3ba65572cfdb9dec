import Results

/// Which sections a report has.
enum ReportContent {
    static func title(_ runs: [ReportedRun]) -> String {
        runs.count == 1 ? runs[0].label : "\(runs.count) runs: " + runs.map(\.label).joined(separator: ", ")
    }

    static func subtitle(_ runs: [ReportedRun]) -> String {
        guard runs.count == 1, let result = runs.first?.result else { return "pushload" }
        let run = result.run
        return ["pushload", run.startedAt, "engine \(run.engine)", run.target, result.security]
            .filter { !$0.isEmpty }.joined(separator: " · ")
    }

    static func sections(_ runs: [ReportedRun], _ beside: [ReportSection] = []) -> [ReportSection] {
        guard let first = runs.first else { return [] }
        if runs.count == 1 {
            return [JudgementSections.verdict(first), HeadlineSection.make(first), TimeSection.make(first)]
                + [PercentileSection.make(first)] + details(first)
        }
        let verdicts = runs.map { run in
            let wrong = run.problems.count + run.thresholds.count { !$0.isHeld }
            let partial = run.result.isPartial ? "partial, " : ""
            return (
                text: run.isGood
                    ? "\(run.label): good" : "\(run.label): \(partial)\(wrong) thing\(wrong == 1 ? "" : "s") wrong",
                isGood: run.isGood
            )
        }
        let shared = [
            ReportSection(title: "Runs, in the order given", blocks: [.list(runs.map(\.named))]),
            ReportSection(title: "Verdicts", blocks: [.verdicts(verdicts)]), HeadlineSection.compare(runs),
            TimeSection.compare(runs), PercentileSection.compare(runs),
        ]
        return shared + beside
            + runs.map { run in
                let parts = [JudgementSections.verdict(run)] + details(run)
                let blocks: [ReportBlock] = parts.flatMap { [.text($0.title + ":")] + $0.blocks }
                return ReportSection(title: "Run \(run.label)", blocks: [.folded("Everything of \(run.label)", blocks)])
            }
    }

    private static func details(_ run: ReportedRun) -> [ReportSection] {
        [TrustSection.make(run), SendSection.make(run)].compactMap { $0 } + DeviceSection.make(run) + [
            StageSection.make(run)
        ]
            + OutcomeSections.make(run)
            + [WorkerSection.make(run), ClockSection.make(run)].compactMap { $0 }
            + [JudgementSections.notes(run)].compactMap { $0 }
            + [ConfigurationSection.make(run)]
    }
}

import Results
import Settings

/// What to make of a run: problems, thresholds, notes, the generator's own state.
enum JudgementSections {
    static func verdict(_ run: ReportedRun) -> ReportSection {
        let problems = run.problems.map { (text: $0, isGood: false) }
        let thresholds = run.thresholds.map {
            (text: "\($0.isHeld ? "held" : "CROSSED"): \($0.text)", isGood: $0.isHeld)
        }
        let until = run.result.trust?.until.map { until in
            [(text: "\(until.reached ? "reached" : "NOT REACHED"): \(until.words)", isGood: until.reached)]
        }
        var list = problems + thresholds + (until ?? [])
        if problems.isEmpty { list.insert((text: run.result.allRight, isGood: true), at: 0) }
        return ReportSection(
            title: run.thresholds.isEmpty ? "Verdict" : "Verdict and thresholds", blocks: [.verdicts(list)])
    }

    static func notes(_ run: ReportedRun) -> ReportSection? {
        let result = run.result
        var lines = result.generator.reasons.map { "The generator was a limit: \($0)" } + result.notes
        if result.warmup.answered > 0 {
            lines.append(
                "Warm-up left out of rate and latencies: \(Units.counted(result.warmup.answered, "push")), "
                    + "\(Units.fixed(result.warmup.seconds, places: 2)) s.")
        }
        if result.cooldown.seconds >= 0.1 {
            lines.append(
                "Cool-down: \(Units.counted(result.cooldown.pushes, "push")) open when the last one had been taken, "
                    + "the last of them ended \(Units.fixed(result.cooldown.seconds, places: 2)) s later.")
        }
        if !result.run.complete { lines.append("The run ended before its plan was done.") }
        return lines.isEmpty ? nil : ReportSection(title: "Notes and warnings", blocks: [.list(lines)])
    }
}

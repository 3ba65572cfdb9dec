import Foundation
import Results
import Scenarios
import Settings
import Statistics

/// What came of a sweep: the figures of each point, the best point and which cannot be told from it, and the Pareto front.
///
/// A point with a problem is shown, but is neither the best nor on the front. Two points are told apart when the interval of the
/// ratio of their values excludes 1, and covers 90 % or more: it takes three runs of each.
enum SweepAnalysis {
    /// - Parameter isFinished: no run is left to be made.
    static func make(
        _ plan: SweepPlan, _ schedule: SweepSchedule, _ runs: SweepRuns, isFinished: Bool
    ) -> SweepDocument {
        let points = schedule.points.map { point($0, plan, schedule, runs) }
        let fit = points.filter(\.isCompared)
        let results = runs.outcomes.values.compactMap { outcome -> ResultDocument? in
            if case .result(let result) = outcome { result } else { nil }
        }
        let planned = schedule.runCount - runs.impossible.count * plan.search.repeats
        // Halving has no best before its last rung is finished: who is not yet run may be it.
        let isDecided = isFinished || schedule.sizes.count == 1
        let unfinished = "the sweep is not finished: \(runs.outcomes.count) of \(planned) runs are made"
        return SweepDocument(
            name: plan.scenario.name, version: plan.version, startedAt: plan.startedAt, machine: machine(results),
            seed: plan.scenario.seed, method: plan.search.method.rawValue, goal: plan.search.goal.rawValue,
            repeats: plan.search.repeats, runsPlanned: planned, runsMade: runs.outcomes.count,
            axes: plan.axes.map {
                .init(name: $0.name, labels: $0.values.map(\.label), numbers: $0.numbers, isTime: $0.isTime)
            },
            points: points, best: isDecided ? best(points, plan.search.goal) : nil, front: front(fit),
            notes: (isFinished ? [] : [unfinished]) + notes(points, plan, results))
    }

    /// When something went wrong with every point that was run: how many points for which cause, one line a cause, most points
    /// first; else nothing.
    static func failures(_ sweep: SweepDocument) -> [String] {
        let tried = sweep.points.filter { !$0.runs.isEmpty || $0.problem != nil }
        guard tried.allSatisfy({ $0.problem != nil }) else { return [] }
        return causes(tried.compactMap(\.problem), of: tried.count)
    }

    /// How many points could not be reached for which cause, likewise.
    static func unreached(_ runs: SweepRuns, of count: Int) -> [String] {
        causes(Array(runs.unreached.values), of: count)
    }

    /// Problems that differ in nothing but their numbers have one cause.
    static func causes(_ problems: [String], of count: Int) -> [String] {
        let groups = Dictionary(grouping: problems) { problem in
            problem.filter { !$0.isNumber && !",.".contains($0) }
        }
        return groups.values.sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }.map { group in
            let isSame = group.allSatisfy { $0 == group[0] }
            return
                "\(group.count) of \(count) point\(count == 1 ? "" : "s") failed\(isSame ? "" : ", for example"): \(group[0])"
        }
    }

    private static func point(
        _ number: Int, _ plan: SweepPlan, _ schedule: SweepSchedule, _ runs: SweepRuns
    ) -> SweepDocument.Point {
        let repeats = plan.search.repeats
        // The longest runs there are of it.
        let rung =
            schedule.sizes.indices.last { rung in
                (1...repeats).contains { runs.outcomes[SweepJob(point: number, repetition: $0, rung: rung)] != nil }
            } ?? 0
        let results = runs.results(number, rung: rung, repeats: repeats)
        let scenario = try? plan.scenario(of: number)
        let trip = scenario?.rtt.flatMap { try? Units.duration($0) }.map { Double($0) }
        return .init(
            number: number, place: plan.place(of: number), labels: plan.labels(of: number), rung: rung,
            runs: results.map(\.run.id), rate: figure(results, SweepSearch.Goal.rate.value),
            p50: figure(results, SweepSearch.Goal.p50.value), p99: figure(results, SweepSearch.Goal.p99.value),
            clientCPU: figure(results, SweepSearch.Goal.cpu.value),
            mockCPU: figure(results) { $0.hasAnswers ? $0.cost.mockCPU : nil },
            inFlight: Double(scenario?.streams ?? 0) * Double(scenario?.connections ?? 0),
            roundTrip: scenario?.target == nil ? trip ?? 0 : nil,
            runsMissing: runs.missing(number, rung: rung, repeats: repeats),
            problem: runs.problem(number, rung: rung, repeats: repeats))
    }

    /// nil unless every run has the figure.
    private static func figure(
        _ results: [ResultDocument], _ value: (ResultDocument) -> Double?
    ) -> SweepDocument.Figure? {
        let values = results.compactMap(value)
        guard values.count == results.count, let median = Quantile.median(values) else { return nil }
        let interval = MedianInterval(values)
        return .init(
            median: median, low: interval?.low, high: interval?.high, coverage: interval?.coverage, values: values)
    }

    static func best(_ points: [SweepDocument.Point], _ goal: SweepSearch.Goal) -> SweepDocument.Best? {
        let sign = goal.isHigherBetter ? -1.0 : 1.0
        // Of halving, only those of the last rung were run for as long as the best; where all of it went wrong, there is none.
        let last = points.map(\.rung).max() ?? 0
        let ranked = points.filter { $0.rung == last && $0.isCompared }
            .compactMap { point in goal.figure(point).map { (number: point.number, figure: $0) } }
            .sorted { (sign * $0.figure.median, $0.number) < (sign * $1.figure.median, $1.number) }
        guard let best = ranked.first else { return nil }
        let alike = ranked.dropFirst().filter { other in
            RatioInterval(best.figure.values, other.figure.values)?.tellsApart != true
        }
        return .init(point: best.number, alike: alike.map(\.number).sorted())
    }

    /// Rate up, p99 and client CPU down.
    static func front(_ points: [SweepDocument.Point]) -> [Int] {
        let known = points.compactMap { point -> (number: Int, values: [Double])? in
            guard let rate = point.rate, let p99 = point.p99, let cpu = point.clientCPU else { return nil }
            return (point.number, [-rate.median, p99.median, cpu.median])
        }
        return ParetoFront.indices(of: known.map(\.values)).map { known[$0] }
            .sorted { $0.values.lexicographicallyPrecedes($1.values) }.map(\.number)
    }

    private static func machine(_ results: [ResultDocument]) -> String {
        Set(results.map { "\($0.environment.cores) × \($0.environment.cpu)" }).sorted().joined(separator: "; ")
    }

    private static func notes(
        _ points: [SweepDocument.Point], _ plan: SweepPlan, _ results: [ResultDocument]
    ) -> [String] {
        var notes: [String] = []
        let wrong = points.count { $0.problem != nil }
        if wrong > 0 { notes.append("\(wrong) of \(points.count) points have a problem: shown, but not judged") }
        if plan.search.repeats == 1 {
            notes.append("one run a point: nothing can be said of chance, and no point told from another")
        } else if plan.search.repeats < 6 {
            let coverage = 1 - exp2(Double(1 - plan.search.repeats))
            notes.append(
                "of \(plan.search.repeats) runs a median's interval is the span from the smallest to the largest, which covers "
                    + "\(Units.fixed(coverage * 100, places: 0)) %; "
                    + (plan.search.repeats < 3
                        ? "points are told apart from three runs on (--repeat)"
                        : "with more runs (--repeat) more points can be told apart"))
        }
        for (name, figure) in [("p50", LatencyFigure.p50), ("p99", .p99)] {
            let unknown = results.count { $0.latency[.total].isCensored(figure) }
            if unknown == 0 { continue }
            notes.append(
                "total \(name) is not known in \(unknown) of \(results.count) runs, in which pushes got no answer: their "
                    + "points have none")
        }
        if Set(points.map(\.rung)).count > 1 {
            notes.append(
                "runs of points that were dropped early are shorter: only the last rung is compared for the best")
        }
        if Set(results.map(\.environment.host)).count > 1 { notes.append("the runs were made on several machines") }
        let commits = Set(results.map { $0.environment.commit?.prefix(12) ?? "an unknown commit" }).sorted()
        if commits.count > 1 {
            notes.append(
                "the runs were made at several commits of pushload: \(commits.joined(separator: ", ")): points may differ by that"
            )
        }
        let limited = results.count { $0.generator.limited }
        if limited > 0 {
            notes.append("the generator itself was a limit in \(limited) of \(Units.counted(results.count, "run"))")
        }
        return notes
    }
}

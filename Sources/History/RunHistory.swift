import Analysis
import Foundation
import Results
import Scenarios
import Settings
import Statistics

/// Runs over time: those that can be held against each other, in the order they were made, and where their figures change.
enum RunHistory {
    /// Why there is nothing to show: one line, or one for each run that was left out.
    struct Failure: Error, CustomStringConvertible, Sendable, Equatable {
        let description: String
    }

    /// Chances that a figure without a change ever shows one.
    static let levels = 0.001...0.2
    /// What is shown where nothing was asked for.
    static let usualMetrics = ["rate", "client CPU a push", "total p50", "total p99"]

    /// - Parameters:
    ///   - runs: results with the names of their files, each run once, in any order.
    ///   - unread: files that are no results, and why, one sentence each.
    ///   - metrics: of `ComparedMetric.names`; nil: the usual ones, and goodput beside the rate where pushes were rejected.
    ///   - across: facts in which the runs of a series may differ, beside versions, commit, kernel and system.
    ///   - level: the chance that a figure without a change ever shows one, looked at after each of its first 100 runs; 0.001 … 0.2.
    static func make(
        _ runs: [(path: String, result: ResultDocument)], unread: [LeftOutResult] = [],
        metrics: [String]? = nil, across: Set<String> = [], level: Double = 0.05
    ) throws(Failure) -> HistoryDocument {
        var chosen: [ComparedMetric] = []
        for name in metrics ?? usualMetrics {
            guard let metric = ComparedMetric.named(name) else {
                throw Failure(
                    description: "metric \"\(name)\": expected one of \(ComparedMetric.names.joined(separator: ", "))")
            }
            chosen.append(metric)
        }
        guard levels.contains(level) else {
            throw Failure(description: "level \(level): expected \(levels.lowerBound) to \(levels.upperBound)")
        }
        var leftOut = unread
        let ordered = usable(runs, &leftOut)
        let facts = Set(ordered.flatMap { RunFacts.of($0.result).keys }).union(ScenarioKey.allNames)
        for name in across.sorted() where !ordered.isEmpty && !facts.contains(name) {
            throw Failure(
                description: "across \"\(name)\": no fact of these runs" + NearestName.hint(name, among: facts.sorted())
            )
        }
        var groups = grouped(ordered, across)
        for group in groups where group.runs.count > ChangePoints.most {
            for run in group.runs.dropLast(ChangePoints.most) {
                leftOut.append(
                    .init(path: run.path, reason: "older than the newest \(ChangePoints.most) of its series"))
            }
        }
        for index in groups.indices { groups[index].runs = groups[index].runs.suffix(ChangePoints.most) }
        let telling = tellingFacts(groups.map(\.facts))
        var series: [HistoryDocument.Series] = []
        for group in groups {
            let facts = group.facts.filter { telling.contains($0.key) }
            if group.runs.count == 1, groups.count > 1 {
                let apart = others(group.facts, groups[0].facts)
                leftOut.append(
                    .init(
                        path: group.runs[0].path, reason: "the only run of its series\(apart.map { " (\($0))" } ?? "")")
                )
                continue
            }
            let results = group.runs.map(\.result)
            var shown = chosen
            if metrics == nil, let goodput = ComparedMetric.named("goodput"), results.contains(where: goodput.isOfUse) {
                shown.insert(goodput, at: 1)
            }
            leftOut += group.runs.flatMap { run in
                shown.compactMap { metric in
                    metric.bound(run.result).map {
                        .init(path: run.path, reason: "\(metric.name) is not known, \($0)")
                    }
                }
            }
            series.append(
                .init(
                    name: group.runs[group.runs.count - 1].result.run.name, facts: facts,
                    runs: group.runs.map(described),
                    metrics: shown.compactMap { self.metric($0, results, level) }, doubts: RunDoubts.of(results)))
        }
        guard !series.isEmpty else {
            throw Failure(
                description: leftOut.isEmpty
                    ? "no result.json found; expected result files or folders of runs"
                    : leftOut.map { "no run to show: \($0.path): \($0.reason)" }.joined(separator: "\n"))
        }
        return HistoryDocument(level: level, series: series, leftOut: leftOut)
    }

    private typealias Run = (path: String, result: ResultDocument)

    /// Whole runs, by time.
    private static func usable(_ runs: [Run], _ leftOut: inout [LeftOutResult]) -> [Run] {
        var usable: [Run] = []
        for run in runs.sorted(by: isEarlier) {
            if run.result.run.interrupted || !run.result.run.complete {
                let problems = RunVerdict(run.result).problems.filter { !$0.hasPrefix("the run was interrupted") }
                let what = run.result.run.interrupted ? "was interrupted" : "is incomplete"
                leftOut.append(
                    .init(path: run.path, reason: (["the run \(what)"] + problems).joined(separator: "; ")))
            } else {
                usable.append(run)
            }
        }
        return usable
    }

    /// Of two that started at one time, by their folders' names: these begin with the second they were made in, and those of one
    /// second are numbered, run, run-2 … run-10.
    private static func isEarlier(_ a: Run, _ b: Run) -> Bool {
        // Without the Z, whole seconds of older versions come before the milliseconds of the same second.
        let times = (a.result.run.startedAt.dropLast(), b.result.run.startedAt.dropLast())
        guard times.0 == times.1 else { return times.0 < times.1 }
        func folder(_ run: Run) -> String {
            run.path.hasSuffix("/result.json") ? String(run.path.dropLast(12)) : run.path
        }
        let names = [a, b].map { folder($0).split(separator: "/").last.map(String.init) ?? "" }
        let order = names[0].compare(names[1], options: [.numeric, .literal])
        return order == .orderedSame ? a.path < b.path : order == .orderedAscending
    }

    private struct Group {
        var facts: [String: String]
        var runs: [Run]
    }

    /// The longest first; of equal ones the newest.
    private static func grouped(_ runs: [Run], _ across: Set<String>) -> [Group] {
        var groups: [[String: String]: Group] = [:]
        for run in runs {
            let facts = RunFacts.of(run.result).filter { RunFacts.areOfSeries($0.key) && !across.contains($0.key) }
            groups[facts, default: Group(facts: facts, runs: [])].runs.append(run)
        }
        func newest(_ group: Group) -> String { group.runs.last?.result.run.startedAt ?? "" }
        return groups.values.sorted { ($0.runs.count, newest($0)) > ($1.runs.count, newest($1)) }
    }

    /// Names of facts that are not the same for all.
    private static func tellingFacts(_ groups: [[String: String]]) -> Set<String> {
        guard let first = groups.first else { return [] }
        let names = Set(groups.flatMap(\.keys))
        return names.filter { name in groups.contains { $0[name] != first[name] } }
    }

    /// `engine nghttp2, streams 50`: what one has that another has not; at most four.
    private static func others(_ facts: [String: String], _ usual: [String: String]) -> String? {
        let names = tellingFacts([facts, usual]).sorted()
        guard !names.isEmpty else { return nil }
        let list = names.prefix(4).map { "\($0) \(facts[$0] ?? "none")" }.joined(separator: ", ")
        return list + (names.count > 4 ? " and \(names.count - 4) more" : "")
    }

    private static func described(_ run: Run) -> HistoryDocument.Run {
        let environment = run.result.environment
        return .init(
            id: run.result.run.id, path: run.path, startedAt: run.result.run.startedAt,
            version: environment.versions["pushload"] ?? "unknown", commit: environment.commit)
    }

    /// Whether a later stretch has taken a change back: half of it or more, and what is left is not told from before; or nine tenths, and
    /// what is left is within 2 % of before.
    private static func isBack(left: Double, isHigher: Bool, _ before: [Double], _ later: [Double]) -> Bool {
        guard left > 0 else { return true }
        guard left <= 0.5, let usual = Quantile.median(before), let now = Quantile.median(later) else { return false }
        if left <= 0.1, max(now, usual) <= 1.02 * min(now, usual) { return true }
        let order = RunOrder(before: before.count, after: later.count)
        if let interval = RatioInterval(before, later, in: order) {
            return isHigher ? interval.low <= 1 : interval.high >= 1
        }
        // To 0 there is no ratio.
        return isHigher
            ? (later.min() ?? 0) <= (before.max() ?? 0) : (later.max() ?? 0) >= (before.min() ?? 0)
    }

    /// nil when no run has the figure.
    private static func metric(
        _ metric: ComparedMetric, _ results: [ResultDocument], _ level: Double
    ) -> HistoryDocument.Metric? {
        let values = results.map { metric.value($0).flatMap { $0.isFinite ? $0 : nil } }
        // Places of the known values among all runs.
        let places = values.indices.filter { values[$0] != nil }
        let known = values.compactMap { $0 }
        guard !known.isEmpty else { return nil }
        let look = ChangePoints.look(level)
        let found = ChangePoints(known, level: look)
        let stretches = found.segments(of: known.count)
        let segments = stretches.map { stretch in
            HistoryDocument.Segment(
                first: places[stretch.lowerBound], last: places[stretch.upperBound - 1],
                median: Quantile.median(Array(known[stretch])) ?? 0)
        }
        let changes = found.starts.indices.map { index in
            let (before, after) = (segments[index].median, segments[index + 1].median)
            let sides = (before: stretches[index], after: stretches[index + 1])
            let interval = RatioInterval(
                Array(known[sides.before]), Array(known[sides.after]),
                in: RunOrder(before: sides.before.count, after: sides.after.count))
            let verdict: FigureVerdict =
                after > before ? metric.higher : after < before ? metric.lower : .noDifference
            let isOver = stretches.indices.dropFirst(index + 1).contains { later in
                isBack(
                    left: (segments[later].median - before) / (after - before), isHigher: after > before,
                    Array(known[sides.before]), Array(known[stretches[later]]))
            }
            return HistoryDocument.Change(
                run: places[found.starts[index]], before: before, after: after,
                ratio: interval?.ratio, low: interval?.low, high: interval?.high, coverage: interval?.coverage,
                p: found.p[index], verdict: verdict, isWorse: [.slower, .more].contains(verdict) && !isOver)
        }
        return .init(
            name: metric.name, unit: metric.unit, values: values, segments: segments, changes: changes,
            isTooShort: known.count < ChangePoints.fewest(level: look))
    }
}

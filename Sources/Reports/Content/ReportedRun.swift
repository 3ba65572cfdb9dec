import Results

/// One result as a report shows it: the document, and what was made of it.
package struct ReportedRun: Sendable {
    /// How the report calls it; several results of one report should differ in it.
    package var label: String
    /// Where it was read from; nil when it was not.
    var path: String?
    package var result: ResultDocument
    /// What is wrong with the run, one sentence each.
    var problems: [String]
    /// What the run had to hold, and whether it did.
    var thresholds: [(text: String, isHeld: Bool)]

    package init(
        label: String, path: String? = nil, result: ResultDocument, problems: [String] = [],
        thresholds: [(text: String, isHeld: Bool)] = []
    ) {
        self.label = label
        self.path = path
        self.result = result
        self.problems = problems
        self.thresholds = thresholds
    }

    /// The same runs; those whose label another has too get a number behind it.
    package static func told(apart runs: [ReportedRun]) -> [ReportedRun] {
        let uses = Dictionary(grouping: runs, by: \.label).mapValues(\.count)
        var seen: [String: Int] = [:]
        return runs.map { run in
            guard uses[run.label, default: 0] > 1 else { return run }
            seen[run.label, default: 0] += 1
            var named = run
            named.label += " #\(seen[run.label, default: 0])"
            return named
        }
    }

    /// `steady #2: results/runs/20261121T150615Z-steady/result.json`; the label alone without a path.
    var named: String { path.map { "\(label): \($0)" } ?? label }

    var isGood: Bool {
        problems.isEmpty && thresholds.allSatisfy(\.isHeld) && result.trust?.until?.reached != false
    }
    var isOpenLoop: Bool { result.throughput.offered != nil }
}

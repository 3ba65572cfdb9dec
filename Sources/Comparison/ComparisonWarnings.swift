import Analysis
import Results
import Settings

/// What a reader of a comparison must know: what else differs, and which runs are doubtful.
enum ComparisonWarnings {
    /// Each fact of machine, versions and settings in which not all runs are the same, named once.
    static func differences(_ a: [ResultDocument], _ b: [ResultDocument]) -> [String] {
        let (factsA, factsB) = (a.map(RunFacts.of), b.map(RunFacts.of))
        let names = Set((factsA + factsB).flatMap(\.keys)).sorted()
        return names.compactMap { name -> String? in
            let valuesA = Set(factsA.map { $0[name] ?? "none" })
            let valuesB = Set(factsB.map { $0[name] ?? "none" })
            if valuesA.count == 1, valuesA == valuesB { return nil }
            if valuesA.count == 1, valuesB.count == 1 {
                return "A and B differ in \(name): \(list(valuesA)) and \(list(valuesB))"
            }
            let within = [("A", valuesA), ("B", valuesB)].filter { $0.1.count > 1 }
            return within.map { "the runs of \($0.0) differ in \(name): \(list($0.1))" }.joined(separator: "; ")
        }
    }

    /// Of sides with several runs each: that one was made before the other, so that tests and intervals take for a difference what
    /// the machine did meanwhile, or runs to their neighbours.
    static func order(_ a: [ResultDocument], _ b: [ResultDocument]) -> String? {
        let (timesA, timesB) = (a.compactMap(\.run.start), b.compactMap(\.run.start))
        // Of runs of one second that older versions made it is not known.
        func isBefore(_ first: [ClosedRange<Double>], _ second: [ClosedRange<Double>]) -> Bool {
            guard let last = first.map(\.upperBound).max(), let begin = second.map(\.lowerBound).min() else {
                return false
            }
            return last <= begin
        }
        guard a.count > 1, b.count > 1, timesA.count == a.count, timesB.count == b.count,
            isBefore(timesA, timesB) != isBefore(timesB, timesA)
        else { return nil }
        let (before, after) = isBefore(timesA, timesB) ? ("A", "B") : ("B", "A")
        return
            "all runs of \(before) were made before those of \(after): what changed on the machine meanwhile counts as a "
            + "difference (alternate them, or use pushload ab)"
    }

    /// What it means that a run is on both sides: a file that was named twice, or a folder that holds the other; nil: none is.
    ///
    /// - Parameters:
    ///   - a: ids of runs.
    ///   - b: likewise.
    static func shared(_ a: [String], _ b: [String]) -> String? {
        let (ofA, ofB) = (Set(a), Set(b))
        guard !ofA.isDisjoint(with: ofB) else { return nil }
        let why =
            if ofA == ofB {
                "they are the same, and cannot differ"
            } else if ofA.isSubset(of: ofB) {
                "all of A's are among B's, so that B is held against a part of itself"
            } else if ofB.isSubset(of: ofA) {
                "all of B's are among A's, so that A is held against a part of itself"
            } else {
                "what they share cannot differ"
            }
        return "A and B share runs: \(why)"
    }

    private static func list(_ values: Set<String>) -> String {
        values.sorted().map { $0.isEmpty ? "\"\"" : $0 }.joined(separator: ", ")
    }
}

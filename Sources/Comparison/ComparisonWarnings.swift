import Analysis
import Results
import Settings
import Statistics

/// What a reader of a comparison must know: what else differs, and which runs are doubtful.
enum ComparisonWarnings {
    /// Each fact of machine, versions and settings in which not all runs are the same, named once.
    ///
    /// - Parameter known: facts that are told otherwise.
    static func differences(_ a: [ResultDocument], _ b: [ResultDocument], but known: Set<String> = []) -> [String] {
        let (factsA, factsB) = (a.map(RunFacts.of), b.map(RunFacts.of))
        let names = Set((factsA + factsB).flatMap(\.keys)).subtracting(known).sorted()
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

    /// Of closed loops that keep different numbers of pushes open: what follows from that alone, and what answers the question. nil of others.
    static func littlesLaw(_ a: [ResultDocument], _ b: [ResultDocument]) -> String? {
        func number(_ key: String, _ result: ResultDocument) -> Double? {
            result.scenario[key].flatMap { Double($0.description) }
        }
        func open(_ side: [ResultDocument]) -> UInt64? {
            let open = side.map { result -> UInt64? in
                guard result.throughput.offered == nil, let connections = number("connections", result),
                    let streams = number("streams", result), case let all = connections * streams, all >= 1, all < 1e15
                else { return nil }
                return UInt64(all)
            }
            return Set(open).count == 1 ? open[0] : nil
        }
        guard let openA = open(a), let openB = open(b), openA != openB else { return nil }
        let rates = [a, b].compactMap { Quantile.median($0.map(\.throughput.answered)) }
        let rate = rates.min().map { " --rate \(easyRate($0))" } ?? " --rate"
        return
            "A keeps \(Units.grouped(openA)) pushes open and B \(Units.grouped(openB)), in a closed loop: rate and latency follow from that "
            + "(Little's law: open pushes = rate x latency). Compare at one load: the same with\(rate)"
    }

    /// Four fifths of a rate in two digits, as flags have it: `24k`.
    private static func easyRate(_ rate: Double) -> String {
        let whole = UInt64(max(1, min(0.8 * rate, 1e9)))
        var step: UInt64 = 1
        while whole / step >= 100 { step *= 10 }
        let rounded = whole / step * step
        return rounded % 1000 == 0 ? "\(rounded / 1000)k" : "\(rounded)"
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

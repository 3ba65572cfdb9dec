import Results
import Scenarios
import Settings

/// Whether a run did what it was asked to, judged from its result document alone.
package struct RunVerdict: Sendable, Equatable {
    /// One sentence for each thing that is wrong; empty when nothing is.
    package let problems: [String]

    package let thresholds: [ThresholdVerdict]

    package var isGood: Bool { problems.isEmpty && thresholds.allSatisfy(\.isHeld) && isPrecise }
    /// The figure that the run went on for is known as well as was asked; or none was asked for.
    package let isPrecise: Bool
    /// The figures themselves cannot be believed, pushes are missing from the books or the ledger, or there are none, because no
    /// connection was made.
    private let isUnsound: Bool
    /// 0; 1 when the figures are unsound; else 99 when a threshold was crossed; else 1 when anything is wrong, such as pushes that
    /// failed or were rejected; else 98, for a figure that is not known as well as was asked.
    package var exitCode: Int32 {
        if isGood { return 0 }
        if problems.isEmpty, thresholds.allSatisfy(\.isHeld) { return 98 }
        return !isUnsound && thresholds.contains { !$0.isHeld } ? 99 : 1
    }

    /// - Parameter thresholds: what counts as good; where one is about rejected, failed or unsent pushes, it alone says how many
    ///   of these may be, and one about accepted ones how many of all others.
    package init(_ result: ResultDocument, thresholds: [Threshold] = []) {
        self.thresholds = thresholds.map { ThresholdVerdict($0, result) }
        isPrecise = result.trust?.until?.reached != false
        func isJudged(_ counts: String...) -> Bool { thresholds.contains { $0.isAbout(["accepted"] + counts) } }
        let pushes = result.pushes
        var problems: [String] = []
        if pushes.planned != pushes.ended {
            problems.append(
                "the books do not balance: planned \(pushes.planned), but accepted \(pushes.accepted) + rejected "
                    + "\(pushes.rejected) + failed \(pushes.failed) + not sent \(pushes.notSent)")
        }
        let noConnection = Self.noConnection(result)
        if let problem = noConnection {
            problems.append(problem)
        } else {
            problems += TargetProblems.of(result)
        }
        let heldBack = Self.heldBack(result)
        if let heldBack, pushes.planned == 0 {
            problems.append("no push could be sent: \(heldBack)")
        } else {
            if let problem = Self.cutShort(result, heldBack) { problems.append(problem) }
            if pushes.planned == 0, !result.run.interrupted { problems.append("no push could be sent") }
        }
        for (count, what, causes, isJudged) in [
            (pushes.failed, "failed", result.failures, isJudged("failed")),
            (
                pushes.notSent, pushes.notSent == 1 ? "was not sent" : "were not sent", result.notSent,
                isJudged("not_sent") || isJudged("overflowed") && result.notSent.keys.allSatisfy { $0 == "overflowed" }
            ),
        ] where count > 0 && !isJudged {
            let list = causes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
                "\($0.key) \(Units.grouped($0.value))"
            }
            let why = causes.keys.elementsEqual(["no_stream"]) ? heldBack.map { ": \($0)" } ?? "" : ""
            problems.append("\(Units.counted(count, "push")) \(what): \(list.joined(separator: ", "))\(why)")
        }
        if let problem = RateShortfall(result)?.description, !thresholds.contains(where: \.asksForRate) {
            problems.append(problem)
        }
        if result.isLedgerMissing {
            problems.append(
                "the bundled mock's ledger could not be compared: whether all arrived is not known (the notes say why)")
        }
        let unknown = result.devices?.outcomes["unknown"] ?? 0
        if unknown > 0, !result.isLedgerMissing {
            problems.append(
                "what became of \(Units.counted(unknown, "accepted push")) at their devices is not known (the "
                    + "notes say why)")
        }
        if let echo = result.echo, echo.backend == ResultDocument.Echo.bundledBackend, echo.backendCounts == nil {
            problems.append("the bundled backend did not say what it had counted: it was killed, or stood still")
        }
        if let lost = pushes.lost, lost > 0 {
            problems.append("\(Units.counted(lost, "push")) answered with 200 but not in the mock's ledger")
        }
        if result.areLostUnknown {
            problems.append("what was lost is not known, though there are ledgers of the mocks (the notes say why)")
        }
        let mayRepeat = result.scenario["retry"]?.description.contains("connection") ?? false
        // What the run itself sends again may arrive twice: a threshold says how often it may.
        let judgesDoubles = mayRepeat && thresholds.contains { $0.isAbout(["duplicated"]) }
        if let duplicated = pushes.duplicated, duplicated > 0, !judgesDoubles {
            let why = mayRepeat ? " (--retry connection sends again what may have arrived)" : ""
            problems.append("\(Units.counted(duplicated, "push")) reached the mock more than once\(why)")
        }
        var expected: Set<String> = []
        if case .array(let reasons)? = result.scenario["expected_reasons"] {
            expected = Set(reasons.map(\.description))
        }
        let unexpected = result.unexpectedRejections(expected).sorted { $0.key < $1.key }
        if !unexpected.isEmpty, !isJudged("rejected") {
            let list = unexpected.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            let unexplained = unexpected.count { ResultDocument.isWithoutReason($0.key) }
            let how =
                unexplained == 0
                ? "" : unexplained == unexpected.count ? " none" : "; none is for answers without a reason"
            problems.append("pushes were rejected: \(list) (accept with --expect-reasons\(how))")
        }
        if result.latency[.total].count == 0, result.warmup.answered > 0, !result.run.interrupted {
            problems.append(
                "nothing was measured: \(Units.counted(result.warmup.answered, "answer")) came, all in the warm-up")
        }
        if let note = result.partialNote {
            problems.insert("the result is \(note)", at: 0)
        } else if result.run.interrupted {
            let hasBegun = pushes.accepted > 0 || pushes.rejected > 0 || pushes.failed > 0
            problems.append(
                "the run was interrupted"
                    + (hasBegun ? "; the figures are of the part before" : " before a push was sent"))
        }
        self.problems = problems
        let areBooksWrong =
            pushes.planned != pushes.ended || pushes.planned == 0 || (pushes.lost ?? 0) > 0
            || (pushes.duplicated ?? 0) > 0 && !judgesDoubles
        isUnsound = areBooksWrong || noConnection != nil
    }
}

extension ResultDocument {
    /// The run had a ledger to be held against, and was not.
    fileprivate var isLedgerMissing: Bool {
        run.target == ResultDocument.Run.bundledMock && pushes.accepted > 0 && pushes.lost == nil && !run.interrupted
            && !isPartial && !isUntraced
    }
}

extension RunVerdict {
    /// Why the target was never reached: what all attempts to connect ended with, and what is noted besides; nil when a
    /// connection was made, or none was tried. One line, for commands that make many runs: there is no point in another one.
    package static func unreached(_ result: ResultDocument) -> String? {
        noConnection(result).map { ([$0] + result.notes).joined(separator: "; ") }
    }

    /// Why nothing could be sent over connections that were open at the end of a run; nil: there was none, or the run is whole.
    private static func heldBack(_ result: ResultDocument) -> String? {
        guard !result.run.complete, !result.run.interrupted, !result.isPartial, result.connections.opened > 0,
            let problem = result.lastConnectionProblem, ResultDocument.heldBack.contains(where: problem.hasPrefix)
        else { return nil }
        return problem
    }

    /// A closed loop for a time plans what it takes, so that its counts do not tell that the target was gone before the time was
    /// over.
    ///
    /// - Parameter heldBack: why nothing could be sent on connections that were open.
    private static func cutShort(_ result: ResultDocument, _ heldBack: String?) -> String? {
        guard !result.run.complete, !result.run.interrupted, !result.isPartial, result.connections.opened > 0,
            result.throughput.offered == nil, result.pushes.notSent == 0,
            case .integer(let asked)? = result.scenario["duration"]
        else { return nil }
        let left = Double(asked) - result.run.durationSeconds * 1e9
        if let heldBack {
            // Another worker may have gone on.
            return left >= 0.1e9
                ? "no push could be sent for the last \(Units.duration(nanoseconds: left)) of "
                    + "\(Units.duration(nanoseconds: Double(asked))): \(heldBack)"
                : "not every worker could send to the end of the run: \(heldBack)"
        }
        let ends =
            result.connections.ends.isEmpty
            ? "" : ": " + result.connections.ends.keys.sorted().joined(separator: ", ")
        // Another worker may have gone on.
        guard left >= 0.1e9 else { return "connections were lost and not made again before the end of the run\(ends)" }
        return "no connection for the last \(Units.duration(nanoseconds: left)) of "
            + "\(Units.duration(nanoseconds: Double(asked)))\(ends)"
    }

    private static func noConnection(_ result: ResultDocument) -> String? {
        guard result.connections.opened == 0, result.connections.connectFailures > 0 else { return nil }
        let ends = result.connections.ends.keys.sorted().joined(separator: ", ")
        return "no connection could be made (\(result.run.target)): \(ends)"
    }
}

extension Threshold {
    /// Says what rate must be sent, answered or accepted at least.
    var asksForRate: Bool {
        guard case .rate(let rate, _) = metric, rate != .offered else { return false }
        return comparison == .atLeast || comparison == .above
    }

    /// Is on one of these counts.
    fileprivate func isAbout(_ counts: [String]) -> Bool {
        guard case .count(let name, _) = metric else { return false }
        return counts.contains(name)
    }
}

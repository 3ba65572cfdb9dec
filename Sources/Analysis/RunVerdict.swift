import Results

/// Whether a run did what it was asked to, judged from its result document alone.
public struct RunVerdict: Sendable, Equatable {
    /// One sentence for each thing that is wrong; empty when nothing is.
    public let problems: [String]

    public var isGood: Bool { problems.isEmpty }
    /// 0, or 1 when there are problems.
    public var exitCode: Int32 { isGood ? 0 : 1 }

    public init(_ result: ResultDocument) {
        let pushes = result.pushes
        var problems: [String] = []
        if pushes.planned != pushes.accepted + pushes.rejected + pushes.failed {
            problems.append(
                "the books do not balance: planned \(pushes.planned), but accepted \(pushes.accepted) + rejected "
                    + "\(pushes.rejected) + failed \(pushes.failed)")
        }
        if pushes.planned == 0 { problems.append("no push could be sent") }
        if pushes.failed > 0 {
            let causes = result.failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                .map { "\($0.key) \($0.value)" }
            problems.append("\(pushes.failed) pushes failed: \(causes.joined(separator: ", "))")
        }
        if let lost = pushes.lost, lost > 0 {
            problems.append("\(lost) pushes were answered with 200 but are not in the mock's ledger")
        }
        if let duplicated = pushes.duplicated, duplicated > 0 {
            problems.append("\(duplicated) pushes reached the mock more than once")
        }
        var expected: Set<String> = []
        if case .list(let reasons)? = result.scenario["expected_reasons"] { expected = Set(reasons) }
        let unexpected = result.reasons.filter { !expected.contains($0.key) }.sorted { $0.key < $1.key }
        if !unexpected.isEmpty {
            let list = unexpected.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            problems.append("pushes were rejected: \(list) (accept with --expect-reasons)")
        }
        if result.run.interrupted { problems.append("the run was interrupted; the figures are of the part before") }
        self.problems = problems
    }
}

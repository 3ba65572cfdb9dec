import Results

/// A gate from its first round to its verdict: says after every round what is to be done next.
struct GateProgress: Sendable {
    enum Step: Sendable, Equatable {
        /// Another round.
        case round
        /// A pause, then another round: what looks like a regression is to show itself again.
        case pause
        case decided
    }

    private let baseline: BaselineDocument
    private let rules: GateRules
    private(set) var rounds: [GateDocument.Round] = []
    private(set) var metrics: [GateDocument.Metric] = []
    /// Where the rounds of a confirmation begin; nil when none is under way.
    private var confirmation: Int?
    private var suspects: Set<String> = []

    init(_ baseline: BaselineDocument, _ rules: GateRules) {
        self.baseline = baseline
        self.rules = rules
    }

    var verdict: GateDocument.Verdict { metrics.isEmpty ? .cannotTell : GateJudge.verdict(metrics) }

    /// - Parameter isLast: there is no time for another round.
    mutating func add(_ round: GateDocument.Round, isLast: Bool) -> Step {
        rounds.append(round)
        let isOver = isLast || rounds.count >= rules.mostRounds
        let isLook = rounds.count % GateRules.roundsPerLook == 0
        guard isLook || isOver else { return .round }
        metrics = GateJudge.judge(baseline, rounds, rules)
        if let from = confirmation, rounds.count - from >= GateRules.roundsPerLook {
            confirmation = nil
            let again = GateJudge.judge(baseline, Array(rounds[from...]), rules)
            let confirmed = again.filter { $0.verdict == .regression && suspects.contains($0.name) }.map(\.name)
            keep(regressions: Set(confirmed))
            if !confirmed.isEmpty { return .decided }
        } else {
            suspects = Set(metrics.filter { $0.verdict == .regression }.map(\.name))
            keep(regressions: [])
            if !suspects.isEmpty, !isOver {
                confirmation = rounds.count
                return .pause
            }
        }
        if isOver || !metrics.contains(where: { $0.verdict == .cannotTell }) { return .decided }
        return .round
    }

    /// What is not confirmed cannot be told.
    private mutating func keep(regressions: Set<String>) {
        for index in metrics.indices where metrics[index].verdict == .regression {
            if !regressions.contains(metrics[index].name) { metrics[index].verdict = .cannotTell }
        }
    }
}

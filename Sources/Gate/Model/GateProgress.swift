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

    private let baseline: BaselineDocument?
    private let rules: GateRules
    private(set) var rounds: [GateDocument.Round] = []
    private(set) var metrics: [GateDocument.Metric] = []

    /// - Parameter baseline: nil: each round has the base's beside it.
    init(_ baseline: BaselineDocument?, _ rules: GateRules) {
        self.baseline = baseline
        self.rules = rules
    }

    var verdict: GateDocument.Verdict { metrics.isEmpty ? .cannotTell : GateJudge.verdict(metrics) }

    /// - Parameter isLast: there is no time for another round.
    mutating func add(_ round: GateDocument.Round, isLast: Bool) -> Step {
        rounds.append(round)
        let isOver = isLast || rounds.count >= rules.mostRounds
        guard isOver || rules.looks.contains(rounds.count) else { return .round }
        metrics = GateJudge.judge(baseline, rounds, rules)
        if isOver || verdict != .cannotTell { return .decided }
        return metrics.contains(where: isSuspect) ? .pause : .round
    }

    /// It seems to cost more than is tolerated.
    private func isSuspect(_ metric: GateDocument.Metric) -> Bool {
        guard metric.verdict == .cannotTell, let ratio = metric.ratio, let tolerated = metric.tolerated else {
            return false
        }
        return tolerated > 1 ? ratio > tolerated : ratio < tolerated
    }
}

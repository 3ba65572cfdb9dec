import Settings

extension ResultDocument.Throughput {
    /// False where less than a millisecond was measured by the clock: that is too short for a rate, and all of them are 0.
    package var hasRates: Bool { windowSeconds > 0 }

    /// `1,200/s answered`, for a line about a run.
    package var answeredText: String {
        hasRates ? "\(Units.perSecond(answered)) answered" : "too short for a rate"
    }
}

extension ResultDocument {
    /// False where no push was answered: what an answered push costs is no figure then, and 0.
    package var hasAnswers: Bool { pushes.accepted > 0 || pushes.rejected > 0 }

    /// Its rate was given by stages, a trace or a recording.
    package var hasSchedule: Bool {
        ["stages", "trace", "replay"].contains { key in
            switch scenario[key] {
            case nil, .null?, .array([])?: false
            default: true
            }
        }
    }

    /// Of several runs: its id is all of theirs, and its rates are the sums of theirs.
    package var isMerged: Bool { run.id.contains("+") }
}

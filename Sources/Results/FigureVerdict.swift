/// What a figure of some runs is against others.
package enum FigureVerdict: String, Codable, Sendable {
    case faster, slower, more, less
    /// No difference is seen, and none as large as the margin could have been missed.
    case same
    /// No difference is seen, which is not to say that there is none.
    case noDifference = "no_difference"
    /// A side has so few runs that no outcome could be called a difference.
    case tooFewRuns = "too_few_runs"
    case oneRun = "one_run"
    /// A median is 0.
    case noRatio = "no_ratio"
}

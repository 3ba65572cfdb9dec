import Foundation

/// The answers of a short while, as a few numbers.
struct AnswerInterval {
    var seconds = 0.0
    var answers = 0.0
    /// Mean of the latencies' natural logarithms (of nanoseconds): the logarithm of their geometric mean. Beside the median it
    /// is surer at few answers, and moves evenly where latencies come in two kinds.
    var level = 0.0
    /// Variance of the logarithms.
    var variance = 0.0
    /// Logarithm of the 90th percentile.
    var high = 0.0
    /// Pushes due and not yet answered, at its end.
    var unanswered = 0.0
}

extension AnswerInterval {
    /// What `total` holds and `earlier`, a copy of it, does not.
    init(seconds: Double, total: LatencyHistogram, since earlier: LatencyHistogram, unanswered: UInt64) {
        self.seconds = seconds
        self.unanswered = Double(unanswered)
        let recent = total.counters(since: earlier)
        answers = recent.reduce(0) { $0 + Double($1.count) }
        guard answers > 0 else { return }
        var seen = 0.0
        for (value, count) in recent {
            let (logarithm, weight) = (log(Double(max(value, 1))), Double(count))
            if seen < 0.9 * answers { high = logarithm }
            seen += weight
            // Welford's update, weighted.
            let off = logarithm - level
            level += off * weight / seen
            variance += weight * off * (logarithm - level)
        }
        variance /= answers
    }

    /// Both, as one; the variance is that within the two. At least one has answers.
    static func joined(_ one: AnswerInterval, _ other: AnswerInterval) -> AnswerInterval {
        let share = other.answers / (one.answers + other.answers)
        func mean(_ of: KeyPath<AnswerInterval, Double>) -> Double {
            one[keyPath: of] + share * (other[keyPath: of] - one[keyPath: of])
        }
        return AnswerInterval(
            seconds: one.seconds + other.seconds, answers: one.answers + other.answers, level: mean(\.level),
            variance: mean(\.variance), high: mean(\.high), unanswered: (one.unanswered + other.unanswered) / 2)
    }

    static func joined(_ parts: ArraySlice<AnswerInterval>) -> AnswerInterval {
        parts.dropFirst().reduce(parts[parts.startIndex], joined)
    }
}

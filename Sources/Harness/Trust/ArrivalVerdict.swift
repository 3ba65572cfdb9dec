import Foundation
import Measurement
import Results
import Scenarios
import Settings
import Statistics

/// Whether pushes were begun when the schedule asks for it.
///
/// A round of the event loop begins everything that is due, at once: how many that is over some rounds is what the schedule asks for in
/// their time, whatever they lie apart. So what is held against the schedule is how many pushes some rounds one after the other
/// began, which are Poisson numbers where arrivals are; and, where a round begins one push only, the gaps between them. What that does
/// not see, how late a round was, must be less than the time that is looked at.
struct ArrivalVerdict {
    private static let roundsEach = 20
    /// A round of no more pushes on average is one push.
    private static let single = 1.02
    /// Most pushes a round of which it may be said that a push has begun it; with more of them it begins at some time, and their number is
    /// what chance decides. Of arrivals that are right, either is doubted in 1 to 2 of 100 runs there, and the other in up to 13.
    private static let few = 1.85
    private static let fewestGaps = 20
    /// With more of them nothing is small enough not to be found.
    private static let mostGaps = 1000
    private static let level = 0.01
    /// Constant: so far from what was asked for numbers may be, as a share of them, besides one push of a worker and what is due while
    /// lateness is not noticed (`GeneratorVerdict.noticedLag`); one in twenty may be further, so that no single hiccup decides.
    static let tolerance = 0.1
    private static let even = 0.95

    let section: ResultDocument.Trust.Arrivals
    /// One sentence; nil: the arrivals are what was asked for.
    let doubt: String?
    /// The generator was late, and not for want of streams.
    let isOwn: Bool

    /// nil of a closed loop, of recorded, jittered and sudden arrivals, and of too few.
    init?(_ outcome: LoadOutcome, inputs: RunInputs, start: UInt64) {
        guard let schedule = inputs.schedule, schedule.arrivals == .poisson || schedule.arrivals == .constant,
            schedule.peakRate.isFinite, schedule.gaps.isEmpty, start > 0
        else { return nil }
        let isPoisson = schedule.arrivals == .poisson
        let workers = inputs.scenario.threads * inputs.place.workers
        let stretches = outcome.arrivals.flatMap(\.stretches)
        let rounds = stretches.reduce(0) { $0 + max(0, $1.count - 1) }
        let pushes = stretches.reduce(0.0) {
            $0 + ($1.last.map { Double($0.push) } ?? 0) - ($1.first.map { Double($0.push) } ?? 0)
        }
        guard rounds > 0, pushes > 0 else { return nil }
        let isSingle = isPoisson && pushes < Self.single * Double(rounds)
        let endsAtPush = isPoisson && pushes < Self.few * Double(rounds)
        let gaps = Self.gaps(stretches, rounds: isSingle ? 1 : Self.roundsEach) { time in
            schedule.expected(by: (Double(time) - Double(start) + Double(inputs.passed)) / 1e9)
        }
        guard gaps.count >= Self.fewestGaps else { return nil }
        let count = Double(gaps.count)
        let seconds = gaps.reduce(0) { $0 + $1.seconds } / count
        var section = ResultDocument.Trust.Arrivals(
            process: isPoisson ? "poisson" : "constant", kept: true, gaps: gaps.count,
            gapPushes: Int((gaps.reduce(0) { $0 + $1.pushes } / count).rounded()), gapSeconds: seconds)
        let miss: String
        if isPoisson {
            guard let test = AndersonDarling(Self.shares(gaps, workers, endsAtPush: endsAtPush)) else { return nil }
            (section.andersonDarling, section.p) = (test.statistic, test.p)
            section.kept = test.p >= Self.level
            miss = "Anderson-Darling \(Units.fixed(test.statistic, places: 1)), p \(Self.chance(test.p))"
        } else {
            let deviations = gaps.map {
                max(0, abs($0.pushes * Double(workers) - $0.expected) - Double(workers)) / max($0.expected, 1)
            }.sorted()
            let deviation = Quantile.of(deviations, Self.even)
            section.deviation = deviation
            section.kept = deviation <= Self.tolerance + Double(GeneratorVerdict.noticedLag) / 1e9 / seconds
            miss =
                "one in 20 is off by \(Units.fixed(deviation * 100, places: 0)) % of what was due in that time, or more"
        }
        let late = Double(outcome.measurements[.late].summary.p99)
        let isLate = late > seconds * 1e9
        let what =
            section.kept
            ? "the 99th percentile is later than \(Units.duration(nanoseconds: seconds * 1e9)), over which they are even"
            : "numbers begun within \(Units.duration(nanoseconds: seconds * 1e9)) are not "
                + "\(isPoisson ? "those of Poisson arrivals" : "even"): \(miss)"
        section.kept = section.kept && !isLate
        self.section = section
        isOwn = !Self.isTargets(outcome)
        doubt =
            section.kept ? nil : "pushes were not begun at the times asked for: \(what); \(Self.cause(outcome, inputs))"
    }

    /// Pushes of a worker that so many rounds one after the other began, how many positions of the schedule passed meanwhile, and
    /// seconds.
    private typealias Gap = (pushes: Double, expected: Double, seconds: Double)

    private static func gaps(
        _ stretches: [ArraySlice<ArrivalSample.Point>], rounds: Int, _ position: (UInt64) -> Double
    ) -> [Gap] {
        var gaps: [Gap] = []
        for stretch in stretches {
            let points = Array(stretch)
            for end in stride(from: rounds, to: points.count, by: rounds) {
                let (from, to) = (points[end - rounds], points[end])
                gaps.append(
                    (
                        Double(to.push) - Double(from.push), position(to.time) - position(from.time),
                        (Double(to.time) - Double(from.time)) / 1e9
                    ))
            }
        }
        guard gaps.count > mostGaps else { return gaps }
        return (0..<mostGaps).map { gaps[$0 * gaps.count / mostGaps] }
    }

    /// The share of the distribution at or below each.
    private static func shares(_ gaps: [Gap], _ workers: Int, endsAtPush: Bool) -> [Double] {
        var random = SplitMix(seed: 1)
        func drawn() -> Double { Double(random.next() >> 11) * 0x1p-53 }
        return gaps.map { gap in
            // A push has woken the round that ends it: the number is given, and the time is what chance decides. A worker's gap is
            // as many of the process as there are workers.
            if endsAtPush { return GammaDistribution.cumulative(gap.expected, shape: gap.pushes * Double(workers)) }
            // A worker has every so-manieth push; of a number, a part of its chance is taken, so that shares are even.
            let phase = Double(random.below(workers) - random.below(workers))
            let number = max(0, gap.pushes * Double(workers) + phase)
            let below = 1 - GammaDistribution.cumulative(gap.expected, shape: number)
            let upTo = 1 - GammaDistribution.cumulative(gap.expected, shape: number + 1)
            return min(1, max(0, (number > 0 ? below : 0) + drawn() * (upTo - (number > 0 ? below : 0))))
        }
    }

    private static func chance(_ p: Double) -> String { p < 0.0005 ? "< 0.001" : Units.fixed(p, places: 3) }

    /// Whose fault it is, by how late pushes were.
    private static func cause(_ outcome: LoadOutcome, _ inputs: RunInputs) -> String {
        let (late, own) = (outcome.measurements[.late].summary.p99, outcome.loopLag.summary.p99)
        func written(_ time: UInt64) -> String { Units.duration(nanoseconds: Double(time)) }
        let outage = outcome.noConnection.section.cause(
            ofLateness: Double(late), share: 0.01, of: outcome.run.durationSeconds, threads: inputs.scenario.threads)
        if let outage { return outage }
        guard isTargets(outcome) else { return "the generator was late (p99 \(written(own)))" }
        // A push is begun for good when it is sent for the last time: so many of the latest were late for that.
        let counts = outcome.measurements.counts
        let share = Double(counts.retried) / max(1, Double(counts.accepted + counts.rejected))
        let others = outcome.measurements[.late].value(atPercentile: 100 * (1 - min(1, share)))
        let causes =
            (share < 0.01 || isFarBeyond(others, own) ? ["they waited for free streams"] : [])
            + (share < 0.01
                ? []
                : [
                    "\(Units.counted(counts.retried, "attempt")) had to be sent again, which the server had not processed"
                ])
        return "\(causes.joined(separator: ", and ")) (late p99 \(written(late)))"
    }

    /// Pushes waited for streams, or were sent again, far longer than the generator was late.
    private static func isTargets(_ outcome: LoadOutcome) -> Bool {
        let (late, own) = (outcome.measurements[.late].summary.p99, outcome.loopLag.summary.p99)
        return isFarBeyond(late, own)
    }

    private static func isFarBeyond(_ late: UInt64, _ own: UInt64) -> Bool {
        late > 2 * own && late > own + GeneratorVerdict.noticedLag
    }
}

import Foundation
import Measurement
import Results
import Scenarios
import Settings
import Statistics

/// Whether pushes were begun when the schedule asks for it: the gaps between them against what was drawn (Poisson) or laid down
/// (constant), as far as a gap is longer than what a round of the loop begins at once.
struct ArrivalVerdict {
    /// A gap is so many rounds long where rounds begin several pushes: where in a round a push was due is a small part of it.
    private static let roundsEach = 20.0
    /// A round of fewer pushes is one push.
    private static let single = 1.1
    private static let fewestGaps = 20
    /// With more of them nothing is small enough not to be found.
    private static let mostGaps = 1000
    private static let level = 0.01
    /// Constant: so far from what was asked for gaps may be (99th percentile).
    static let tolerance = 0.1

    let section: ResultDocument.Trust.Arrivals
    /// One sentence; nil: the arrivals are what was asked for.
    let doubt: String?

    /// nil of a closed loop, of recorded, jittered and sudden arrivals, and of too few.
    init?(_ outcome: LoadOutcome, inputs: RunInputs, start: UInt64) {
        guard let schedule = inputs.schedule, schedule.arrivals == .poisson || schedule.arrivals == .constant,
            schedule.peakRate.isFinite, schedule.gaps.isEmpty, start > 0
        else { return nil }
        let workers = Double(inputs.scenario.threads * inputs.place.workers)
        let stretches = outcome.arrivals.flatMap(\.stretches)
        let rounds = stretches.reduce(0) { $0 + max(0, $1.count - 1) }
        let pushes = stretches.reduce(0.0) {
            $0 + ($1.last.map { Double($0.push) } ?? 0) - ($1.first.map { Double($0.push) } ?? 0)
        }
        guard rounds > 0, pushes > 0 else { return nil }
        let each = pushes / Double(rounds)
        let gapPushes = each < Self.single ? 1 : UInt64((Self.roundsEach * each).rounded(.up))
        func position(_ time: UInt64) -> Double {
            schedule.expected(by: (Double(time) - Double(start) + Double(inputs.passed)) / 1e9)
        }
        var gaps: [(pushes: Double, expected: Double, seconds: Double)] = []
        for stretch in stretches {
            guard var from = stretch.first else { continue }
            for point in stretch where point.push >= from.push + gapPushes {
                gaps.append(
                    (
                        Double(point.push - from.push) * workers, position(point.time) - position(from.time),
                        (Double(point.time) - Double(from.time)) / 1e9
                    ))
                from = point
            }
        }
        guard gaps.count >= Self.fewestGaps else { return nil }
        if gaps.count > Self.mostGaps {
            gaps = (0..<Self.mostGaps).map { gaps[$0 * gaps.count / Self.mostGaps] }
        }
        let seconds = gaps.reduce(0) { $0 + $1.seconds } / Double(gaps.count)
        let isPoisson = schedule.arrivals == .poisson
        var section = ResultDocument.Trust.Arrivals(
            process: isPoisson ? "poisson" : "constant", kept: true, gaps: gaps.count,
            gapPushes: Int(clamping: gapPushes),
            gapSeconds: seconds)
        let miss: String
        if isPoisson {
            guard
                let test = AndersonDarling(
                    gaps.map { GammaDistribution.cumulative($0.expected, shape: max($0.pushes, 1)) })
            else { return nil }
            (section.andersonDarling, section.p) = (test.statistic, test.p)
            section.kept = test.p >= Self.level
            miss = "Anderson-Darling \(Units.fixed(test.statistic, places: 1)), p \(Self.chance(test.p))"
        } else {
            let deviations = gaps.map { abs($0.expected - $0.pushes) / max($0.pushes, 1) }.sorted()
            let deviation = Quantile.of(deviations, 0.99)
            section.deviation = deviation
            section.kept = deviation <= Self.tolerance
            miss = "the 99th percentile is \(Units.fixed(deviation * 100, places: 0)) % off"
        }
        self.section = section
        doubt =
            section.kept
            ? nil
            : "pushes were not begun at the times asked for: gaps of \(Units.counted(gapPushes, "push")) "
                + "(\(Units.duration(nanoseconds: seconds * 1e9)) on average) are not "
                + "\(isPoisson ? "those of Poisson arrivals" : "even"): \(miss); \(Self.cause(outcome))"
    }

    private static func chance(_ p: Double) -> String { p < 0.0005 ? "< 0.001" : Units.fixed(p, places: 3) }

    /// Whose fault it is, by how late pushes were.
    private static func cause(_ outcome: LoadOutcome) -> String {
        let (late, own) = (outcome.measurements[.late].summary.p99, outcome.loopLag.summary.p99)
        func written(_ time: UInt64) -> String { Units.duration(nanoseconds: Double(time)) }
        return late > 2 * own && late > own + GeneratorVerdict.noticedLag
            ? "they waited for free streams (late p99 \(written(late)))"
            : "the generator was late (p99 \(written(own)))"
    }
}

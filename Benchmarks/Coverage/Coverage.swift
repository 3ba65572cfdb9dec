import Foundation
import Statistics

/// Says how often the intervals that `compare`, `ab`, `history` and `sweep` print hold the truth, and how often their verdicts
/// are wrong, by drawing figures of which the truth is known and giving them to the code that the programs use.
///
///     coverage DRAWS [sweeps]      10,000 draws take an hour of one core, those of a sweep's best point alone a minute
///
/// `Benchmarks/coverage.py` puts what it prints into docs/comparing.md and docs/sweeps.md.
@main enum Coverage {
    static let seed: UInt64 = 20_261_125
    static let runs = [3, 4, 6, 8, 12, 30]

    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard let draws = arguments.first.flatMap({ Int($0) }), draws > 0,
            arguments.count == 1 || Array(arguments.dropFirst()) == ["sweeps"]
        else {
            FileHandle.standardError.write(Data("coverage: expected DRAWS [sweeps]\n".utf8))
            exit(64)
        }
        print(arguments.count == 1 ? tables(draws) : sweeps(draws))
    }

    /// In how many of 100 a point that is as good as the best is told from it.
    static func sweeps(_ draws: Int) -> String {
        let rows = [2, 4, 12, 40].flatMap { points in
            [3, 6, 10].map { runs in
                ["\(points)", "\(runs)"]
                    + Noise.allCases.map {
                        percent(BestTruth($0, points: points, runs: runs, draws: draws, seed: seed).toldApart.share)
                    }
            }
        }
        return table(["points", "runs of each"] + Noise.allCases.map(\.rawValue), rows)
            + "\n\n(\(draws) draws each; seed \(seed).)"
    }

    static func tables(_ draws: Int) -> String {
        let names = Noise.allCases.map(\.rawValue)
        var (intervals, verdicts): ([[String]], [[String]]) = ([], [])
        for design in SidesTruth.Design.allCases {
            for runs in runs {
                let truths = Noise.allCases.map { SidesTruth(design, $0, runs: runs, draws: draws, seed: seed) }
                let head = ["\(design.rawValue)", "\(runs)"]
                intervals.append(head + [percent(truths[0].said)] + truths.map { percent($0.covered.share) })
                verdicts.append(
                    head + truths.map { percent($0.calledDifferent.share) }
                        + truths.map { percent($0.calledSame.share) })
            }
        }
        for runs in runs {
            let truths = Noise.allCases.map { PointTruth($0, runs: runs, draws: draws, seed: seed) }
            intervals.append(
                ["`sweep`, median", "\(runs)", percent(truths[0].said)] + truths.map { percent($0.covered.share) })
        }
        // Each takes thousands of exchanges, or a hundred looks.
        let fewer = max(1, draws / 5)
        let sizes: [(SidesTruth.Design, [Int])] = [
            (.alternating, [5, 6, 8]), (.after, [6, 8, 12]), (.rounds, [7, 10, 12]),
        ]
        let shapes = sizes.flatMap { design, runs in
            runs.map { runs in
                [design.rawValue, "\(runs)"]
                    + Noise.allCases.map {
                        percent(ShapeTruth(design, $0, runs: runs, draws: fewer, seed: seed).calledDifferent.share)
                    }
            }
        }
        let counts = [25, 50, 100]
        let alarms = [0.01, 0.05].flatMap { level in
            Noise.allCases.map { noise in
                ["\(level)", noise.rawValue]
                    + HistoryTruth.alarms(noise, by: counts, level: level, draws: fewer, seed: seed).map { percent($0) }
            }
        }
        let changes = [(2.0, 10, 10), (3, 10, 5), (3, 10, 10), (3, 30, 10), (5, 10, 5), (5, 10, 10)].map {
            spreads, before, after in
            let truths = Noise.allCases.map {
                HistoryTruth.Change(
                    $0, spreads: spreads, before: before, after: after, level: 0.05, draws: draws, seed: seed)
            }
            return ["\(Int(spreads)) spreads", "\(before), \(after)"] + truths.map { percent($0.seen.share) }
                + truths.map { percent($0.covered.share) }
        }
        return [
            "Intervals:", table(["command", "runs", "says"] + names, intervals),
            "Verdicts of one figure:",
            table(
                ["command", "runs"] + names.map { "different: \($0)" } + names.map { "same: \($0)" }, verdicts),
            "Shapes of equal sides said to differ, at 2.5 % each:", table(["command", "runs"] + names, shapes),
            "`history`, figures without a change in which any look found one:",
            table(["`--level`", "noise"] + counts.map { "by run \($0)" }, alarms),
            "`history --level 0.05`, changes found at most two runs away, and the intervals of those that were found:",
            table(
                ["change by", "runs before, after"] + names.map { "found: \($0)" } + names.map { "interval: \($0)" },
                changes),
            "(\(draws) draws each, of shapes and of figures without a change \(fewer); seed \(seed).)",
        ].joined(separator: "\n\n")
    }

    private static func percent(_ share: Double?) -> String {
        share.map { String(format: "%.1f", $0 * 100) } ?? "-"
    }

    private static func table(_ header: [String], _ rows: [[String]]) -> String {
        ([header, header.map { _ in "---" }] + rows).map { "| \($0.joined(separator: " | ")) |" }.joined(
            separator: "\n")
    }
}

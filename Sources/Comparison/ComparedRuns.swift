import Reports
import Results

/// The runs of a report, each against the first; none with a run that cannot be compared, which its verdict says.
package enum ComparedRuns {
    package static func sections(_ runs: [ReportedRun]) -> [ReportSection] {
        comparisons(runs).map(ComparisonSection.make)
    }

    package static func text(_ runs: [ReportedRun], on picture: TextPicture) -> String {
        comparisons(runs).map { ComparisonReport.text($0, on: picture) }.joined()
    }

    private static func comparisons(_ runs: [ReportedRun]) -> [ComparisonDocument] {
        func side(_ run: ReportedRun) -> ResultComparison.Side {
            .init(name: run.label, runs: [(run.label, run.result)])
        }
        return runs.dropFirst().compactMap { try? ResultComparison.compare(side(runs[0]), side($0)) }
    }
}

import Analysis
import ArgumentParser
import Flags
import Foundation
import Harness
import Reports
import Results

package struct CompareCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Hold two groups of runs against each other.",
        discussion: """
            Each side is a result file, a run's folder, or a folder of runs; what cannot be used is left out, and named. Six runs a side are the fewest of which a \
            difference of all figures can be called, four of one figure that is named (--metric), if they were made in turn; one side after the other, eight or nine, \
            and five. Exit status: 0 whatever \
            the verdict, 64 for what cannot be compared.
            """)

    @Argument(help: ArgumentHelp("The runs to compare with.", valueName: "A"))
    var a: String

    @Argument(help: ArgumentHelp("The runs to be judged.", valueName: "B"))
    var b: String

    @Option(
        name: .customLong("metric"),
        help: ArgumentHelp(
            "A figure to judge, several times; the others are left out. Fewer figures need fewer runs and show smaller "
                + "differences, if they are named before the runs are seen.", valueName: "name"))
    var metrics: [String] = []

    @OptionGroup var margin: SameMargin

    @Flag(help: "Print the comparison as JSON.")
    var json = false

    package init() {}

    package func run() throws {
        do {
            let margin = try margin.share()
            let comparison = try ResultComparison.compare(
                try Self.side(a), try Self.side(b), margin: margin, judging: metrics)
            Console.output(
                json
                    ? String(decoding: try ComparisonFile.encode(comparison), as: UTF8.self)
                    : ComparisonReport.text(comparison, on: Console.picture))
        } catch let error as ResultError {
            throw HarnessError(error.description)
        } catch let error as ResultComparison.Failure {
            throw HarnessError(error.description)
        }
    }

    private static func side(_ path: String) throws -> ResultComparison.Side {
        let found = try FoundResults([path]) {
            FoundResults.incomplete($0, "only whole runs can be compared") ?? ResultComparison.unreadable($0)
        }
        found.tell()
        return ResultComparison.Side(name: path, runs: found.runs)
    }
}

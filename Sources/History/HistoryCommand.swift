import Analysis
import ArgumentParser
import Flags
import Harness
import Reports
import Results

package struct HistoryCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show figures over runs, and the runs with which they changed.",
        discussion: """
            Runs of another scenario, setting, target, engine or machine are another series; versions, commits and kernels may \
            change within one. What cannot be read, was interrupted or is alone is named as left out. Exit status: 0, or 64 when \
            there is nothing to show.
            """)

    @Argument(help: ArgumentHelp("Result files, run folders, or folders of runs.", valueName: "path"))
    var paths: [String]

    @Option(
        name: .customLong("metric"),
        help: ArgumentHelp(
            "A figure to show, or all; several times. One of \(ComparedMetric.names.joined(separator: ", ")).",
            valueName: "name"))
    var metrics: [String] = []

    @Option(
        help: ArgumentHelp(
            "A fact in which the runs of a series may differ, such as host, cpu or the name of a setting; several times.",
            valueName: "fact"))
    var across: [String] = []

    @Option(help: "The chance of finding a change in a figure that has none, 0.001 to 0.2.")
    var level = 0.01

    @Option(name: [.short, .long], help: ArgumentHelp("Write a page with pictures too (HTML).", valueName: "file"))
    var output: String?

    @Flag(help: "Print the history as JSON, and nothing else on standard output.")
    var json = false

    @Flag(help: "Print it as CSV: a line a run and figure.")
    var csv = false

    package init() {}

    package func run() throws {
        guard !(json && csv) else { throw HarnessError("history: expected --json or --csv, not both") }
        if let output { try FileName.check(output, "--output", [".html", ".htm"]) }
        guard RunHistory.levels.contains(level) else {
            throw HarnessError(
                "--level \(level): expected \(RunHistory.levels.lowerBound) to \(RunHistory.levels.upperBound)")
        }
        let found = try FoundResults(paths, mayBeUnusable: true)
        let history: HistoryDocument
        do throws(RunHistory.Failure) {
            history = try RunHistory.make(
                found.runs, unread: found.leftOut,
                metrics: metrics.isEmpty
                    ? RunHistory.usualMetrics : metrics.contains("all") ? ComparedMetric.names : metrics,
                across: Set(across), level: level)
        } catch { throw HarnessError(error.description) }
        do throws(ResultError) {
            if let output { try ResultFile.write(Array(HistoryReport.page(history).utf8), to: output) }
            if json {
                Console.output(String(decoding: try HistoryFile.encode(history), as: UTF8.self))
            } else {
                Console.output(csv ? HistoryReport.csv(history) : HistoryReport.text(history, Console.picture))
            }
        } catch { throw HarnessError(error.description, .unwritable) }
    }
}

import Analysis
import ArgumentParser
import Flags
import Foundation
import Harness
import Reports
import Results
import Settings

package struct HistoryCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show figures over runs, and the runs with which they changed.",
        discussion: """
            Runs of another scenario, setting, target, engine or machine are another series; versions, commits and kernels may \
            change within one. What cannot be read, was interrupted or is alone is named as left out. Exit status: 0; 99 with \
            --alert when a figure has changed for the worse and nobody has acknowledged it; 64 when there is nothing to show.
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

    @Option(
        help:
            "The chance that a figure without a change ever shows one, looked at after each of its first 100 runs: 0.001 to 0.2, or 0.1% to 20%. Its test takes longer by as much as it is below 0.05: minutes for hundreds of runs at 0.001."
    )
    var level = "0.05"

    @Flag(help: "End with 99 when a figure has changed for the worse, still is, and nobody has acknowledged it.")
    var alert = false

    @Option(
        help: ArgumentHelp(
            "The changes that are acknowledged: shown as such, and no alert. Kept by --acknowledge.", valueName: "file")
    )
    var acknowledged: String?

    @Flag(help: "Add what would be an alert now to the file of acknowledged changes, or make it.")
    var acknowledge = false

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
        guard let chance = try? Units.share(level), RunHistory.levels.contains(chance) else {
            let (least, most) = (RunHistory.levels.lowerBound, RunHistory.levels.upperBound)
            throw HarnessError("--level \(level): expected \(least) to \(most), or 0.1% to 20%")
        }
        var known = try knownChanges()
        let found = try FoundResults(paths, mayBeUnusable: true)
        var history: HistoryDocument
        do throws(RunHistory.Failure) {
            history = try RunHistory.make(
                found.runs, unread: found.leftOut,
                metrics: metrics.isEmpty
                    ? nil
                    : metrics.contains("all")
                        ? ComparedMetric.names + metrics.filter { $0 != "all" && !ComparedMetric.names.contains($0) }
                        : metrics,
                across: Set(across), level: chance)
        } catch { throw HarnessError(error.description) }
        known.mark(&history)
        var added: String?
        if acknowledge, let acknowledged {
            added = "acknowledged \(Units.counted(known.add(history), "change")): \(acknowledged)\n"
            known.mark(&history)
        }
        do throws(ResultError) {
            if added != nil, let acknowledged { try AcknowledgedFile.write(known, to: acknowledged) }
            if let output { try ResultFile.write(Array(HistoryReport.page(history).utf8), to: output) }
            if json {
                Console.output(String(decoding: try HistoryFile.encode(history), as: UTF8.self))
            } else {
                Console.output(csv ? HistoryReport.csv(history) : HistoryReport.text(history, Console.picture))
            }
        } catch { throw HarnessError(error.description, .unwritable) }
        if let added { Console.diagnostic(added) }
        guard alert else { return }
        let alerts = HistoryReport.alerts(history)
        for line in alerts { Console.error(line) }
        if !alerts.isEmpty { throw ExitCode(99) }
    }

    /// What `--acknowledged` names; where it is to be made, a file that is not there has none.
    private func knownChanges() throws(HarnessError) -> AcknowledgedChanges {
        guard let acknowledged else {
            if acknowledge { throw HarnessError("--acknowledge: expected --acknowledged with the file to add to") }
            return AcknowledgedChanges()
        }
        let isThere = FileManager.default.fileExists(atPath: acknowledged)
        do throws(ResultError) {
            if acknowledge { try ResultFile.checkWritable(acknowledged) }
            if acknowledge, !isThere { return AcknowledgedChanges() }
            return try AcknowledgedFile.read(acknowledged)
        } catch {
            let hint = isThere || acknowledge ? "" : "; --acknowledge makes it"
            throw HarnessError("--acknowledged: \(error.description)\(hint)")
        }
    }
}

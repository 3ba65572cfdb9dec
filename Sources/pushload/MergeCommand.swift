import Analysis
import ArgumentParser
import Flags
import Harness
import Reports
import Results

struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Make one result of several generators' that ran side by side.",
        discussion: """
            Counts, rates and histograms are added; percentiles are those of the added histograms. Results whose runs did not \
            all go on together for at least half of the longest of them are refused: there never was the sum of their rates. The \
            folder that the workers of one run share (run --rendezvous) is merged anew from what each of them wrote. Exit status: \
            as run's, of the merged result; thresholds are judged where all runs had the same.
            """)

    @Argument(help: ArgumentHelp("Result files, run folders, or folders of runs.", valueName: "path"))
    var files: [String]

    @Option(name: [.short, .long], help: ArgumentHelp("Where to write the merged result.", valueName: "file"))
    var output: String

    func run() throws {
        if try mergeWorkers() { return }
        let found = try FoundResults(files)
        found.tell()
        if found.runs.count < 2, let file = found.repeated.first {
            throw HarnessError(
                "merging needs at least two results; \(file) was named twice, and is the same run as before")
        }
        let merged: ResultDocument
        do {
            merged = try ResultMerge.merge(found.runs.map { (name: $0.path, result: $0.result) })
        } catch { throw HarnessError("\(error)") }
        do throws(ResultError) { try ResultFile.write(merged, to: output) } catch {
            throw HarnessError(error.description, .unwritable)
        }
        let verdict = ReportFile.verdict(merged)
        let held = verdict.thresholds.map { (text: $0.description, isHeld: $0.isHeld) }
        Console.output("merged:\n" + found.runs.map { "  \($0.path)\n" }.joined())
        Console.output(
            SummaryReport.text(
                merged, path: output, problems: verdict.problems, thresholds: held, on: Console.picture))
        if !verdict.isGood { throw ExitCode(verdict.exitCode) }
    }
}

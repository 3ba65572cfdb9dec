import Analysis
import ArgumentParser
import Flags
import Foundation
import Harness
import Reports
import Results
import Workers

struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Make one result of several generators' that ran side by side.",
        discussion: """
            Counts, rates and histograms are added; percentiles are those of the added histograms. Results whose runs did not \
            all go on together for at least half of the longest of them are refused: there never was the sum of their rates. \
            The folder that the workers of one run share (run --rendezvous) is always merged anew from what each of them wrote; \
            with --ledger and --times the result is completed by what the run's mocks wrote when they had ended: lost and doubled \
            pushes over all of them, the ways there and back, and how the clocks agree. What the files of an earlier merge had \
            added is in the new result only where they are given again. Exit status: as run's, of the merged \
            result; thresholds are judged where all runs had the same.
            """)

    @Argument(help: ArgumentHelp("Result files, run folders, or folders of runs.", valueName: "path"))
    var files: [String] = []

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "Where to write the merged result. Default for a run of several workers: result.json in its folder.",
            valueName: "file"))
    var output: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("What the run's mocks wrote with --ledger-out: the files of all of them.", valueName: "file")
    )
    var ledger: [String] = []

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("What the run's mocks wrote with --times-out.", valueName: "file"))
    var times: [String] = []

    /// The folder of one run of several workers, and nothing else.
    private var isOfWorkers: Bool { files.count == 1 && WorkerFolder.isOne(files[0]) }
    private var hasMockFiles: Bool { !ledger.isEmpty || !times.isEmpty }

    func validate() throws {
        guard !files.isEmpty else {
            throw ValidationError(
                hasMockFiles
                    ? "no folder of a run is given: put it first, as in merge DIR --ledger FILE..."
                    : "expected result files, run folders, or the folder of a run of several workers")
        }
        if hasMockFiles, files.count != 1 {
            throw ValidationError(
                "--ledger and --times are of one run of several workers: expected its folder alone, not \(files.count) paths"
            )
        }
        guard output == nil, !hasMockFiles, !isOfWorkers else { return }
        if let missing = files.first(where: { !FileManager.default.fileExists(atPath: $0) }) {
            throw ValidationError("\(missing): no such file or folder")
        }
        if let shared = files.first(where: WorkerFolder.isOne) {
            throw ValidationError("\(shared): the folder of a run of several workers, which is merged alone")
        }
        throw ValidationError(
            files.count == 1
                ? "\(files[0]): no folder of a run of several workers (there is no run.json in it); of other results give two "
                    + "or more, and --output FILE"
                : "expected --output FILE, where the merged result goes")
    }

    func run() throws {
        if hasMockFiles || isOfWorkers { try mergeWorkers() } else { try mergeResults() }
    }

    private func mergeWorkers() throws {
        let before = files[0] + "/result.json"
        let result: ResultDocument
        do {
            let run = try CompletedRun(files[0])
            result = try MockFilesMerge.complete(
                run, try WorkerFolder.merged(files[0]), ledgers: ledger, times: times)
        } catch let failure as CompletedRun.Failure { throw HarnessError(failure.description) }
        let gone = gone(from: before)
        try finish(result, output ?? before, then: gone)
    }

    /// What an earlier merge had added, and this one was not given the files for; nil: nothing. One line.
    private func gone(from path: String) -> String? {
        guard let old = try? ResultFile.read(path) else { return nil }
        var figures: [String] = []
        if old.pushes.lost != nil, ledger.isEmpty { figures.append("lost and doubled pushes (--ledger FILE...)") }
        if old.clocks != nil, times.isEmpty { figures.append("the ways there and back, and clocks (--times FILE...)") }
        if figures.isEmpty { return nil }
        return
            "merged anew, without what the mocks' files had added to \(path): \(figures.joined(separator: "; ")); give these files "
            + "again to have it"
    }

    private func mergeResults() throws {
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
        try finish(merged, output ?? "", of: found.runs.map(\.path))
    }

    /// - Parameters:
    ///   - parts: files that the result was made of.
    ///   - remark: said once it is written.
    private func finish(
        _ result: ResultDocument, _ path: String, of parts: [String] = [], then remark: String? = nil
    ) throws {
        do throws(ResultError) { try ResultFile.write(result, to: path) } catch {
            throw HarnessError(error.description, .unwritable)
        }
        if let remark { Console.error(remark) }
        let verdict = ReportFile.verdict(result)
        let held = verdict.thresholds.map { (text: $0.description, isHeld: $0.isHeld) }
        if !parts.isEmpty { Console.output("merged:\n" + parts.map { "  \($0)\n" }.joined()) }
        Console.output(
            SummaryReport.text(
                result, path: path, problems: verdict.problems, thresholds: held, on: Console.picture))
        if !verdict.isGood { throw ExitCode(verdict.exitCode) }
    }
}

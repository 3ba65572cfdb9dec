import ArgumentParser
import Flags
import Harness
import Reports
import Results
import Workers

extension MergeCommand {
    /// The folder of one run of several workers, merged anew from what each brought home; false where none was given.
    func mergeWorkers() throws -> Bool {
        guard files.count == 1, WorkerFolder.isOne(files[0]) else { return false }
        let merged = try WorkerFolder.merged(files[0])
        do throws(ResultError) { try ResultFile.write(merged, to: output) } catch {
            throw HarnessError(error.description, .unwritable)
        }
        let verdict = ReportFile.verdict(merged)
        let held = verdict.thresholds.map { (text: $0.description, isHeld: $0.isHeld) }
        Console.output(
            SummaryReport.text(
                merged, path: output, problems: verdict.problems, thresholds: held, on: Console.picture))
        if !verdict.isGood { throw ExitCode(verdict.exitCode) }
        return true
    }
}

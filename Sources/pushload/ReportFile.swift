import Analysis
import ArgumentParser
import Foundation
import Harness
import Reports
import Results
import Scenarios

enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case html, markdown

    var suffix: String { self == .html ? "html" : "md" }
}

/// Reports on disk.
enum ReportFile {
    /// - Parameter path: a result file or a run's folder.
    static func run(_ path: String) throws(HarnessError) -> ReportedRun {
        let file = resultPath(path)
        let result: ResultDocument
        do throws(ResultError) { result = try ResultFile.read(file) } catch { throw HarnessError(error.description) }
        return run(result)
    }

    /// Judged by the thresholds among its own settings.
    static func run(_ result: ResultDocument) -> ReportedRun {
        var thresholds: [Threshold] = []
        if case .list(let texts)? = result.scenario["thresholds"] {
            thresholds = texts.flatMap { (try? Threshold.list(parsing: $0)) ?? [] }
        }
        let verdict = RunVerdict(result, thresholds: thresholds)
        return ReportedRun(
            label: result.run.name, result: result, problems: verdict.problems,
            thresholds: verdict.thresholds.map { (text: $0.description, isHeld: $0.isHeld) })
    }

    /// `result.json` within, when the path is a folder.
    static func resultPath(_ path: String) -> String {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        return exists && isFolder.boolValue ? (path.hasSuffix("/") ? path : path + "/") + "result.json" : path
    }

    /// Whole or not at all.
    static func write(_ runs: [ReportedRun], _ format: ReportFormat, to path: String) throws(HarnessError) {
        let text = format == .html ? HTMLReport.page(runs) : MarkdownReport.text(runs)
        do throws(ResultError) { try ResultFile.write(Array(text.utf8), to: path) } catch {
            throw HarnessError(error.description, isUsage: false)
        }
    }
}

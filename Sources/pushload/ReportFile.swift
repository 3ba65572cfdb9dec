import Analysis
import ArgumentParser
import Foundation
import Harness
import Reports
import Results
import Scenarios

enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case html, markdown, terminal

    var suffix: String { self == .html ? "html" : self == .markdown ? "md" : "txt" }
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
            thresholds = texts.flatMap { (try? Threshold.list(parsing: $0.description)) ?? [] }
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

    static func text(_ runs: [ReportedRun], _ format: ReportFormat, _ picture: TextPicture) -> String {
        let comparisons = comparisons(runs)
        return switch format {
        case .html: HTMLReport.page(runs, comparisons: comparisons)
        case .markdown: MarkdownReport.text(runs, comparisons: comparisons)
        case .terminal: TerminalReport.text(runs, comparisons: comparisons, picture)
        }
    }

    /// Each run against the first; none with a run that cannot be compared, which its verdict says.
    private static func comparisons(_ runs: [ReportedRun]) -> [ComparisonDocument] {
        func side(_ run: ReportedRun) -> ResultComparison.Side {
            .init(name: run.label, runs: [(run.label, run.result)])
        }
        return runs.dropFirst().compactMap { try? ResultComparison.compare(side(runs[0]), side($0)) }
    }

    /// Whole or not at all.
    static func write(_ runs: [ReportedRun], _ format: ReportFormat, to path: String) throws(HarnessError) {
        let text = text(runs, format, TextPicture(width: 80, isUnicode: true))
        do throws(ResultError) { try ResultFile.write(Array(text.utf8), to: path) } catch {
            throw HarnessError(error.description, isUsage: false)
        }
    }
}

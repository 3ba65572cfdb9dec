import Analysis
import ArgumentParser
import Comparison
import Foundation
import Harness
import Reports
import Results
import Scenarios

enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case html, markdown, terminal

    var suffix: String { self == .html ? "html" : self == .markdown ? "md" : "txt" }
    /// How names of its files may end.
    var endings: [String] { self == .html ? [".html", ".htm"] : self == .markdown ? [".md", ".markdown"] : [".txt"] }

    /// That of a file by the end of its name; nil where it is none of them.
    init?(name: String) {
        guard let format = Self.allCases.first(where: { $0.endings.contains(where: name.lowercased().hasSuffix) })
        else {
            return nil
        }
        self = format
    }
}

/// Reports on disk.
enum ReportFile {
    /// Judged by the thresholds among its own settings.
    static func run(_ result: ResultDocument, path: String? = nil) -> ReportedRun {
        let verdict = verdict(result)
        return ReportedRun(
            label: result.run.name, path: path, result: result, problems: verdict.problems,
            thresholds: verdict.thresholds.map { (text: $0.description, isHeld: $0.isHeld) })
    }

    /// By the thresholds that the run was given.
    static func verdict(_ result: ResultDocument) -> RunVerdict {
        var thresholds: [Threshold] = []
        if case .array(let texts)? = result.scenario["thresholds"] {
            thresholds = texts.flatMap { (try? Threshold.list(parsing: $0.description)) ?? [] }
        }
        return RunVerdict(result, thresholds: thresholds)
    }

    static func text(_ runs: [ReportedRun], _ format: ReportFormat, _ picture: TextPicture) -> String {
        switch format {
        case .html: HTMLReport.page(runs, beside: ComparedRuns.sections(runs))
        case .markdown: MarkdownReport.text(runs, beside: ComparedRuns.sections(runs))
        case .terminal: TerminalReport.text(runs, beside: ComparedRuns.text(runs, on: picture), picture)
        }
    }

    /// Whole or not at all.
    static func write(_ runs: [ReportedRun], _ format: ReportFormat, to path: String) throws(HarnessError) {
        let text = text(runs, format, TextPicture(width: 80, isUnicode: true))
        do throws(ResultError) { try ResultFile.write(Array(text.utf8), to: path) } catch {
            throw HarnessError(error.description, .unwritable)
        }
    }
}

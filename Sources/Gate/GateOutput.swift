import ArgumentParser
import Flags
import Foundation
import Harness
import Reports
import Results

/// Where a gate's outcome goes.
struct GateOutput: ParsableArguments {
    @Option(help: ArgumentHelp("Write the table for a pull request here.", valueName: "file"))
    var markdown: String?

    @Option(help: ArgumentHelp("Write JUnit's XML here, one test case a judged metric.", valueName: "file"))
    var junit: String?

    @Flag(
        help: """
            Print annotations for GitHub Actions, and append the table to the step's summary; by itself when GITHUB_ACTIONS is true.
            """)
    var github = false

    @Flag(help: "Print the outcome as JSON, and nothing else on standard output.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print no progress.")
    var quiet = false

    /// What is not written along with something else.
    func refuse(with flag: String) throws(HarnessError) {
        let given = [("--markdown", markdown != nil), ("--junit", junit != nil), ("--github", github)]
        if let (name, _) = given.first(where: { $0.1 }) {
            throw HarnessError("\(name) is for a verdict, not for \(flag)")
        }
    }

    /// Before anything is run: what could not be written afterwards is found out now.
    func check() throws(HarnessError) {
        if let markdown, markdown == junit {
            throw HarnessError("--markdown and --junit name the same file, \(markdown)")
        }
        do throws(ResultError) {
            for path in [markdown, junit].compactMap({ $0 }) { try ResultFile.checkWritable(path) }
        } catch {
            throw HarnessError(error.description)
        }
        if let summary {
            let file = try Self.appending(to: summary, .usage)
            try? file.close()
        }
    }

    /// What was measured is shown first, and each file written though another one cannot be.
    func write(_ gate: GateDocument, failsWhenUnsure: Bool) throws(HarnessError) {
        var problems: [String] = []
        func attempt(_ work: () throws(ResultError) -> Void) {
            do throws(ResultError) { try work() } catch { problems.append(error.description) }
        }
        attempt { () throws(ResultError) in
            Console.output(
                json
                    ? String(decoding: try GateFile.encode(gate), as: UTF8.self)
                    : GateReport.text(gate, on: Console.picture))
        }
        if let markdown {
            attempt { () throws(ResultError) in
                try ResultFile.write(Array(GateMarkdown.text(gate).utf8), to: markdown)
            }
        }
        if let junit {
            attempt { () throws(ResultError) in
                try ResultFile.write(Array(GateJUnit.text(gate, failsWhenUnsure: failsWhenUnsure).utf8), to: junit)
            }
        }
        if isForGitHub {
            // Actions reads commands from both; with --json, standard output is for the document.
            let annotations = GitHubAnnotations.text(gate, failsWhenUnsure: failsWhenUnsure)
            if json { Console.diagnostic(annotations) } else { Console.output(annotations) }
            if let summary {
                do throws(HarnessError) { try append(GateMarkdown.text(gate), to: summary) } catch {
                    problems.append(error.description)
                }
            }
        }
        guard problems.isEmpty else { throw HarnessError(problems.joined(separator: "\n"), .unwritable) }
    }

    private var isForGitHub: Bool { github || ProcessInfo.processInfo.environment["GITHUB_ACTIONS"] == "true" }

    /// Where the step's summary goes; nil: nowhere.
    private var summary: String? {
        guard isForGitHub, let path = ProcessInfo.processInfo.environment["GITHUB_STEP_SUMMARY"], !path.isEmpty else {
            return nil
        }
        return path
    }

    private static func appending(to path: String, _ kind: HarnessError.Kind) throws(HarnessError) -> FileHandle {
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        guard let file = FileHandle(forWritingAtPath: path) else {
            throw HarnessError("cannot append to \(path), which GITHUB_STEP_SUMMARY names", kind)
        }
        return file
    }

    private func append(_ text: String, to path: String) throws(HarnessError) {
        let file = try Self.appending(to: path, .unwritable)
        defer { try? file.close() }
        do {
            try file.seekToEnd()
            try file.write(contentsOf: Data(text.utf8))
        } catch {
            throw HarnessError("cannot append to \(path), which GITHUB_STEP_SUMMARY names: \(error)", .unwritable)
        }
    }
}

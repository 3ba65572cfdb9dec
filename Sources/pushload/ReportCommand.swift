import ArgumentParser
import Flags
import Foundation
import Harness
import Reports
import Results

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Make one page of one or several results.",
        discussion:
            "Several results are laid over each other, with a table that has a column for each, and each is compared with the first."
    )

    @Argument(help: ArgumentHelp("Result files, run folders, or folders of runs.", valueName: "path"))
    var results: [String]

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "Where to write it (default: report.html beside the result; in this folder when there are several).",
            valueName: "file"))
    var output: String?

    @Option(
        help:
            "html: one self-contained page; markdown: tables alone; terminal: bars of characters, printed unless --output is given. Default: what --output ends in; html."
    )
    var format: ReportFormat?

    func run() throws {
        if let output {
            try FileName.check(output, "--output", format?.endings ?? ReportFormat.allCases.flatMap(\.endings))
        }
        let format = format ?? output.flatMap(ReportFormat.init(name:)) ?? .html
        let found = try FoundResults(results)
        found.tell()
        let runs = found.runs.map { ReportFile.run($0.result, path: $0.path) }
        if format == .terminal, output == nil {
            Console.output(ReportFile.text(ReportedRun.told(apart: runs), format, Console.picture))
            return
        }
        let name = "report.\(format.suffix)"
        var path = output ?? name
        if output == nil, found.runs.count == 1 {
            let folder = (found.runs[0].path as NSString).deletingLastPathComponent
            path = folder.isEmpty ? name : (folder as NSString).appendingPathComponent(name)
        }
        try ReportFile.write(ReportedRun.told(apart: runs), format, to: path)
        Console.output("report: \(path)\n")
    }
}

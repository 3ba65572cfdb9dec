import Analysis
import ArgumentParser
import Foundation
import Harness
import Reports
import Results

struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Hold two groups of runs against each other.",
        discussion: """
            Each side is a result.json, a run's folder, or a folder with several runs. Four runs a side are the fewest of which a \
            difference can be called. Exit status: 0 whatever the verdict, 64 for what cannot be compared.
            """)

    @Argument(help: ArgumentHelp("The runs to compare with.", valueName: "A"))
    var a: String

    @Argument(help: ArgumentHelp("The runs to be judged.", valueName: "B"))
    var b: String

    @Flag(help: "Print the comparison as JSON.")
    var json = false

    func run() throws {
        do {
            let comparison = try ResultComparison.compare(try Self.side(a), try Self.side(b))
            Console.output(
                json
                    ? String(decoding: try ComparisonFile.encode(comparison), as: UTF8.self)
                    : ComparisonReport.text(comparison))
        } catch let error as ResultError {
            throw HarnessError(error.description)
        } catch let error as ResultComparison.Failure {
            throw HarnessError(error.description)
        }
    }

    /// The file itself, or every result.json below the folder.
    private static func side(_ path: String) throws -> ResultComparison.Side {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw HarnessError("\(path): no such file or folder; expected a result.json or a folder of runs")
        }
        var paths = [path]
        if isFolder.boolValue {
            let below = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
            paths = below.filter { $0 == "result.json" || $0.hasSuffix("/result.json") }.sorted()
                .map { "\(path)/\($0)" }
        }
        return ResultComparison.Side(name: path, runs: try paths.map { ($0, try ResultFile.read($0)) })
    }
}

import Foundation
import Results
import Testing

extension Programs {
    /// Runs pushload with `--json`; checks that the books balance.
    static func load(_ arguments: [String]) throws -> (result: ResultDocument, status: Int32, error: String) {
        let output = OutputFolder()
        let finished = try run("pushload", ["run", "--json", "--output", output.path] + arguments)
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: "stdout \(finished.error)")
        let pushes = result.pushes
        #expect(pushes.planned == pushes.ended)
        let runs = try FileManager.default.contentsOfDirectory(atPath: output.path)
        #expect(runs.count == 1)
        #expect(try ResultFile.read("\(output.path)/\(runs[0])/result.json") == result)
        return (result, finished.status, finished.error)
    }
}

import Foundation
import Results
import Testing

@Suite(.serialized) struct CompareTests {
    @Test("Folders of runs, a run's folder and a file are compared; JSON says the same; nothing of it fails")
    func compared() throws {
        let (a, b) = (OutputFolder(), OutputFolder())
        for (folder, streams) in [(a, "100"), (a, "100"), (b, "50")] {
            #expect(
                try Programs.run("pushload", ["run", "-n", "500", "-m", streams, "--output", folder.path]).status == 0)
        }
        let table = try Programs.run("pushload", ["compare", a.path, b.path])
        #expect(table.status == 0, "\(table)")
        #expect(table.output.contains("A: \(a.path) (2 runs)") && table.output.contains("B: \(b.path) (1 run)"))
        #expect(table.output.contains("only one run of B: no interval"), "\(table)")
        #expect(table.output.contains("warning: A and B differ in streams: 100 and 50"), "\(table)")
        let runs = try FileManager.default.contentsOfDirectory(atPath: a.path).sorted()
        let json = try Programs.run(
            "pushload", ["compare", "--json", "\(a.path)/\(runs[0])", "\(a.path)/\(runs[1])/result.json"])
        let comparison = try JSONDecoder().decode(ComparisonDocument.self, from: Data(json.output.utf8))
        #expect(json.status == 0 && comparison.a.runs.count == 1 && comparison.b.runs.count == 1)
        #expect(comparison.metrics.contains { $0.name == "total p99.9" && $0.verdict == .oneRun })
        #expect(comparison.distributions.map(\.name) == ["total", "round_trip"])
    }

    @Test("What cannot be compared ends with 64 and one line")
    func refused() throws {
        let folder = OutputFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let file = folder.path + "/result.json"
        func refusal(_ contents: String?) throws -> String {
            if let contents { try contents.write(toFile: file, atomically: true, encoding: .utf8) }
            let finished = try Programs.run("pushload", ["compare", folder.path, folder.path])
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error
        }
        #expect(try refusal(nil) == "pushload: \(folder.path): no result found\n")
        #expect(
            try refusal(#"{"schema": "pushload.result/1"}"#)
                == "pushload: \(file): schema pushload.result/1; this version reads pushload.result/2\n")
        #expect(
            try refusal(#"{"schema": "#) == "pushload: \(file): not complete JSON; the file is truncated or damaged\n")
        let missing = try Programs.run("pushload", ["compare", folder.path + "/none", folder.path])
        #expect(missing.status == 64 && missing.error.contains("no such file or folder"), "\(missing)")
    }
}

import Foundation
import Measurement
import Results
import Testing

@Suite(.waitsForPrograms) struct KilledRunTests {
    /// The log's lines of intervals so far, those that are whole.
    private func log(_ folder: String) -> ArraySlice<Substring> {
        let text = (try? String(contentsOfFile: folder + "/latency.hlog", encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().dropFirst(4)
    }

    @Test("A run that is killed leaves a marked result that reports show and comparisons refuse, and its log")
    func killed() throws {
        let output = OutputFolder()
        let run = try Programs.start(
            "pushload", ["run", "--rate", "500", "-D", "600s", "--quiet", "--output", output.path])
        var folder = ""
        // Until there is a result, and an interval after it.
        for _ in 0..<6000 where run.process.isRunning {
            if let name = try? FileManager.default.contentsOfDirectory(atPath: output.path).first {
                folder = output.path + "/" + name
                if FileManager.default.fileExists(atPath: folder + "/result.json"), log(folder).count > 1 { break }
            }
            usleep(10_000)
        }
        #expect(run.process.isRunning, "\(run.errorText)")
        kill(run.process.processIdentifier, SIGKILL)
        #expect(try run.wait().status == SIGKILL)

        let result = try ResultFile.read(folder + "/result.json")
        let pushes = result.pushes
        #expect(!result.run.complete && result.run.interrupted && result.notes.contains { $0.hasPrefix("partial: ") })
        #expect(pushes.planned == 300_000 && pushes.ended == pushes.planned && pushes.accepted > 0)
        #expect(pushes.lost == nil && result.latency[.total].count >= pushes.accepted)
        #expect(result.series.reduce(0) { $0 + $1.accepted } == pushes.accepted)
        #expect(result.throughput.accepted > 0 && !result.series.isEmpty)
        let logged = try log(folder).map {
            #expect($0.hasPrefix("Tag=total,") || $0.hasPrefix("Tag=unanswered,"))
            return try HistogramCodec.decodeFromLog(String(try #require($0.split(separator: ",").last)))
        }
        #expect(logged.count > 1 && logged.reduce(0) { $0 + $1.count } >= pushes.accepted)

        let report = try Programs.run("pushload", ["report", folder, "--format", "markdown"])
        #expect(report.status == 0, "\(report.error)")
        #expect(
            try String(contentsOfFile: folder + "/report.md", encoding: .utf8).contains(
                "partial: written while the run went on"))
        for format in ["terminal", "html"] {
            let page = "\(folder)/page.\(format == "html" ? "html" : "txt")"
            let made = try Programs.run("pushload", ["report", folder, "--format", format, "-o", page])
            #expect(made.status == 0, "\(made)")
            let text = try String(contentsOfFile: page, encoding: .utf8).split(whereSeparator: \.isWhitespace)
            #expect(
                text.joined(separator: " ").contains("the result is partial: written while the run went on"),
                "\(format)")
        }
        let comparison = try Programs.run("pushload", ["compare", folder, folder])
        #expect(comparison.error.contains("the run was interrupted; only whole runs can be compared"))
        let history = try Programs.run("pushload", ["history", output.path])
        #expect(history.error.contains("\(folder)/result.json: the run was interrupted"), "\(history.error)")
    }
}

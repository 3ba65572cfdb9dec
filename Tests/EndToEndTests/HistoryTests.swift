import Foundation
import Results
import Testing

@testable import History

@Suite(.serialized, .waitsForPrograms) struct HistoryTests {
    @Test(
        "Runs of a folder become series; files that are no results get a line each; picture, JSON and CSV say the same")
    func history() throws {
        let output = OutputFolder()
        for streams in ["20", "20", "10"] {
            #expect(
                try Programs.run("pushload", ["run", "-n", "300", "-m", streams, "--output", output.path]).status == 0)
        }
        for (name, text) in [("old", #"{"schema": "pushload.result/1"}"#), ("cut", #"{"schema": "#), ("foreign", "{}")]
        {
            try FileManager.default.createDirectory(
                atPath: "\(output.path)/\(name)", withIntermediateDirectories: false)
            try text.write(toFile: "\(output.path)/\(name)/result.json", atomically: true, encoding: .utf8)
        }
        let page = output.path + "/page.html"
        let table = try Programs.run("pushload", ["history", output.path, "-o", page])
        #expect(table.status == 0 && table.error.isEmpty, "\(table)")
        for part in [
            ": 2 runs, ", "  streams 20\n", "client CPU a push, 2 runs: too few to find a change", "left out:",
            "/old/result.json: schema pushload.result/1; this version reads pushload.result/3\n",
            "/cut/result.json: not complete JSON; the file is truncated or damaged\n",
            "/foreign/result.json: not a pushload result: \"schema\" is missing or foreign\n",
            "the only run of its series (streams 10)\n",
        ] { #expect(table.output.contains(part), "\(part): \(table.output)") }
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("</html>"))
        let json = try Programs.run(
            "pushload", ["history", "--json", "--metric", "all", "--across", "streams", output.path])
        let history = try json.read(HistoryDocument.self)
        #expect(history.series.count == 1 && history.series[0].runs.count == 3 && history.leftOut.count == 3)
        #expect(history.series[0].metrics.contains { $0.name == "round trip p99" && $0.values.count == 3 })
        let csv = try Programs.run("pushload", ["history", "--csv", "--metric", "rate", output.path])
        #expect(csv.output.split(separator: "\n").count == 1 + 2, "\(csv)")
    }

    @Test("What cannot be shown ends with 64 and one line")
    func refused() throws {
        let folder = try OutputFolder.made()
        func refusal(_ arguments: [String]) throws -> String {
            let finished = try Programs.run("pushload", ["history"] + arguments)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error
        }
        #expect(
            try refusal([folder.path])
                == "pushload: \(folder.path): no result found; expected a result.json there, or in a folder below\n")
        let none = folder.path + "/none"
        let missing = "pushload: \(none): no such file or folder; expected a result.json or a folder of runs\n"
        #expect(try refusal([none]) == missing)
        let whole = folder.path + "/whole"
        #expect(try Programs.run("pushload", ["run", "-n", "100", "-q", "-o", whole]).status == 0)
        #expect(try refusal([whole, none]) == missing)
        try FileManager.default.createDirectory(atPath: none, withIntermediateDirectories: false)
        #expect(
            try refusal([whole, none])
                == "pushload: \(none): no result found; expected a result.json there, or in a folder below\n")
        try FileManager.default.removeItem(atPath: whole)
        try FileManager.default.removeItem(atPath: none)
        #expect(
            try refusal([folder.path, "--json", "--csv"]) == "pushload: history: expected --json or --csv, not both\n")
        try "nothing".write(toFile: folder.path + "/result.json", atomically: true, encoding: .utf8)
        #expect(
            try refusal([folder.path, "--metric", "speed"]).hasPrefix("pushload: metric \"speed\": expected one of "))
        #expect(
            try refusal([folder.path]) == "pushload: no run to show: \(folder.path)/result.json: no JSON\n")
        let other = folder.path + "/other.json"
        try "{}".write(toFile: other, atomically: true, encoding: .utf8)
        #expect(
            try refusal([folder.path, other]).split(separator: "\n").map(String.init) == [
                "pushload: no run to show: \(folder.path)/result.json: no JSON",
                "pushload: no run to show: \(other): not a pushload result: \"schema\" is missing or foreign",
            ])
    }

    @Test("--alert ends with 99 for a change for the worse, until it is acknowledged in a file; bad files are one line")
    func alert() throws {
        let folder = try OutputFolder.made()
        let one = folder.path + "/one"
        #expect(try Programs.run("pushload", ["run", "-n", "100", "-q", "-o", one]).status == 0)
        let run = try #require(try FileManager.default.contentsOfDirectory(atPath: one).first)
        let made = try ResultFile.read("\(one)/\(run)/result.json")
        // Twenty runs, of which the later ten take half as much CPU again.
        let runs = folder.path + "/runs"
        for number in 0..<20 {
            var result = made
            result.run.id = "run\(number)"
            result.run.startedAt = "2026-11-21T10:\(number + 10):00Z"
            result.cost.clientCPU = (number < 10 ? 1000 : 1500) + Double(number * 7 % 10)
            let place = "\(runs)/\(number + 10)"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            try ResultFile.write(result, to: place + "/result.json")
        }
        let arguments = ["history", runs, "--metric", "client CPU a push"]
        func history(_ more: [String]) throws -> Finished { try Programs.run("pushload", arguments + more) }
        #expect(try history([]).status == 0)
        let alerted = try history(["--alert"])
        #expect(alerted.status == 99 && alerted.output.contains("more by"), "\(alerted)")
        #expect(
            alerted.error.hasPrefix("pushload: alert: ")
                && alerted.error.hasSuffix(" since \(runs)/20/result.json (2026-11-21T10:20:00Z)\n"), "\(alerted)")
        let file = folder.path + "/known.json"
        func refusal(_ more: [String]) throws -> String {
            let finished = try history(more)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error
        }
        #expect(
            try refusal(["--alert", "--acknowledged", file])
                == "pushload: --acknowledged: cannot read the acknowledged changes \(file): No such file or directory; --acknowledge makes it\n"
        )
        #expect(
            try refusal(["--acknowledge"])
                == "pushload: --acknowledge: expected --acknowledged with the file to add to\n")
        let taken = try history(["--acknowledged", file, "--acknowledge", "--alert"])
        #expect(taken.status == 0 && taken.error == "acknowledged 1 change: \(file)\n", "\(taken)")
        let known = try history(["--acknowledged", file, "--alert"])
        #expect(known.status == 0 && known.output.contains(", acknowledged"), "\(known)")
        let again = try history(["--acknowledged", file, "--acknowledge"])
        #expect(again.status == 0 && again.error == "acknowledged 0 changes: \(file)\n", "\(again)")
        for (text, why) in [
            ("{", "not complete JSON; the file is truncated or damaged"),
            ("{}", "no acknowledged changes: \"schema\" is missing or foreign"),
            (
                #"{"schema": "pushload.acknowledged/9"}"#,
                "schema pushload.acknowledged/9; this version reads pushload.acknowledged/1"
            ),
            (#"{"schema": "pushload.acknowledged/1"}"#, "\"changes\" is missing"),
        ] {
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            #expect(try refusal(["--acknowledged", file]) == "pushload: --acknowledged: \(file): \(why)\n")
            // What cannot be read is not written over.
            #expect(
                try refusal(["--acknowledged", file, "--acknowledge"]) == "pushload: --acknowledged: \(file): \(why)\n")
        }
    }
}

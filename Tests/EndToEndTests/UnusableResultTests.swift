import Foundation
import Results
import Testing

@Suite(.serialized, .waitsForPrograms) struct UnusableResultTests {
    @Test("report, merge, compare, history and plan take a folder of runs, and say what of it they left out and why")
    func leftOut() throws {
        let folder = OutputFolder()
        for _ in 0..<3 {
            #expect(try Programs.run("pushload", ["run", "-n", "10k", "-q", "-o", folder.path]).status == 0)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        // As if side by side, for merge; one of them stopped.
        for (index, name) in names.enumerated() {
            let path = "\(folder.path)/\(name)/result.json"
            var result = try ResultFile.read(path)
            result.run.startedAt = "2026-01-02T03:04:05Z"
            result.run.durationSeconds = 2
            result.run.interrupted = index == 0
            // Enough for a plan, however fast the machine.
            result.cost.clientCPU = 10_000
            try ResultFile.write(result, to: path)
        }
        let cut = "\(folder.path)/cut"
        try FileManager.default.createDirectory(atPath: cut, withIntermediateDirectories: false)
        try "{\"schema\":".write(toFile: cut + "/result.json", atomically: true, encoding: .utf8)
        let stopped = "\(folder.path)/\(names[0])/result.json: the run was interrupted"
        let broken = "\(cut)/result.json: not complete JSON; the file is truncated or damaged"
        let page = folder.path + "/page.html"
        let commands: [(arguments: [String], count: Int)] = [
            (["report", folder.path, "-o", page], 1), (["merge", folder.path, "-o", folder.path + "/all.json"], 1),
            (["compare", folder.path, folder.path], 2),
            (["plan", "--from", folder.path, "--devices", "1M", "--within", "60s", "--rtt", "0"], 2),
        ]
        for (arguments, count) in commands {
            let finished = try Programs.run("pushload", arguments)
            // A part that was interrupted makes the merged run one that was.
            #expect(finished.status == (arguments[0] == "merge" ? 1 : 0), "\(arguments): \(finished)")
            #expect(finished.error.contains("pushload: left out \(count) of 4 results:\n"), "\(finished.error)")
            #expect(
                finished.error.contains(broken) && finished.error.contains(stopped) == (count == 2), "\(finished.error)"
            )
        }
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("</html>"))
        let history = try Programs.run("pushload", ["history", folder.path])
        #expect(
            history.status == 0 && history.output.contains(broken) && history.output.contains(stopped), "\(history)")
        // A run's folder and its file are the same to all.
        let run = "\(folder.path)/\(names[1])"
        for path in [run, run + "/", run + "/result.json"] {
            let finished = try Programs.run("pushload", ["report", path, "--format", "terminal"])
            #expect(
                finished.status == 0 && finished.error.isEmpty && finished.output.contains("accounted for"),
                "\(finished)")
        }
        // Nothing is left: that is an error, with every reason.
        let none = try Programs.run(
            "pushload", ["plan", "--from", cut, "--devices", "1M", "--within", "60s", "--rtt", "0"])
        #expect(none.status == 64 && none.error == "pushload: \(broken)\n", "\(none)")
    }

    @Test("A run that is named or lies there twice counts once, for every command, and is said to be the same")
    func copies() throws {
        let folder = OutputFolder()
        for _ in 0..<2 {
            #expect(try Programs.run("pushload", ["run", "-n", "10k", "-q", "-o", folder.path]).status == 0)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let files = names.map { "\(folder.path)/\($0)/result.json" }
        for file in files {
            var result = try ResultFile.read(file)
            result.run.startedAt = "2026-01-02T03:04:05Z"
            result.run.durationSeconds = 2
            result.cost.clientCPU = 10_000
            try ResultFile.write(result, to: file)
        }
        try FileManager.default.copyItem(atPath: "\(folder.path)/\(names[0])", toPath: "\(folder.path)/z-copy")
        let page = folder.path + "/page.md"
        let commands: [(arguments: [String], shown: String)] = [
            (["report", folder.path, "-o", page, "--format", "markdown"], "report: "),
            (["merge", folder.path, "-o", folder.path + "/all.json"], "20,000 pushes planned"),
            (["compare", folder.path, files[1]], "A and B share runs"),
            (
                ["plan", "--from", folder.path, "--devices", "1M", "--within", "60s", "--rtt", "0"],
                "(2 runs, 1 setting)"
            ),
            (["history", folder.path], ": 2 runs, "),
        ]
        let twin = "\(folder.path)/z-copy/result.json: the same run as \(files[0])\n"
        for (arguments, shown) in commands {
            let finished = try Programs.run("pushload", arguments)
            #expect(finished.status == 0 && finished.output.contains(shown), "\(arguments): \(finished)")
            #expect((finished.error + finished.output).contains(twin), "\(arguments): \(finished)")
        }
        #expect(try String(contentsOfFile: page, encoding: .utf8).hasPrefix("# 2 runs: "))
        let named = try Programs.run(
            "pushload", ["history", files[0], files[0], files[1], "--csv", "--metric", "rate"])
        #expect(named.status == 0 && named.output.split(separator: "\n").count == 3, "\(named)")
        let twice = try Programs.run("pushload", ["history", files[0], files[1], "\(folder.path)/./\(names[1])"])
        #expect(twice.status == 0 && !(twice.output + twice.error).contains("the same run"), "\(twice)")
    }

    @Test("Of a run and a copy of it that was made while it went on, the whole one is kept, whichever comes first")
    func partialCopy() throws {
        let folder = OutputFolder()
        for _ in 0..<2 {
            #expect(try Programs.run("pushload", ["run", "-n", "10k", "-q", "-o", folder.path]).status == 0)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let whole = "\(folder.path)/\(names[0])/result.json"
        var result = try ResultFile.read(whole)
        result.run.complete = false
        result.run.interrupted = true
        result.notes.append(ResultDocument.partialMark + "written while the run went on")
        for copy in ["0-copy", "z-copy"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(copy)", withIntermediateDirectories: false)
            try ResultFile.write(result, to: "\(folder.path)/\(copy)/result.json")
        }
        let history = try Programs.run("pushload", ["history", folder.path])
        #expect(history.status == 0 && history.output.contains(": 2 runs, "), "\(history)")
        for copy in ["0-copy", "z-copy"] {
            #expect(
                history.output.contains("\(folder.path)/\(copy)/result.json: the same run as \(whole)"), "\(history)")
        }
    }
}

import Foundation
import Results
import Testing

@testable import Gate

@Suite(.serialized, .waitsForPrograms) struct GateTests {
    /// A gate's 30 seconds are too short beside other work.
    private static let patience = ["--budget", "1h"]

    /// A small baseline: its rounds say little, and a push that takes 200 us more is seen all the same.
    private func makeBaseline(_ folder: OutputFolder, _ flags: [String] = []) throws -> String {
        let path = folder.path + "/small.json"
        let made = try Programs.run(
            "pushload",
            ["gate", "--update", "--baseline", path, "--reason", "a test", "-n", "2000", "--max-rounds", "8"]
                + Self.patience + flags)
        #expect(made.status == 0 && made.output.contains("new baseline: \(path) (8 rounds)"), "\(made)")
        return path
    }

    @Test("A baseline is made and renewed with what moved; a gate against it answers; a slowdown is a regression")
    func whole() throws {
        let folder = OutputFolder()
        let path = try makeBaseline(folder, ["-m", "50", "--sign-policy", "every:100"])
        let first = try BaselineFile.read(path)
        #expect(first.name == "small" && first.reason == "a test" && first.scenario["streams"] == .integer(50))
        #expect(first.metrics.first?.raw.count == 8 && first.metrics.first?.normalised?.count == 8)
        // Tolerates what a busy machine does to a debug build.
        let same = try Programs.run(
            "pushload",
            ["gate", "--baseline", path, "--tolerance", "100%", "--max-rounds", "16", "--json"]
                + Self.patience)
        let gate = try same.read(GateDocument.self)
        #expect([0, 98].contains(same.status) && gate.verdict != .regression && gate.baseline == "small", "\(same)")
        #expect(gate.metrics.map(\.name).starts(with: ["client_cpu", "mock_cpu"]) && gate.rounds.count >= 8)
        let junit = folder.path + "/junit.xml"
        let markdown = folder.path + "/gate.md"
        let slow = try Programs.run(
            "pushload",
            [
                "gate", "--baseline", path, "--inject-cpu-ns", "200000", "--metrics", "client_cpu", "--junit", junit,
                "--markdown", markdown, "--github", "--quiet",
            ] + Self.patience)
        #expect(slow.status == 99 && slow.output.contains("REGRESSION: client CPU a push +"), "\(slow)")
        #expect(slow.output.contains("::error title=pushload gate::client CPU a push: regression"))
        #expect(try String(contentsOfFile: junit, encoding: .utf8).contains("failures=\"1\""))
        #expect(try String(contentsOfFile: markdown, encoding: .utf8).contains("| ❌ client CPU a push |"))
        let renewed = try Programs.run(
            "pushload",
            ["gate", "--update", "--baseline", path, "--reason", "again", "--max-rounds", "8", "-m", "60", "-q"]
                + Self.patience)
        #expect(renewed.status == 0 && renewed.output.contains("it was of \(first.updatedAt): a test"), "\(renewed)")
        #expect(renewed.output.contains("the scenario is another one"))
        let second = try BaselineFile.read(path)
        #expect(second.reason == "again" && second.scenario["streams"] == .integer(60))
        #expect(second.scenario["sign_policy"] == .string("every:100"))
    }

    @Test("Ctrl-C while a baseline is made says that there is none, or that the old one is kept")
    func interruptedUpdate() throws {
        let folder = OutputFolder()
        let path = folder.path + "/small.json"
        func interrupt() throws -> Finished {
            let running = try Programs.start(
                "pushload",
                ["gate", "--update", "--baseline", path, "--reason", "a test", "-n", "1000"] + Self.patience)
            try running.waitForError("8 of 32 rounds")
            kill(running.process.processIdentifier, SIGINT)
            return try running.wait()
        }
        let first = try interrupt()
        #expect(
            first.status == 1 && first.error.hasSuffix("pushload: interrupted: no baseline was written\n"), "\(first)")
        #expect(!FileManager.default.fileExists(atPath: path))
        _ = try makeBaseline(folder)
        let before = FileManager.default.contents(atPath: path)
        let second = try interrupt()
        #expect(
            second.status == 1 && second.error.hasSuffix("pushload: interrupted: \(path) is kept as it was\n"),
            "\(second)")
        #expect(FileManager.default.contents(atPath: path) == before)
    }

    @Test("What cannot be judged ends with 64 and one line, before anything is sent")
    func refused() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/b.json"
        func refusal(_ arguments: [String]) throws -> String {
            let finished = try Programs.run("pushload", ["gate", "--baseline", path] + arguments)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error
        }
        func refusal(of text: String) throws -> String {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            return try refusal([])
        }
        #expect(try refusal([]).hasPrefix("pushload: cannot read \(path); make a baseline with"))
        #expect(try refusal(["--update"]).hasPrefix("pushload: --update needs --reason"))
        #expect(try refusal(["--update", "--reason", " "]).hasPrefix("pushload: --update needs --reason"))
        #expect(
            try refusal(["-n", "5"])
                == "pushload: --pushes: the baseline says what is run; flags of run go with --update\n")
        #expect(try refusal(["--max-rounds", "3"]) == "pushload: --max-rounds 3: expected 8 to 128\n")
        #expect(try refusal(of: "{").hasSuffix("not complete JSON; the file is truncated or damaged\n"))
        #expect(
            try refusal(of: #"{"schema":"pushload.baseline/0"}"#).contains("schema pushload.baseline/0; this version"))
        #expect(try refusal(of: #"{"schema":"pushload.result/2"}"#).contains("not a baseline of pushload gate"))
        #expect(try refusal(["--update", "--reason", "x"]).contains("remove it to make it anew"))
        var baseline = BaselineDocument(
            name: "b", reason: "r", updatedAt: "2026-01-01T00:00:00Z", version: "0", commit: nil, scenario: [:],
            machine: .init(host: "h", cpu: "c", cores: 2, kernel: "k", system: "s"), kernel: "record/0",
            oneCore: true, metrics: [.init(name: "client_cpu", unit: .nanoseconds, raw: [1], normalised: [1])])
        func written() throws -> String { String(decoding: try BaselineFile.encode(baseline), as: UTF8.self) }
        #expect(
            try refusal(of: try written()).contains("made with reference kernel record/0, this version has record/1"))
        baseline.kernel = "record/1"
        baseline.scenario = ["pushes": .integer(1000)]
        _ = try written().write(toFile: path, atomically: true, encoding: .utf8)
        for flag in ["--markdown", "--junit"] {
            let nowhere = "/proc/x/gate"
            #expect(
                try refusal([flag, nowhere]).hasPrefix("pushload: cannot write \(nowhere): "), "\(flag) \(nowhere)")
            #expect(try refusal([flag, folder.path]) == "pushload: cannot write \(folder.path): it is a folder\n")
        }
        let both = try refusal(["--markdown", folder.path + "/gate", "--junit", folder.path + "/gate"])
        #expect(both == "pushload: --markdown and --junit name the same file, \(folder.path)/gate\n")
        let summary = try Programs.start(
            "pushload", ["gate", "--baseline", path, "--github"], environment: ["GITHUB_STEP_SUMMARY": "/proc/x/s"]
        ).wait()
        #expect(
            summary.status == 64
                && summary.error == "pushload: cannot append to /proc/x/s, which GITHUB_STEP_SUMMARY names\n",
            "\(summary)")
        baseline.scenario = ["warp": .bool(true)]
        #expect(try refusal(of: try written()).contains("does not know the setting \"warp\""))
        #expect(try refusal(["--metrics", "speed"]).hasPrefix("pushload: --metrics: \"speed\""))
        #expect(try refusal(["--metrics", "mock_cpu"]).contains("the baseline has no mock_cpu, only client_cpu"))
        #expect(try refusal(["--tolerance", "0"]).contains("--tolerance 0: expected above 0 to 100%"))
        #expect(try refusal(["--reason", "x"]) == "pushload: --reason goes with --update\n")
        for (path, update, problem) in [
            ("/proc/x/b.json", true, "cannot make the folder /proc/x: nothing can be made in /proc"),
            (
                folder.path, false,
                "--baseline \(folder.path): is a folder; expected a file, such as \(folder.path)/alert.json"
            ),
            (
                folder.path, true,
                "--baseline \(folder.path): is a folder; expected a file, such as \(folder.path)/alert.json"
            ),
        ] {
            let finished = try Programs.run(
                "pushload", ["gate", "--baseline", path] + (update ? ["--update", "--reason", "x"] : []))
            #expect(finished.status == 64 && finished.error == "pushload: \(problem)\n", "\(finished)")
        }
    }
}

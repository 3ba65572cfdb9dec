import Foundation
import Results
import Testing

@testable import Gate

@Suite(.serialized, .waitsForPrograms) struct GateTests {
    /// A gate's 60 seconds are too short beside other work.
    private static let patience = ["--budget", "1h"]

    /// A small baseline: its rounds say little, and a push that takes 200 us more is seen all the same.
    private func makeBaseline(_ folder: OutputFolder, _ flags: [String] = []) throws -> String {
        let path = folder.path + "/small.json"
        let made = try Programs.run(
            "pushload",
            ["gate", "--update", "--baseline", path, "--reason", "a test", "-n", "1000", "--max-rounds", "16"]
                + flags)
        #expect(made.status == 0 && made.output.contains("new baseline: \(path) (16 rounds)"), "\(made)")
        return path
    }

    @Test("A baseline is made and renewed with what moved; a gate against it answers; a slowdown is a regression")
    func whole() throws {
        let folder = OutputFolder()
        let path = try makeBaseline(folder, ["-m", "50", "--sign-policy", "every:100"])
        let first = try BaselineFile.read(path)
        #expect(first.name == "small" && first.reason == "a test" && first.scenario["streams"] == .integer(50))
        #expect(first.metrics.first?.raw.count == 16 && first.metrics.first?.normalised?.count == 16)
        // Tolerates what a busy machine does to a debug build.
        let same = try Programs.run(
            "pushload",
            ["gate", "--baseline", path, "--tolerance", "100%", "--max-rounds", "16", "--json"]
                + Self.patience)
        let gate = try same.read(GateDocument.self)
        #expect([0, 98].contains(same.status) && gate.verdict != .regression && gate.base == "small", "\(same)")
        #expect(gate.metrics.map(\.name).starts(with: ["client_cpu", "mock_cpu"]) && gate.rounds.count >= 8)
        let junit = folder.path + "/junit.xml"
        let markdown = folder.path + "/gate.md"
        let slow = try Programs.run(
            "pushload",
            [
                "gate", "--baseline", path, "--inject-cpu-ns", "200000", "--metrics", "client_cpu", "--junit", junit,
                "--markdown", markdown, "--github", "--quiet",
            ] + Self.patience)
        #expect(slow.status == 99 && slow.output.contains(#/REGRESSION: client CPU a push \S+ times /#), "\(slow)")
        #expect(slow.output.contains("::error title=pushload gate::client CPU a push: regression"))
        #expect(try String(contentsOfFile: junit, encoding: .utf8).contains("failures=\"1\""))
        #expect(try String(contentsOfFile: markdown, encoding: .utf8).contains("| ❌ client CPU a push |"))
        let renewed = try Programs.run(
            "pushload",
            ["gate", "--update", "--baseline", path, "--reason", "again", "--max-rounds", "8", "-m", "60", "-q"])
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
                ["gate", "--update", "--baseline", path, "--reason", "a test", "-n", "1000"])
            try running.waitForError("8 of 64 rounds")
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

    @Test(
        "Pairs: a build against itself is no regression, a slowdown of this one is; both sides' rounds are in the document"
    )
    func pairs() throws {
        let own = Programs.path("pushload")
        let folder = try OutputFolder.made()
        let shared = ["gate", "--base-binary", own, "-n", "1000", "-m", "50"] + Self.patience
        // Tolerates what a busy machine does to a debug build.
        let same = try Programs.run("pushload", shared + ["--tolerance", "100%", "--max-rounds", "16", "--json"])
        let gate = try same.read(GateDocument.self)
        #expect([0, 98].contains(same.status) && gate.verdict != .regression && gate.comparison == .pairs, "\(same)")
        #expect(gate.base == own && gate.reason == nil && gate.scenario["streams"] == .integer(50))
        #expect(gate.metrics.map(\.name).starts(with: ["client_cpu", "mock_cpu"]) && gate.rounds.count >= 8)
        #expect(gate.rounds.allSatisfy { ($0.base?["client_cpu"] ?? 0) > 0 && $0.isBaseFirst != nil })
        let (junit, markdown) = (folder.path + "/junit.xml", folder.path + "/gate.md")
        let slow = try Programs.run(
            "pushload",
            shared + [
                "--inject-cpu-ns", "200000", "--metrics", "client_cpu", "--junit", junit, "--markdown", markdown,
                "--github", "--quiet",
            ])
        #expect(slow.status == 99 && slow.output.contains(#/REGRESSION: client CPU a push \S+ times /#), "\(slow)")
        #expect(slow.output.contains("(base \(own); 16 pairs in "), "\(slow)")
        #expect(slow.output.contains("::error title=pushload gate::client CPU a push: regression"))
        #expect(try String(contentsOfFile: junit, encoding: .utf8).contains("failures=\"1\""))
        #expect(try String(contentsOfFile: markdown, encoding: .utf8).contains("| ❌ client CPU a push |"))
    }

    /// A program that says it is a pushload, and answers a round of a gate like this.
    private func pretender(_ folder: OutputFolder, _ answer: String) throws -> String {
        let path = folder.path + "/pretender"
        let text = "#!/bin/sh\n[ \"$1\" = --version ] && { echo 0.0.1; exit; }\ncat > \(folder.path)/order\n\(answer)\n"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    @Test(
        "A base that is no pushload, or one that makes no rounds, gets one line; of an older one what it knows is judged"
    )
    func bases() throws {
        let folder = try OutputFolder.made()
        func gate(_ base: String, _ flags: [String] = []) throws -> Finished {
            try Programs.run(
                "pushload", ["gate", "--base-binary", base, "-n", "200", "--quiet"] + Self.patience + flags)
        }
        func refusal(_ base: String, _ flags: [String] = []) throws -> String {
            let finished = try gate(base, flags)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error
        }
        let expected = "no such program; expected a pushload executable\n"
        #expect(try refusal("/nowhere/pushload") == "pushload: --base-binary /nowhere/pushload: \(expected)")
        #expect(try refusal("/etc/passwd").hasSuffix("/etc/passwd: not executable; expected a pushload executable\n"))
        for pin in [["--pin", "0"], ["--mock-flags", "--pin=0"]] {
            #expect(
                try refusal(Programs.path("pushload"), pin)
                    == "pushload: pin: a gate keeps client and mock to one core; leave it out, or give --all-cores\n")
        }
        #expect(
            try refusal(folder.path)
                == "pushload: --base-binary \(folder.path): a folder; expected a pushload executable\n")
        #expect(try refusal("/bin/true").hasPrefix("pushload: --base-binary /bin/true: not a pushload: "))
        let path = try pretender(folder, "echo 'pushload: no command \"gate-round\"' >&2; exit 64")
        let mock = folder.path + "/mock-apns"
        #expect(
            try refusal(path)
                == "pushload: --base-binary \(path): its mock is missing: expected an executable at \(mock)\n")
        try FileManager.default.createSymbolicLink(atPath: mock, withDestinationPath: Programs.path("mock-apns"))
        let none = "pushload: --base-binary \(path): version 0.0.1 makes no round of a gate: "
        #expect(try refusal(path) == none + "no command \"gate-round\"\n")
        _ = try pretender(folder, "echo hello")
        #expect(try refusal(path) == none + "hello\n")
        _ = try pretender(folder, "kill -9 $$")
        #expect(try refusal(path) == none + "signal 9\n")
        _ = try pretender(folder, #"echo '{"schema":"pushload.gate-round/7","values":{}}'"#)
        #expect(
            try refusal(path)
                == "pushload: --base-binary \(path): version 0.0.1 answers a gate with pushload.gate-round/7, "
                + "this version reads pushload.gate-round/1\n")
        _ = try pretender(folder, #"echo '{"values":{"speed":1}}'"#)
        #expect(try refusal(path) == "pushload: a round of both builds has none of client_cpu,mock_cpu,allocations\n")
        // Only what was asked for is in its order; it knows one cost, which is far below ours.
        _ = try pretender(folder, #"echo '{"values":{"client_cpu":0.001}}'"#)
        let older = try gate(path, ["-m", "50"])
        #expect(older.status == 99 && older.output.contains(#/REGRESSION: client CPU a push \S+ times /#), "\(older)")
        let order = try String(contentsOfFile: folder.path + "/order", encoding: .utf8)
        #expect(order.contains("\"streams\":50") && order.contains("\"pushes\":200") && !order.contains("engine"))
        // What cannot be written keeps nothing from being shown, nor another file from being written.
        let (full, report) = ("/dev/full", folder.path + "/gate.xml")
        let lost = try gate(path, ["-m", "50", "--markdown", full, "--junit", report])
        #expect(
            lost.status == 74 && lost.error.contains(full)
                && lost.output.contains(#/REGRESSION: client CPU a push \S+ times /#),
            "\(lost)")
        #expect(FileManager.default.fileExists(atPath: report))
        // What is this build's default is told, too, where somebody named it.
        _ = try gate(path, ["-m", "1000", "--set", "send_batch=64KiB"])
        let named = try String(contentsOfFile: folder.path + "/order", encoding: .utf8)
        #expect(named.contains("\"streams\":1000") && named.contains("\"send_batch\":65536"), "\(named)")
        let file = folder.path + "/usual.yaml"
        try "streams: 1000\n".write(toFile: file, atomically: true, encoding: .utf8)
        _ = try gate(path, [file])
        let written = try String(contentsOfFile: folder.path + "/order", encoding: .utf8)
        #expect(written.contains("\"streams\":1000") && !written.contains("send_batch"), "\(written)")
        for (flags, problem) in [
            (["--baseline", "b.json"], "--baseline and --base-binary: expected one of them"),
            (["--update"], "--update makes a baseline: it goes with --baseline, not --base-binary"),
            (["--reason", "x"], "--reason goes with --update"),
            (["--metrics", "speed"], "--metrics: \"speed\""),
            (["--threshold", "p99 < 1s"], "--threshold: a gate judges costs, not thresholds: pushload run does"),
            (["--set", "threshold=p99 < 1s"], "--threshold: a gate judges costs, not thresholds: pushload run does"),
            (["--abort-on-fail"], "--abort-on-fail: a gate judges costs, not thresholds: pushload run does"),
        ] {
            let said = try refusal(path, flags)
            #expect(said.hasPrefix("pushload: \(problem)") && said.split(separator: "\n").count == 1, "\(said)")
        }
        let neither = try Programs.run("pushload", ["gate", "-n", "5"])
        #expect(
            neither.status == 64
                && neither.error == "pushload: expected --base-binary FILE, or --baseline FILE\n", "\(neither)")
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
        #expect(
            try refusal([]).hasPrefix("pushload: cannot read \(path): No such file or directory; make a baseline with"))
        #expect(try refusal(["--update"]).hasPrefix("pushload: --update needs --reason"))
        #expect(try refusal(["--update", "--reason", " "]).hasPrefix("pushload: --update needs --reason"))
        #expect(
            try refusal(["-n", "5"])
                == "pushload: --pushes: the baseline says what is run; flags of run go with --update or --base-binary\n"
        )
        #expect(try refusal(["--max-rounds", "3"]) == "pushload: --max-rounds 3: expected 8 to 128\n")
        #expect(try refusal(of: "{").hasSuffix("not complete JSON; the file is truncated or damaged\n"))
        #expect(
            try refusal(of: #"{"schema":"pushload.baseline/0"}"#).contains("schema pushload.baseline/0; this version"))
        #expect(try refusal(of: #"{"schema":"pushload.result/2"}"#).contains("not a baseline of pushload gate"))
        #expect(try refusal(["--update", "--reason", "x"]).contains("remove it to make it anew"))
        var baseline = BaselineDocument(
            name: "b", reason: "r", updatedAt: "2026-01-01T00:00:00Z", version: "0", commit: nil, scenario: [:],
            machine: .init(host: "h", cpu: "c", cores: 2, kernel: "k", system: "s"), kernel: "record/0",
            oneCore: true, metrics: [.init(name: "client_cpu", unit: .nanoseconds, raw: [650], normalised: [0.04])])
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
        // As with run: what the mock does not know was asked for.
        let flags = try Programs.run(
            "pushload",
            [
                "gate", "--update", "--reason", "x", "--quiet", "--baseline", folder.path + "/new.json", "-n", "10k",
                "--mock-flags", "--nonsense",
            ])
        #expect(flags.status == 64 && flags.error.contains("see --mock-flags\n"), "\(flags)")
        #expect(
            flags.error.contains("--nonsense") && !FileManager.default.fileExists(atPath: folder.path + "/new.json"))
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

import Foundation
import Results
import Testing

@testable import Comparison

@Suite(.serialized, .waitsForPrograms) struct CompareTests {
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
        #expect(table.output.contains("warning: A keeps 100 pushes open and B 50, "), "\(table)")
        let runs = try FileManager.default.contentsOfDirectory(atPath: a.path).sorted()
        let json = try Programs.run(
            "pushload", ["compare", "--json", "\(a.path)/\(runs[0])", "\(a.path)/\(runs[1])/result.json"])
        let comparison = try json.read(ComparisonDocument.self)
        #expect(json.status == 0 && comparison.a.runs.count == 1 && comparison.b.runs.count == 1)
        #expect(comparison.metrics.contains { $0.name == "total p99.9" && $0.verdict == .oneRun })
        #expect(comparison.distributions.map(\.name) == ["total", "round_trip"])
    }

    @Test("What cannot be compared ends with 64 and one line")
    func refused() throws {
        let folder = try OutputFolder.made()
        let file = folder.path + "/result.json"
        func refusal(_ contents: String?) throws -> String {
            if let contents { try contents.write(toFile: file, atomically: true, encoding: .utf8) }
            let finished = try Programs.run("pushload", ["compare", folder.path, folder.path])
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error
        }
        #expect(
            try refusal(nil)
                == "pushload: \(folder.path): no result found; expected a result.json there, or in a folder below\n")
        #expect(
            try refusal(#"{"schema": "pushload.result/1"}"#)
                == "pushload: \(file): schema pushload.result/1; this version reads pushload.result/3\n")
        #expect(
            try refusal(#"{"schema": "#) == "pushload: \(file): not complete JSON; the file is truncated or damaged\n")
        let missing = try Programs.run("pushload", ["compare", folder.path + "/none", folder.path])
        #expect(missing.status == 64 && missing.error.contains("no such file or folder"), "\(missing)")
    }

    /// What `ab` says before each run's figures.
    private func said(_ rounds: Int, seed: UInt64) -> [String] {
        ["warm-up, A", "warm-up, B"]
            + ABRounds.order(of: rounds, seed: seed).enumerated().flatMap { round, isBFirst in
                (isBFirst ? ["B", "A"] : ["A", "B"]).map { "round \(round + 1) of \(rounds), \($0)" }
            }
    }

    @Test("The order of ab's rounds is drawn: either side is first about as often, the same seed draws the same")
    func order() {
        let order = ABRounds.order(of: 1000, seed: 7)
        // Binomial(1000, 0.5), and as many changes of side: five deviations.
        #expect((421...579).contains(order.count { $0 }))
        #expect((421...579).contains(zip(order, order.dropFirst()).count { $0 != $1 }))
        #expect(order == ABRounds.order(of: 1000, seed: 7) && order != ABRounds.order(of: 1000, seed: 8))
    }

    @Test(
        "ab makes rounds in an order that is drawn, throws the first away, keeps results where asked, and compares by rounds"
    )
    func rounds() throws {
        let output = OutputFolder()
        let finished = try Programs.run(
            "pushload",
            [
                "ab", "-n", "300", "-m", "20", "--a", "--sign-policy 'every:7'", "--b",
                "-m 10 --set sign_policy=every:9",
                "--rounds", "4", "--seed", "3", "--same-within", "50%", "--json", "--output", output.path,
            ])
        #expect(finished.status == 0, "\(finished)")
        let order = finished.error.split(separator: "\n").map { $0.prefix { $0 != ":" } }
        #expect(order.map(String.init) == said(4, seed: 3) + ["runs"])
        let comparison = try finished.read(ComparisonDocument.self)
        #expect(comparison.a.runs.count == 4 && comparison.b.runs.count == 4)
        #expect(comparison.analysis == .rounds && comparison.margin == 0.5)
        #expect(comparison.metrics.allSatisfy { $0.coverage == nil || $0.coverage == 0.875 })
        #expect(comparison.distributions.allSatisfy { $0.differs == nil && $0.p == nil })
        #expect(
            comparison.warnings[0].hasPrefix("A keeps 20 pushes open and B 10, in a closed loop: ")
                && comparison.warnings[1] == "A and B differ in sign_policy: every:7 and every:9",
            "\(comparison.warnings)")
        #expect(!comparison.metrics.contains { $0.name == "client peak memory" })
        let kept = try Programs.run("pushload", ["compare", "--json", "\(output.path)/a", "\(output.path)/b"])
        let again = try kept.read(ComparisonDocument.self)
        #expect(again.distributions == comparison.distributions && again.a.runs == comparison.a.runs)
        #expect(again.analysis == .groups && again.margin == 0.02)
    }

    @Test("ab --self prints the noise floor; flags that cannot be are refused with one line")
    func noise() throws {
        let finished = try Programs.run("pushload", ["ab", "--self", "-n", "300", "--rounds", "2"])
        #expect(finished.status == 0 && finished.output.contains("noise floor"), "\(finished)")
        let note = "note: A and B have the same settings: what they differ in is chance\n"
        #expect(!finished.error.contains(note))
        let alike = try Programs.run(
            "pushload", ["ab", "-n", "300", "-m", "50", "--b", "-m 50", "--rounds", "1"])
        #expect(alike.error.hasPrefix(note), "\(alike)")
        func refusal(_ arguments: [String]) throws -> String {
            let finished = try Programs.run("pushload", ["ab", "-n", "300"] + arguments)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error
        }
        #expect(
            try refusal([]) == "pushload: ab: expected either --b with flags, --a-binary or --b-binary, or --self\n")
        #expect(
            try refusal(["--self", "--b", "-m 5"])
                == "pushload: ab: expected either --b with flags, --a-binary or --b-binary, or --self\n")
        #expect(try refusal(["--b", "--bogus 3"]) == "pushload: --b \"--bogus 3\": Unknown option '--bogus'\n")
        #expect(try refusal(["--b", "--help"]) == "pushload: --b \"--help\": expected flags of run\n")
        #expect(
            try refusal(["--b", "steady"])
                == "pushload: --b: expected flags; a scenario is named outside --a and --b\n")
        #expect(
            try refusal(["--self", "--same-within", "0%"])
                == "pushload: --same-within 0%: expected more than 0% and at most 50%\n")
        #expect(
            try refusal(["--self", "--same-within", "much"])
                == "pushload: --same-within much: expected more than 0% and at most 50%\n")
        let thresholds = "ab judges differences, not thresholds: pushload run does\n"
        #expect(try refusal(["--self", "--threshold", "p99 < 1s"]) == "pushload: --threshold: \(thresholds)")
        #expect(try refusal(["--self", "--set", "threshold=p99 < 1s"]) == "pushload: --threshold: \(thresholds)")
        #expect(try refusal(["--b", "--abort-on-fail"]) == "pushload: --abort-on-fail: \(thresholds)")
        let binary = Programs.path("pushload")
        #expect(
            try refusal(["--a-binary", binary, "--a", "--threshold 'p99 < 1s'"])
                == "pushload: --a: --threshold: \(thresholds)")
        for setting in ["--set abort_on_fail=true", "--set=abort_on_fail=true"] {
            let line = try refusal(["--a-binary", binary, "--a", setting])
            #expect(line.hasPrefix("pushload: --a: ") && line.hasSuffix("abort_on_fail: \(thresholds)"), "\(line)")
        }
        #expect(
            try refusal(["--a-binary", binary, "--a", "--until 'p99 +- 2 %'"])
                == "pushload: --a: --until: runs of ab are all as long: pushload run does\n")
        #expect(try refusal(["--b", "-m '5"]) == "pushload: --b: -m '5: a quote is not closed\n")
    }

    @Test("ab with a binary runs each side as a process: its memory is compared, and other mocks are named")
    func binaries() throws {
        // Another place is another binary; the mock beside it is another file.
        let place = try OutputFolder.made()
        let other = place.path + "/pushload"
        try FileManager.default.copyItem(atPath: Programs.path("pushload"), toPath: other)
        let mock = try place.script("mock-apns", "exec \(Programs.path("mock-apns")) \"$@\"")
        let output = OutputFolder()
        let finished = try Programs.run(
            "pushload",
            [
                "ab", "-n", "300", "-m", "20", "--no-apns-id", "--b-binary", other, "--b", "-m 10 --name second",
                "--rounds", "1", "--seed", "1", "--json", "--output", output.path,
            ])
        #expect(finished.status == 0, "\(finished)")
        let order = finished.error.split(separator: "\n").map { $0.prefix { $0 != ":" } }
        #expect(order.map(String.init) == ["A", "B"] + said(1, seed: 1) + ["runs"])
        #expect(finished.error.contains("B: \(other) (pushload 0.1.0), bundled mock \(mock)\n"))
        let comparison = try finished.read(ComparisonDocument.self)
        #expect(comparison.metrics.contains { $0.name == "client peak memory" })
        #expect(comparison.b.name == other + " -m 10 --name second")
        #expect(
            comparison.warnings.contains { $0.hasPrefix("A keeps 20 pushes open and B 10, ") }, "\(comparison.warnings)"
        )
        #expect(
            comparison.warnings.contains {
                $0.hasPrefix("A and B use different mocks: ") && $0.hasSuffix(" and \(mock)")
            }, "\(comparison.warnings)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: output.path + "/b")[0].hasSuffix("round-01"))
    }

    @Test("A binary that is missing, no pushload, of another schema, or fails ends ab with one line")
    func wrongBinaries() throws {
        let place = try OutputFolder.made()
        func refusal(_ script: String?, _ name: String) throws -> String {
            let path = try script.map { try place.script(name, $0) } ?? place.path + "/" + name
            let finished = try Programs.run("pushload", ["ab", "-n", "100", "--a-binary", path, "--rounds", "1"])
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            let lines = finished.error.split(separator: "\n").filter { $0.hasPrefix("pushload: ") }
            #expect(lines.count == 1, "\(finished)")
            return lines.map(String.init).joined().replacing(path, with: "X")
        }
        #expect(
            try refusal(nil, "none") == "pushload: --a-binary X: no such program; expected a pushload executable")
        #expect(
            try refusal("echo cat 9.1", "cat") == "pushload: --a-binary X: not a pushload: --version says \"cat 9.1\"")
        let isVersion = "[ $1 = --version ] && echo 0.0.9 && exit"
        #expect(
            try refusal(isVersion + "; echo broken >&2; exit 3", "broken")
                == "pushload: A: X: wrote no result (exit status 3): broken")
        let old =
            isVersion
            + #"; while [ $# -gt 1 ]; do shift; done; mkdir -p $1/r; echo '{"schema": "pushload.result/1"}' > $1/r/result.json"#
        #expect(
            try refusal(old, "old")
                == "pushload: A: result of X: schema pushload.result/1; this version reads pushload.result/3")
    }

    @Test(
        "A comparison of closed loops with other numbers of streams says what follows from these, and that short runs are short"
    )
    func closedLoops() throws {
        let finished = try Programs.run(
            "pushload", ["ab", "-n", "500", "--a", "-m 10", "--b", "-m 250", "--rounds", "2"])
        #expect(finished.status == 0, "\(finished.error)")
        let warnings = finished.output.split(separator: "\n").filter { $0.hasPrefix("warning: ") }
        #expect(
            warnings.count {
                $0.contains("A keeps 10 pushes open and B 250, in a closed loop")
                    && $0.contains("the same with --rate ")
            } == 1, "\(warnings)")
        #expect(!warnings.contains { $0.contains("differ in streams") }, "\(warnings)")
        for side in ["A", "B"] {
            #expect(
                warnings.contains { $0.hasPrefix("warning: \(side): the measured time was too short for intervals (") },
                "\(warnings)")
        }
    }
}

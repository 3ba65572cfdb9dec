import Foundation
import Results
import Testing

@Suite(.serialized, .waitsForPrograms) struct ScenarioCommandTests {
    private func file(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("scenario-\(UUID()).yaml").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("A scenario file is run; flags and --set are stronger than it")
    func run() throws {
        let path = try file("name: small\npushes: 500\nstreams: 20\nthreshold: [accepted == 100%]\n")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (plain, status, error) = try Programs.load([path])
        #expect(status == 0 && plain.pushes.accepted == 500 && plain.run.name == "small", "\(error)")
        let (changed, _, _) = try Programs.load([path, "--set", "pushes=700", "--set", "streams=30", "-m", "40"])
        #expect(changed.pushes.accepted == 700 && changed.scenario["streams"] == .integer(40))
    }

    @Test("check finds every mistake, also in what a file names; a good file passes")
    func check() throws {
        let bad = try file("rate: fast\nconections: 3\n")
        defer { try? FileManager.default.removeItem(atPath: bad) }
        let finished = try Programs.run("pushload", ["scenario", "check", bad])
        #expect(finished.status == 64 && finished.error.split(separator: "\n").count == 2, "\(finished.error)")
        #expect(finished.error.contains("\(bad):2:1: unknown key \"conections\"; did you mean \"connections\"?"))
        let missing = try file("pushes: 5\ntemplate: nowhere.json\n")
        defer { try? FileManager.default.removeItem(atPath: missing) }
        let unread = try Programs.run("pushload", ["scenario", "check", missing])
        #expect(unread.status == 64 && unread.error.contains("cannot read the template"), "\(unread.error)")
        let good = try file("rate: 1k\nduration: 2s\n")
        defer { try? FileManager.default.removeItem(atPath: good) }
        let passed = try Programs.run("pushload", ["scenario", "check", good])
        #expect(
            passed.status == 0 && passed.output == "\(good): can be run (open loop, 2,000 pushes)\n", "\(passed.error)")
        let unknown = try Programs.run("pushload", ["scenario", "check", "nowhere"])
        #expect(unknown.status == 64 && unknown.error.contains("no scenario file nowhere, and no bundled scenario"))
    }

    @Test("A mistake that comes of two settings names the lines of both, unless a flag has changed one of them")
    func together() throws {
        let base = try file("connections: 2\nduration: 5s\n")
        let path = try file("include: \(base)\nname: x\nthreads: 4\nwarmup: 10s\npacing: spin\n")
        defer { for made in [base, path] { try? FileManager.default.removeItem(atPath: made) } }
        for arguments in [["scenario", "check", path], ["run", path], ["ab", path, "--a", "-m 5", "--b", "-m 9"]] {
            let finished = try Programs.run("pushload", arguments)
            let lines = finished.error.split(separator: "\n").map { $0.replacing("pushload: ", with: "") }
            #expect(
                finished.status == 64
                    && lines.sorted()
                        == [
                            "\(base):1:1 and \(path):3:1: connections 2: each of the 4 threads needs at least one",
                            "\(base):2:1 and \(path):4:1: warmup 10.0 s: the run is 5.00 s long, nothing would be measured",
                            "\(path):5:1: pacing spin: goes with a rate or stages; a closed loop sends when it can",
                        ].sorted(),
                "\(finished)")
        }
        let side = try Programs.run("pushload", ["ab", path, "--a", "-t 2 --warmup 9s", "--b", "-t 2"])
        #expect(side.error.contains("\(base):2:1: warmup 9.00 s") && !side.error.contains("connections"), "\(side)")
        let search = try Programs.run("pushload", ["search", path, "--goal", "p99 < 1s"])
        #expect(search.error.contains("\(base):1:1 and \(path):3:1: connections 2: each of"), "\(search)")
        let changed = try Programs.run("pushload", ["run", path, "-t", "1", "--warmup", "9s"])
        #expect(
            changed.status == 64
                && changed.error.contains("\(base):2:1: warmup 9.00 s: the run is 5.00 s long")
                && changed.error.contains("\(path):5:1: pacing") && !changed.error.contains("connections"), "\(changed)"
        )
    }

    @Test("A mistake of a variable of the environment names it, unless a flag has changed it")
    func ofEnvironment() throws {
        let path = try file("pushes: 10\nthreads: 4\n")
        defer { try? FileManager.default.removeItem(atPath: path) }
        func error(_ arguments: [String], _ environment: [String: String]) throws -> String {
            let finished = try Programs.start("pushload", arguments, environment: environment).wait()
            #expect(finished.status == 64, "\(finished)")
            return finished.error
        }
        #expect(
            try error(["run", "-n", "10"], ["PUSHLOAD_CONNECTIONS": "0"])
                == "pushload: PUSHLOAD_CONNECTIONS: connections 0: expected 1 to 100000\n")
        #expect(
            try error(["run", path], ["PUSHLOAD_CONNECTIONS": "2"])
                == "pushload: \(path):2:1 and PUSHLOAD_CONNECTIONS: connections 2: each of the 4 threads needs at least one\n"
        )
        #expect(
            try error(["run", path, "-c", "3"], ["PUSHLOAD_CONNECTIONS": "2"])
                == "pushload: \(path):2:1: connections 3: each of the 4 threads needs at least one\n")
    }

    @Test(
        "A device model that cannot be read is told at its place before anything is started, and a flag does without it"
    )
    func deviceModel() throws {
        let path = try file(
            "pushes: 10\ndevice_model: nowhere.yaml\nprofile: alert\nbackend_flags: --latency 1ms\n"
                + "threshold: time_to_content p99 < 1s\n")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let model = URL(fileURLWithPath: path).deletingLastPathComponent().path + "/nowhere.yaml"
        for arguments in [["scenario", "check", path], ["run", path]] {
            let finished = try Programs.run("pushload", arguments)
            let lines = finished.error.split(separator: "\n").map { $0.replacing("pushload: ", with: "") }
            #expect(finished.status == 64 && lines.count == 2, "\(finished)")
            #expect(
                lines.first
                    == "\(path):2:15: device_model: cannot read the device model \(model): No such file or directory")
            #expect(
                lines.last?.contains(":5:1: threshold \"time_to_content p99 < 1s\": no push of this run has content")
                    == true,
                "\(finished)")
        }
        let without = try Programs.run(
            "pushload",
            ["run", path, "--device-model", "off", "--threshold", "failed == 0", "-o", path + ".runs", "--json"])
        defer { try? FileManager.default.removeItem(atPath: path + ".runs") }
        #expect(without.status == 0, "\(without)")
    }

    @Test("More connections than a process may have files are refused, with the limit that would do")
    func descriptors() throws {
        for (limit, connections, needed) in [(256, 400, 428), (20, 1, 29)] {
            let finished = try Programs.run(
                "/bin/sh",
                ["-c", "ulimit -n \(limit); exec \"$0\" run -n 10 -c \(connections)", Programs.path("pushload")])
            #expect(
                finished.status == 64
                    && finished.error
                        == "pushload: connections \(connections): they need \(needed) file descriptors, and \(limit) are "
                        + "allowed: raise the limit (ulimit -n \(needed)), or give fewer\n",
                "\(finished)")
        }
    }

    @Test(
        "What is mistyped is refused with what would be right",
        arguments: [
            (["-n1000"], "-n1000: write -n 1000"),
            (["-n", "10", "-m50"], "-m50: write -m 50"),
            (
                ["-n", "10", "--target", "https://127.0.0.1:99999"],
                "target \"https://127.0.0.1:99999\": port 99999: expected 1 to 65535"
            ),
            (
                ["-n", "10", "--warmup", "10k"],
                "--warmup: \"10k\" is not a duration; expected for example 500ms, 10s, 1m30s or 2h, or 10k pushes"
            ),
            (["-n", "10", "--credentials", ""], "--credentials: expected a path, not an empty text"),
            (["-n", "10", "--set", "cacert="], "--set cacert: expected a path, not an empty text"),
            (["/tmp"], "cannot read the scenario /tmp: Is a directory"),
            (["smoek"], "no scenario file smoek, and no bundled scenario of that name; did you mean \"smoke\"?"),
            (
                ["-n", "10", "--template", "/nowhere/a.json"],
                "cannot read the template /nowhere/a.json: No such file or directory"
            ),
            (["-n", "10", "--template", "/tmp"], "cannot read the template /tmp: Is a directory"),
            (["--trace", "/nowhere/a.csv"], "cannot read the trace /nowhere/a.csv: No such file or directory"),
            (["--trace", "/tmp"], "cannot read the trace /tmp: Is a directory"),
            (
                ["--stages", "pause 1s"],
                "stages: none of them sends a push; expected a rate or a burst in at least one"
            ),
            (["-n", "-5"], "-n -5: cannot be negative"),
            (["--replay", "a.pushes", "--speed", "-1"], "--speed -1: cannot be negative"),
            (["-n", "5", "--rtt", "-1ms"], "--rtt -1ms: cannot be negative"),
            (
                ["-n", "5", "--push-type", "foo"],
                "push type \"foo\": known types: alert, background, location, voip, complication, fileprovider, mdm, "
                    + "liveactivity, pushtotalk, widgets, controls"
            ),
            (
                ["-n", "5", "--cert", "/etc/hostname", "--cert-key", "/etc/hostname"],
                "/etc/hostname: not a PEM certificate; expected -----BEGIN CERTIFICATE-----"
            ),
            (
                ["-n", "5", "--cacert", "/etc/hostname"],
                "/etc/hostname: no PEM certificate found; expected -----BEGIN CERTIFICATE-----"
            ),
            (["-n", "5", "-o", "/proc/x"], "cannot make the folder /proc/x: nothing can be made in /proc"),
        ])
    func mistyped(_ arguments: [String], _ line: String) throws {
        let output = OutputFolder()
        let finished = try Programs.run("pushload", ["run", "-o", output.path] + arguments)
        #expect(
            finished.status == 64 && finished.output.isEmpty && finished.error == "pushload: \(line)\n", "\(finished)")
        #expect(!FileManager.default.fileExists(atPath: output.path))
    }

    @Test("Of rate, stages and trace the nearer setting wins over that of a file and of the environment")
    func nearer() throws {
        let output = OutputFolder()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("rate-\(UUID()).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try "name: steady\nrate: 20k\nduration: 30s\n".write(to: file, atomically: true, encoding: .utf8)
        let (staged, status, error) = try Programs.load([file.path, "--stages", "hold 100 3s"])
        #expect(status == 0 && staged.pushes.planned == 300, "\(error)")
        let running = try Programs.start(
            "pushload", ["run", "--stages", "hold 100 1s", "-o", output.path], environment: ["PUSHLOAD_RATE": "5k"])
        let finished = try running.wait()
        #expect(finished.status == 0 && finished.output.contains("100 pushes"), "\(finished)")
        let both = try Programs.run("pushload", ["run", "--rate", "1k", "--stages", "hold 100 1s"])
        #expect(
            both.status == 64
                && both.error == "pushload: --rate: stages and rate exclude each other: give one of them\n",
            "\(both)")
    }

    @Test("init writes a file that check takes, and never overwrites one")
    func initialise() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("new-\(UUID())/s.yaml").path
        let folder = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let written = try Programs.run("pushload", ["scenario", "init", path, "--from", "smoke"])
        #expect(written.status == 0 && written.output.contains("run it with"), "\(written.error)")
        #expect(try Programs.run("pushload", ["scenario", "check", path]).status == 0)
        // The schema that its first line names lies beside it.
        let schema = try String(contentsOfFile: folder + "/scenario.schema.json", encoding: .utf8)
        #expect(schema == (try Programs.run("pushload", ["scenario", "show", "--schema"]).output))
        let again = try Programs.run("pushload", ["scenario", "init", path])
        #expect(again.status == 64 && again.error.contains("is there already"))
        let nowhere = try Programs.run("pushload", ["scenario", "init", "/nonexistent/e.yaml"])
        #expect(
            nowhere.status == 74
                && nowhere.error == "pushload: cannot write /nonexistent/e.yaml: there is no folder /nonexistent\n")
    }

    @Test("Bundled scenarios are listed, printed and run")
    func bundled() throws {
        let list = try Programs.run("pushload", ["scenario", "list"]).output
        for name in ["smoke", "breaking-news", "steady", "soak", "far-away"] { #expect(list.contains(name)) }
        #expect(try Programs.run("pushload", ["scenario", "show", "smoke"]).output.contains("pushes: 10k"))
        let (result, status, error) = try Programs.load(["smoke", "--set", "pushes=1000"])
        #expect(status == 0 && result.pushes.accepted == 1000, "\(error)")
        // Its own threshold is for its 100,000 pushes: of 2,000 more than 11 % are rejected in one run of fifteen.
        let (tokens, expected, problem) = try Programs.load([
            "bad-tokens", "--rate", "2k", "-D", "1s", "--threshold", "accepted >= 80%", "--threshold", "failed == 0",
        ])
        #expect(expected == 0 && (100...400).contains(tokens.pushes.rejected), "\(tokens.pushes) \(problem)")
    }

    @Test("Every key of a scenario file is a flag, and every flag of the groups a key")
    func flags() throws {
        let help = try Programs.run("pushload", ["run", "--help-all"]).output
        let keys = try JSONSerialization.jsonObject(
            with: Data(try Programs.run("pushload", ["scenario", "show", "--schema"]).output.utf8))
        let properties = try #require((keys as? [String: Any])?["properties"] as? [String: Any])
        for key in properties.keys where key != "include" && key != "measure" {
            // Of several values each has one.
            let ofOne = ["allowed_targets": "allow-target", "properties": "property", "sends": "send"]
            let flag = "--" + (ofOne[key] ?? key.replacingOccurrences(of: "_", with: "-"))
            #expect(help.contains(flag), "\(key)")
        }
        let others: Set = [
            "set", "output", "report", "json", "live", "quiet", "version", "help", "help_all", "allow_target",
            "property", "send", "measure", "worker", "rendezvous", "start_timeout", "missing", "lost_after",
        ]
        for word in help.split(whereSeparator: { " ,\n/".contains($0) }) where word.hasPrefix("--") && word.count > 2 {
            let name = word.dropFirst(2).replacingOccurrences(of: "-", with: "_")
            if name.hasPrefix("no_"), properties[String(name.dropFirst(3))] != nil { continue }
            #expect(properties[name] != nil || others.contains(name), "\(word)")
        }
    }

    @Test("A schedule is printed as a table with a picture, or as CSV, without sending anything")
    func schedule() throws {
        let text = try Programs.run(
            "pushload", ["scenario", "schedule", "--stages", "ramp 0 1k 10s, hold 1k 10s, burst 500"]
        )
        .output
        #expect(text.hasPrefix("15,500 pushes in 20.0 s, constant arrivals\n"), "\(text)")
        for part in ["ramp", "hold", "500 at once", "█"] { #expect(text.contains(part)) }
        // What is due at once is no rate.
        let burst = try Programs.run("pushload", ["scenario", "schedule", "--stages", "burst 1M"]).output
        #expect(burst.contains("1,000,000 at once") && !burst.contains("000/s"), "\(burst)")
        let pauses = try Programs.run(
            "pushload", ["scenario", "schedule", "--stages", "hold 1k 1s, pause 1s, hold 2k 1s, pause 3s"]
        ).output
        #expect(pauses.contains("\n  pause     1.00 s ") && pauses.contains("\n  pause 2   3.00 s "), "\(pauses)")
        let cut = try Programs.run("pushload", ["scenario", "schedule", "--stages", "hold 1k 10s", "-n", "100"]).output
        #expect(cut.hasPrefix("100 pushes in 100 ms") && cut.contains(" 100 ms\n"), "\(cut)")
        let both = try Programs.start(
            "pushload", ["scenario", "schedule", "--stages", "hold 1k 5s, burst 1M, hold 1k 5s"],
            environment: ["COLUMNS": "80"]
        ).wait().output
        #expect(
            both.contains("1,000/s │") && both.contains("500/s │") && !both.contains("000,000/s")
                && both.contains("▲ due at once"), "\(both)")
        let csv = try Programs.run(
            "pushload", ["scenario", "schedule", "--rate", "100", "-D", "10s", "--csv", "--rows", "10"]
        ).output
        let rows = csv.split(separator: "\n")
        #expect(rows.count == 11 && rows[0] == "seconds,pushes_per_second" && rows[5] == "4.000,100.0", "\(csv)")
        let closed = try Programs.run("pushload", ["scenario", "schedule", "-n", "5"])
        #expect(closed.status == 64 && closed.error.contains("closed loop has no schedule"))
    }

    @Test("Results of generators that ran side by side are merged into one, others are refused")
    func merge() throws {
        let output = try OutputFolder.made()
        var files: [String] = []
        for number in 1...2 {
            let finished = try Programs.run(
                "pushload", ["run", "-n", "1000", "--quiet", "--output", output.path + "/\(number)"])
            #expect(finished.status == 0, "\(finished.error)")
            let folder = try FileManager.default.contentsOfDirectory(atPath: output.path + "/\(number)")[0]
            files.append("\(output.path)/\(number)/\(folder)/result.json")
        }
        // How they really ran depends on the machine: of the same second and length they are as if side by side.
        func rewrite(_ file: String, startedAt: String) throws {
            var result = try ResultFile.read(file)
            result.run.startedAt = startedAt
            result.run.durationSeconds = 2
            try ResultFile.write(result, to: file)
        }
        for file in files { try rewrite(file, startedAt: "2026-01-02T03:04:05Z") }
        let merged = try Programs.run("pushload", ["merge"] + files + ["-o", output.path + "/merged.json"])
        #expect(merged.status == 0 && merged.output.contains("2,000 pushes planned, 2,000 accepted"), "\(merged.error)")
        let result = try ResultFile.read(output.path + "/merged.json")
        #expect(result.pushes.accepted == 2000 && result.latency[.total].count == 2000)
        // The merged result is judged as a run is.
        for (failures, reasons, status) in [
            (true, [String](), 1), (true, ["failed < 2"], 0), (true, ["failed < 1"], 99),
        ] {
            for file in files {
                var part = try ResultFile.read(file)
                part.scenario["thresholds"] = .array(reasons.map { .string($0) })
                (part.pushes.accepted, part.pushes.failed) = (
                    file == files[0] && failures ? 999 : 1000, file == files[0] ? 1 : 0
                )
                try ResultFile.write(part, to: file)
            }
            let judged = try Programs.run("pushload", ["merge"] + files + ["-o", output.path + "/judged.json"])
            #expect(judged.status == status, "\(reasons): \(judged)")
        }
        let twice = try Programs.run("pushload", ["merge", files[0], files[0], "-o", output.path + "/m.json"])
        #expect(twice.status == 64 && twice.error.contains("the same run as"), "\(twice.error)")
        try rewrite(files[1], startedAt: "2026-01-02T03:04:10Z")
        let apart = try Programs.run("pushload", ["merge"] + files + ["-o", output.path + "/m.json"])
        #expect(apart.status == 64 && apart.error.contains("did not run side by side"), "\(apart.error)")
        #expect(files.allSatisfy(apart.error.contains) && apart.error.contains("(2026-01-02T03:04:10Z, 2.0 s)"))
        #expect(!FileManager.default.fileExists(atPath: output.path + "/m.json"))
    }
}

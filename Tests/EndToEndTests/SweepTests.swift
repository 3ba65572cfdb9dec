import Foundation
import Results
import Testing

@testable import Sweep

/// `pushload sweep`, as a user runs it.
@Suite(.waitsForPrograms) struct SweepTests {
    private func folders(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("point-") }.sorted()
    }

    @Test("A grid has every point with its runs, each an ordinary result; table, CSV, JSON and report say the same")
    func grid() throws {
        let output = OutputFolder()
        let report = output.path + "/sweep.html"
        let finished = try Programs.run(
            "pushload",
            [
                "sweep", "-n", "200", "--vary", "streams=5..20x2", "--vary", "engine=wire,nghttp2", "--repeat", "2",
                "--output", output.path, "--report", report, "--json",
            ])
        #expect(finished.status == 0, "\(finished)")
        let sweep = try finished.read(SweepDocument.self)
        #expect(sweep.points.count == 6 && sweep.runsMade == 12 && sweep.best != nil && !sweep.front.isEmpty)
        #expect(sweep.points.allSatisfy { $0.problem == nil && $0.runs.count == 2 && $0.rate?.values.count == 2 })
        #expect(finished.error.contains("run 12 of 12: ") && finished.error.contains("warm-up: "), "\(finished)")
        #expect(try folders(output.path).count == 12)
        for folder in try folders(output.path) {
            let result = try ResultFile.read("\(output.path)/\(folder)/result.json")
            let point = try #require(sweep.points.first { $0.runs.contains(result.run.id) })
            #expect(result.scenario["streams"]?.description == point.labels[0] && result.run.engine == point.labels[1])
        }
        let written = try Data(contentsOf: URL(fileURLWithPath: output.path + "/outcome.json"))
        #expect(try JSONDecoder().decode(SweepDocument.self, from: written) == sweep)
        let csv = try String(contentsOfFile: output.path + "/points.csv", encoding: .utf8)
        #expect(csv.split(separator: "\r\n").count == 7 && csv.hasPrefix("point,streams,engine,runs,"))
        let page = try String(contentsOfFile: report, encoding: .utf8)
        #expect(page.contains("Sweep sweep") && page.contains("class=\"cell best\""))
        // Folders of runs are what other commands take.
        let compared = try Programs.run(
            "pushload", ["compare", "\(output.path)/point-0000-run-01", "\(output.path)/point-0001-run-01"])
        #expect(compared.status == 0 && compared.output.contains("A and B differ in"), "\(compared)")
    }

    @Test("A sweep that ended early goes on where it was; damaged files are kept aside and their runs made again")
    func resuming() throws {
        let output = OutputFolder()
        let arguments = ["sweep", "-n", "100", "--vary", "streams=5,10", "--repeat", "2", "--output", output.path]
        let first = try Programs.run("pushload", arguments + ["--runs", "1"])
        #expect(
            first.status == 0 && first.error.contains("go on with: pushload sweep --resume \(output.path)"), "\(first)")
        #expect(first.output.contains("note: the sweep is not finished: 1 of 4 runs are made"), "\(first)")
        #expect(try folders(output.path).count == 1)
        let again = try Programs.run("pushload", arguments + ["--runs", "2"])
        #expect(again.error.contains("already there: 1 of 4 runs\n"), "\(again)")
        #expect(try folders(output.path).count == 3)
        let kept = try folders(output.path)[0]
        let id = try ResultFile.read("\(output.path)/\(kept)/result.json").run.id
        let damaged = try "\(output.path)/\(folders(output.path)[1])/result.json"
        try "{\"schema\": ".write(toFile: damaged, atomically: true, encoding: .utf8)
        try "mine".write(toFile: output.path + "/notes.txt", atomically: true, encoding: .utf8)
        let last = try Programs.run("pushload", ["sweep", "--resume", output.path, "--json"])
        #expect(last.status == 0, "\(last)")
        #expect(
            last.error.contains(
                "\(damaged): not complete JSON; the file is truncated or damaged; kept as result.json.damaged, the run is made again"
            ))
        #expect(last.error.contains("\(output.path)/notes.txt: nothing of this sweep, left alone"))
        let sweep = try last.read(SweepDocument.self)
        #expect(sweep.runsMade == 4 && sweep.points.allSatisfy { $0.runs.count == 2 && $0.runsMissing == 0 })
        #expect(sweep.points.flatMap(\.runs).contains(id))
        #expect(
            FileManager.default.fileExists(atPath: damaged + ".damaged")
                && FileManager.default.fileExists(atPath: output.path + "/notes.txt"))
        let more = try Programs.run("pushload", ["sweep", "--resume", output.path, "-m", "7"])
        #expect(
            more.status == 64
                && more.error
                    == "pushload: --resume takes everything from \(output.path)/sweep.json: leave out --streams\n",
            "\(more)")
        // Nothing is left to be made.
        let shown = try Programs.run("pushload", ["sweep", "--resume", output.path, "--json"])
        #expect(try shown.read(SweepDocument.self) == sweep && !shown.error.contains("warm-up"))
    }

    @Test("A foreign run, another sweep's folder and a folder with other things are refused, and nothing is changed")
    func foreign() throws {
        let output = OutputFolder()
        let arguments = ["sweep", "-n", "100", "--repeat", "1", "--output", output.path, "--vary"]
        #expect(try Programs.run("pushload", arguments + ["streams=5,10"]).status == 0)
        func refusal(_ arguments: [String]) throws -> String {
            let finished = try Programs.run("pushload", arguments)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error
        }
        #expect(
            try refusal(arguments + ["streams=5,20"])
                == "pushload: \(output.path): another sweep is there already (other values of streams: 5, 10); give another folder\n"
        )
        let (a, b) = ("\(output.path)/point-0000-run-01/result.json", "\(output.path)/point-0001-run-01/result.json")
        try FileManager.default.removeItem(atPath: a)
        try FileManager.default.copyItem(atPath: b, toPath: a)
        #expect(
            try refusal(["sweep", "-q", "--resume", output.path])
                == "pushload: \(a): a run of other settings (streams: 10 instead of 5); it is not of this sweep, move it away\n"
        )
        #expect(FileManager.default.fileExists(atPath: a))
        try FileManager.default.removeItem(atPath: a)
        let kept = try String(contentsOfFile: b, encoding: .utf8)
        let older = kept.replacing(/"pushload" : "[^"]+"/, with: "\"pushload\" : \"0.0.9\"")
        try older.write(toFile: b, atomically: true, encoding: .utf8)
        let refused = try refusal(["sweep", "-q", "--resume", output.path])
        #expect(
            older != kept && refused.hasPrefix("pushload: \(b): a run of version 0.0.9, the sweep is of "), "\(refused)"
        )
        let other = OutputFolder()
        try FileManager.default.createDirectory(atPath: other.path + "/photos", withIntermediateDirectories: true)
        #expect(
            try refusal(["sweep", "-n", "1", "--vary", "streams=5,10", "--output", other.path])
                == "pushload: \(other.path): not empty (photos), and no sweep.json is there; give another folder\n")
        let plan = output.path + "/sweep.json"
        try "{\"schema\": \"pushload.sweep/7\"}".write(toFile: plan, atomically: true, encoding: .utf8)
        #expect(
            try refusal(["sweep", "--resume", output.path])
                == "pushload: \(plan): schema pushload.sweep/7; this version reads pushload.sweep/1\n")
    }

    @Test("A scenario that says abort_on_fail is swept in whole runs, and that is said; ab says so of its thresholds")
    func aborting() throws {
        let output = OutputFolder()
        let file = output.path + "/scenario.yaml"
        try FileManager.default.createDirectory(atPath: output.path, withIntermediateDirectories: true)
        try "pushes: 100\nthreshold: [\"p99 < 1ns\"]\nabort_on_fail: true\n"
            .write(toFile: file, atomically: true, encoding: .utf8)
        let sweep = try Programs.run(
            "pushload",
            ["sweep", file, "--vary", "streams=5", "--repeat", "1", "--output", output.path + "/sweep", "--json"])
        #expect(sweep.status == 1, "\(sweep)")
        #expect(sweep.error.contains("note: abort_on_fail is not heeded: a sweep makes whole runs"), "\(sweep)")
        #expect(try sweep.read(SweepDocument.self).points[0].problem?.contains("threshold crossed") == true, "\(sweep)")
        let pairs = try Programs.run("pushload", ["ab", file, "--self", "--rounds", "1"])
        #expect(pairs.status == 0, "\(pairs)")
        #expect(
            pairs.error.contains("note: the scenario's thresholds are not heeded: ab judges differences"), "\(pairs)")
    }

    @Test("Points that cannot be run, and points whose pushes fail, are named with the reason and judged by nobody")
    func problems() throws {
        let output = OutputFolder()
        let finished = try Programs.run(
            "pushload",
            [
                "sweep", "-n", "100", "--repeat", "1", "--output", output.path, "--json", "--quiet", "--vary",
                "threads=1,2", "--vary", "mock_flags=--fault-seed 1,--reject BadDeviceToken=100%,--bogus",
            ])
        #expect(finished.status == 0, "\(finished)")
        let sweep = try finished.read(SweepDocument.self)
        #expect(sweep.points.count == 6 && sweep.best?.point == 0 && sweep.front == [0])
        let problems = sweep.points.map { $0.problem ?? "" }
        #expect(problems[0].isEmpty && problems[1].hasPrefix("pushes were rejected: BadDeviceToken 100"), "\(problems)")
        #expect(problems[2].contains("the bundled mock did not start"), "\(problems)")
        #expect(
            problems[3...].allSatisfy { $0 == "cannot be run: connections 1: each of the 2 threads needs at least one" }
        )
        #expect(FileManager.default.fileExists(atPath: output.path + "/point-0002-run-01/failure.json"))
        // A failure is kept as a result is.
        let again = try Programs.run("pushload", ["sweep", "--resume", output.path, "--json"])
        #expect(
            try again.read(SweepDocument.self) == sweep && again.error.contains("already there: 3 of 3 runs"),
            "\(again)")
    }

    @Test("Halving makes longer runs of fewer points, and can be resumed as well")
    func halving() throws {
        let output = OutputFolder()
        let arguments = [
            "sweep", "-n", "100", "--vary", "streams=5,10,20,40", "--search", "halving", "--goal", "cpu", "--repeat",
            "1",
            "--output", output.path, "--json",
        ]
        #expect(try Programs.run("pushload", arguments + ["--runs", "5"]).status == 0)
        #expect(try folders(output.path).count == 5)
        let sweep = try Programs.run("pushload", arguments).read(SweepDocument.self)
        #expect(sweep.runsMade == 6 && sweep.points.filter { $0.rung == 1 }.count == 2)
        for folder in try folders(output.path) {
            let result = try ResultFile.read("\(output.path)/\(folder)/result.json")
            #expect(result.pushes.planned == (folder.contains("length-2") ? 200 : 100))
        }
        let best = try #require(sweep.best)
        #expect(sweep.point(numbered: best.point)?.rung == 1)
    }

    @Test("A random search draws points by its seed; --list prints them and runs nothing")
    func random() throws {
        let arguments = [
            "sweep", "-n", "10", "--vary", "streams=1..1000+1", "--vary", "connections=1..100+1", "--search", "random",
            "--points", "7", "--list",
        ]
        let (a, b) = (
            try Programs.run("pushload", arguments + ["--seed", "3"]),
            try Programs.run("pushload", arguments + ["--seed", "3"])
        )
        #expect(a.output == b.output && a.output.hasPrefix("7 points, 21 runs, seed 3\nstreams "), "\(a)")
        #expect(a.output.split(separator: "\n").count == 8 && a.error.isEmpty)
        #expect(try Programs.run("pushload", arguments + ["--seed", "4"]).output != a.output)
    }

    @Test("Ctrl-C ends the sweep cleanly, says how to go on, and the run that was being made is made again")
    func interrupted() throws {
        let output = OutputFolder()
        let running = try Programs.start(
            "pushload",
            ["sweep", "-D", "1s", "-m", "5", "--vary", "rtt=0ms,1ms", "--repeat", "1", "--output", output.path])
        for _ in 0..<4000 where !running.errorText.contains("run 1 of 2") { usleep(5_000) }
        kill(running.process.processIdentifier, SIGINT)
        let finished = try running.wait()
        #expect(finished.status == 1, "\(finished)")
        #expect(
            finished.error.contains("interrupted; go on with: pushload sweep --resume \(output.path)"), "\(finished)")
        #expect(try folders(output.path).count == 1)
        let resumed = try Programs.run("pushload", ["sweep", "--resume", output.path, "--json"])
        #expect(try resumed.read(SweepDocument.self).runsMade == 2, "\(resumed)")
    }

    @Test("Bad keys, values and files are refused in one line each, before anything is sent")
    func refused() throws {
        func refusal(_ arguments: [String]) throws -> String {
            let output = OutputFolder()
            let finished = try Programs.run("pushload", ["sweep", "--output", output.path] + arguments)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            #expect(!FileManager.default.fileExists(atPath: output.path), "\(arguments)")
            return finished.error
        }
        #expect(
            try refusal(["-n", "1", "--vary", "stream=1"])
                == "pushload: --vary stream: unknown key \"stream\"; did you mean \"streams\"?\n")
        #expect(
            try refusal(["-n", "1", "--vary", "streams=1..4"]).contains("\"1..4\" is not a range; expected START..END"))
        #expect(
            try refusal(["-n", "1", "--vary", "streams=1,2", "--abort-on-fail"])
                == "pushload: --abort-on-fail: a sweep makes whole runs, and none ends early: pushload run does\n")
        #expect(try refusal(["-n", "1"]).hasPrefix("pushload: nothing is varied"))
        #expect(try refusal(["--vary", "streams=1,2"]).hasPrefix("pushload: nothing says when to stop"))
        #expect(
            try refusal(["-n", "1", "--vary", "streams=1", "--goal", "p9"])
                == "pushload: goal \"p9\"; expected one of rate, p50, p99, cpu\n")
        #expect(
            try refusal(["windos"])
                == "pushload: no sweep file windos, and no bundled sweep of that name; did you mean \"windows\"?\n")
        let folder = try OutputFolder.made()
        let file = folder.path + "/s.yaml"
        try "pushes: 10\nvary:\n  streems: 1,2\n".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(
            try refusal([file])
                == "pushload: \(file):3:3: vary: unknown key \"streems\"; did you mean \"streams\"?\n")
        let scenario = try Programs.run("pushload", ["run", file])
        #expect(scenario.status == 64 && scenario.error.contains("pushload sweep \(file)"), "\(scenario)")
        let list = try Programs.run("pushload", ["sweep", "--list"])
        #expect(list.output.contains("windows ") && list.output.contains("tls "), "\(list)")
        let one = try Programs.run("pushload", ["sweep", "tls", "--show"])
        #expect(one.output.contains("ciphersuites: TLS_AES_128_GCM_SHA256"), "\(one)")
    }
}

import Foundation
import Results
import Testing

@testable import Comparison
@testable import Sweep

/// Commands that make many runs, when runs fail.
@Suite(.serialized, .waitsForPrograms) struct FailedRunTests {
    private static let refused = "no connection could be made (http://127.0.0.1:1): connection_refused"
    /// Nobody listens there.
    private static let dead = ["--target", "http://127.0.0.1:1", "--no-auth"]

    @Test(
        "A search whose target is not there ends at its first probe, with the cause",
        arguments: [[], ["--rate", "500"]])
    func search(_ load: [String]) throws {
        let finished = try Programs.run(
            "pushload", ["search", "--goal", "p99 < 1s", "--probe", "500ms"] + load + Self.dead)
        #expect(finished.status == 1 && finished.output.isEmpty, "\(finished)")
        #expect(finished.error.hasPrefix("pushload: \(Self.refused)"), "\(finished)")
        #expect(finished.error.split(separator: "\n").count == 1 && finished.error.contains("connection refused"))
    }

    @Test("A sweep whose target is not there asks it once, says why in one line, and goes on when it is back")
    func sweep() throws {
        let mock = try Mock(plaintext: true)
        let target = ["--target", mock.url, "--credentials", mock.folder]
        _ = try mock.stop()
        let output = OutputFolder()
        let finished = try Programs.run(
            "pushload",
            ["sweep", "-n", "50", "--vary", "streams=5,10,20", "--repeat", "2", "--output", output.path, "--json"]
                + target)
        #expect(finished.status == 1, "\(finished)")
        let lines = finished.error.split(separator: "\n").filter { $0.hasPrefix("pushload: ") }
        #expect(lines.count == 1, "\(finished.error)")
        let cause = "3 of 3 points failed: no connection could be made (\(mock.url)): connection_refused"
        #expect(lines[0].hasPrefix("pushload: \(cause)"), "\(lines)")
        #expect(finished.error.components(separatedBy: "): failed: no connection").count == 2, "\(finished.error)")
        #expect(finished.error.contains("go on with: pushload sweep --resume \(output.path)\n"))
        var sweep = try finished.read(SweepDocument.self)
        #expect(sweep.runsMade == 0 && sweep.points.allSatisfy { $0.problem != nil && $0.runsMissing == 2 })
        let again = try Programs.start(
            "mock-apns", ["--port", mock.port, "--plaintext", "--credentials", mock.folder])
        try again.waitFor("listening on ")
        let resumed = try Programs.run("pushload", ["sweep", "--resume", output.path, "--json"])
        #expect(resumed.status == 0, "\(resumed)")
        sweep = try resumed.read(SweepDocument.self)
        #expect(sweep.runsMade == 6 && sweep.points.allSatisfy { $0.problem == nil && $0.runsMissing == 0 })
        kill(again.process.processIdentifier, SIGTERM)
        _ = try again.wait()
        withExtendedLifetime(mock) {}
    }

    @Test("Of several targets those that are there are measured, and the others said")
    func someTargets() throws {
        let mock = try Mock(plaintext: true)
        let output = OutputFolder()
        let finished = try Programs.run(
            "pushload",
            [
                "sweep", "-n", "50", "--vary", "target=http://127.0.0.1:1,\(mock.url)", "--vary", "streams=5,10",
                "--repeat", "2", "--output", output.path, "--json", "--credentials", mock.folder,
            ])
        #expect(finished.status == 1, "\(finished)")
        #expect(finished.error.contains("pushload: 2 of 4 points failed: \(Self.refused)"), "\(finished.error)")
        let sweep = try finished.read(SweepDocument.self)
        #expect(sweep.runsMade == 4 && sweep.points.map { $0.problem == nil } == [false, false, true, true])
        #expect(sweep.best != nil)
        withExtendedLifetime(mock) {}
    }

    @Test("A sweep of which every point failed ends with 1 and one line a cause")
    func everyPoint() throws {
        let output = OutputFolder()
        let arguments = [
            "sweep", "-n", "100", "--vary", "streams=5,10", "--repeat", "1", "--output", output.path, "--vary",
            "mock_flags=--reject BadDeviceToken=100%,--bogus", "--quiet",
        ]
        for _ in 0..<2 {
            let finished = try Programs.run("pushload", arguments)
            #expect(finished.status == 1, "\(finished)")
            // The mock has its own word for its flags.
            let lines = finished.error.split(separator: "\n").filter { $0.hasPrefix("pushload: ") }
            #expect(lines.count == 2, "\(finished.error)")
            #expect(
                lines.contains {
                    $0.hasPrefix("pushload: 2 of 4 points failed: pushes were rejected: BadDeviceToken 100")
                }
                    && lines.contains { $0.hasPrefix("pushload: 2 of 4 points failed") && $0.contains("did not start") },
                "\(finished.error)")
        }
    }

    /// A pushload of which some runs break: those whose numbers, from 1, are given.
    private func breaking(_ runs: [Int], in folder: OutputFolder) throws -> String {
        let real = Programs.path("pushload")
        return try folder.script(
            "pushload",
            """
            [ "$1" = --version ] && exec \(real) --version
            echo run >> \(folder.path)/runs
            case $(wc -l < \(folder.path)/runs) in \(runs.map(String.init).joined(separator: "|"))) echo broken >&2; exit 3;; esac
            exec \(real) "$@"
            """)
    }

    @Test("A round of ab that goes wrong is said and left out, and the others are compared")
    func badRound() throws {
        let folder = try OutputFolder.made()
        let broken = try breaking([3], in: folder)
        let finished = try Programs.run(
            "pushload", ["ab", "-n", "200", "--b-binary", broken, "--b", "-m 10", "--rounds", "3", "--json"])
        #expect(finished.status == 0, "\(finished)")
        let why = "round 2 of 3, B: left out: B: \(broken): wrote no result (exit status 3): broken"
        #expect(finished.error.contains("pushload: \(why)\n"), "\(finished.error)")
        #expect(finished.error.contains("\n2 of 3 rounds are whole: these are compared\n"), "\(finished.error)")
        let comparison = try finished.read(ComparisonDocument.self)
        #expect(comparison.a.runs.count == 2 && comparison.b.runs.count == 2 && comparison.warnings.contains(why))
    }

    @Test("ab with too few rounds that are whole, or without a target, ends with 1 and says why")
    func tooFew() throws {
        let folder = try OutputFolder.made()
        let broken = try breaking([3, 4], in: folder)
        let finished = try Programs.run(
            "pushload", ["ab", "-n", "200", "--b-binary", broken, "--b", "-m 10", "--rounds", "3"])
        #expect(finished.status == 1 && finished.output.isEmpty, "\(finished)")
        #expect(
            finished.error.hasSuffix("pushload: 1 of 3 rounds are whole: too few to compare\n"), "\(finished.error)")
        let dead = try Programs.run("pushload", ["ab", "-n", "200", "--self", "--rounds", "3"] + Self.dead)
        #expect(dead.status == 1 && dead.error.hasPrefix("pushload: A: \(Self.refused)"), "\(dead)")
        #expect(dead.error.split(separator: "\n").count == 1, "\(dead.error)")
        let metric = try Programs.run("pushload", ["ab", "-n", "200", "--self", "--metric", "speed"])
        #expect(metric.status == 64 && metric.error.hasPrefix("pushload: --metric speed: expected one of rate, "))
    }

    @Test("A gate whose target is not there ends at its first round with the cause")
    func gate() throws {
        let folder = OutputFolder()
        let finished = try Programs.run(
            "pushload",
            ["gate", "--update", "--baseline", folder.path + "/b.json", "--reason", "x", "-n", "100"] + Self.dead)
        #expect(finished.status == 1 && finished.error.contains(Self.refused), "\(finished)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/b.json"))
    }

    @Test("A run whose target says goodbye and does not come back is not good, though every push it began was accepted")
    func saidGoodbye() throws {
        let mock = try Mock(["--latency", "300ms"])
        let output = OutputFolder()
        let running = try Programs.start(
            "pushload",
            [
                "run", "--json", "--output", output.path, "--target", mock.url, "--credentials", mock.folder, "-m", "1",
                "-D", "30s", "--give-up-after", "1s",
            ])
        try running.waitForError(" in flight ")
        kill(mock.running.process.processIdentifier, SIGTERM)
        let finished = try running.wait()
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: finished.error)
        #expect(finished.status == 1 && !result.run.complete, "\(finished)")
        #expect(finished.error.contains("no connection for the last "), "\(finished)")
        #expect(finished.error.contains(" of 30.0 s: ") && finished.error.contains("connection_refused"), "\(finished)")
    }

    @Test("A sweep keeps a point that its own settings make unreachable as a failed one, and ends")
    func unreachablePoint() throws {
        let output = OutputFolder()
        let finished = try Programs.run(
            "pushload",
            [
                "sweep", "-n", "200", "--vary", "rtt=1ms;3s", "--set", "give_up_after=3s", "--repeat", "1", "--output",
                output.path, "--json",
            ])
        #expect(finished.status == 0, "\(finished)")
        let sweep = try finished.read(SweepDocument.self)
        #expect(sweep.runsMade == 2 && sweep.points.map { $0.problem == nil } == [true, false], "\(finished)")
        #expect(sweep.points[1].problem?.contains("no connection could be made") == true, "\(sweep.points)")
        let again = try Programs.run("pushload", ["sweep", "--resume", output.path, "--quiet"])
        #expect(again.status == 0, "\(again)")
        // What cannot be reached in any case is not tried.
        let refused = try Programs.run(
            "pushload",
            [
                "sweep", "-n", "200", "--vary", "rtt=1ms;3s", "--set", "connect_timeout=2s", "--repeat", "1",
                "--output",
                output.path + "/refused", "--json",
            ])
        let points = try JSONDecoder().decode(SweepDocument.self, from: Data(refused.output.utf8)).points
        #expect(points[0].problem == nil && points[1].runs.isEmpty, "\(refused)")
        #expect(points[1].problem?.contains("cannot be run: connect_timeout 2.00 s") == true, "\(refused)")
    }

    @Test("A sweep that stops after so many runs, of which one did not reach its target, ends with 1")
    func unreachedWithinRuns() throws {
        let mock = try Mock(plaintext: true)
        let output = OutputFolder()
        // Both points are run once.
        let finished = try Programs.run(
            "pushload",
            [
                "sweep", "-n", "50", "--vary", "target=http://127.0.0.1:1,\(mock.url)", "--repeat", "2", "--runs", "2",
                "-o", output.path, "--credentials", mock.folder,
            ])
        #expect(finished.status == 1 && finished.error.contains(Self.refused), "\(finished)")
        #expect(finished.error.contains("go on with: pushload sweep --resume \(output.path)\n"), "\(finished)")
    }

    @Test("That the target may speak TLS is said of one that was never open, and of no other")
    func hintOfTLS() throws {
        let mock = try Mock(["--max-connections", "1"], plaintext: true)
        let output = OutputFolder()
        let finished = try Programs.run(
            "pushload",
            [
                "run", "-D", "2s", "-m", "5", "-c", "3", "--output", output.path, "--target", mock.url, "--credentials",
                mock.folder,
            ])
        #expect((finished.error + finished.output).contains("before it said anything"), "\(finished)")
        #expect(!(finished.error + finished.output).contains("https://"), "\(finished)")
    }

    @Test(
        "A server that dies before the end of the run is what the rest was not sent for, and the run not complete",
        arguments: [["--rate", "500", "-D", "6s"], ["-D", "6s"]])
    func diedNearTheEnd(_ load: [String]) throws {
        let mock = try Mock()
        let output = OutputFolder()
        let running = try Programs.start(
            "pushload",
            ["run", "--json", "--output", output.path, "--target", mock.url, "--credentials", mock.folder, "-m", "20"]
                + load)
        // Long before the end of the run, and not long enough for --give-up-after.
        for _ in 0..<6000 where mock.running.process.isRunning {
            if let name = try? FileManager.default.contentsOfDirectory(atPath: output.path).first,
                FileManager.default.fileExists(atPath: "\(output.path)/\(name)/result.json")
            {
                break
            }
            usleep(10_000)
        }
        usleep(500_000)
        kill(mock.running.process.processIdentifier, SIGKILL)
        let finished = try running.wait()
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: finished.error)
        let pushes = result.pushes
        #expect(finished.status == 1 && !result.run.complete && !result.run.interrupted, "\(finished.error)")
        #expect(pushes.planned == pushes.ended && result.failures["run_ended"] == nil, "\(result.failures)")
        if load[0] == "--rate" {
            #expect(result.notSent == ["connection_refused": pushes.notSent] && pushes.notSent > 0, "\(result.notSent)")
            #expect(finished.error.contains("pushes were not sent: connection_refused "), "\(finished.error)")
        } else {
            #expect(result.notSent.isEmpty)
        }
    }
}

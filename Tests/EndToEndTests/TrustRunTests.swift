import Foundation
import Results
import Testing

/// What runs say of whether they may be believed.
@Suite(.serialized, .waitsForPrograms) struct TrustRunTests {
    private func refusal(_ flags: [String]) throws -> String {
        let output = OutputFolder()
        let finished = try Programs.run("pushload", ["run", "--output", output.path] + flags)
        #expect(finished.status == 64, "\(flags): \(finished.error)")
        return finished.error
    }

    @Test(
        "A server that gets three times as slow in the middle of a run is called not steady, with when and by how much")
    func slower() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("slower-\(UUID()).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        // Counted from the start of the mock, before the run's.
        try "rules: [{start: 3s, for: 1h, every: 2h, latency: 300ms}, {latency: 100ms}]".write(
            to: file, atomically: true, encoding: .utf8)
        let (result, status, error) = try Programs.load([
            "-D", "5s", "--rate", "400", "-m", "1000", "--mock-flags", "--faults \(file.path)",
        ])
        #expect(status == 0, "\(error)")
        let trust = try #require(result.trust)
        let p50 = try #require(trust.figures["p50"])
        #expect(p50.steady == false && p50.low == nil && p50.without == "not_steady", "\(p50)")
        let shift = try #require(p50.shift)
        #expect(shift.after > 2 * shift.before && shift.before >= 100_000_000, "\(shift)")
        #expect(
            trust.doubts.count { $0.hasPrefix("not steady: ") && $0.contains(" s after the start p50 went from ") }
                == 1, "\(trust.doubts)")
        // The summary names it.
        #expect(error.contains("doubt: not steady: "), "\(error)")
    }

    @Test("Pushes that a server refused with GOAWAY were late because they were sent again, not only for streams")
    func sentAgain() throws {
        let (result, _, error) = try Programs.load([
            "-D", "2s", "--rate", "4000", "-c", "4", "-m", "1000", "--rtt", "20ms", "--mock-flags",
            "--goaway-after 500",
        ])
        let doubts = try #require(result.trust?.doubts)
        #expect(result.pushes.retried > 80, "\(error)")
        // On a busy machine it may be the generator itself.
        let own = result.generator.loopLag.p99
        if result.generator.limited || own > 5_000_000 { return }
        #expect(
            doubts.contains {
                $0.hasPrefix("pushes were not begun at the times asked for: ")
                    && ($0.contains(" attempts had to be sent again, which the server had not processed (late p99 ")
                        || $0.contains("no connection for "))
            }, "\(doubts)")
    }

    /// A control group with a fifth of a core, in which programs can be run.
    private struct SmallGroup {
        let folder: String

        /// nil where none can be made.
        init?() {
            guard geteuid() == 0 else { return nil }
            let made = [
                ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "20000"), ("/sys/fs/cgroup", "cpu.max", "20000 100000"),
            ].lazy.compactMap { mount, file, limit -> String? in
                let folder = "\(mount)/pushload-test-\(UUID())"
                guard FileManager.default.fileExists(atPath: mount + "/cgroup.procs"), mkdir(folder, 0o755) == 0 else {
                    return nil
                }
                if (try? limit.write(toFile: "\(folder)/\(file)", atomically: false, encoding: .utf8)) != nil {
                    return folder
                }
                rmdir(folder)
                return nil
            }.first
            guard let made else { return nil }
            folder = made
        }

        func remove() { rmdir(folder) }

        static let isPossible: Bool = {
            guard let group = SmallGroup() else { return false }
            group.remove()
            return true
        }()
    }

    @Test(
        "A container's CPU limit is named where it held the generator up, with what cpu.stat says, and other threads are not blamed",
        .enabled(if: SmallGroup.isPossible, "control groups need root and a hierarchy for the CPU"))
    func containerLimit() throws {
        let group = try #require(SmallGroup())
        defer { group.remove() }
        let output = OutputFolder()
        let finished = try Programs.run(
            "/bin/sh",
            [
                "-c", "echo $$ > \(group.folder)/cgroup.procs; exec \"$0\" \"$@\"", Programs.path("pushload"), "run",
                "-D",
                "2s", "-c", "1", "-m", "100", "--output", output.path, "--json",
            ])
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: "stdout \(finished.error)")
        let limits = finished.error.split(separator: "\n").filter { $0.hasPrefix("the generator was a limit: ") }
        #expect(
            limits.count == 1 && limits[0].contains(": the CPU limit of this container (cpu.stat: throttled ")
                && !limits[0].contains("other threads"), "\(finished.error)")
        #expect(result.generator.reasons.count == 1)
    }

    @Test("A figure that is not known well enough when the budget is over makes the status 98, and says why")
    func missed() throws {
        let (result, status, error) = try Programs.load([
            "--rate", "500", "--until", "p99.9 +- 0.1 %", "--budget", "2s", "--warmup", "200ms",
        ])
        let until = try #require(result.trust?.until)
        // Whatever else is wrong on a busy machine, 900 pushes do not know a p99.9.
        #expect(!until.reached && until.asked == "p99.9 +- 0.1 %" && until.obstacle != nil, "\(until)")
        #expect(status == 98 && error.contains("NOT REACHED: p99.9 +- 0.1 %"), "\(status) \(error)")
        #expect(result.pushes.planned == 1000 && result.run.complete)
        let quiet = try Programs.run(
            "pushload",
            [
                "run", "--rate", "500", "--until", "p99.9 +- 0.1 %", "--budget", "1s", "--warmup", "100ms", "-q",
                "--output",
                OutputFolder().path,
            ])
        #expect(quiet.status == 98 && quiet.error.contains("not reached: p99.9 +- 0.1 %"), "\(quiet.error)")
    }

    @Test("A run that goes on until a figure is known ends by itself, long before its budget")
    func reached() throws {
        let (result, status, error) = try Programs.load([
            "--rate", "1000", "--until", "p50 +- 50 %", "--budget", "15s", "-m", "1000", "--mock-flags",
            "--latency 50ms",
        ])
        let until = try #require(result.trust?.until)
        // A machine that is busy may not let a figure be steady; then the budget ends the run.
        #expect(until.reached ? status == 0 : status == 98, "\(error)")
        if until.reached {
            #expect(
                until.seconds < 14.9 && (until.halfWidth ?? 1) <= 0.5 && error.contains("reached: p50 +- 50 %"),
                "\(error)")
        }
        #expect(result.pushes.planned == result.pushes.accepted && result.run.complete, "\(result.pushes)")
        #expect(result.scenario["until"] == .string("p50 +- 50 %"))
    }

    @Test("What does not go with it is refused in one line")
    func refused() throws {
        for (flags, words) in [
            (["-n", "10", "--until", "p99 +- 2 %"], "pushes and until exclude each other"),
            (["-D", "1s", "--until", "p99 +- 2 %"], "duration and until exclude each other"),
            (["--stages", "hold 1k 1s", "--until", "p99 +- 2 %"], "until: does not go with stages"),
            (["-n", "10", "--budget", "5s"], "budget: goes with until"),
            (["--until", "p99"], "expected a figure and how well it is to be known"),
            (["--until", "p98 +- 2 %"], "p98"),
            (["--until", "p99 +- 2 %", "--budget", "1ms"], "budget 1ms: expected 1s to 30 days"),
            (["--until", "p99 +- 2 %", "--budget", "0s"], "budget 0s: expected 1s to 30 days"),
            (["--until", "p99 +- 2 %", "--rate", "1k", "--budget", "0s"], "budget 0s: expected 1s to 30 days"),
            (["--until", "p99 +- 150 %"], "expected 0.1 % to 50 % of the figure"),
        ] {
            let error = try refusal(flags)
            #expect(error.contains(words) && error.split(separator: "\n").count == 1, "\(flags): \(error)")
        }
    }
}

import Foundation
import Results
import Testing

@Suite(.serialized, .waitsForPrograms) struct ThresholdRunTests {
    private func run(_ arguments: [String]) throws -> Finished {
        let output = OutputFolder()
        return try Programs.run("pushload", ["run", "--output", output.path] + arguments)
    }

    @Test("Thresholds that hold are listed with value and margin; the run is good")
    func held() throws {
        let finished = try run([
            "-n", "2000", "--threshold", "p99 < 1m", "--threshold", "accepted >= 99% && failed == 0", "--threshold",
            "rss < 10GB", "--threshold", "rate > 1",
        ])
        #expect(finished.status == 0, "\(finished.error)")
        for part in [
            "held: p99 ", " < 1 m\n", "held: accepted 100.000 % >= 99 %\n", "held: failed 0 == 0\n", "OK: ",
        ] {
            #expect(finished.output.contains(part), "\(finished.output)")
        }
    }

    @Test("A threshold that is crossed makes the exit status 99, with the others listed too")
    func crossed() throws {
        let finished = try run([
            "-n", "2000", "--by", "status", "--threshold", "p50 < 1us", "--threshold", "p99 < 1m", "--threshold",
            "p99{status=429} < 1s",
        ])
        #expect(finished.status == 99, "\(finished.error)")
        for part in [
            "CROSSED: p50 ", ", not < 1 us (", "held: p99 ", "held: p99{status=429} < 1s: no such push\n",
        ] {
            #expect(finished.output.contains(part), "\(finished.output)")
        }
        #expect(!finished.output.contains("OK: "))
    }

    @Test("Where a threshold says how many may fail or be rejected, it alone does")
    func outcomes() throws {
        let flags = ["-n", "2000", "--mock-flags", "--fault-seed 1 --reject Unregistered=10%", "--threshold"]
        #expect(try run(flags + ["rejected < 20%"]).status == 0)
        #expect(try run(flags + ["rejected < 5%"]).status == 99)
        #expect(try run(flags + ["p99 < 1m"]).status == 1)
    }

    @Test("A run that is told to abort ends when a threshold is seen to be crossed")
    func aborts() throws {
        let finished = try run([
            "-D", "60s", "--rate", "2000", "--abort-on-fail", "--threshold", "p50 < 1us", "--json",
        ])
        #expect(finished.status == 99, "\(finished.error)")
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: "stdout")
        #expect(result.pushes.planned == 120_000 && result.pushes.accepted < 100_000 && !result.run.complete)
        #expect(result.pushes.planned == result.pushes.ended)
        #expect(result.notes.contains { $0.hasPrefix("ended early: p50 < 1us was crossed") }, "\(result.notes)")
    }

    @Test("A run whose pushes get no answer is aborted for a latency, long before they time out")
    func abortsInSilence() throws {
        let finished = try run([
            "-D", "120s", "--rate", "2000", "--timeout", "60s", "--drain", "0s", "-m", "1000", "--abort-on-fail",
            "--threshold", "p99 < 300ms", "--mock-flags", "--silent 100%", "--json",
        ])
        #expect(finished.status == 99, "\(finished.error)")
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: "stdout")
        #expect(result.pushes.accepted == 0 && result.pushes.planned == result.pushes.ended && result.run.interrupted)
        #expect(
            result.notes.contains {
                $0.hasPrefix("ended early: p99 < 300ms was crossed: more than 300 ms over the last ")
                    && $0.hasSuffix(" pushes open for longer than the limit")
            }, "\(result.notes)")
    }

    @Test("A run is not aborted within the delay, and says which window latency was judged over")
    func abortDelay() throws {
        let flags = ["--rate", "2000", "--abort-on-fail", "--threshold", "p50 < 1us", "--json"]
        let short = try run(["-D", "3s", "--abort-on-fail-delay", "1h"] + flags)
        #expect(short.status == 99, "\(short.error)")
        let whole = try ResultFile.decode(Array(short.output.utf8), origin: "stdout")
        #expect(!whole.notes.contains { $0.hasPrefix("ended early") }, "\(whole.notes)")
        let long = try run(["-D", "60s", "--abort-on-fail-delay", "2s", "--abort-on-fail-window", "5s"] + flags)
        let result = try ResultFile.decode(Array(long.output.utf8), origin: "stdout")
        #expect(long.status == 99 && !result.run.complete && result.run.durationSeconds >= 2, "\(long.error)")
        #expect(
            result.notes.contains {
                $0.hasPrefix("ended early: p50 < 1us was crossed") && $0.contains(" over the last ")
            })
        #expect(result.scenario["abort_on_fail_delay"] == .integer(2_000_000_000))
        let refused = try run(["-n", "10", "--abort-on-fail-window", "100ms"])
        #expect(
            refused.status == 64 && refused.error.contains("abort_on_fail_window 100 ms: expected at least 1s"),
            "\(refused.error)")
    }

    @Test(
        "A threshold on a figure that the run can never have is refused before anything is sent, by run and check",
        arguments: [
            ("", "rate >= 0.95 * target", "a closed loop has no target rate; give --rate, --stages or --trace"),
            ("", "offered > 1", "a closed loop offers no rate"),
            ("", "service.p99 < 1s", "a closed loop does not time service"),
            ("", "late.p99 < 1s", "a closed loop does not time late"),
            ("no_auth: true\n", "sign.p99 < 1s", "without provider tokens nothing is signed"),
            ("no_auth: true\ntarget: https://127.0.0.1:1\n", "lost == 0", "only the bundled mock has a ledger"),
            ("no_auth: true\ntarget: https://127.0.0.1:1\n", "duplicated == 0", "only the bundled mock has a ledger"),
            ("no_auth: true\ntarget: https://127.0.0.1:1\n", "mock_rss < 1GB", "only the bundled mock says its memory"),
            (
                "no_auth: true\ntarget: https://127.0.0.1:1\n", "in_mock.p99 < 1s",
                "only the bundled mock says its times"
            ),
        ])
    func impossible(_ keys: String, _ threshold: String, _ why: String) throws {
        let output = try OutputFolder.made()
        let file = output.path + "/s.yaml"
        try "pushes: 10\nthreshold: [\"\(threshold)\"]\n\(keys)".write(toFile: file, atomically: true, encoding: .utf8)
        for arguments in [["run", file, "-o", output.path + "/runs"], ["scenario", "check", file]] {
            let finished = try Programs.run("pushload", arguments)
            #expect(
                finished.status == 64
                    && finished.error.hasPrefix("pushload: \(file):2:1\(keys.isEmpty ? ": " : " and \(file):")")
                    && finished.error.contains(": threshold \"\(threshold)\": \(why)")
                    && finished.error.split(separator: "\n").count == 1, "\(finished)")
        }
        #expect(!FileManager.default.fileExists(atPath: output.path + "/runs"))
    }

    @Test("The same figures hold where the run has them; of no rejections none was slower")
    func possible() throws {
        let finished = try run([
            "-n", "200", "--rate", "1k", "--threshold", "rate >= 0.01 * target && service.p99 < 1m && lost == 0",
            "--threshold", "mock_rss < 10GB && in_mock.p99 < 1m && sign.p50 < 1m && total_rejected.p99 < 1us",
        ])
        #expect(finished.status == 0, "\(finished)")
        #expect(finished.output.contains("held: total_rejected.p99 < 1us: no such push\n"), "\(finished.output)")
    }

    @Test("A threshold that cannot be read is refused before anything is sent")
    func unreadable() throws {
        let finished = try run(["-n", "10", "--threshold", "p99 < fast"])
        #expect(
            finished.status == 64
                && finished.error.contains(
                    "--threshold: \"p99 < fast\": \"fast\" is not a duration; expected for example 500ms, 10s, 1m30s or 2h"
                ))
    }
}

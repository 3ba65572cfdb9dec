import Foundation
import Results
import Testing

/// What was asked for is what is sent, or it is refused.
@Suite(.waitsForPrograms) struct SettingRunTests {
    private func file(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("setting-\(UUID()).yaml").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("A priority that APNs refuses is sent as asked, and the result says so")
    func priority() throws {
        let (result, status, error) = try Programs.load([
            "-n", "30", "--profile", "alert:1,silent:1", "--priority", "10", "--expect-reasons", "BadPriority",
        ])
        #expect(status == 0 && result.pushes.rejected > 0, "\(error)")
        #expect(result.reasons == ["BadPriority": result.pushes.rejected] && result.pushes.accepted > 0)
        #expect(
            result.notes.contains {
                $0.hasPrefix("priority 10: sent as asked with pushes of type background, which APNs refuses with it")
            }, "\(result.notes)")
    }

    @Test(
        "A setting without an effect is refused before anything is sent, whoever asks for it, at its default only where a flag does",
        arguments: [
            (["-D", "1s"], "abort_on_fail_window: 5s", "abort_on_fail_window: goes with abort_on_fail"),
            (["-n", "9"], "drain: 1s", "drain: goes with a duration"),
            (["-n", "9"], "feedback: false", "feedback: goes with registrations"),
            (["-n", "9"], "cert_key: k.pem", "cert_key: goes with cert"),
            (["-n", "9"], "team_id: ABCDEFGHIJ", "team_id: goes with key"),
            (["-n", "9", "--no-auth", "--target", "http://127.0.0.1:1"], "tls_min: 1.3", "tls_min is of TLS"),
            (["-n", "9"], "tls_min: 1.3\nciphers: X", "ciphers are of TLS 1.2, which tls_min 1.3 leaves out"),
            (["-n", "9"], "no_auth: true\nsign_policy: per-push", "sign_policy: goes with provider tokens"),
        ])
    func idle(_ flags: [String], _ setting: String, _ said: String) throws {
        let output = OutputFolder()
        let path = try file(setting + "\n")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let finished = try Programs.run("pushload", ["run", path, "-o", output.path] + flags)
        let line = setting.split(separator: "\n").count
        #expect(
            finished.status == 64 && finished.error.contains("\(path):")
                && finished.error.contains("\(path):\(line):1: \(said)"), "\(finished)")
        #expect(!FileManager.default.fileExists(atPath: output.path))
    }

    @Test("A flag without an effect is refused even at its default; a file's or a variable's default is not")
    func defaults() throws {
        for (flags, said) in [
            (["--feedback"], "feedback: goes with registrations, the file that says who there is"),
            (
                ["--abort-on-fail-window", "10s"],
                "abort_on_fail_window: goes with abort_on_fail, which ends a run at a crossed threshold"
            ),
            (["--set", "backlog=10M"], "backlog 10M: goes with a rate or stages; a closed loop sends when it can"),
        ] {
            let finished = try Programs.run("pushload", ["run", "-n", "9"] + flags)
            #expect(finished.status == 64 && finished.error == "pushload: \(said)\n", "\(finished)")
        }
        let path = try file("pushes: 9\nfeedback: true\nabort_on_fail_window: 10s\nbacklog: 10M\nretry_attempts: 3\n")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let output = OutputFolder()
        let running = try Programs.start(
            "pushload", ["run", path, "-q", "-o", output.path, "--no-abort-on-fail", "--no-ktls"],
            environment: ["PUSHLOAD_DRAIN": "10s"])
        let finished = try running.wait()
        #expect(finished.status == 0, "\(finished)")
    }

    @Test("check tells every mistake of headers at its place, beside a value that cannot be read too")
    func places() throws {
        for (text, count) in [
            ("pushes: 5\ntopic: a b\ncollapse_id: \"\"\n", 2), ("rate: fast\ntopic: a b\ncollapse_id: \"\"\n", 3),
        ] {
            let path = try file(text)
            defer { try? FileManager.default.removeItem(atPath: path) }
            let finished = try Programs.run("pushload", ["scenario", "check", path])
            let lines = finished.error.split(separator: "\n")
            #expect(finished.status == 64 && lines.count == count, "\(finished)")
            for said in [
                "\(path):2:1: topic \"a b\": expected a bundle id", "\(path):3:1: collapse id \"\": expected 1 to 64",
            ] {
                #expect(lines.contains { $0.hasPrefix("pushload: \(said)") }, "\(finished)")
            }
        }
    }

    @Test("Keys that an alias merges and x- keys are taken by check and run")
    func merged() throws {
        let path = try file("x-usual: &usual\n  streams: 7\n<<: *usual\npushes: 9\n")
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try Programs.run("pushload", ["scenario", "check", path]).status == 0)
        #expect(try Programs.load([path]).result.scenario["streams"] == .integer(7))
    }

    @Test("Variables that Kubernetes sets for a Service named pushload are ignored with a note")
    func service() throws {
        let output = OutputFolder()
        let finished = try Programs.start(
            "pushload", ["run", "-n", "9", "-o", output.path],
            environment: ["PUSHLOAD_PORT": "tcp://10.0.0.1:80", "PUSHLOAD_SERVICE_HOST": "10.0.0.1"]
        ).wait()
        #expect(finished.status == 0, "\(finished)")
        let said = "pushload: PUSHLOAD_PORT and 1 more: no setting, but what Kubernetes sets for a Service; ignored"
        #expect(finished.error.components(separatedBy: said).count == 2, "\(finished)")
        let wrong = try Programs.start(
            "pushload", ["run", "-n", "9", "-o", output.path], environment: ["PUSHLOAD_PORT": "80"]
        ).wait()
        #expect(wrong.status == 64 && wrong.error.contains("PUSHLOAD_PORT: no such setting"), "\(wrong)")
    }

    @Test("A run far below the rate that a threshold asks for is ended early")
    func abortsForRate() throws {
        let output = OutputFolder()
        // Ten streams with answers after a second are 10 of 200 a second.
        let finished = try Programs.run(
            "pushload",
            [
                "run", "-D", "120s", "--rate", "200", "-m", "10", "--mock-flags", "--latency 1s", "--abort-on-fail",
                "--abort-on-fail-window", "3s", "--threshold", "rate >= 0.95 * target", "--json", "-o", output.path,
            ])
        #expect(finished.status == 99, "\(finished.error)")
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: "stdout")
        #expect(!result.run.complete && result.pushes.accepted < 12_000)
        #expect(
            result.notes.contains { $0.hasPrefix("ended early: rate >= 0.95 * target was crossed: 0.") },
            "\(result.notes)")
        let refused = try Programs.run(
            "pushload",
            [
                "run", "-n", "9", "--abort-on-fail", "--threshold", "queue.p99 < 1s && accepted == 100%", "-o",
                output.path,
            ])
        #expect(
            refused.status == 64 && refused.error.contains("abort_on_fail: each threshold is judged at the end only"),
            "\(refused)")
    }

    @Test("A provider key whose line ends were lost on the way signs as the whole one does")
    func key() throws {
        let mock = try Mock()
        let whole = try String(contentsOfFile: mock.folder + "/AuthKey.p8", encoding: .utf8)
        let output = try OutputFolder.made()
        let path = output.path + "/key.p8"
        try whole.replacing("\n", with: #"\n"#).write(toFile: path, atomically: true, encoding: .utf8)
        let ids = try #require(
            try JSONSerialization.jsonObject(
                with: Data(contentsOf: URL(fileURLWithPath: mock.folder + "/credentials.json"))) as? [String: String])
        let finished = try Programs.run(
            "pushload",
            [
                "run", "-n", "9", "--target", mock.url, "--cacert", mock.folder + "/ca.pem", "--key", path, "--key-id",
                ids["key_id"] ?? "", "--team-id", ids["team_id"] ?? "", "-o", output.path + "/runs",
            ])
        #expect(finished.status == 0, "\(finished)")
        _ = try mock.stop()
    }
}

import Foundation
import Testing

/// `--device-backend`: what devices ask of the bundled backend, counted at both ends.
@Suite(.serialized, .waitsForPrograms) struct EchoRunTests {
    /// Every device is there, and everything fetches.
    private static let model = """
        platforms: {phone: 100%}
        online: {share: 100%}
        authorization: {never_asked: 0%, changed: {share: 0%}}
        silent: {per_hour: unlimited}

        """

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    private func curl(_ url: String) throws -> String { try Programs.run("/usr/bin/curl", ["-s", url]).output }

    private func backend(_ arguments: [String], port: String = "0") throws -> (running: Running, url: String) {
        let running = try Programs.start("mock-apns", ["backend", "--port", port, "--json"] + arguments)
        try running.waitFor("\"event\":\"listening\"")
        let line = try json(String(try #require(running.text.split(separator: "\n").first)))
        return (running, try #require(line["url"] as? String))
    }

    private func counts(_ backend: (running: Running, url: String)) throws -> [String: UInt64] {
        try json(try curl(backend.url + "/stats")).compactMapValues { ($0 as? NSNumber)?.uint64Value }
    }

    private func end(_ running: Running, _ signal: Int32 = SIGTERM) throws -> Finished {
        kill(running.process.processIdentifier, signal)
        return try running.wait()
    }

    private func mock(_ folder: OutputFolder, _ backend: String, _ arguments: [String] = []) throws -> Mock {
        let file = folder.path + "/model.yaml"
        try Self.model.write(toFile: file, atomically: true, encoding: .utf8)
        return try Mock(["--admin-port", "0", "--device-model", file, "--device-backend", backend] + arguments)
    }

    private struct Seen {
        var echo: [String: Any]
        var devices: [String: Any]

        func count(_ name: String) -> UInt64 { echo[name] as? UInt64 ?? .max }
        func outcome(_ name: String) -> UInt64 { (devices["outcomes"] as? [String: UInt64])?[name] ?? .max }
        func failures() -> [String: UInt64] { echo["failures"] as? [String: UInt64] ?? [:] }
        var sum: UInt64 {
            ["answered", "failed", "given_up", "not_begun", "under_way"].reduce(0) { $0 + count($1) }
        }
    }

    private func seen(_ mock: Mock) throws -> Seen {
        let stats = try json(try curl("http://127.0.0.1:\(try mock.port(of: "admin"))/stats"))
        let seen = Seen(
            echo: try #require(stats["echo"] as? [String: Any]),
            devices: try #require(stats["devices"] as? [String: Any]))
        #expect(seen.sum == seen.count("requests"))
        return seen
    }

    /// Once everything has ended.
    private func ended(_ mock: Mock) throws -> Seen {
        for _ in 0..<2400 {
            let seen = try seen(mock)
            if seen.count("under_way") == 0 { return seen }
            usleep(50_000)
        }
        Issue.record("requests are under way for minutes")
        return try seen(mock)
    }

    private func push(_ mock: Mock, _ count: Int, _ arguments: [String] = []) throws -> UInt64 {
        let (result, status, error) = try Programs.load(
            [
                "--target", mock.url, "--credentials", mock.folder, "-n", "\(count)", "--profile", "silent", "--warmup",
                "0s",
            ] + arguments)
        #expect(status == 0, "\(error)")
        return result.pushes.accepted
    }

    @Test("Every fetch is counted at the device, in the echo and at the backend, and the three agree exactly")
    func agreement() throws {
        let folder = try OutputFolder.made()
        let backend = try backend(["--empty", "20%", "--reject", "500=10%", "--fault-seed", "3"])
        let mock = try mock(folder, backend.url, ["--threads", "2", "--device-requests", "50"])
        let accepted = try push(mock, 5000)
        let seen = try ended(mock)
        let counts = try counts(backend)
        #expect(accepted == 5000 && seen.count("requests") == accepted)
        #expect(seen.count("answered") == counts["content"]! + counts["no_content"]!)
        #expect(seen.failures() == ["HTTP 500": counts["rejected_by_rule"]!] && seen.count("retries") == 0)
        #expect(counts["content"]! > 0 && counts["no_content"]! > 0 && counts["rejected_by_rule"]! > 0)
        // One connection was for the statistics.
        #expect(
            counts["requests"] == accepted && counts["connections_accepted"] == seen.count("connections_opened") + 1)
        #expect(seen.outcome("fetched") == counts["content"] && seen.outcome("no_data") == counts["no_content"])
        #expect(seen.outcome("fetch_failed") == counts["rejected_by_rule"] && seen.devices["settling"] as? Int == 0)
        #expect(seen.devices["requests_failed"] == nil)
        #expect(seen.count("connections_opened") <= 50 && seen.echo["url"] as? String == backend.url)

        let admin = "http://127.0.0.1:\(try mock.port(of: "admin"))"
        let metrics = try curl(admin + "/metrics")
        #expect(metrics.contains("\nmock_apns_echo_requests_total{kind=\"fetch\"} 5000\n"), "\(metrics)")
        #expect(metrics.contains("\nmock_apns_echo_latency_seconds_count \(seen.count("answered"))\n"))
        _ = try Programs.run("/usr/bin/curl", ["-s", "-X", "POST", admin + "/reset"])
        #expect(try self.seen(mock).count("requests") == 0)
        #expect(try push(mock, 10) == 10)
        #expect(try ended(mock).count("requests") == 10)
        let report = try mock.stop()
        #expect(report.status == 0 && report.output.contains("\nasked of \(backend.url) 10: "), "\(report)")
        _ = try end(backend.running)
    }

    @Test("A backend with TLS is asked when its certificate is trusted, and not otherwise")
    func secure() throws {
        let folder = try OutputFolder.made()
        let backend = try backend(["--credentials", folder.path + "/backend"])
        let trusting = try mock(folder, backend.url, ["--device-backend-ca", folder.path + "/backend/ca.pem"])
        _ = try push(trusting, 50)
        #expect(try ended(trusting).count("answered") == 50)
        #expect(try trusting.stop().status == 0)
        let other = try mock(folder, backend.url)
        _ = try push(other, 5)
        #expect(try ended(other).failures() == ["certificate not trusted": 5])
        #expect(try other.stop().status == 0)
        _ = try end(backend.running)
    }

    @Test(
        "A backend that is killed and comes back on the same store: nothing is lost, and what both ends counted explains itself"
    )
    func killed() throws {
        let folder = try OutputFolder.made()
        let store = ["--store", folder.path + "/s.db"]
        let first = try backend(store)
        let mock = try mock(folder, first.url, ["--device-requests", "64"])
        let port = String(first.url.split(separator: ":").last!)
        let run = try Programs.start(
            "pushload",
            [
                "run", "--target", mock.url, "--credentials", mock.folder, "-n", "6000", "--rate", "1500", "--profile",
                "silent", "--warmup", "0s", "--output", folder.path + "/run",
            ])
        while try counts(first)["content"]! < 500 { usleep(5000) }
        _ = try end(first.running, SIGKILL)
        let before = try seen(mock)
        let second = try backend(store, port: port)
        #expect(try run.wait().status == 0)
        let seen = try ended(mock)
        let counts = try counts(second)
        #expect(seen.count("requests") == 6000 && seen.count("given_up") == 0 && seen.count("not_begun") == 0)
        #expect(seen.count("answered") > before.count("answered"))
        #expect(
            seen.outcome("fetched") == seen.count("answered") && seen.outcome("fetch_failed") == seen.count("failed"))
        // What was committed and not received is asked again: at most one request a connection.
        let unreceived = try #require(counts["content"]).subtractingReportingOverflow(seen.count("answered"))
        #expect(!unreceived.overflow && unreceived.partialValue <= 64, "\(counts) \(seen.echo)")
        #expect(seen.failures().values.reduce(0, +) == seen.count("failed"))
        #expect(try mock.stop().status == 0)
        _ = try end(second.running)
    }

    @Test("A mock that is ended says what was under way, and leaves at once")
    func stopped() throws {
        let folder = try OutputFolder.made()
        let backend = try backend(["--silent", "100%"])
        let mock = try mock(folder, backend.url, ["--device-requests", "10"])
        _ = try push(mock, 30)
        while try counts(backend)["silenced_by_rule"]! < 10 { usleep(20_000) }
        #expect((try seen(mock).devices["settling"] as? Int) == 30)
        let report = try mock.stop()
        #expect(report.output.contains("\nasked of \(backend.url) 30: under way 30\n"), "\(report)")
        _ = try end(backend.running)
    }

    /// The peer is a server with HTTP/2 that knows no such page.
    @Test("Over HTTP/2 with TLS requests share connections; by prior knowledge each request is answered too")
    func http2() throws {
        let folder = try OutputFolder.made()
        let secure = try Mock(["--all-streams-at-once"])
        let trust = ["--device-backend-ca", secure.folder + "/ca.pem"]
        for version in ["2", "auto"] {
            let mock = try mock(folder, secure.url, ["--device-backend-http", version] + trust)
            _ = try push(mock, 500)
            let seen = try ended(mock)
            #expect(seen.count("failed") == 500 && seen.failures().keys.allSatisfy { $0.hasPrefix("HTTP 4") })
            #expect((1...50).contains(seen.count("connections_opened")), "\(seen.echo)")
            _ = try mock.stop()
        }
        _ = try secure.stop()
        let plain = try Mock(plaintext: true)
        let mock = try mock(folder, plain.url, ["--device-backend-http", "2"])
        _ = try push(mock, 100)
        let seen = try ended(mock)
        #expect(
            seen.count("failed") == 100 && seen.failures().keys.allSatisfy { $0.hasPrefix("HTTP 4") }, "\(seen.echo)")
        _ = try mock.stop()
        _ = try plain.stop()
        // The bundled backend speaks it too.
        let old = try backend([])
        let other = try self.mock(folder, old.url, ["--device-backend-http", "2"])
        _ = try push(other, 3)
        let answers = try ended(other)
        #expect(answers.count("answered") == 3, "\(answers.echo)")
        _ = try other.stop()
        _ = try end(old.running)
    }

    @Test("Flags that cannot be used are refused in one line")
    func refused() throws {
        func refusal(_ flags: [String]) throws -> String {
            let finished = try Programs.run("mock-apns", ["--port", "0"] + flags)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error
        }
        let backend = ["--device-backend", "http://127.0.0.1:1"]
        #expect(try refusal(backend) == "mock-apns: --device-backend needs --device-model\n")
        #expect(
            try refusal(["--device-model", "on", "--device-requests", "5"])
                == "mock-apns: --device-requests needs --device-backend\n")
        let on = ["--device-model", "on"] + backend
        #expect(
            try refusal(on + ["--device-requests", "50001"])
                == "mock-apns: --device-requests 50001: expected 1 to 50000\n")
        #expect(
            try refusal(on + ["--device-backend-http", "3"])
                == "mock-apns: --device-backend-http 3: expected 1.1, 2 or auto\n")
        #expect(
            try refusal(["--device-model", "on", "--device-backend", "http://192.0.2.1:80"])
                == "mock-apns: --device-backend http://192.0.2.1:80: 192.0.2.1 is not this machine; if it is yours to load, "
                + "say so: --allow-device-backend 192.0.2.1\n")
        #expect(
            try refusal([
                "--device-model", "on", "--device-backend", "https://127.0.0.1:1", "--device-backend-ca",
                "/none/ca.pem",
            ]) == "mock-apns: cannot read /none/ca.pem: No such file or directory\n")
        let folder = try OutputFolder.made()
        let file = folder.path + "/ca.pem"
        try "no certificate\n".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(
            try refusal([
                "--device-model", "on", "--device-backend", "https://127.0.0.1:1", "--device-backend-ca", file,
            ])
                == "mock-apns: --device-backend-ca \(file): no PEM certificate found; expected -----BEGIN CERTIFICATE-----\n"
        )
    }
}

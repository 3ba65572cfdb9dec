import Foundation
import Settings
import Testing

/// `--device-model`: what devices do with the pushes that the mock took.
@Suite(.serialized, .waitsForPrograms) struct DeviceModelTests {
    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    @Test("A model that is wrong, and flags that say what the model says, are refused at the start, with the place")
    func refused() throws {
        let folder = try OutputFolder.made()
        let file = folder.path + "/model.yaml"
        func refusal(_ text: String, _ flags: [String] = []) throws -> String {
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let finished = try Programs.run("mock-apns", ["--port", "0", "--device-model", file] + flags)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error.replacingOccurrences(of: file, with: "FILE")
        }
        #expect(
            try refusal("online:\n  shar: 50%\n")
                == "mock-apns: FILE:2:3: online: unknown key \"shar\"; did you mean \"share\"?\n")
        #expect(
            try refusal("platforms: {phone: 50%}\n")
                == "mock-apns: FILE:1:12: platforms: the shares add up to 50.0%; expected 100%\n")
        #expect(
            try refusal("{}", ["--offline", "10%"])
                == "mock-apns: --offline and --device-model exclude each other: the model says what is stored and held back\n"
        )
        #expect(try refusal("{}", ["--background-per-hour", "3"]).contains("--background-per-hour and --device-model"))
        #expect(
            try refusal("development: 10%", ["--development-devices", "1%"])
                == "mock-apns: --development-devices and \"development\" in FILE exclude each other\n")
        let missing = try Programs.run("mock-apns", ["--port", "0", "--device-model", folder.path + "/none"])
        #expect(missing.status == 64 && missing.error.split(separator: "\n").count == 1, "\(missing.error)")
        let empty = try Programs.run("mock-apns", ["--port", "0", "--device-model", ""])
        #expect(empty.error == "mock-apns: --device-model: expected on or a file, not an empty text\n")
    }

    @Test("What becomes of a run's pushes at its devices adds up to those accepted, in statistics, metrics and report")
    func run() throws {
        let mock = try Mock(["--admin-port", "0", "--device-model", "on", "--threads", "3"])
        let admin = "http://127.0.0.1:\(try mock.port(of: "admin"))"
        let (result, status, error) = try Programs.load([
            "--target", mock.url, "--credentials", mock.folder, "-n", "20000", "--devices", "3000", "--connections",
            "4",
            "--profile", "alert:2,silent:1,rich:1", "--warmup", "0s",
        ])
        #expect(status == 0, "\(error)")
        func sum(_ counts: Any?) throws -> UInt64 {
            try #require(counts as? [String: UInt64]).values.reduce(0, +)
        }
        let stats = try json(try Programs.run("/usr/bin/curl", ["-s", admin + "/stats"]).output)
        let devices = try #require(stats["devices"] as? [String: Any])
        let accepted = result.pushes.accepted
        #expect(accepted == 20_000 && devices["received"] as? UInt64 == accepted)
        #expect(try sum(devices["outcomes"]) == accepted)
        #expect(devices["touched"] as? Int == 3000)
        // Sealed texts of synthetic devices are opened.
        let events = try #require(devices["events"] as? [String: UInt64])
        #expect(
            events["seal_broken"] == 0
                && events["wake_failed"] == (devices["requests_failed"] as? [String: UInt64])?["fetch"])
        let metrics = try Programs.run("/usr/bin/curl", ["-s", admin + "/metrics"]).output
        #expect(metrics.contains("mock_apns_devices_touched 3000\n"))
        let shown = metrics.split(separator: "\n").filter { $0.hasPrefix("mock_apns_device_pushes{") }
        #expect(shown.compactMap { UInt64($0.split(separator: " ").last!) }.reduce(0, +) == accepted)
        let report = try mock.stop().output
        #expect(report.contains("\ngiven to devices 20,000: "), "\(report)")
        let machine = try Programs.start("mock-apns", ["--port", "0", "--device-model", "on", "--json"])
        try machine.waitFor("\"listening\"")
        kill(machine.process.processIdentifier, SIGTERM)
        let line = try json(String(try #require(try machine.wait().output.split(separator: "\n").last)))
        #expect(try sum((line["devices"] as? [String: Any])?["outcomes"]) == 0)
    }

    @Test("The event stream says of each push what its device did with it")
    func events() throws {
        let folder = try OutputFolder.made()
        let model = folder.path + "/model.yaml"
        let text = """
            platforms: {phone: 100%}
            online: {share: 100%}
            unlocked: {share: 0%}
            authorization: {never_asked: 0%, alert: 100%, changed: {share: 0%}}
            """
        try text.write(toFile: model, atomically: true, encoding: .utf8)
        let mock = try Mock(["--admin-port", "0", "--device-model", model])
        let stream = try Programs.start(
            "/usr/bin/curl", ["-sN", "--max-time", "60", "http://127.0.0.1:\(try mock.port(of: "admin"))/events"])
        try stream.waitFor(": ready")
        for body in [#"{"aps":{"alert":"a"}}"#, #"{"aps":{}}"#] {
            _ = try ReasonTests.curl(mock, [.with { $0.body = body }])
        }
        try stream.waitFor(#""outcome":"handed_over","payload":{"aps":{}}"#)
        #expect(stream.text.contains(#""outcome":"lock_screen","payload":{"aps":{"alert":"a"}}"#), "\(stream.text)")
        kill(stream.process.processIdentifier, SIGTERM)
        _ = try mock.stop()
    }

    @Test("Without a model there is nothing of devices in what is counted; with one, the report says it in words")
    func report() throws {
        #expect(!(try Mock().stop().output.contains("given to devices ")))
        let mock = try Mock(["--device-model", "on"])
        _ = try ReasonTests.curl(mock, [.init(), .init()])
        #expect(try mock.stop().output.contains("\ngiven to devices 2: "))
    }
}

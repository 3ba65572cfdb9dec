import Foundation
import Measurement
import Results
import Testing

/// `run --device-model`: what devices do with a run's pushes, and what comes back to their backend.
@Suite(.serialized, .waitsForPrograms) struct DeviceRunTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    private static let awake = root + "/scenarios/models/awake.yaml"

    private func scenario(_ name: String) -> String { "\(Self.root)/scenarios/\(name).yaml" }

    /// Books that always balance.
    private func check(_ result: ResultDocument) throws {
        let devices = try #require(result.devices)
        #expect(devices.outcomes.values.reduce(0, +) == result.pushes.accepted, "\(devices.outcomes)")
        let echo = try #require(result.echo)
        let ends = [echo.answered, echo.failed, echo.givenUp, echo.notBegun, echo.underWay]
        #expect(ends.reduce(0, +) == echo.requests, "\(echo)")
        #expect(echo.byKind.values.reduce(0) { $0 + $1.requests } == echo.requests)
        #expect(echo.series.reduce(0) { $0 + $1.requests } == echo.requests)
    }

    @Test("Rich push: the notification is stored first, each device fetches it and shows it 5 s later; both ends agree")
    func richPush() throws {
        let (result, status, error) = try Programs.load([scenario("rich-push")])
        #expect([0, 99].contains(status), "\(error)")
        try check(result)
        let accepted = result.pushes.accepted
        let echo = try #require(result.echo)
        #expect(accepted == 161 && result.devices?.outcomes == ["lock_screen": accepted], "\(error)")
        #expect(echo.byKind["rich"]?.answered == accepted && echo.statuses["200"] == accepted)
        let counts = try #require(echo.backendCounts)
        #expect(counts["created"] == 1 && (counts["fetched"] ?? 0) + (counts["fetched_again"] ?? 0) == accepted)
        #expect(echo.bytes == 10_240 * accepted)
        let (screen, content) = (result.latency[.timeToScreen], result.latency[.timeToContent])
        #expect(screen.count == accepted && screen.unanswered == 0 && screen.min >= 4_990_000_000)
        #expect(content.count == accepted && content.max <= screen.max - 4_900_000_000)
        #expect(result.devices?.contentWithin.last?.share == 1)
        #expect(try (1...accepted).contains(#require(echo.peakPerSecond)))
        #expect(!result.notes.contains { $0.hasPrefix("devices and backend") }, "\(result.notes)")
    }

    @Test("Encrypted push: every body that was sealed is opened and shown, none is broken")
    func encrypted() throws {
        let (result, status, error) = try Programs.load([scenario("encrypted"), "--set", "pushes=500"])
        #expect([0, 99].contains(status), "\(error)")
        try check(result)
        let devices = try #require(result.devices)
        #expect(devices.outcomes == ["lock_screen": 500] && devices.events["seal_broken"] == nil, "\(devices)")
        #expect(devices.events["extension_in_time"] == 500)
        #expect(result.latency[.timeToContent].count == 500 && result.latency[.timeToContent].min >= 20_000_000)
        // What was sealed for others is not.
        let folder = try OutputFolder.made()
        let file = folder.path + "/tokens.txt"
        try (0..<10).map { String(repeating: "a\($0)", count: 32) + "\n" }.joined().write(
            toFile: file, atomically: true, encoding: .utf8)
        let foreign = try Programs.load([
            "-n", "100", "--profile", "rich", "--device-file", file, "--device-model", Self.awake, "--seed", "99",
        ]).result
        #expect(foreign.devices?.events["seal_broken"] == 100, "\(String(describing: foreign.devices))")
        #expect(foreign.latency[.timeToContent].unanswered == 100)
    }

    private struct Night: Decodable {
        let presented, updated: UInt64
        let screens: [String: [String]]
    }

    @Test("Sports night: a device ends with one notification a match; presented and replaced as a naive model says")
    func sportsNight() throws {
        let night = try JSONDecoder().decode(
            Night.self,
            from: Data(
                try Programs.run(
                    "/usr/bin/env",
                    [
                        "python3", Self.root + "/Tests/EndToEndTests/Python/sports_night.py",
                        Self.root + "/scenarios/registrations-sample.csv",
                    ]
                ).output.utf8))
        let (result, _, error) = try Programs.load([scenario("sports-night")])
        try check(result)
        #expect(result.pushes.accepted == night.presented, "\(error)")
        #expect(result.devices?.outcomes == ["lock_screen": night.presented])
        #expect(result.devices?.events["updated"] == night.updated)
        // What they show is asked of a mock that goes on.
        let mock = try Mock(["--admin-port", "0", "--device-model", Self.awake])
        let admin = "http://127.0.0.1:\(try mock.port(of: "admin"))"
        let target = try Programs.run(
            "pushload",
            [
                "run", scenario("sports-night"), "--target", mock.url, "--credentials",
                mock.folder, "-q", "--output", mock.folder + "/runs",
            ])
        #expect(target.status == 64, "a model is the bundled mock's: \(target)")
        let text = try String(contentsOfFile: scenario("sports-night"), encoding: .utf8)
        let plain = mock.folder + "/night.yaml"
        try text.split(separator: "\n").filter { !$0.hasPrefix("device_model") && !$0.hasPrefix("threshold") }
            .joined(separator: "\n").replacingOccurrences(
                of: "registrations-sample.csv", with: Self.root + "/scenarios/registrations-sample.csv"
            )
            .write(toFile: plain, atomically: true, encoding: .utf8)
        let run = try Programs.load([plain, "--target", mock.url, "--credentials", mock.folder])
        #expect(run.result.pushes.accepted == night.presented && run.result.devices == nil, "\(run.error)")
        for (token, matches) in night.screens.sorted(by: { $0.key < $1.key }).prefix(20) {
            let screen = try Programs.run("/usr/bin/curl", ["-sf", "\(admin)/devices/\(token)/screen"]).output
            let json = try #require(try JSONSerialization.jsonObject(with: Data(screen.utf8)) as? [String: Any])
            let shown = try #require(json["notifications"] as? [[String: Any]])
            #expect(shown.compactMap { $0["identifier"] as? String }.sorted() == matches, "\(token)")
        }
    }

    @Test("With the bundled model nothing is lost between ends: fetches, sealed bodies and alerts mixed")
    func mixed() throws {
        let (result, status, error) = try Programs.load([
            "-n", "3000", "--devices", "2000", "--profile", "alert:2,silent:2,rich:1,rich-push:1", "--device-model",
            "on", "--device-wait", "20s", "--warmup", "0s",
        ])
        #expect(status == 0, "\(error)")
        try check(result)
        let echo = try #require(result.echo)
        #expect(echo.byKind["fetch"]?.answered == echo.backendCounts?["content"])
        #expect(result.devices?.outcomes["unknown"] == nil && (result.devices?.outcomes.count ?? 0) > 5)
        #expect(!result.notes.contains { $0.hasPrefix("devices and backend") }, "\(result.notes)")
        // Some are stored or held: not shown yet.
        #expect(result.latency[.timeToScreen].unanswered > 0)
    }

    @Test("A backend that rejects and delays is seen in the echo, and thresholds on it hold or are crossed")
    func faults() throws {
        let (result, status, error) = try Programs.load([
            "-n", "300", "--devices", "300", "--profile", "silent", "--device-model", Self.awake, "--backend-flags",
            "--latency 300ms --reject 404=50% --fault-seed 3", "--threshold", "echo.failed == 0", "--threshold",
            "echo.requests == 300 && echo.p50 < 10m && time_to_content p99 < 1h",
        ])
        #expect(status == 99, "\(error)")
        try check(result)
        let echo = try #require(result.echo)
        let rejected = echo.backendCounts?["rejected_by_rule"] ?? 0
        #expect(rejected > 50 && echo.failed == rejected && echo.statuses["404"] == rejected)
        #expect(echo.answered == 300 - rejected && echo.latency.min >= 300_000_000)
        #expect(result.devices?.outcomes == ["fetched": echo.answered, "fetch_failed": rejected])
        #expect(result.latency[.timeToContent].unanswered == rejected)
        #expect(error.contains("CROSSED: echo.failed \(rejected), not == 0"), "\(error)")
        #expect(error.contains("held: echo.requests 300 == 300"), "\(error)")
        #expect(error.contains("CROSSED: time_to_content p99 < 1h: not known, more than"), "\(error)")
    }

    @Test("A bundled backend that is killed is said, and the client goes on pushing to the mock")
    func killedBackend() throws {
        let output = OutputFolder()
        let running = try Programs.start(
            "pushload",
            [
                "run", "--json", "--output", output.path, "--profile", "silent", "--rate", "100", "-n", "300",
                "--device-model",
                Self.awake, "--device-wait", "2s",
            ])
        try running.waitForError("ETA")
        // Of its children the one that was started as `mock-apns backend`.
        let own = running.process.processIdentifier
        let backend = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.first {
            pid in
            func read(_ name: String) -> String {
                (try? String(contentsOfFile: "/proc/\(pid)/\(name)", encoding: .utf8)) ?? ""
            }
            return read("status").contains("\nPPid:\t\(own)\n") && read("cmdline").contains("\0backend\0")
        }
        kill(try #require(backend), SIGKILL)
        let finished = try running.wait()
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: "stdout \(finished.error)")
        #expect(finished.status == 1, "\(finished.error)")
        #expect(result.pushes.accepted == 300 && result.echo?.backendCounts == nil)
        #expect(result.notes.contains { $0.hasPrefix("the bundled backend did not say what it had counted") })
        try check(result)
    }

    @Test("The password of a backend is in no output")
    func password() throws {
        let (result, _, error) = try Programs.load([
            "-n", "5", "--profile", "silent", "--device-model", Self.awake, "--device-backend",
            "http://ada:s3cret@127.0.0.1:1", "--device-wait", "0s",
        ])
        let text = String(decoding: try ResultFile.encode(result), as: UTF8.self)
        #expect(!text.contains("s3cret") && !error.contains("s3cret"))
        #expect(result.echo?.backend == "http://127.0.0.1:1", "\(error)")
        // Nothing is under way without counting as unanswered.
        let echo = try #require(result.echo)
        #expect(echo.latency.unanswered == echo.requests - echo.answered)
    }

    @Test("What cannot be is refused in one line before anything is sent")
    func refused() throws {
        func refusal(_ flags: [String]) throws -> String {
            let folder = OutputFolder()
            let finished = try Programs.run("pushload", ["run", "-n", "10", "--output", folder.path] + flags)
            #expect(finished.status == 64, "\(finished)")
            return finished.error
        }
        #expect(
            try refusal(["--device-model", "on", "--target", "https://127.0.0.1:9", "--no-auth"]).contains(
                "device_model is for the bundled mock, not for a --target"))
        #expect(
            try refusal(["--device-backend", "http://127.0.0.1:9"]).contains(
                "device_backend: goes with device_model, which says what devices ask; give --device-model on"))
        #expect(
            try refusal(["--device-model", "on", "--device-backend", "http://192.0.2.1:9"]).contains(
                "device_backend http://192.0.2.1:9: 192.0.2.1 is not this machine"))
        #expect(
            try refusal(["--device-model", "on", "--device-backend", "backend"]).contains(
                "device_backend backend: expected a URL such as http://127.0.0.1:8080"))
        #expect(
            try refusal(["--threshold", "time_to_content p99 < 1s"]).contains(
                "only a device model says it; give --device-model on, or leave the threshold out"))
        #expect(
            try refusal(["--threshold", "echo.peak < 1k"]).contains(
                "without a device model nothing is asked of a backend; give --device-model on"))
        #expect(
            try refusal(["--device-model", "/none.yaml"])
                == "pushload: device_model: cannot read the device model /none.yaml: No such file or directory\n")
    }
}

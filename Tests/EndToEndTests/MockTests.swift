import Foundation
import Networking
import Testing

@Suite(.serialized, .waitsForPrograms) struct MockTests {
    private func token(_ mock: Mock) throws -> String {
        let finished = try Programs.run("pushload", ["token", "--credentials", mock.folder])
        #expect(finished.status == 0 && finished.output.hasPrefix("bearer "))
        return finished.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private let device = String(repeating: "0a", count: 32)

    /// Status and body as curl sees them.
    private func curl(_ mock: Mock, _ path: String, _ arguments: [String]) throws -> String {
        let finished = try Programs.run(
            "/usr/bin/curl",
            ["-s", "--http2", "--cacert", mock.folder + "/ca.pem", "-w", " %{http_code}", mock.url + path] + arguments)
        return finished.output
    }

    @Test("curl gets the right status and reason for a good push, a bad token, path, method and payload")
    func curlAnswers() throws {
        let mock = try Mock()
        let authorization = ["-H", "authorization: \(try token(mock))", "-H", "apns-topic: com.example.app"]
        let payload = ["-d", "{\"aps\":{\"alert\":\"hi\"}}"]
        #expect(try curl(mock, "/3/device/\(device)", authorization + payload) == " 200")
        #expect(try curl(mock, "/3/device/\(device)", payload) == "{\"reason\":\"MissingProviderToken\"} 403")
        #expect(
            try curl(mock, "/3/device/\(device)", ["-H", "authorization: bearer a.b.c"] + payload)
                == "{\"reason\":\"InvalidProviderToken\"} 403")
        #expect(try curl(mock, "/3/device/xyz", authorization + payload) == "{\"reason\":\"BadDeviceToken\"} 400")
        #expect(try curl(mock, "/1/x", authorization + payload) == "{\"reason\":\"BadPath\"} 404")
        #expect(try curl(mock, "/3/device/\(device)", authorization) == "{\"reason\":\"MethodNotAllowed\"} 405")
        #expect(
            try curl(mock, "/3/device/\(device)", authorization + ["-d", "[1]"]) == "{\"reason\":\"PayloadEmpty\"} 400")
        let large = "{\"aps\":{\"alert\":\"\(String(repeating: "x", count: 5000))\"}}"
        #expect(
            try curl(mock, "/3/device/\(device)", authorization + ["-d", large])
                == "{\"reason\":\"PayloadTooLarge\"} 413")
        let finished = try mock.stop()
        #expect(finished.status == 0)
        #expect(finished.output.contains("requests 8: accepted 1, rejected 7"), "\(finished.output)")
    }

    @Test("nghttp gets 200 and an apns-id, its own when it sends one")
    func nghttp() throws {
        let mock = try Mock(plaintext: true)
        let folder = try OutputFolder.made()
        try "{\"aps\":{}}".write(toFile: folder.path + "/p", atomically: true, encoding: .utf8)
        let identifier = "0e0a4a3c-4b5f-4c1d-9e2f-0123456789ab"
        let finished = try Programs.run(
            "/usr/bin/nghttp",
            [
                "-v", "-n", "-d", folder.path + "/p", "-H", ":method: POST", "-H", "authorization: \(try token(mock))",
                "-H",
                "apns-topic: com.example.app", "-H", "apns-id: \(identifier)", "\(mock.url)/3/device/\(device)",
            ])
        #expect(finished.output.contains(":status: 200"), "\(finished.output)")
        #expect(finished.output.components(separatedBy: "apns-id: \(identifier)").count == 3)
        _ = try mock.stop()
    }

    @Test("h2load, which never looks at SETTINGS again, runs against a mock that allows all streams at once")
    func h2load() throws {
        let mock = try Mock(["--all-streams-at-once"])
        let folder = try OutputFolder.made()
        try "{\"aps\":{\"alert\":\"hi\"}}".write(toFile: folder.path + "/p", atomically: true, encoding: .utf8)
        let finished = try Programs.run(
            "/usr/bin/h2load",
            [
                "-n", "2000", "-c", "2", "-m", "100", "-d", folder.path + "/p", "-H",
                "authorization: \(try token(mock))", "-H",
                "apns-topic: com.example.app", "-H", "apns-push-type: alert", "\(mock.url)/3/device/\(device)",
            ])
        #expect(finished.output.contains("status codes: 2000 2xx, 0 3xx, 0 4xx, 0 5xx"), "\(finished.output)")
        _ = try mock.stop()
    }

    @Test("Counts are printed on SIGUSR1 and at the end, and as JSON when asked")
    func counts() throws {
        let mock = try Mock()
        kill(mock.running.process.processIdentifier, SIGUSR1)
        try mock.running.waitFor("requests 0: accepted 0, rejected 0")
        _ = try mock.stop()
        let running = try Programs.start("mock-apns", ["--port", "0", "--plaintext", "--json"])
        try running.waitFor("\"event\":\"listening\"")
        kill(running.process.processIdentifier, SIGTERM)
        let finished = try running.wait()
        let lines = finished.output.split(separator: "\n")
        #expect(lines.count == 2 && finished.status == 0)
        for line in lines { #expect((try? JSONSerialization.jsonObject(with: Data(line.utf8))) is [String: Any]) }
    }

    @Test("The population decides who is registered, by the tokens pushload prints")
    func population() throws {
        let mock = try Mock(["--devices", "10", "--device-seed", "7"])
        let authorization = [
            "-H", "authorization: \(try token(mock))", "-H", "apns-topic: com.example.app", "-d", "{\"aps\":{}}",
        ]
        func device(_ number: Int) throws -> String {
            try Programs.run("pushload", ["device-token", String(number), "--seed", "7"]).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let several = try Programs.run("pushload", ["device-token", "9", "--seed", "7", "--count", "1k"]).output
        #expect(several.hasPrefix(try device(9) + "\n") && several.count { $0 == "\n" } == 1000)
        #expect(try curl(mock, "/3/device/\(try device(9))", authorization) == " 200")
        #expect(try curl(mock, "/3/device/\(try device(10))", authorization) == "{\"reason\":\"BadDeviceToken\"} 400")
        _ = try mock.stop()
    }

    @Test(
        "A mock that cannot start says why in one line",
        arguments: [
            (["--port", "0", "--cert", "/nonexistent"], Int32(64), "mock-apns: --cert needs --cert-key\n"),
            (
                ["--port", "0", "--key", "/nonexistent", "--key-id", "ABC123DEFG", "--team-id", "ABC123DEFG"], 64,
                "mock-apns: cannot read /nonexistent: No such file or directory\n"
            ),
            (["--port", "0", "--host", "no.such.host.invalid"], 1, nil),
            (
                ["--port", "0", "--stream-window", "x"], 64,
                "mock-apns: --stream-window: \"x\" is not a size; expected for example 64KiB, 1MiB, 200MB or 65535B\n"
            ),
            (["--port", "x"], 64, nil),
        ] as [([String], Int32, String?)])
    func errors(_ arguments: [String], _ status: Int32, _ message: String?) throws {
        let finished = try Programs.run("mock-apns", arguments)
        #expect(finished.status == status && finished.output.isEmpty)
        if let message { #expect(finished.error == message) }
    }

    @Test("A port that is none is told with those there are, also one that looks like a flag")
    func ports() throws {
        for (flag, port) in [
            ("--port", "-1"), ("--port", "99999"), ("--second-port", "65536"), ("--management-port", "-2"),
            ("--second-management-port", "0x1"), ("--admin-port", "+5"),
        ] {
            let finished = try Programs.run("mock-apns", [flag, port])
            #expect(finished.status == 64 && finished.output.isEmpty)
            #expect(finished.error.contains("'\(port)' is invalid for '\(flag) <port>': expected a port, 0 to 65535"))
        }
    }

    @Test("Files that could not be written at the end are told before anybody waits for them")
    func outputs() throws {
        let folder = try OutputFolder.made()
        let pipe = folder.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        for flag in ["--ledger-out", "--times-out"] {
            for (path, problem) in [
                (pipe, "\(pipe): nobody reads from this pipe"),
                ("/nonexistent/x", "/nonexistent/x: cannot write it: No such file or directory"),
                (folder.path, "\(folder.path): expected a file, not a folder"),
                ("\(folder.path)/none/", "\(folder.path)/none/: cannot write it: No such file or directory"),
            ] {
                let finished = try Programs.run("mock-apns", ["--port", "0", "--until-stdin-closes", flag, path])
                #expect(finished.status == 64 && finished.output.isEmpty)
                #expect(finished.error == "mock-apns: \(flag) \(problem)\n")
            }
        }
    }

    @Test("Who reads from a pipe gets all that is written at the end, and does not come to an end before")
    func pipes() throws {
        let folder = try OutputFolder.made()
        for (flag, more) in [("--ledger-out", []), ("--times-out", []), ("--device-log", ["--device-model", "on"])] {
            let path = folder.path + "/pipe" + flag
            #expect(mkfifo(path, 0o600) == 0)
            let pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            defer { close(pipe) }
            let running = try Programs.start("mock-apns", ["--port", "0", "--until-stdin-closes", flag, path] + more)
            try running.waitFor("listening on")
            // A reader comes to its end where the last writer has gone.
            var state = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            #expect(poll(&state, 1, 0) >= 0 && state.revents & Int16(POLLHUP) == 0, "\(flag): \(state)")
            running.closeInput()
            let finished = try running.wait()
            #expect(poll(&state, 1, 0) == 1 && state.revents & Int16(POLLIN) != 0, "\(flag): \(state)")
            #expect(finished.status == 0 && finished.error.isEmpty, "\(flag): \(finished)")
        }
    }

    @Test("Who says again a second later that a server is to end does not wait for a pipe that nobody empties")
    func stuckPipe() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/pipe"
        #expect(mkfifo(path, 0o600) == 0)
        let pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(pipe) }
        while write(pipe, [0], 1) == 1 {}
        let running = try Programs.start("mock-apns", ["--port", "0", "--ledger-out", path])
        try running.waitFor("listening on")
        running.process.terminate()
        try running.waitFor("requests")
        for _ in 0..<1200 where running.process.isRunning {
            usleep(100_000)
            running.process.terminate()
        }
        let finished = try running.wait()
        #expect(finished.status == 128 + SIGTERM, "\(finished)")
        #expect(finished.error == "mock-apns: told twice to end: what was being written is not complete\n")
    }

    @Test("One file for two things is refused at the start, whatever it is called; /dev/null may be named twice")
    func sameOutputs() throws {
        let folder = try OutputFolder.made()
        let file = folder.path + "/out"
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "out")
        for other in [
            file, folder.path + "/../" + (folder.path as NSString).lastPathComponent + "/out", folder.path + "/link",
        ] {
            let finished = try Programs.run(
                "mock-apns", ["--port", "0", "--until-stdin-closes", "--ledger-out", file, "--times-out", other])
            #expect(finished.status == 64 && finished.output.isEmpty)
            #expect(
                finished.error
                    == "mock-apns: --times-out \(other): the same file as --ledger-out; expected one for each\n")
        }
        let logged = try Programs.run(
            "mock-apns",
            [
                "--port", "0", "--until-stdin-closes", "--device-model", "on", "--device-log", file, "--ledger-out",
                folder.path + "/link",
            ])
        #expect(logged.status == 64 && logged.error.contains("the same file as --device-log"), "\(logged)")
        #expect(!FileManager.default.fileExists(atPath: file))
        let mock = try Mock(["--ledger-out", "/dev/null", "--times-out", "/dev/null"])
        #expect(try mock.stop().status == 0)
    }

    @Test("A mock to which no push came writes both files all the same")
    func noPush() throws {
        let folder = try OutputFolder.made()
        let (ledger, times) = (folder.path + "/ledger", folder.path + "/times")
        let mock = try Mock(["--ledger-out", ledger, "--times-out", times])
        #expect(try mock.stop().status == 0)
        for file in [ledger, times] { #expect(FileManager.default.fileExists(atPath: file), "\(file)") }
    }

    @Test("A busy port is named, whatever threads either mock has, and a mock whose parent has gone ends by itself")
    func busy() throws {
        for (first, other) in [("1", "1"), ("2", "1"), ("1", "2"), ("2", "2")] {
            let mock = try Mock(["--threads", first])
            let second = try Programs.run("mock-apns", ["--port", mock.port, "--plaintext", "--threads", other])
            #expect(
                second.status == 1
                    && second.error == "mock-apns: cannot listen on 127.0.0.1:\(mock.port): Address already in use\n")
            _ = try mock.stop()
        }
        let finished = try Programs.run(
            "/bin/sh", ["-c", "\(Programs.path("mock-apns")) --port 0 --plaintext --until-stdin-closes </dev/null"])
        #expect(finished.status == 0 && finished.output.contains("requests 0"))
    }

    @Test(
        "A mock that others can reach has a thread for each core it may use, one on loopback has one, and either says so"
    )
    func threads() throws {
        struct Line: Decodable { let threads: Int }
        let cores = CoreAffinity.allowed().count
        for (arguments, threads) in [
            (["--host", "0.0.0.0"], cores), (["--host", "127.0.0.1"], 1), (["--host", "::1"], 1),
            (["--host", "0.0.0.0", "--threads", "3"], 3),
        ] {
            let finished = try Programs.run(
                "/bin/sh",
                ["-c", "exec \"$0\" --port 0 --plaintext --json --until-stdin-closes \"$@\" </dev/null"]
                    + [Programs.path("mock-apns")] + arguments)
            let line = try #require(finished.output.split(separator: "\n").first)
            #expect(try JSONDecoder().decode(Line.self, from: Data(line.utf8)).threads == threads, "\(finished)")
        }
        let several = try Mock(["--threads", "2"])
        #expect(several.running.text.contains("\n2 threads\n"), "\(several.running.text)")
        _ = try several.stop()
    }

    @Test("Clients that send garbage, stall or vanish leave the mock serving others")
    func hostile() throws {
        let mock = try Mock(plaintext: true)
        for text in [
            "GET / HTTP/1.1\\r\\n\\r\\n", "PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n\\377\\377\\377\\377\\377\\377", "",
        ] {
            _ = try Programs.run(
                "/bin/bash", ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(mock.port); printf '\(text)' >&3; exec 3>&-"])
        }
        let authorization = [
            "-s", "--http2-prior-knowledge", "-H", "authorization: \(try token(mock))", "-H",
            "apns-topic: com.example.app", "-d",
            "{\"aps\":{}}", "-w", "%{http_code}", "\(mock.url)/3/device/\(device)",
        ]
        #expect(try Programs.run("/usr/bin/curl", authorization).output == "200")
        _ = try mock.stop()
    }
}

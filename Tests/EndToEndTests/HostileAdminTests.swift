import Foundation
import Glibc
import Testing

/// What strangers do to the admin port.
@Suite(.serialized, .waitsForPrograms) struct HostileAdminTests {
    private func curl(_ port: String, _ path: String, _ arguments: [String] = []) throws -> String {
        try Programs.run(
            "/usr/bin/curl", ["-s", "--max-time", "120"] + arguments + ["http://127.0.0.1:\(port)\(path)"]
        )
        .output
    }

    /// CPU time of a process, ticks of 10 ms.
    private func ticks(_ running: Running) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(running.process.processIdentifier)/stat", encoding: .utf8)
        let fields = try #require(text.split(separator: ")").last).split(separator: " ")
        return try #require(Int(fields[11])) + (try #require(Int(fields[12])))
    }

    @Test("Requests whose answers nobody reads, and half requests, take little memory; others are served")
    func memory() throws {
        let mock = try Mock(["--admin-port", "0"])
        let port = try mock.port(of: "admin")
        let push = ReasonTests.Request.with {
            $0.body = "{\"aps\":{\"alert\":\"\(String(repeating: "x", count: 3500))\"}}"
        }
        #expect(try ReasonTests.curl(mock, Array(repeating: push, count: 20)).count == 20)
        var clients: [RawClient] = []
        for _ in 0..<3 {
            let client = try RawClient(port: port, preface: false)
            client.write(Array(String(repeating: "GET /pushes HTTP/1.1\r\nHost: a\r\n\r\n", count: 6000).utf8))
            clients.append(client)
        }
        #expect(try curl(port, "/healthz") == "ok\n")
        let half = Array("PUT /faults HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n".utf8)
        for _ in 0..<300 {
            let client = try RawClient(port: port, preface: false)
            client.write(half + [UInt8](repeating: 0x20, count: 900_000))
            clients.append(client)
        }
        #expect(try curl(port, "/healthz") == "ok\n")
        // 64 MiB may wait; the rest is the mock itself and what its allocator has not given back.
        let limit = Programs.isSanitized ? 800_000 : 220_000
        #expect(mock.running.peakMemory < limit, "\(mock.running.peakMemory) kB")
        withExtendedLifetime(clients) {}
        _ = try mock.stop()
    }

    @Test(
        "Without a descriptor left a port rests, which is said once, and goes on when there is one",
        arguments: [("admin on ", 1), ("listening on ", 1), ("listening on ", 3)])
    func descriptors(_ name: String, _ threads: Int) throws {
        let isAdmin = name == "admin on "
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("credentials-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let mock = try Programs.start(
            "/bin/sh",
            [
                "-c",
                "ulimit -n 40; exec \"$0\" --port 0 --admin-port 0 --threads $2 --handshake-timeout 10m --credentials \"$1\"",
                Programs.path("mock-apns"), folder, String(threads),
            ])
        try mock.waitFor("admin on ")
        let line = try #require(mock.text.split(separator: "\n").first { $0.contains(name) })
        let port = String(try #require(line.split(separator: ":").last))
        var clients = try (0..<80).map { _ in try RawClient(port: port, preface: false) }
        let said = "no file descriptor left for another connection" + (isAdmin ? " to the admin port" : "")
        try mock.waitForError(said)
        let before = try ticks(mock)
        sleep(2)
        // Looking four times a second costs next to nothing; looking all the time costs every moment it gets.
        let spent = try ticks(mock) - before
        #expect(spent < 20, "\(spent * 10) ms of CPU time")
        clients.removeAll()
        if isAdmin {
            #expect(try curl(port, "/healthz") == "ok\n")
        } else {
            try mock.waitForError("all connections are accepted again, after ")
        }
        #expect(mock.errorText.components(separatedBy: said).count == 2, "\(mock.errorText)")
        kill(mock.process.processIdentifier, SIGTERM)
        _ = try mock.wait()
    }

    @Test(
        "A web page can neither begin the mock anew nor be it by another name; other programs ask by any private name")
    func webPages() throws {
        let mock = try Mock(["--admin-port", "0", "--admin-name", "mock.example.com"])
        let port = try mock.port(of: "admin")
        #expect(try ReasonTests.curl(mock, [.init()]) == [" 200"])
        let refused = try curl(
            port, "/reset", ["-X", "POST", "-w", "%{http_code}", "-H", "Host: evil.example:\(port)"])
        #expect(
            refused
                == "Host \"evil.example:\(port)\": expected an IP address, localhost, a name without a dot, one that "
                + "ends in .localhost, .localdomain, .local, .internal, .svc, or one said with --admin-name\n403")
        let form = try curl(port, "/reset", ["-X", "POST", "-w", "%{http_code}", "-H", "Origin: http://evil.example"])
        #expect(form == "Origin \"http://evil.example\": not for web pages of other servers\n403")
        #expect(try curl(port, "/stats").contains("\"requests\":1"))
        for name in ["mock-apns", "mock-apns.default.svc.cluster.local", "mock.example.com"] {
            let host = ["-H", "Host: \(name):\(port)"]
            #expect(try curl(port, "/metrics", host).contains("mock_apns_requests_total 1\n"), "\(name)")
        }
        #expect(
            try curl(port, "/reset", ["-X", "POST", "-H", "Origin: http://127.0.0.1:\(port)"]) == "reset\n")
        _ = try mock.stop()
        let wrong = try Programs.run("mock-apns", ["--port", "0", "--admin-name", "mock.example.com:80"])
        #expect(
            wrong.status == 64
                && wrong.error
                    == "mock-apns: --admin-name \"mock.example.com:80\": expected a name without a port, such as mock.example.com\n"
        )
    }

    @Test("A fault plan may not name a file that would be waited for, or is endless")
    func latencyFiles() throws {
        let mock = try Mock(["--admin-port", "0"])
        let port = try mock.port(of: "admin")
        let folder = try OutputFolder.made()
        let (pipe, large) = (folder.path + "/pipe", folder.path + "/large.hgrm")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(FileManager.default.createFile(atPath: large, contents: nil) && truncate(large, (16 << 20) + 1) == 0)
        for (file, problem) in [
            (pipe, "the latency file \(pipe) is no regular file"),
            ("/dev/zero", "the latency file /dev/zero is no regular file"),
            (folder.path, "cannot read the latency file \(folder.path): Is a directory"),
            (large, "the latency file \(large) is larger than 16 MiB"),
        ] {
            let body = "{rules: [{latency: \"hdr \(file)\"}]}"
            let answer = try curl(port, "/faults", ["-X", "PUT", "--data-binary", body, "-w", "%{http_code}"])
            #expect(answer == "faults:1:20: rules[0].latency: \(problem)\n400", "\(answer)")
        }
        #expect(try curl(port, "/healthz") == "ok\n")
        _ = try mock.stop()
    }
}

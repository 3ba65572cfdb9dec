import Foundation
import Testing

@Suite(.waitsForPrograms) struct BackendCommandTests {
    /// A backend that listens.
    private final class Served {
        let running: Running
        let port: String

        init(_ arguments: [String]) throws {
            running = try Programs.start("mock-apns", ["backend", "--port", "0", "--json"] + arguments)
            try running.waitFor("\"event\":\"listening\"")
            let line = try #require(running.text.split(separator: "\n").first)
            let listening = try JSONDecoder().decode(Listening.self, from: Data(line.utf8))
            port = String(listening.port)
            #expect(listening.url.hasSuffix("://127.0.0.1:\(port)"))
        }

        /// Ends it; what it counted.
        func stop(_ signal: Int32 = SIGTERM) throws -> [String: UInt64] {
            kill(running.process.processIdentifier, signal)
            let finished = try running.wait()
            guard signal == SIGTERM else { return [:] }
            #expect(finished.status == 0 && finished.error.isEmpty, "\(finished)")
            return try BackendCommandTests.counts(String(try #require(finished.output.split(separator: "\n").last)))
        }
    }

    private struct Listening: Decodable {
        let port: Int
        let url: String
    }

    private static func counts(_ text: String) throws -> [String: UInt64] {
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
        return object.compactMapValues { ($0 as? NSNumber)?.uint64Value }
    }

    private func posting(_ served: Served, count: Int) throws -> Running {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Python/post_notifications.py"
        return try Programs.start("/usr/bin/env", ["python3", script, served.port, "8", "\(count)"])
    }

    private func ids(_ posting: Running) -> [UInt64] { posting.text.split(separator: "\n").compactMap { UInt64($0) } }

    private func curl(_ arguments: [String]) throws -> String {
        try Programs.run("/usr/bin/curl", ["-s", "-w", " %{http_code}"] + arguments).output
    }

    @Test("A backend that is killed in the middle of POSTs has every notification it answered, and counts on")
    func killed() throws {
        let folder = try OutputFolder.made()
        let store = ["--store", folder.path + "/s.db"]
        let first = try Served(store)
        let killed = try posting(first, count: 1_000_000)
        try killed.waitFor("\n300\n")
        _ = try first.stop(SIGKILL)
        _ = try killed.wait()
        let answered = ids(killed)
        #expect(answered.count >= 300 && Set(answered).count == answered.count)

        let second = try Served(store)
        let stats = try Self.counts(
            try Programs.run("/usr/bin/curl", ["-s", "http://127.0.0.1:\(second.port)/stats"]).output)
        let created = try #require(stats["created"])
        // What was committed and could not be answered any more: at most one request a connection.
        #expect((UInt64(answered.count)...UInt64(answered.count) + 8).contains(created))
        #expect(answered.allSatisfy { (1...created).contains($0) })
        let pages = "http://127.0.0.1:\(second.port)/api/notifications/[1-\(created)]"
        let found = try Programs.run(
            "/usr/bin/curl", ["-s", "-u", "bob:bob", "-o", "/dev/null", "-w", "%{http_code}\n", pages])
        #expect(found.output.split(separator: "\n").allSatisfy { $0 == "200" }, "\(found)")
        #expect(found.output.split(separator: "\n").count == Int(created))

        let rest = try posting(second, count: 100)
        #expect(try rest.wait().status == 0)
        #expect(ids(rest).sorted() == Array(created + 1...created + 100))
        let counts = try second.stop()
        #expect(counts["created"] == created + 100 && counts["fetched"] == created)
        #expect(counts["requests"] == 2 * created + 100)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["s.db"])
    }

    @Test("curl gets a payload back as it gave it, over TLS too, and an attachment of the size it asks for")
    func payloads() throws {
        let folder = try OutputFolder.made()
        let served = try Served(["--credentials", folder.path + "/credentials"])
        let url = "https://127.0.0.1:\(served.port)"
        let file = folder.path + "/payload"
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) })
        try bytes.write(to: URL(fileURLWithPath: file))
        let trust = ["--cacert", folder.path + "/credentials/ca.pem", "-u", "bob:bob"]
        let created = try curl(
            trust + [
                "--data-binary", "@" + file, "-H", "content-type: image/jpeg",
                url + "/api/notifications?message=hi&richType=img",
            ])
        #expect(created == "{\"id\":1}\n 201")
        let fetched = try Programs.run(
            "/usr/bin/curl",
            trust + ["-s", "-o", file + "2", "-w", "%{http_code} %{content_type}", url + "/api/notifications/1"])
        #expect(fetched.output == "200 image/jpeg")
        #expect(try Data(contentsOf: URL(fileURLWithPath: file + "2")) == bytes)
        let attachment = try Programs.run(
            "/usr/bin/curl",
            trust + [
                "-s", "-o", "/dev/null", "-w", "%{http_code} %{content_type} %{size_download}",
                url + "/attachments/3MiB.jpg",
            ])
        #expect(attachment.output == "200 image/jpeg 3145728")
        #expect(try curl(trust + [url + "/attachments/much"]).hasSuffix(" 404"))
        let counts = try served.stop()
        #expect(counts["created"] == 1 && counts["fetched"] == 1 && counts["attachments"] == 1)
        #expect(counts["refused"] == 1 && counts["requests"] == 4)
    }

    @Test("A backend that cannot start says why in one line, and leaves nothing behind")
    func errors() throws {
        let folder = try OutputFolder.made()
        let store = folder.path + "/s.db"
        for (arguments, status, message) in [
            (["--users", "/nonexistent"], 64, "cannot read the file of users /nonexistent: No such file or directory"),
            (
                ["--reject", "200=1%"], 64,
                "--reject: \"200\" is not a status of an error; expected 400 to 599, as in 503"
            ),
            (
                ["--silent", "60%", "--reset", "60%"], 64,
                "--reject, --silent, --reset and --empty: the shares add up to more than 100%"
            ),
            (["--payload-size", "11MiB"], 64, "--payload-size 11MiB: expected 0 to 10485760 bytes"),
            (["--store", folder.path], 64, "--store \(folder.path): expected a file, not a folder"),
            (["--host", "no.such.host.invalid"], 1, nil),
        ] as [([String], Int32, String?)] {
            let finished = try Programs.run("mock-apns", ["backend", "--port", "0", "--store", store] + arguments)
            #expect(finished.status == status && finished.output.isEmpty, "\(finished)")
            #expect(finished.error.split(separator: "\n").count == 1)
            if let message { #expect(finished.error == "mock-apns: \(message)\n") }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
        let first = try Served(["--store", store])
        let second = try Programs.run("mock-apns", ["backend", "--port", "0", "--store", store])
        #expect(second.status == 1 && second.error == "mock-apns: \(store): another program has it open\n")
        _ = try first.stop()
    }

    @Test("A backend whose parent has gone ends by itself, with a line of what it counted")
    func parentless() throws {
        let finished = try Programs.run(
            "/bin/sh",
            ["-c", "\(Programs.path("mock-apns")) backend --port 0 --until-stdin-closes --latency 1s </dev/null"])
        #expect(finished.status == 0)
        let lines = finished.output.split(separator: "\n")
        #expect(lines.count == 4 && lines[0].hasPrefix("mock-apns backend listening on http://127.0.0.1:"))
        #expect(lines[1].hasPrefix("no --store given") && lines[2].hasPrefix("faults on, seed "))
        #expect(lines[3] == "requests 0")
    }
}

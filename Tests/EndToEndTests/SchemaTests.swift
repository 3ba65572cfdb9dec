import Foundation
import Testing

/// What the mock prints, by the schemas of docs/schemas (jsonschema from PyPI).
@Suite(.serialized, .waitsForPrograms) struct SchemaTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    private func check(_ schema: String, _ text: String, lines: Bool = false) throws -> Finished {
        let python = Self.root + "/.build/python/bin/python3"
        try #require(FileManager.default.isExecutableFile(atPath: python), "run make test-deps first")
        let folder = try OutputFolder.made()
        let file = folder.path + "/document"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let script = Self.root + "/Tests/EndToEndTests/Python/schemas.py"
        let command = #""$1" "$2" "$3" $5 < "$4""#
        return try Programs.run(
            "/bin/sh",
            [
                "-c", command, "sh", python, script, Self.root + "/docs/schemas/\(schema).json", file,
                lines ? "--lines" : "",
            ])
    }

    private func expect(_ schema: String, _ text: String, lines: Bool = false, count: Int = 1) throws {
        let finished = try check(schema, text, lines: lines)
        #expect(
            finished.status == 0 && finished.output == "\(count) documents, 0 problems\n",
            "\(schema): \(finished) \(text)")
    }

    /// With rules that make every kind of answer, and devices that do everything there is.
    @Test(
        "/stats, /pushes, /events, /unique and the lines of --json are as their schemas say",
        arguments: [
            ["--second-port", "0", "--management-port", "0", "--offline", "10%", "--fault-seed", "3"],
            ["--namespace-by", "topic"],
            ["--device-model", AudienceTests.root + "/mock-apns/examples/test-device.yaml"],
        ])
    func documents(_ flags: [String]) throws {
        let mock = try SchemaMock(flags)
        let port = try mock.port(of: "admin")
        func admin(_ path: String) throws -> String {
            try Programs.run("/usr/bin/curl", ["-s", "http://127.0.0.1:\(port)\(path)"]).output
        }
        let stream = try Programs.start(
            "/usr/bin/curl", ["-sN", "--max-time", "60", "http://127.0.0.1:\(port)/events"])
        try stream.waitFor(": ready")
        let url = try #require(mock.endpoints["production"])
        for headers in [
            ["apns-topic: com.a"], ["apns-topic: com.b.voip", "apns-push-type: voip", "apns-priority: 5"],
            ["apns-topic: com.a", "apns-expiration: 9999999999", "apns-collapse-id: c", "x-odd: é"], [],
        ] {
            let pushed = try Programs.run(
                "/usr/bin/curl",
                ["-s", "--http2-prior-knowledge", "--data-binary", "{\"aps\":{\"alert\":\"hi\"}}"]
                    + headers.flatMap { ["-H", $0] } + ["\(url)/3/device/\(ReasonTests.device)"])
            #expect(pushed.status == 0)
        }
        try stream.waitFor("\"collapse_id\":\"c\"")
        let events = stream.text.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map { $0.dropFirst(6) }
        #expect(events.count == 3, "\(stream.text)")
        try expect("event", events.joined(separator: "\n"), lines: true, count: events.count)
        try expect("stats", try admin("/stats"))
        try expect("pushes", try admin("/pushes"))
        let lines = try admin("/pushes?format=ndjson")
        try expect("push", lines, lines: true, count: 4)
        for line in lines.split(separator: "\n") {
            let push = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            try expect("unique", try admin("/unique/\(push?["unique_id"] as? String ?? "")"))
        }
        if flags.contains("--namespace-by") { try expect("stats", try admin("/stats?namespace=com.a")) }
        kill(stream.process.processIdentifier, SIGTERM)
        let printed = try mock.stop().output.split(separator: "\n").map(String.init)
        #expect(printed.count == 2, "\(printed)")
        try expect("listening", printed[0])
        try expect("counts", printed[1])
    }

    @Test("A document that is not as its schema says is found out")
    func mistakes() throws {
        let event = "{\"event\":\"listening\",\"port\":1,\"url\":\"u\",\"endpoints\":{},\"threads\":1}"
        try expect("listening", event)
        for (right, wrong, problem) in [
            ("\"port\":1", "\"port\":0", "1: port: 0 is less than the minimum of 1"),
            (",\"threads\":1", "", "1: : 'threads' is a required property"),
            ("{\"event", "{\"more\":1,\"event", "1: : Additional properties are not allowed ('more' was unexpected)"),
        ] {
            let finished = try check("listening", event.replacing(right, with: wrong))
            #expect(finished.status == 1 && finished.output.hasPrefix(problem), "\(finished)")
        }
        // By way of the schema that it refers to.
        #expect(try check("pushes", "[{}]").output.contains("1: 0: 'id' is a required property"))
        #expect(try check("pushes", "", lines: true).status == 1)
    }
}

/// A mock in plaintext that prints what machines read.
private final class SchemaMock {
    let running: Running
    let endpoints: [String: String]

    init(_ flags: [String]) throws {
        running = try Programs.start(
            "mock-apns", ["--port", "0", "--plaintext", "--admin-port", "0", "--json"] + flags)
        try running.waitFor("\n")
        let line = try JSONSerialization.jsonObject(with: Data(running.text.utf8)) as? [String: Any]
        endpoints = try #require(line?["endpoints"] as? [String: String], "\(running.text)")
    }

    func port(of name: String) throws -> String {
        String(try #require(endpoints[name]?.split(separator: ":").last))
    }

    func stop() throws -> Finished {
        kill(running.process.processIdentifier, SIGTERM)
        return try running.wait()
    }
}

import Foundation
import Testing

/// Other people's clients, with the scripts of Tests/Clients; those whose installation is large (Go, Java) are run by
/// `make test-clients` only.
@Suite(.serialized, .waitsForPrograms) struct ClientTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let python = root.appendingPathComponent(".build/python/bin/python3").path

    @Test(
        "A client's burst on a fresh connection is accepted push by push",
        arguments: ["curl", "nghttp", "Node", "Python"])
    func burst(_ client: String) throws {
        try #require(FileManager.default.isExecutableFile(atPath: Self.python), "run make test-deps first")
        let finished = try Programs.run(
            Self.python,
            [Self.root.path + "/Tests/Clients/run.py", Programs.folder.path, "--count", "300", "--only", client])
        #expect(finished.status == 0, "\(finished.output)\(finished.error)")
        #expect(finished.output.contains("300 × 200") && finished.output.hasSuffix(" passed, 0 failed\n"))
    }

    @Test("Without ALPN and without HTTP/2's preface a connection is ended, logged and counted")
    func neither() throws {
        let mock = try Mock(["-v"])
        let finished = try Programs.run(
            "/bin/sh",
            [
                "-c",
                "printf 'GET / HTTP/1.1\\r\\n\\r\\n' | openssl s_client -quiet -connect 127.0.0.1:\(mock.port) "
                    + "-CAfile \(mock.folder)/ca.pem",
            ])
        #expect(!finished.output.contains("HTTP/1.1"), "\(finished.output)")
        try mock.running.waitForError("not HTTP/2: no connection preface")
        #expect(mock.running.errorText.contains(" without ALPN, production"))
        #expect(try mock.stop().output.contains("connections accepted 1, open 0, failed before HTTP/2 1"))
    }
}

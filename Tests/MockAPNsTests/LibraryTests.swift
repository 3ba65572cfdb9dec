import Foundation
import Logging
import MockAPNs
import Networking
import Signing
import Testing

/// The mock in a test of somebody else's, as docs/library.md shows it.
@Suite struct LibraryTests {
    @Test("The mock runs in a test's own process, and a client that trusts its authority is answered")
    func inProcess() throws {
        let credentials = try Credentials.ephemeral()  // a provider key and certificates, in memory only
        let server = try #require(credentials.server)
        var configuration = MockConfiguration()
        configuration.accounts = [ProviderAccount(credentials.identity)]
        var tls = TLSOptions()
        tls.identity = TLSIdentity(
            certificate: server.certificate, key: server.key, certificateOrigin: "certificate", keyOrigin: "key")
        configuration.tls = tls
        let mock = try MockServer(configuration, logger: Logger(label: "mock-apns"))
        defer { mock.stop() }

        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let authority = folder.appendingPathComponent("ca.pem")
        try Data(credentials.ca).write(to: authority)
        let token = try TokenSigner.bearer(credentials.identity, unixTime: Int64(Date().timeIntervalSince1970))
        let curl = Process()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        curl.arguments = [
            "--silent", "--fail", "--http2", "--cacert", authority.path, "-H", "authorization: \(token)", "-H",
            "apns-topic: com.example.app", "-d", #"{"aps":{"alert":"hi"}}"#,
            mock.url + "/3/device/" + String(repeating: "0a", count: 32),
        ]
        try curl.run()
        curl.waitUntilExit()
        #expect(curl.terminationStatus == 0)
        #expect(mock.counts.accepted == 1 && mock.counts.rejected == 0, "\(mock.counts)")
    }
}

import Foundation
import Logging
import MockAPNs
import Networking
import PushSender
import Signing
import Testing

/// A mock for one test, and a sender that trusts it.
private final class Fixture {
    let mock: MockServer
    let sender: PushSender
    private let trusted = FileManager.default.temporaryDirectory.appendingPathComponent("ca-\(UUID()).pem")

    init() throws {
        let credentials = try Credentials.ephemeral()
        let server = try #require(credentials.server)
        var tls = TLSOptions()
        tls.identity = TLSIdentity(
            certificate: server.certificate, key: server.key, certificateOrigin: "certificate", keyOrigin: "key")
        var configuration = MockConfiguration()
        configuration.accounts = [ProviderAccount(credentials.identity)]
        configuration.tls = tls
        mock = try MockServer(configuration, logger: Logger(label: "mock-apns"))
        try Data(credentials.ca).write(to: trusted)
        sender = PushSender(
            server: mock.url,
            token: try TokenSigner.bearer(credentials.identity, unixTime: Int64(Date().timeIntervalSince1970)),
            topic: credentials.topic, trusted: trusted.path)
    }

    deinit {
        mock.stop()
        try? FileManager.default.removeItem(at: trusted)
    }
}

@Suite struct PushSenderTests {
    private let device = String(repeating: "0a", count: 32)

    @Test func aPushIsAccepted() throws {
        let fixture = try Fixture()
        let answer = try fixture.sender.send(#"{"aps":{"alert":"hello"}}"#, to: device)
        #expect(answer.status == 200 && answer.body.isEmpty)
        #expect(fixture.mock.counts.accepted == 1)
    }

    @Test func aPushWithoutPayloadIsRefused() throws {
        let fixture = try Fixture()
        let answer = try fixture.sender.send("[]", to: device)
        #expect(answer.status == 400 && answer.body == #"{"reason":"PayloadEmpty"}"#)
        #expect(fixture.mock.counts.accepted == 0)
    }

    @Test func everyMockIsOneOfItsOwn() throws {
        let (one, other) = (try Fixture(), try Fixture())
        _ = try one.sender.send(#"{"aps":{"alert":"hello"}}"#, to: device)
        #expect(one.mock.port != other.mock.port && other.mock.counts.accepted == 0)
    }
}

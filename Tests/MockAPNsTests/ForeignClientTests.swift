import Foundation
import HTTP2
import Logging
import Testing

@testable import MockAPNs
@testable import Signing

/// The bytes of provider libraries that no package has, sent again: APNSwift's tokens, headers and payloads, and Pushy's frames.
@Suite struct ForeignClientTests {
    private let identity: ProviderIdentity
    init() throws { identity = try ProviderIdentity(key: .ephemeral(), keyID: "ABC123DEFG", teamID: "TEAM567890") }

    private func start() throws -> MockServer {
        var configuration = MockConfiguration()
        configuration.accounts = [ProviderAccount(identity)]
        return try MockServer(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// The answer's `:status` and reason.
    private func answer(_ client: FrameClient, _ stream: Int32) -> String {
        guard let head = client.wait({ $0.type == Frame.headers && $0.stream == stream }) else { return "none" }
        if head.flags & Frame.endStream != 0 { return head.payload.contains(0x88) ? "200" : "\(head.payload)" }
        let body = client.wait { $0.type == Frame.data && $0.stream == stream }
        return String(decoding: body?.payload ?? [], as: UTF8.self)
    }

    @Test("APNSwift: a token of several lines with a quoted iat and a second kid, and payloads of the app's data alone")
    func apnSwift() throws {
        let server = try start()
        let client = try FrameClient(port: server.port)
        let token = try TokenWriter(identity).write(
            header: """
                {
                    "alg": "ES256",
                    "typ": "JWT",
                    "kid": "ABC123DEFG"
                }
                """,
            claims: """
                {
                    "iss": "TEAM567890",
                    "iat": "\(Int64(time(nil)))",
                    "kid": "ABC123DEFG"
                }
                """)
        var stream: Int32 = 1
        func push(_ type: String, _ suffix: String, _ payload: String, priority: String = "10") -> String {
            defer { stream += 2 }
            // The order of AsyncHTTPClient: pseudo-headers, the client's own two, then APNs'.
            let fields = [
                (":method", "POST"), (":path", "/3/device/" + String(repeating: "98", count: 32)),
                (":authority", "localhost:\(server.port)"), (":scheme", "https"), ("content-type", "application/json"),
                ("user-agent", "APNS/swift-nio"), ("apns-push-type", type), ("apns-expiration", "0"),
                ("apns-priority", priority), ("apns-topic", "com.example.app" + suffix),
                ("authorization", "bearer " + String(decoding: token, as: UTF8.self)),
                ("content-length", String(payload.utf8.count)),
            ]
            client.send(
                FrameClient.frame(Frame.headers, flags: Frame.endHeaders, stream: stream, FrameClient.block(fields))
                    + FrameClient.frame(Frame.data, flags: Frame.endStream, stream: stream, Array(payload.utf8)))
            return answer(client, stream)
        }
        let data = "{\"acme1\":\"hey\",\"acme2\":2}"
        #expect(push("alert", "", "{\"aps\":{\"alert\":{\"title\":\"hey\"}}}") == "200")
        #expect(push("voip", ".voip", data) == "200")
        #expect(push("complication", ".complication", data) == "200")
        #expect(push("fileprovider", ".pushkit.fileprovider", data) == "200")
        #expect(push("location", ".location-query", "{}") == "200")
        #expect(push("pushtotalk", ".voip-ptt", data) == "200")
        #expect(push("background", "", data, priority: "5") == "{\"reason\":\"PayloadEmpty\"}")
        #expect(push("alert", "", data) == "{\"reason\":\"PayloadEmpty\"}")
        #expect(push("voip", ".voip", "") == "{\"reason\":\"PayloadEmpty\"}")
        server.stop()
    }

    @Test(
        "Pushy: SETTINGS without server push, then requests of literals that enter the table, and of references to it")
    func pushy() throws {
        let server = try start()
        let client = try FrameClient(port: server.port, greeting: false)
        let token = try TokenSigner.bearer(identity, unixTime: Int64(time(nil)))
        func literal(_ text: String) -> [UInt8] {
            let count = text.utf8.count
            let length =
                count < 127 ? [UInt8(count)] : [127, UInt8((count - 127) & 127) | 128, UInt8((count - 127) >> 7)]
            return length + Array(text.utf8)
        }
        // RFC 7541 section 6.2.1, by the static table's names where it has them, as Netty's encoder writes them.
        func entered(_ name: UInt8, _ value: String) -> [UInt8] { [0x40 | name] + literal(value) }
        func entered(_ name: String, _ value: String) -> [UInt8] { [0x40] + literal(name) + literal(value) }
        let path = { (digits: String) in "/3/device/" + String(repeating: digits, count: 32) }
        let first: [UInt8] =
            [0x83] + entered(1, "localhost:\(server.port)") + entered(4, path("ab")) + [0x87]
            + entered("apns-expiration", "0")
            + entered("apns-priority", "10") + entered("apns-push-type", "alert")
            + entered("apns-topic", "com.example.app")
            + entered(23, token)
        // The newest entry is 62: authorization, topic, push type, priority, expiration, path, authority.
        let second: [UInt8] = [0x83, 0xC4] + entered(4, path("cd")) + [0x87, 0xC3, 0xC2, 0xC1, 0xC0, 0xBF].map { $0 }
        client.send(
            Frame.preface
                + FrameClient.frame(Frame.settings, [0, 2, 0, 0, 0, 0, 0, 6, 0, 0, 0x20, 0])
                + FrameClient.frame(Frame.headers, flags: Frame.endHeaders, stream: 1, first)
                + FrameClient.frame(Frame.data, flags: Frame.endStream, stream: 1, FrameClient.payload))
        #expect(answer(client, 1) == "200")
        client.send(
            FrameClient.frame(Frame.settings, flags: Frame.acknowledgement)
                + FrameClient.frame(Frame.headers, flags: Frame.endHeaders, stream: 3, second)
                + FrameClient.frame(Frame.data, flags: Frame.endStream, stream: 3, FrameClient.payload))
        #expect(answer(client, 3) == "200")
        server.stop()
    }
}

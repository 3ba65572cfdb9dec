import HTTP2
import Networking
import Testing

@testable import Transport

@Suite(.serialized) struct WireViolationTests {
    private static func frame(_ type: UInt8, _ flags: UInt8 = 0, _ stream: Int32 = 0, _ payload: [UInt8] = [])
        -> [UInt8]
    {
        var bytes = [UInt8](repeating: 0, count: 9)
        Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: stream, into: &bytes)
        return bytes + payload
    }

    private static let settings = frame(Frame.settings)

    private func code(_ bytes: [UInt8]) throws -> (code: ErrorCode?, outcomes: [String]) {
        let server = try RawServer(bytes)
        let control = RunControl()
        var options = TransportOptions()
        options.engine = .wire
        options.streams = 4
        options.pushTimeout = 1_000_000_000
        options.giveUpAfter = 300_000_000
        options.backoffBase = 1_000_000_000
        let driver = OnePush(control)
        let client = try PushClient(
            target: Target(address: server.address, host: "127.0.0.1", authority: "a", tls: nil), options: options,
            driver: driver, control: control, headerSets: [[]], tokenCapacity: 64, payloadCapacity: 64)
        client.run()
        return (server.goAwayCode(), driver.outcomes)
    }

    @Test(
        "Each violation of RFC 9113 ends the connection with its error code",
        arguments: [
            (
                "the first frame is not SETTINGS", frame(Frame.ping, 0, 0, [UInt8](repeating: 0, count: 8)),
                ErrorCode.protocolError
            ),
            ("a frame larger than allowed", settings + [0x01, 0x00, 0x00, 0, 0, 0, 0, 0, 1], .frameSizeError),
            ("SETTINGS on a stream", settings + frame(Frame.settings, 0, 1), .protocolError),
            ("SETTINGS of a wrong length", settings + frame(Frame.settings, 0, 0, [0, 0, 0]), .frameSizeError),
            (
                "an acknowledgement with content", settings + frame(Frame.settings, 1, 0, [0, 3, 0, 0, 0, 1]),
                .frameSizeError
            ),
            ("a window beyond 2^31-1", frame(Frame.settings, 0, 0, [0, 4, 0x80, 0, 0, 0]), .flowControlError),
            ("a frame size below 2^14", frame(Frame.settings, 0, 0, [0, 5, 0, 0, 0, 1]), .protocolError),
            ("push from the server", frame(Frame.settings, 0, 0, [0, 2, 0, 0, 0, 1]), .protocolError),
            ("PING of a wrong length", settings + frame(Frame.ping, 0, 0, [1]), .frameSizeError),
            ("PING on a stream", settings + frame(Frame.ping, 0, 1, [UInt8](repeating: 0, count: 8)), .protocolError),
            ("GOAWAY too short", settings + frame(Frame.goAway, 0, 0, [0]), .frameSizeError),
            ("WINDOW_UPDATE by nothing", settings + frame(Frame.windowUpdate, 0, 0, [0, 0, 0, 0]), .protocolError),
            (
                "WINDOW_UPDATE beyond 2^31-1", settings + frame(Frame.windowUpdate, 0, 0, [0x7F, 0xFF, 0xFF, 0xFF]),
                .flowControlError
            ),
            ("WINDOW_UPDATE of a wrong length", settings + frame(Frame.windowUpdate, 0, 0, [1]), .frameSizeError),
            ("PUSH_PROMISE", settings + frame(Frame.pushPromise, 4, 1, [0, 0, 0, 2]), .protocolError),
            ("HEADERS on stream 0", settings + frame(Frame.headers, 5, 0, [0x88]), .protocolError),
            ("HEADERS on a stream never opened", settings + frame(Frame.headers, 5, 99, [0x88]), .protocolError),
            ("HEADERS on a stream of the server's", settings + frame(Frame.headers, 5, 2, [0x88]), .protocolError),
            ("padding longer than the frame", settings + frame(Frame.data, 8, 0, [9]), .protocolError),
            ("DATA on a stream never opened", settings + frame(Frame.data, 0, 99, [1]), .protocolError),
            (
                "RST_STREAM on a stream never opened", settings + frame(Frame.reset, 0, 99, [0, 0, 0, 8]),
                .protocolError
            ),
            ("CONTINUATION without HEADERS", settings + frame(Frame.continuation, 4, 1, [0x88]), .protocolError),
            ("PRIORITY of a wrong length", settings + frame(Frame.priority, 0, 1, [1]), .frameSizeError),
        ] as [(String, [UInt8], ErrorCode)])
    func violations(_ name: String, _ bytes: [UInt8], _ expected: ErrorCode) throws {
        let (code, _) = try code(bytes)
        #expect(code == expected, "\(name)")
    }

    @Test("Unknown frames and settings, PING and PRIORITY are taken calmly, and a cut frame is put together")
    func calm() throws {
        let (code, outcomes) = try code(
            Self.frame(Frame.settings, 0, 0, [0xAA, 0xAA, 0, 0, 0, 1]) + Self.frame(200, 255, 7, [1, 2, 3])
                + Self.frame(Frame.ping, 0, 0, [UInt8](repeating: 7, count: 8))
                + Self.frame(Frame.priority, 0, 1, [0, 0, 0, 0, 1])
                + Self.frame(Frame.settings, 1))
        #expect(code == nil && outcomes == ["failed(push_timeout)"])
    }
}

import Testing

@testable import HTTP2

@Suite struct WireViolationTests {
    private static let settings = frame(Frame.settings)

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
    func violations(_ name: String, _ bytes: [UInt8], _ expected: ErrorCode) {
        let client = HandTurnedClient(isWire: true)
        _ = client.output()
        #expect(client.receive(bytes)?.code == expected, "\(name)")
        let goAway = frame(Frame.goAway, 0, 0, [0, 0, 0, 0, 0, 0, 0, UInt8(expected.rawValue)])
        #expect(Array(client.output().suffix(goAway.count)) == goAway, "\(name)")
        // It is not listened to any more.
        #expect(client.receive(bytes) == nil && client.output().isEmpty)
    }

    @Test("Unknown frames and settings, PING and PRIORITY are taken calmly, and a cut frame is put together")
    func calm() {
        let ping = [UInt8](repeating: 7, count: 8)
        let bytes =
            frame(Frame.settings, 0, 0, [0xAA, 0xAA, 0, 0, 0, 1]) + frame(200, 255, 7, [1, 2, 3])
            + frame(Frame.ping, 0, 0, ping) + frame(Frame.priority, 0, 1, [0, 0, 0, 0, 1]) + frame(Frame.settings, 1)
        for size in [1, 5, 9, 11, bytes.count] {
            let client = HandTurnedClient(isWire: true)
            _ = client.output()
            for start in stride(from: 0, to: bytes.count, by: size) {
                #expect(client.receive(Array(bytes[start..<min(start + size, bytes.count)])) == nil)
            }
            #expect(client.output() == frame(Frame.settings, 1) + frame(Frame.ping, 1, 0, ping))
            #expect(client.send("/1", payload: [1]))
            #expect(client.receive(frame(Frame.headers, Frame.endHeaders | Frame.endStream, 1, [0x88])) == nil)
            #expect(client.endings == [1: .answered(status: 200)])
        }
    }
}

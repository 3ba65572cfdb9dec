import Testing

@testable import HTTP2

/// What a client may have the server's session do, with the clock standing still.
@Suite struct ServerBoundsTests {
    private final class Server: ServerSession {
        /// What each answer's body has.
        var bodies: [Int32: Int] = [:]

        init() {
            super.init(settings: SessionSettings(), names: Self.names { _, _ in 0 })
            _ = receive(Frame.preface + ServerBoundsTests.frame(Frame.settings))
            _ = output()
        }

        override var monotonicSeconds: Double { 1 }

        override func didEnd(stream: Int32, context: UInt) {
            let block = ResponseBlock(capacity: 16)
            block.addStatus(400)
            submitResponse(block, stream: stream, hasBody: true)
        }

        override func nextData(
            stream: Int32, buffer: UnsafeMutablePointer<UInt8>, capacity: Int, isLast: inout Bool
        ) -> Int {
            let count = min(capacity, 10)
            buffer.update(repeating: 0x62, count: count)
            isLast = count == 10
            bodies[stream, default: 0] += count
            return count
        }

        func receive(_ bytes: [UInt8]) -> String? { receive(bytes, count: bytes.count) }

        func output() -> [UInt8] {
            var bytes: UnsafePointer<UInt8>?
            let count = nextOutput(&bytes)
            return count > 0 ? Array(UnsafeBufferPointer(start: bytes, count: count)) : []
        }
    }

    private static func frame(_ type: UInt8, _ flags: UInt8 = 0, _ stream: Int32 = 0, _ payload: [UInt8] = [])
        -> [UInt8]
    {
        var bytes = [UInt8](repeating: 0, count: 9)
        Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: stream, into: &bytes)
        return bytes + payload
    }
    private static func window(_ size: UInt32) -> [UInt8] {
        [0, 4] + (0..<4).map { UInt8(size >> (24 - 8 * $0) & 255) }
    }

    /// POST, http, a path of "/".
    private static let request: [UInt8] = [0x83, 0x86, 0x84]

    @Test(
        "10.5: streams that the client has the server reset count as those it resets itself",
        arguments: [
            ("a window opened by nothing", Frame.windowUpdate, [0, 0, 0, 0]),
            ("DATA after END_STREAM", Frame.data, [1]), ("a PRIORITY of 4 bytes", Frame.priority, [0, 0, 0, 0]),
            ("RST_STREAM", Frame.reset, [0, 0, 0, 8]),
        ] as [(String, UInt8, [UInt8])])
    func provokedResets(_ name: String, _ type: UInt8, _ payload: [UInt8]) {
        let server = Server()
        // Answers are held back, so that no stream ends by itself.
        _ = server.receive(Self.frame(Frame.settings, 0, 0, Self.window(0)))
        var count: Int32 = 0
        var problem: String?
        var said: [UInt8] = []
        while problem == nil, count < 5000 {
            let stream = 2 * count + 1
            problem = server.receive(
                Self.frame(Frame.headers, Frame.endHeaders | Frame.endStream, stream, Self.request)
                    + Self.frame(type, 0, stream, payload))
            said = server.output()
            count += 1
        }
        #expect(count == 1001 && problem == "streams reset too often", "\(name): \(count)")
        #expect(said.suffix(4) == [0, 0, 0, 11] && !server.isAlive, "\(name)")
    }

    @Test("6.9.2: of the windows that one SETTINGS frame names, the last lets out what it allows, and no other does")
    func initialWindow() {
        let server = Server()
        _ = server.receive(Self.frame(Frame.settings, 0, 0, Self.window(0)))
        _ = server.receive(Self.frame(Frame.headers, 5, 1, Self.request))
        #expect(server.receive(Self.frame(Frame.settings, 0, 0, Self.window(100) + Self.window(0))) == nil)
        #expect(server.bodies.isEmpty)
        #expect(server.receive(Self.frame(Frame.settings, 0, 0, Self.window(0) + Self.window(100))) == nil)
        #expect(server.bodies == [1: 10])
    }

    @Test("6.9.2: a window beyond 2^31-1 is an error, also when the same SETTINGS frame takes it back")
    func windowForAMoment() {
        let server = Server()
        _ = server.receive(Self.frame(Frame.headers, Frame.endHeaders, 1, Self.request))
        _ = server.receive(Self.frame(Frame.windowUpdate, 0, 1, [0, 0, 0, 1]))
        let settings = Self.frame(Frame.settings, 0, 0, Self.window(0x7FFF_FFFF) + Self.window(65_535))
        #expect(server.receive(settings) == "a stream's window beyond 2^31-1")
    }
}

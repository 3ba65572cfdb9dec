import Testing

@testable import HTTP2

/// What a client may have the server's session do, with the clock standing still.
@Suite struct ServerBoundsTests {
    private final class Server: ServerSession {
        /// What each answer's body has.
        var bodies: [Int32: Int] = [:]
        /// Bytes of each answer's body.
        var size = 10
        /// Pieces of bodies that were asked for.
        var pieces = 0

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
            let count = min(capacity, size - bodies[stream, default: 0])
            buffer.update(repeating: 0x62, count: count)
            bodies[stream, default: 0] += count
            isLast = bodies[stream] == size
            pieces += 1
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

    @Test(
        "10.5: answers that wait for windows are looked at once a read, however often it opens the connection's window")
    func windowFlood() {
        let server = Server()
        server.size = 100_000
        // The windows of the connection and of its stream are used up.
        _ = server.receive(Self.frame(Frame.headers, 5, 1, Self.request))
        #expect(server.bodies == [1: 65_535])
        _ = server.receive(Self.frame(Frame.windowUpdate, 0, 1, [0, 0, 255, 0]))
        #expect(server.bodies == [1: 65_535])
        server.pieces = 0
        let flood = [[UInt8]](repeating: Self.frame(Frame.windowUpdate, 0, 0, [0, 0, 0, 1]), count: 1000)
        #expect(server.receive(flood.flatMap { $0 }) == nil)
        #expect(server.bodies == [1: 66_535] && server.pieces == 1)
    }

    @Test("Memory for long header fields is given back after the read")
    func longFields() {
        let server = Server()
        // Huffman-coded: "0" has five bits.
        let coded = [UInt8](repeating: 0, count: 40_000)
        let field: [UInt8] = [0x00, 0x01, 0x61, 0xFF, 0xC1, 0xB7, 0x02] + coded
        let block = Self.request + field
        var bytes = Self.frame(Frame.headers, Frame.endStream, 1, Array(block.prefix(16_000)))
        bytes += Self.frame(Frame.continuation, 0, 1, Array(block[16_000..<32_000]))
        bytes += Self.frame(Frame.continuation, Frame.endHeaders, 1, Array(block[32_000...]))
        #expect(server.receive(bytes) == nil && server.bodies.count == 1)
        #expect(server.decoder.scratchCapacity > 60_000)
        server.shrinkInput()
        #expect(server.decoder.scratchCapacity < 5000)
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

import Testing

@testable import HTTP2

/// Answers 400 and "no", or nothing.
private final class Server: ServerSession {
    var paths: [String] = []
    var bodies: [Int32: [UInt8]] = [:]
    var responds = true
    private let block = ResponseBlock(capacity: 16)

    init(_ change: (inout SessionSettings) -> Void = { _ in }) {
        var settings = SessionSettings()
        change(&settings)
        block.addStatus(400)
        super.init(settings: settings, names: Self.names { _, _ in 0 })
    }

    override func didReceiveHeader(context: UInt, _ field: HPACKField) -> Bool {
        let name = String(decoding: UnsafeBufferPointer(start: field.name, count: field.nameLength), as: UTF8.self)
        if name == ":path" {
            paths.append(
                String(decoding: UnsafeBufferPointer(start: field.value, count: field.valueLength), as: UTF8.self))
        }
        return true
    }
    override func didReceiveData(stream: Int32, context: UInt, _ bytes: UnsafePointer<UInt8>, _ count: Int) {
        bodies[stream, default: []] += UnsafeBufferPointer(start: bytes, count: count)
    }
    override func didEnd(stream: Int32, context: UInt) {
        if responds { submitResponse(block, stream: stream, hasBody: true) }
    }
    override func nextData(stream: Int32, buffer: UnsafeMutablePointer<UInt8>, capacity: Int, isLast: inout Bool) -> Int
    {
        isLast = true
        buffer.update(from: Array("no".utf8), count: 2)
        return 2
    }
}

/// Both client sessions, turned by hand against the server's.
@Suite struct ClientSessionTests {
    /// Carries what both sides say to each other until both are silent.
    private func exchange(_ client: HandTurnedClient, _ server: Server) {
        while true {
            let said = client.output()
            #expect(server.receive(said, count: said.count) == nil)
            var bytes: UnsafePointer<UInt8>?
            let count = server.nextOutput(&bytes)
            if count == 0, said.isEmpty { return }
            #expect(client.receive(Array(UnsafeBufferPointer(start: bytes, count: count))) == nil)
        }
    }

    @Test(
        "A request and its body reach the server, the answer and its body reach the client", arguments: [true, false])
    func roundTrip(_ isWire: Bool) {
        let client = HandTurnedClient(isWire: isWire)
        let server = Server { $0.maxConcurrentStreams = 7 }
        exchange(client, server)
        #expect(client.session.streamLimit == 7 && client.session.canSend)
        for number in 1...3 { #expect(client.send("/\(number)", payload: Array("hello \(number)".utf8))) }
        #expect(client.session.streams.used == 3)
        exchange(client, server)
        #expect(server.paths == ["/1", "/2", "/3"])
        #expect(
            server.bodies.mapValues { String(decoding: $0, as: UTF8.self) } == [
                1: "hello 1", 3: "hello 2", 5: "hello 3",
            ])
        let answer = StreamEnding.answered(status: 400)
        #expect(client.endings == [1: answer, 3: answer, 5: answer])
        #expect(client.bodies == [1: "no", 3: "no", 5: "no"])
        #expect(client.session.streams.used == 0 && client.session.answered == 3 && client.session.isAlive)
    }

    @Test("A payload beyond the windows is held back, and goes on when they open", arguments: [true, false])
    func heldBack(_ isWire: Bool) {
        let client = HandTurnedClient(isWire: isWire)
        let server = Server { $0.streamWindow = 1000 }
        exchange(client, server)
        let payload = (0..<5000).map { UInt8(truncatingIfNeeded: $0 % 251) }
        #expect(client.send("/1", payload: payload))
        #expect(client.session.streams.heldBack == 1 && client.session.unwritten.isEmpty)
        exchange(client, server)
        #expect(server.bodies == [1: payload] && client.session.streams.heldBack == 0)
        #expect(!client.session.unwritten.isEmpty && client.session.unwritten.first.stream == 1)
        #expect(client.endings == [1: .answered(status: 400)])
    }

    @Test(
        "GOAWAY refuses the streams above its last one and says why; settings change meanwhile",
        arguments: [true, false])
    func goAway(_ isWire: Bool) {
        let client = HandTurnedClient(isWire: isWire)
        let server = Server()
        server.responds = false
        exchange(client, server)
        server.submitSettings([(Frame.Setting.maxConcurrentStreams, 3)])
        exchange(client, server)
        #expect(client.session.streamLimit == 3)
        #expect(client.send("/1", payload: [1]))
        exchange(client, server)
        #expect(client.send("/2", payload: [2]))
        // What the client has said of it is on its way.
        _ = client.output()
        server.submitGoAway(code: .noError, debugData: Array("{\"reason\":\"Shutdown\"}".utf8))
        exchange(client, server)
        #expect(client.goAway?.debugData == "{\"reason\":\"Shutdown\"}" && client.goAway?.code == .noError)
        #expect(client.endings == [3: .refused] && client.session.streams.used == 1)
    }

    @Test(
        "A reset of the server's ends the stream with its code, and one of ours tells nothing",
        arguments: [true, false])
    func reset(_ isWire: Bool) {
        let client = HandTurnedClient(isWire: isWire)
        let server = Server()
        server.responds = false
        exchange(client, server)
        for number in 1...3 { #expect(client.send("/\(number)", payload: [1])) }
        exchange(client, server)
        server.submitReset(stream: 1, code: .enhanceYourCalm)
        server.submitReset(stream: 3, code: .refusedStream)
        let third = (0..<8).first { client.session.streams.entries[$0].id == 5 }
        client.session.reset(third!)
        exchange(client, server)
        #expect(client.endings == [1: .reset(.enhanceYourCalm), 3: .refused])
        #expect(client.session.streams.used == 0 && server.contexts.isEmpty)
    }

    @Test("Bytes that are not HTTP/2 end the session", arguments: [true, false])
    func garbage(_ isWire: Bool) {
        let client = HandTurnedClient(isWire: isWire)
        let violation = client.receive(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        _ = client.output()
        // nghttp2 says so in its GOAWAY only.
        #expect(isWire ? violation?.text == "a frame of 4740180 bytes" : !client.session.isAlive)
    }

    @Test("However the bytes are cut, the same comes of them")
    func pieces() {
        let bytes =
            frame(Frame.settings) + frame(Frame.headers, Frame.endHeaders, 1, [0x8C])
            + frame(Frame.data, Frame.endStream | Frame.padded, 1, [2] + Array("no".utf8) + [0, 0])
            + frame(Frame.headers, 0, 3, [0x88])
            + frame(Frame.continuation, Frame.endHeaders, 3, [0x00, 1, 0x61, 1, 0x62])
            + frame(Frame.data, Frame.endStream, 3, Array("yes".utf8))
        for size in 1...bytes.count {
            let client = HandTurnedClient(isWire: true)
            #expect(client.send("/1", payload: [1]) && client.send("/2", payload: [2]))
            for start in stride(from: 0, to: bytes.count, by: size) {
                #expect(client.receive(Array(bytes[start..<min(start + size, bytes.count)])) == nil)
            }
            #expect(client.endings == [1: .answered(status: 400), 3: .answered(status: 200)], "pieces of \(size)")
            #expect(client.bodies == [1: "no", 3: "yes"], "pieces of \(size)")
        }
    }

    @Test("A header block that has begun and not ended is known of, whole frame or part of one")
    func unfinishedHeaders() {
        let part = frame(Frame.headers, Frame.endHeaders, 3, [0x88, 0x88]).dropLast()
        for bytes in [frame(Frame.headers, 0, 3, [0x88]), Array(part)] {
            let client = HandTurnedClient(isWire: true)
            #expect(client.receive(frame(Frame.settings)) == nil)
            #expect(client.send("/1", payload: [1]) && client.send("/2", payload: [2]))
            #expect(client.receive(bytes) == nil)
            let entries = client.session.streams.entries
            let begun = (0..<8).filter { entries[$0].id != 0 && client.session.isInHeaders($0) }.map { entries[$0].id }
            #expect(begun == [3])
        }
    }

    @Test("Error codes have their names")
    func names() {
        #expect(ErrorCode.refusedStream.description == "REFUSED_STREAM")
        #expect(ErrorCode(rawValue: 99).description == "error code 99")
    }
}

/// A frame of the server's.
func frame(_ type: UInt8, _ flags: UInt8 = 0, _ stream: Int32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 9)
    Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: stream, into: &bytes)
    return bytes + payload
}

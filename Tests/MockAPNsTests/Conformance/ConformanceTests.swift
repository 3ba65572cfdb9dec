import HTTP2
import Logging
import Testing

@testable import MockAPNs

/// RFC 9113 sections 3.4 to 8.4 and RFC 7541, at the wire: what a client may not do, and what the server must then say.
@Suite struct ConformanceTests {
    private typealias Client = FrameClient

    /// One server for all: pushes to `ConformanceCase.silent` are never answered, so that streams stay half-closed.
    private static let server: Result<MockServer, any Error> = Result {
        var configuration = MockConfiguration()
        configuration.maxConcurrentStreams = 100
        var rule = FaultRule()
        rule.match.tokens = [ConformanceCase.silent]
        rule.silentShare = 1
        configuration.faults.rules = [rule]
        return try MockServer(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func connect(greeting: Bool = true) throws -> FrameClient {
        try FrameClient(port: try Self.server.get().port, greeting: greeting)
    }

    @Test(
        "Frames that break RFC 9113 get the right error code, and those that do not break it are taken",
        arguments: ConformanceCase.frames)
    func frame(_ sample: ConformanceCase) throws { try check(sample) }

    @Test("Malformed requests are stream errors; the connection goes on", arguments: ConformanceCase.messages)
    func message(_ sample: ConformanceCase) throws { try check(sample) }

    @Test("Header blocks that cannot be decoded end the connection", arguments: ConformanceCase.compression)
    func block(_ sample: ConformanceCase) throws { try check(sample) }

    private func check(_ sample: ConformanceCase) throws {
        let client = try connect()
        client.send(sample.bytes)
        switch sample.outcome {
        case .connection(let codes):
            let code = client.goAwayCode()
            #expect(code.map(codes.contains) == true, "\(String(describing: code))")
        case .stream(let stream, let codes):
            let code = client.resetCode(stream)
            #expect(code.map(codes.contains) == true, "\(String(describing: code))")
        case .ignored:
            #expect(client.isAlive())
            #expect(client.isServed(1001))
        }
        // Whatever one client does, others are served.
        #expect(try connect().isServed(1))
    }

    @Test("3.4: what is not the preface ends the connection")
    func preface() throws {
        for bytes in [Array("GET / HTTP/1.1\r\n\r\n".utf8), Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r".utf8)] {
            let client = try connect(greeting: false)
            client.send(bytes + [UInt8](repeating: 0, count: 64))
            while client.next() != nil {}
            #expect(client.isClosed)
        }
        let client = try connect(greeting: false)
        client.send(Frame.preface + Client.frame(Frame.ping, [0, 0, 0, 0, 0, 0, 0, 0]))
        #expect(client.goAwayCode() == .protocolError)
    }

    @Test("3.4: the server's first frame is SETTINGS with its limits; 6.5.3: ours are acknowledged")
    func settings() throws {
        let client = try connect()
        let first = try #require(client.next())
        #expect(first.type == Frame.settings && first.flags == 0 && first.stream == 0 && first.payload.count % 6 == 0)
        var values: [UInt16: UInt32] = [:]
        for place in stride(from: 0, to: first.payload.count, by: 6) {
            let entry = first.payload[place..<(place + 6)].map(UInt32.init)
            values[UInt16(entry[0] << 8 | entry[1])] = entry[2] << 24 | entry[3] << 16 | entry[4] << 8 | entry[5]
        }
        #expect(values[3] == 100 && values[4] == 65_535 && values[5] == 16_384 && values[6] == 8192)
        #expect(client.wait { $0.type == Frame.settings && $0.flags == Frame.acknowledgement } != nil)
    }

    @Test(
        "4.3.1: after the client has allowed a smaller table, the next answer begins with the size of ours, which is 0")
    func tableSize() throws {
        let client = try connect()
        func firstBytes(_ stream: Int32, after settings: [UInt8] = []) -> [UInt8]? {
            client.send(settings + Client.push(stream))
            return client.wait { $0.type == Frame.headers && $0.stream == stream }.map { Array($0.payload.prefix(2)) }
        }
        #expect(firstBytes(1)?.first == 0x88)
        // RFC 7541 section 6.3: 001, and the size in five bits.
        #expect(firstBytes(3, after: Client.frame(Frame.settings, Client.setting(1, 0))) == [0x20, 0x88])
        #expect(firstBytes(5)?.first == 0x88)
        #expect(firstBytes(7, after: Client.frame(Frame.settings, Client.setting(1, 4096)))?.first == 0x88)
        #expect(firstBytes(9, after: Client.frame(Frame.settings, Client.setting(1, 100))) == [0x20, 0x88])
    }

    @Test("6.7: a PING is answered with its own bytes")
    func ping() throws {
        let client = try connect()
        client.send(Client.frame(Frame.ping, [8, 7, 6, 5, 4, 3, 2, 1]))
        let answer = client.wait { $0.type == Frame.ping }
        #expect(answer?.flags == Frame.acknowledgement && answer?.payload == [8, 7, 6, 5, 4, 3, 2, 1])
    }

    @Test("6.9: no more DATA of an answer is sent than the windows allow, and the rest when they allow it")
    func windows() throws {
        let client = try connect()
        client.send(Client.frame(Frame.settings, Client.setting(4, 0)))
        // An empty payload: answered with a body, {"reason":"PayloadEmpty"}.
        client.send(Client.headers(1, Client.request()))
        let answer = try #require(client.wait { $0.type == Frame.headers && $0.stream == 1 })
        #expect(answer.flags & Frame.endStream == 0)
        #expect(client.isAlive())
        var body: [UInt8] = []
        for size in [UInt32(1), 5, 100] {
            client.send(Client.frame(Frame.windowUpdate, stream: 1, Client.number(size)))
            let piece = try #require(client.wait { $0.type == Frame.data && $0.stream == 1 })
            #expect(piece.payload.count <= Int(size))
            body += piece.payload
            #expect((piece.flags & Frame.endStream != 0) == (size == 100))
        }
        #expect(String(decoding: body, as: UTF8.self) == "{\"reason\":\"PayloadEmpty\"}")
    }

    @Test("6.9.2: a negative window is made up for before DATA goes on")
    func negativeWindow() throws {
        let client = try connect()
        client.send(Client.frame(Frame.settings, Client.setting(4, 3)) + Client.headers(1, Client.request()))
        #expect(client.wait { $0.type == Frame.data }?.payload.count == 3)
        // 3 used of 2: the window is -1.
        client.send(Client.frame(Frame.settings, Client.setting(4, 2)))
        client.send(Client.frame(Frame.windowUpdate, stream: 1, Client.number(1)))
        #expect(client.isAlive())
        client.send(Client.frame(Frame.windowUpdate, stream: 1, Client.number(2)))
        #expect(client.wait { $0.type == Frame.data }?.payload.count == 2)
    }

    @Test("6.9: more DATA than the server's windows allow is a flow-control error")
    func overflow() throws {
        let client = try connect()
        client.send(Client.open(1))
        // Below a whole megabyte per connection, but beyond the stream's 65,535; nothing is acknowledged before it is read.
        let piece = Client.frame(Frame.data, stream: 1, [UInt8](repeating: 32, count: 16_384))
        var flood: [UInt8] = []
        for _ in 0..<200 { flood += piece }
        client.send(flood)
        // The server reads as it comes and opens the window again: a push of 3 MB is answered, not an error.
        client.send(Client.frame(Frame.data, flags: Frame.endStream, stream: 1))
        let answer = client.wait { $0.stream == 1 && ($0.type == Frame.headers || $0.type == Frame.reset) }
        #expect(answer?.type == Frame.headers || answer?.code == .flowControlError)
        #expect(try connect().isServed(1))
    }

    @Test("6.8: a client that says GOAWAY is still answered what it has asked")
    func goAway() throws {
        let client = try connect()
        client.send(Client.push(1) + Client.frame(Frame.goAway, [0, 0, 0, 0, 0, 0, 0, 0]))
        #expect(client.wait { $0.type == Frame.headers && $0.stream == 1 } != nil)
    }

    @Test("5.3.1: after a stream that depends on itself the connection goes on, its header table too")
    func selfDependency() throws {
        let client = try connect()
        // The topic goes into the dynamic table.
        let topic: [UInt8] = [0x40] + Client.block([("apns-topic", "com.example.app")]).dropFirst()
        var fields = Client.request()
        fields.removeLast()
        let flags = Frame.endHeaders | Frame.hasPriority | Frame.endStream
        client.send(
            Client.frame(Frame.headers, flags: flags, stream: 1, [0, 0, 0, 1, 9] + Client.block(fields) + topic))
        #expect(client.wait { $0.stream == 1 }?.type == Frame.reset)
        client.send(
            Client.frame(Frame.headers, flags: Frame.endHeaders, stream: 3, Client.block(fields) + [0xBE])
                + Client.frame(Frame.data, flags: Frame.endStream, stream: 3, Client.payload))
        #expect(client.wait { $0.stream == 3 }?.payload.first == 0x88)
    }

    @Test(
        "6.10: more header bytes than are taken, in CONTINUATION frames, are answered 431, and the connection goes on")
    func largeHeaders() throws {
        let client = try connect()
        let before = try Self.server.get().counts
        let topic: [UInt8] = [0x40] + Client.block([("apns-topic", "com.example.app")]).dropFirst()
        var fields = Client.request()
        fields.removeLast()
        func header(_ number: Int) -> [UInt8] {
            Client.block([("x-dummy\(number)", String(repeating: "x", count: 4000))])
        }
        for (stream, end) in [(1, Frame.endStream), (3, 0)] as [(Int32, UInt8)] {
            client.send(
                Client.frame(Frame.headers, flags: end, stream: stream, Client.block(fields) + topic)
                    + Client.frame(Frame.continuation, stream: stream, header(1))
                    + Client.frame(Frame.continuation, flags: Frame.endHeaders, stream: stream, header(2) + header(3)))
            let answer = try #require(client.wait { $0.stream == stream })
            #expect(answer.type == Frame.headers && answer.flags & Frame.endStream != 0)
            #expect(answer.payload == [0x08, 3] + Array("431".utf8))
        }
        // What was begun with the second may still be sent.
        client.send(Client.frame(Frame.data, flags: Frame.endStream, stream: 3, Client.payload))
        client.send(
            Client.frame(Frame.headers, flags: Frame.endHeaders, stream: 5, Client.block(fields) + [0xBE])
                + Client.frame(Frame.data, flags: Frame.endStream, stream: 5, Client.payload))
        #expect(client.wait { $0.stream == 5 || $0.type == Frame.reset }?.payload.first == 0x88)
        #expect(try Self.server.get().counts.bounds.oversized >= before.bounds.oversized + 2)
    }

    @Test("10.5: DATA frames that bring and end nothing may come a thousand at a time, not without end")
    func empty() throws {
        for (count, isBorne) in [(900, true), (100_000, false)] {
            let client = try connect()
            let frames = Array(repeating: Client.frame(Frame.data, stream: 1), count: count).joined()
            client.send(Client.open(1) + frames)
            client.send(Client.frame(Frame.data, flags: Frame.endStream, stream: 1, Client.payload))
            if isBorne {
                #expect(client.wait { $0.stream == 1 }?.payload.first == 0x88)
            } else {
                #expect(client.goAwayCode() == .enhanceYourCalm)
            }
        }
    }

    @Test("10.5: a header list of megabytes from a few bytes is refused, and the memory for it never taken")
    func bomb() throws {
        let client = try connect()
        // One entry of 4,000 bytes in the dynamic table, then named 4,000 times: 16 MB of headers.
        let name = "x-bomb"
        let value = String(repeating: "y", count: 3900)
        let entry: [UInt8] = [0x40] + Client.block([(name, value)]).dropFirst()
        client.send(
            Client.frame(
                Frame.headers, flags: 5, stream: 1,
                Client.block(Client.request()) + entry + [UInt8](repeating: 0xBE, count: 4000)))
        let answer = client.wait { $0.stream == 1 || $0.type == Frame.goAway }
        #expect(answer != nil)
        #expect(try connect().isServed(1))
    }
}

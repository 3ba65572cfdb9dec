import HTTP2
import Logging
import Testing

@testable import MockAPNs

/// Requests whose header blocks repeat those of others are answered as if each had been decoded.
@Suite struct RepeatedHeadersTests {
    /// A client with `apns-priority: 7`, `apns-priority: 10` and a topic in its table, newest first.
    private final class Client {
        let frames: FrameClient
        private var stream: Int32 = 1
        static let path: [UInt8] = [0x04, 0x4A] + Array("/3/device/".utf8) + [UInt8](repeating: 0x61, count: 64)

        init(_ server: MockServer) throws {
            frames = try FrameClient(port: server.port)
            let first = Self.inserted("apns-topic", "c") + Self.inserted("apns-priority", "10")
            #expect(try answer(push([0x83, 0x86] + Self.path + first)) == 0x88)
            #expect(try answer(push([0x83, 0x86] + Self.path + Self.inserted("apns-priority", "7"))) == 0x8C)
        }

        private static func inserted(_ name: String, _ value: String) -> [UInt8] {
            [0x40, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
        }

        /// HEADERS whose body is to come.
        func open(_ block: [UInt8]) -> Int32 {
            frames.send(FrameClient.frame(Frame.headers, flags: Frame.endHeaders, stream: stream, block))
            stream += 2
            return stream - 2
        }

        func finish(_ stream: Int32) {
            frames.send(FrameClient.frame(Frame.data, flags: Frame.endStream, stream: stream, FrameClient.payload))
        }

        func push(_ block: [UInt8]) -> Int32 {
            let stream = open(block)
            finish(stream)
            return stream
        }

        /// The first byte of its header block: 200 is 0x88, 400 is 0x8C.
        func answer(_ stream: Int32) throws -> UInt8? {
            try #require(frames.wait { $0.type == Frame.headers && $0.stream == stream }).payload.first
        }
    }

    private static let wrong = [0x83, 0x86] + Client.path + [0xC0, 0xBE]
    private static let right: [[UInt8]] = [
        [0x83, 0x86] + Client.path + [0xC0, 0xBF], [0x83, 0x86] + Client.path + [0xBF, 0xC0],
        [0x86, 0x83] + Client.path + [0xC0, 0xBF], [0x86, 0x83] + Client.path + [0xBF, 0xC0],
    ]

    private func served(_ body: (Client) throws -> Void) throws {
        let server = try MockServer(
            MockConfiguration(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        defer { server.stop() }
        try body(Client(server))
    }

    @Test("What is wrong stays wrong however often it comes, what is right right, by turns too")
    func repeated() throws {
        try served { (client: Client) throws in
            for round in 0..<10 {
                for block in Self.right {
                    #expect(try client.answer(client.push(block)) == 0x88, "\(round)")
                    #expect(try client.answer(client.push(block)) == 0x88, "\(round)")
                    #expect(try client.answer(client.push(Self.wrong)) == 0x8C, "\(round)")
                    #expect(try client.answer(client.push(Self.wrong)) == 0x8C, "\(round)")
                }
            }
        }
    }

    @Test("A request whose body comes once other kinds have taken the place of its own is judged by its own")
    func late() throws {
        try served { (client: Client) throws in
            _ = client.open(Self.wrong)
            let late = client.open(Self.wrong)
            for block in Self.right {
                for _ in 0..<2 { #expect(try client.answer(client.push(block)) == 0x88) }
            }
            client.finish(late)
            #expect(try client.answer(late) == 0x8C)
        }
    }

    @Test("Nor does it speak for those that have taken its place")
    func poisoned() throws {
        try served { (client: Client) throws in
            _ = client.open(Self.right[0])
            let late = client.open(Self.right[0])
            for block in Self.right[1...] {
                for _ in 0..<2 { #expect(try client.answer(client.push(block)) == 0x88) }
            }
            for _ in 0..<2 { #expect(try client.answer(client.push(Self.wrong)) == 0x8C) }
            client.finish(late)
            #expect(try client.answer(late) == 0x88)
            for _ in 0..<3 { #expect(try client.answer(client.push(Self.wrong)) == 0x8C) }
        }
    }
}

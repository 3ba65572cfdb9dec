import HTTP2
import Testing

/// Bytes that a client sends after its greeting, and what the server must then do: RFC 9113 sections 4.1 to 8.4, RFC 7541.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    private typealias Case = ConformanceCase
    private typealias Client = FrameClient

    enum Outcome: CustomTestStringConvertible, Sendable {
        /// GOAWAY with one of these codes, then the end.
        case connection([ErrorCode])
        /// RST_STREAM on this stream with one of these codes, or a connection error of one of them.
        case stream(Int32, [ErrorCode])
        /// Nothing happens: a PING and the next push are answered.
        case ignored

        var testDescription: String { "\(self)" }
    }

    let name: String
    let bytes: [UInt8]
    let outcome: Outcome
    init(_ name: String, _ bytes: [UInt8], _ outcome: Outcome) {
        self.name = name
        self.bytes = bytes
        self.outcome = outcome
    }
    var testDescription: String { name }

    /// A device whose pushes `ConformanceTests`' server never answers.
    static let silent = String(repeating: "ff", count: 32)
    /// The server's first SETTINGS are.
    private static let acknowledged = Client.frame(Frame.settings, flags: Frame.acknowledgement)
    /// Half-closed by the client, and never answered.
    private static let halfClosed = Client.push(1, device: silent)

    private static func flawed(_ change: (inout [(String, String)]) -> Void) -> [UInt8] {
        var fields = Client.request()
        change(&fields)
        return Client.headers(1, fields)
    }

    /// CONTINUATION frames, the last with END_HEADERS.
    private static func pieces(_ block: [UInt8], of size: Int) -> [UInt8] {
        stride(from: 0, to: block.count, by: size).flatMap { start in
            let end = min(start + size, block.count)
            return Client.frame(
                Frame.continuation, flags: end == block.count ? Frame.endHeaders : 0, stream: 1,
                Array(block[start..<end]))
        }
    }

    static let frames: [Self] = [
        // 4.1 Frame format
        Case("4.1: a frame of unknown type", Client.frame(0x16, [1, 2, 3]), .ignored),
        Case("4.1: undefined flags", Client.frame(Frame.ping, flags: 0x16, [0, 0, 0, 0, 0, 0, 0, 1]), .ignored),
        Case(
            "4.1: the reserved bit of a stream id", Client.frame(Frame.ping, stream: .min, [0, 0, 0, 0, 0, 0, 0, 1]),
            .ignored),
        // 4.2 Frame size
        Case(
            "4.2: DATA of 16,384 bytes",
            Client.open(1)
                + Client.frame(Frame.data, flags: Frame.endStream, stream: 1, [UInt8](repeating: 32, count: 16_384)),
            .ignored),
        Case(
            "4.2: DATA of 16,385 bytes",
            Client.open(1) + Client.frame(Frame.data, stream: 1, [UInt8](repeating: 32, count: 16_385)),
            .stream(1, [.frameSizeError])),
        Case(
            "4.2: HEADERS of 16,385 bytes",
            Client.frame(Frame.headers, stream: 1, [UInt8](repeating: 0, count: 16_385)),
            .connection([.frameSizeError])),
        // 4.3 Header compression and decompression
        Case(
            "4.3: a header block that cannot be decoded",
            Client.frame(Frame.headers, flags: 5, stream: 1, [0x40, 0xFF]),
            .connection([.compressionError])),
        Case(
            "4.3: PRIORITY inside a header block",
            Client.frame(Frame.headers, stream: 1, Client.block(Client.request()))
                + Client.frame(Frame.priority, stream: 1, [0, 0, 0, 0, 255]), .connection([.protocolError])),
        Case(
            "4.3: HEADERS of another stream inside a header block",
            Client.frame(Frame.headers, stream: 1, Client.block(Client.request())) + Client.open(3),
            .connection([.protocolError])),
        // 5.1 Stream states
        Case(
            "5.1: DATA on an idle stream", Client.frame(Frame.data, flags: 1, stream: 1, [1]),
            .connection([.protocolError])),
        Case(
            "5.1: RST_STREAM on an idle stream", Client.frame(Frame.reset, stream: 1, [0, 0, 0, 8]),
            .connection([.protocolError])),
        Case(
            "5.1: WINDOW_UPDATE on an idle stream", Client.frame(Frame.windowUpdate, stream: 1, [0, 0, 0, 8]),
            .connection([.protocolError])),
        Case(
            "5.1: CONTINUATION on an idle stream", Client.frame(Frame.continuation, flags: 4, stream: 1, [0x82]),
            .connection([.protocolError])),
        Case(
            "5.1: DATA on a half-closed stream", halfClosed + Client.frame(Frame.data, flags: 1, stream: 1, [1]),
            .stream(1, [.streamClosed])),
        Case(
            "5.1: HEADERS on a half-closed stream", halfClosed + Client.headers(1, Client.request()),
            .stream(1, [.streamClosed])),
        Case(
            "5.1: CONTINUATION on a half-closed stream",
            halfClosed + Client.frame(Frame.continuation, flags: 4, stream: 1, [0x82]),
            .connection([.protocolError, .streamClosed])),
        Case(
            "5.1: DATA on a stream the client has reset",
            Client.open(1) + Client.frame(Frame.reset, stream: 1, [0, 0, 0, 8])
                + Client.frame(Frame.data, flags: 1, stream: 1, [1]),
            .stream(1, [.streamClosed])),
        Case(
            "5.1: HEADERS on a stream the client has reset",
            Client.open(1) + Client.frame(Frame.reset, stream: 1, [0, 0, 0, 8]) + Client.headers(1, Client.request()),
            .stream(1, [.streamClosed, .protocolError])),
        Case(
            "5.1: CONTINUATION on a stream the client has reset",
            Client.open(1) + Client.frame(Frame.reset, stream: 1, [0, 0, 0, 8])
                + Client.frame(Frame.continuation, flags: 4, stream: 1, [0x82]),
            .connection([.protocolError, .streamClosed])),
        Case("5.1.1: an even stream id", Client.open(2), .connection([.protocolError])),
        Case(
            "5.1.1: a stream id below one that was used", Client.open(5) + Client.open(3), .connection([.protocolError])
        ),
        Case(
            "5.1.2: more streams than allowed", acknowledged + (0..<150).flatMap { Client.open(Int32(2 * $0 + 1)) },
            .stream(201, [.refusedStream, .protocolError])),
        Case(
            "6.5.3: more streams than a limit allows that is not acknowledged",
            (0..<150).flatMap { Client.push(Int32(2 * $0 + 1)) }, .ignored),
        Case(
            "10.5: more streams than are borne of a client that acknowledges nothing",
            (0..<1100).flatMap { Client.open(Int32(2 * $0 + 1)) }, .stream(2001, [.refusedStream])),
        // RFC 7540 section 5.3.1
        Case(
            "5.3.1: HEADERS of a stream that depends on itself",
            Client.frame(
                Frame.headers, flags: Frame.endHeaders | Frame.hasPriority | Frame.endStream, stream: 1,
                [0, 0, 0, 1, 255] + Client.block(Client.request())), .stream(1, [.protocolError])),
        Case(
            "5.3.1: HEADERS in pieces of a stream that depends on itself, exclusively",
            Client.frame(
                Frame.headers, flags: Frame.hasPriority | Frame.endStream, stream: 1, [0x80, 0, 0, 1, 255])
                + pieces(Client.block(Client.request()), of: 90), .stream(1, [.protocolError])),
        Case(
            "5.3.1: trailers that make their stream depend on itself",
            Client.open(1)
                + Client.frame(
                    Frame.headers, flags: Frame.endHeaders | Frame.hasPriority | Frame.endStream, stream: 1,
                    [0, 0, 0, 1, 255] + Client.block([("x-trailer", "1")])), .stream(1, [.protocolError])),
        Case(
            "5.3.1: PRIORITY of a stream that depends on itself",
            halfClosed + Client.frame(Frame.priority, stream: 1, [0, 0, 0, 1, 255]), .stream(1, [.protocolError])),
        Case(
            "5.3.1: PRIORITY of an idle stream that depends on itself",
            Client.frame(Frame.priority, stream: 1, [0, 0, 0, 1, 255]), .connection([.protocolError])),
        Case(
            "5.3.1: HEADERS and PRIORITY of streams that depend on others",
            Client.frame(
                Frame.headers, flags: Frame.endHeaders | Frame.hasPriority, stream: 1,
                [0, 0, 0, 3, 255] + Client.block(Client.request()))
                + Client.frame(Frame.data, flags: Frame.endStream, stream: 1, Client.payload)
                + Client.frame(Frame.priority, stream: 3, [0, 0, 0, 1, 255]), .ignored),
        // 5.5 Extensions
        Case("5.5: an unknown frame on a stream", Client.open(1) + Client.frame(0x99, stream: 1, [1]), .ignored),
        Case(
            "5.5: an unknown frame inside a header block",
            Client.frame(Frame.headers, stream: 1, Client.block(Client.request())) + Client.frame(0x99, stream: 1, [1]),
            .connection([.protocolError])),
        // 6.1 DATA
        Case("6.1: DATA on stream 0", Client.frame(Frame.data, [1]), .connection([.protocolError])),
        Case(
            "6.1: more padding than DATA",
            Client.open(1) + Client.frame(Frame.data, flags: Frame.padded, stream: 1, [9, 1, 2]),
            .connection([.protocolError])),
        Case(
            "6.1: padded DATA",
            Client.open(1)
                + Client.frame(
                    Frame.data, flags: Frame.padded | Frame.endStream, stream: 1, [3] + Client.payload + [0, 0, 0]),
            .ignored),
        // 6.2 HEADERS
        Case(
            "6.2: HEADERS on stream 0", Client.frame(Frame.headers, flags: 5, Client.block(Client.request())),
            .connection([.protocolError])),
        Case(
            "6.2: more padding than HEADERS",
            Client.frame(Frame.headers, flags: 5 | Frame.padded, stream: 1, [200] + [0x82, 0x86]),
            .connection([.protocolError])),
        Case(
            "6.2: HEADERS with padding and priority",
            Client.frame(
                Frame.headers, flags: Frame.endHeaders | Frame.padded | Frame.hasPriority, stream: 1,
                [2, 0, 0, 0, 0, 15] + Client.block(Client.request()) + [0, 0])
                + Client.frame(Frame.data, flags: Frame.endStream, stream: 1, Client.payload), .ignored),
        // 6.3 PRIORITY
        Case(
            "6.3: PRIORITY on stream 0", Client.frame(Frame.priority, [0, 0, 0, 0, 1]), .connection([.protocolError])),
        Case(
            "6.3: PRIORITY of 4 bytes", Client.frame(Frame.priority, stream: 1, [0, 0, 0, 0]),
            .stream(1, [.frameSizeError])),
        Case("6.3: PRIORITY on an idle stream", Client.frame(Frame.priority, stream: 7, [0, 0, 0, 0, 1]), .ignored),
        // 6.4 RST_STREAM
        Case("6.4: RST_STREAM on stream 0", Client.frame(Frame.reset, [0, 0, 0, 8]), .connection([.protocolError])),
        Case(
            "6.4: RST_STREAM of 3 bytes", Client.open(1) + Client.frame(Frame.reset, stream: 1, [0, 0, 0]),
            .connection([.frameSizeError])),
        // 6.5 SETTINGS
        Case(
            "6.5: an acknowledgement with a payload", Client.frame(Frame.settings, flags: 1, Client.setting(3, 1)),
            .connection([.frameSizeError])),
        Case(
            "6.5: SETTINGS on a stream", Client.frame(Frame.settings, stream: 1, Client.setting(3, 1)),
            .connection([.protocolError])),
        Case(
            "6.5: SETTINGS of 5 bytes", Client.frame(Frame.settings, [0, 3, 0, 0, 0]), .connection([.frameSizeError])),
        Case("6.5.2: ENABLE_PUSH 2", Client.frame(Frame.settings, Client.setting(2, 2)), .connection([.protocolError])),
        Case(
            "6.5.2: INITIAL_WINDOW_SIZE 2^31", Client.frame(Frame.settings, Client.setting(4, 1 << 31)),
            .connection([.flowControlError])),
        Case(
            "6.5.2: MAX_FRAME_SIZE 16,383", Client.frame(Frame.settings, Client.setting(5, 16_383)),
            .connection([.protocolError])),
        Case(
            "6.5.2: MAX_FRAME_SIZE 2^24", Client.frame(Frame.settings, Client.setting(5, 1 << 24)),
            .connection([.protocolError])),
        Case("6.5.2: an unknown setting", Client.frame(Frame.settings, Client.setting(0xFF, 1)), .ignored),
        Case(
            "6.5.3: the same setting twice",
            Client.frame(Frame.settings, Client.setting(4, 1) + Client.setting(4, 65_535)), .ignored),
        // 6.6 PUSH_PROMISE, 8.4
        Case(
            "6.6: PUSH_PROMISE from a client",
            Client.open(1)
                + Client.frame(Frame.pushPromise, flags: 4, stream: 1, [0, 0, 0, 2] + Client.block(Client.request())),
            .connection([.protocolError])),
        // 6.7 PING
        Case(
            "6.7: PING on a stream", Client.frame(Frame.ping, stream: 1, [0, 0, 0, 0, 0, 0, 0, 0]),
            .connection([.protocolError])),
        Case("6.7: PING of 6 bytes", Client.frame(Frame.ping, [0, 0, 0, 0, 0, 0]), .connection([.frameSizeError])),
        Case(
            "6.7: an acknowledgement nobody asked for", Client.frame(Frame.ping, flags: 1, [0, 0, 0, 0, 0, 0, 0, 0]),
            .ignored),
        // 6.8 GOAWAY
        Case(
            "6.8: GOAWAY on a stream", Client.frame(Frame.goAway, stream: 1, [0, 0, 0, 0, 0, 0, 0, 0]),
            .connection([.protocolError])),
        Case(
            "6.8: GOAWAY of 7 bytes", Client.frame(Frame.goAway, [0, 0, 0, 0, 0, 0, 0]), .connection([.frameSizeError])),
        // 6.9 WINDOW_UPDATE
        Case(
            "6.9: WINDOW_UPDATE by 0 on the connection", Client.frame(Frame.windowUpdate, [0, 0, 0, 0]),
            .connection([.protocolError])),
        Case(
            "6.9: WINDOW_UPDATE by 0 on a stream",
            Client.open(1) + Client.frame(Frame.windowUpdate, stream: 1, [0, 0, 0, 0]),
            .stream(1, [.protocolError])),
        Case(
            "6.9: WINDOW_UPDATE of 3 bytes", Client.frame(Frame.windowUpdate, [0, 0, 1]), .connection([.frameSizeError])
        ),
        Case(
            "6.9.1: the connection's window beyond 2^31-1",
            Client.frame(Frame.windowUpdate, Client.number(0x7FFF_FFFF)),
            .connection([.flowControlError])),
        Case(
            "6.9.1: a stream's window beyond 2^31-1",
            Client.open(1) + Client.frame(Frame.windowUpdate, stream: 1, Client.number(0x7FFF_FFFF)),
            .stream(1, [.flowControlError])),
        Case(
            "6.9.2: a stream's window beyond 2^31-1 by SETTINGS",
            Client.open(1) + Client.frame(Frame.windowUpdate, stream: 1, Client.number(0x7FFF_0000))
                + Client.frame(Frame.settings, Client.setting(4, 0x7FFF_FFFF)),
            .connection([.flowControlError])),
        // 6.10 CONTINUATION
        Case(
            "6.10: CONTINUATION on stream 0",
            Client.frame(Frame.headers, stream: 1, [0x83]) + Client.frame(Frame.continuation, flags: 4, [0x86]),
            .connection([.protocolError])),
        Case(
            "6.10: CONTINUATION after END_HEADERS",
            Client.open(1) + Client.frame(Frame.continuation, flags: 4, stream: 1, [0x86]),
            .connection([.protocolError])),
        Case(
            "6.10: CONTINUATION after DATA",
            Client.open(1) + Client.frame(Frame.data, stream: 1, [32])
                + Client.frame(Frame.continuation, flags: 4, stream: 1, [0x86]),
            .connection([.protocolError])),
        Case(
            "6.10: DATA between HEADERS and CONTINUATION",
            Client.frame(Frame.headers, stream: 1, Client.block(Client.request()))
                + Client.frame(Frame.data, stream: 1, [32]),
            .connection([.protocolError])),
        Case(
            "6.10: a header block in several pieces",
            Client.frame(Frame.headers, stream: 1, []) + pieces(Client.block(Client.request()), of: 40)
                + Client.frame(Frame.data, flags: 1, stream: 1, Client.payload), .ignored),
        // 7 Error codes
        Case(
            "7: an unknown code in RST_STREAM",
            Client.open(1) + Client.frame(Frame.reset, stream: 1, Client.number(0xFF)), .ignored),
    ]

    static let messages: [Self] = [
        Case(
            "8.1: a second HEADERS that does not end the stream",
            Client.open(1) + Client.headers(1, [("x-trailer", "1")], end: false),
            .stream(1, [.protocolError])),
        Case(
            "8.1: trailers",
            Client.open(1) + Client.frame(Frame.data, stream: 1, Client.payload)
                + Client.headers(1, [("x-trailer", "1")]),
            .ignored),
        Case(
            "8.1.1: more DATA than content-length",
            Client.headers(1, Client.request(more: [("content-length", "1")]), end: false)
                + Client.frame(Frame.data, flags: 1, stream: 1, Client.payload), .stream(1, [.protocolError])),
        Case(
            "8.1.1: less DATA than content-length",
            Client.headers(1, Client.request(more: [("content-length", "99")]), end: false)
                + Client.frame(Frame.data, flags: 1, stream: 1, Client.payload), .stream(1, [.protocolError])),
        Case("8.2: a name in upper case", flawed { $0.append(("X-Test", "1")) }, .stream(1, [.protocolError])),
        Case("8.2.1: a value with a line end", flawed { $0.append(("x-test", "a\nb")) }, .stream(1, [.protocolError])),
        Case("8.2.1: an empty name", flawed { $0.append(("", "1")) }, .stream(1, [.protocolError])),
        Case("8.2.2: connection", flawed { $0.append(("connection", "keep-alive")) }, .stream(1, [.protocolError])),
        Case(
            "8.2.2: transfer-encoding", flawed { $0.append(("transfer-encoding", "chunked")) },
            .stream(1, [.protocolError])),
        Case("8.2.2: te other than trailers", flawed { $0.append(("te", "gzip")) }, .stream(1, [.protocolError])),
        Case(
            "8.3: an unknown pseudo-header", flawed { $0.insert((":test", "1"), at: 0) }, .stream(1, [.protocolError])),
        Case(
            "8.3: a pseudo-header of an answer", flawed { $0.insert((":status", "200"), at: 0) },
            .stream(1, [.protocolError])),
        Case(
            "8.3: a pseudo-header after a header", flawed { $0.append((":authority", "x")) },
            .stream(1, [.protocolError])),
        Case(
            "8.3: a pseudo-header in trailers", Client.open(1) + Client.headers(1, [(":method", "POST")]),
            .stream(1, [.protocolError])),
        Case("8.3.1: no :method", flawed { $0.removeAll { $0.0 == ":method" } }, .stream(1, [.protocolError])),
        Case("8.3.1: no :scheme", flawed { $0.removeAll { $0.0 == ":scheme" } }, .stream(1, [.protocolError])),
        Case("8.3.1: no :path", flawed { $0.removeAll { $0.0 == ":path" } }, .stream(1, [.protocolError])),
        Case("8.3.1: an empty :path", flawed { $0[2].1 = "" }, .stream(1, [.protocolError])),
        Case("8.3.1: :method twice", flawed { $0.insert((":method", "POST"), at: 0) }, .stream(1, [.protocolError])),
        Case("8.3.1: :scheme twice", flawed { $0.insert((":scheme", "http"), at: 0) }, .stream(1, [.protocolError])),
        Case("8.3.1: :path twice", flawed { $0.insert((":path", "/"), at: 0) }, .stream(1, [.protocolError])),
    ]

    /// RFC 7541.
    static let compression: [Self] = [
        ("2.3.3: an index beyond both tables", [0xBE]), ("6.1: index 0", [0x80]),
        ("6.3: a table larger than was allowed", [0x3F, 0xE1, 0xFF, 0xFF, 0x03]),
        ("4.2: a table size change inside a block", [0x83, 0x3F, 0x01]),
        ("5.1: an integer without end", [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        (
            "5.2: Huffman padding longer than 7 bits",
            [0x00, 0x85, 0xF2, 0xB2, 0x4A, 0x84, 0xFF, 0x84, 0x49, 0x50, 0x9F, 0xFF]
        ),
        ("5.2: Huffman padding of zeros", [0x00, 0x85, 0xF2, 0xB2, 0x4A, 0x84, 0xFF, 0x83, 0x49, 0x50, 0x90]),
        (
            "5.2: the end-of-string symbol",
            [0x00, 0x85, 0xF2, 0xB2, 0x4A, 0x84, 0xFF, 0x87, 0xFF, 0xFF, 0xFF, 0xFD, 0x25, 0x42, 0x7F]
        ),
        ("a string longer than the block", [0x00, 0x20, 0x61]),
    ].map { name, block in
        Case("HPACK \(name)", Client.frame(Frame.headers, flags: 5, stream: 1, block), .connection([.compressionError]))
    }
}

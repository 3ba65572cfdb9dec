import HTTP2
import Testing

@testable import Transport

/// Answers, frame by frame, as RFC 9113 section 8.1 allows and forbids them.
@Suite struct WireAnswerTests {
    private static let end = Frame.endStream | Frame.endHeaders

    private static func headers(_ block: [UInt8], _ flags: UInt8 = end) -> [UInt8] {
        WirePair.frame(Frame.headers, flags, 1, block)
    }

    private static func literal(_ first: UInt8, _ value: String) -> [UInt8] {
        [first, UInt8(value.utf8.count)] + Array(value.utf8)
    }

    private static func field(_ name: String, _ value: String) -> [UInt8] {
        literal(0x00, name) + [UInt8(value.utf8.count)] + Array(value.utf8)
    }

    @Test("A push that is answered before the rest of it may leave has ended, and has left all the same")
    func early() throws {
        let pair = try WirePair()
        // SETTINGS_INITIAL_WINDOW_SIZE 10.
        pair.say(WirePair.frame(Frame.settings, 0, 0, [0, 4, 0, 0, 0, 10]))
        pair.driver.payloadLength = 40
        pair.push(1)
        #expect(pair.driver.writes == 0)
        pair.say(WirePair.frame(Frame.windowUpdate, 0, 1, [0, 0, 0, 40]) + Self.headers([0x88]))
        #expect(pair.driver.outcomes == [0: "accepted"] && pair.driver.writes == 0 && pair.driver.writesAfterEnd == 1)
        let data = pair.heard().filter { $0.type == Frame.data }
        #expect(data.map(\.payload.count) == [10, 30])
    }

    @Test(
        "A malformed answer resets its stream and fails its push; the connection and other pushes go on",
        arguments: [
            ("the status twice, spelt out", headers(literal(0x08, "410") + literal(0x08, "410"))),
            ("the status twice, from the static table", headers([0x88, 0x88])),
            ("a status of letters", headers(literal(0x08, "2x0"))),
            ("a status of two digits", headers(literal(0x08, "20"))),
            ("a status below 100", headers(literal(0x08, "099"))),
            ("a status after another field", headers([0x00, 0x01, 0x61, 0x00, 0x88])),
            ("a field of requests", headers([0x88, 0x82])),
            ("an unknown pseudo-header field", headers([0x88, 0x00, 0x02, 0x3A, 0x78, 0x00])),
            ("a name with an upper-case letter", headers([0x88, 0x00, 0x02, 0x41, 0x62, 0x00])),
            ("a field without a name", headers([0x88, 0x00, 0x00, 0x00])),
            ("no status", headers([0x00, 0x01, 0x61, 0x00])),
            ("nothing at all", headers([])),
            ("content-length, and no DATA", headers([0x88] + field("content-length", "34"))),
            (
                "less DATA than content-length",
                headers([0x88] + field("content-length", "34"), Frame.endHeaders)
                    + WirePair.frame(Frame.data, Frame.endStream, 1, [UInt8](repeating: 0x7B, count: 20))
            ),
            (
                "more DATA than content-length",
                headers([0x8C] + field("content-length", "1"), Frame.endHeaders)
                    + WirePair.frame(Frame.data, 0, 1, [0x7B, 0x7D])
            ),
            (
                "trailers instead of DATA",
                headers([0x8C] + field("content-length", "3"), Frame.endHeaders)
                    + headers(field("a", ""))
            ),
            ("content-length twice", headers([0x88] + field("content-length", "0") + field("content-length", "0"))),
            ("content-length that is no number", headers([0x88] + field("content-length", "-0"))),
            ("content-length of the static table, empty", headers([0x88, 0x9C])),
            ("content-length by its static name", headers([0x88] + literal(0x5C, "5"))),
            (
                "DATA with status 204",
                headers([0x89], Frame.endHeaders) + WirePair.frame(Frame.data, Frame.endStream, 1, [0x7B])
            ),
            ("connection", headers([0x88] + field("connection", "close"))),
            ("keep-alive", headers([0x88] + field("keep-alive", "5"))),
            ("proxy-connection", headers([0x88] + field("proxy-connection", "close"))),
            ("transfer-encoding", headers([0x88] + field("transfer-encoding", "chunked"))),
            ("transfer-encoding of the static table", headers([0x88, 0xB9])),
            ("upgrade", headers([0x88] + field("upgrade", "h2c"))),
            ("te", headers([0x88] + field("te", "gzip"))),
            ("a name with a blank", headers([0x88] + field("a b", "c"))),
            ("a value with a line end", headers([0x88] + field("a", "b\nc"))),
            ("a value with a blank before it, of the usual name", headers([0x88] + field("apns-id", " b"))),
            (
                "a connection-specific field in trailers",
                headers([0x88], Frame.endHeaders) + headers(field("upgrade", "h2c"))
            ),
            ("status 101", headers(literal(0x08, "101"), Frame.endHeaders)),
            (
                "an interim answer with content-length",
                headers(literal(0x08, "103") + field("content-length", "0"), Frame.endHeaders)
            ),
            ("DATA before the answer", WirePair.frame(Frame.data, Frame.endStream, 1, [1])),
            ("an interim answer that ends the stream", headers(literal(0x08, "103"))),
            (
                "an interim answer after the answer",
                headers([0x88], Frame.endHeaders) + headers(literal(0x08, "103"), Frame.endHeaders)
            ),
            ("a second answer", headers([0x88], Frame.endHeaders) + headers([0x88])),
            (
                "trailers that do not end the stream",
                headers([0x88], Frame.endHeaders) + headers([0x00, 0x01, 0x61, 0x00], Frame.endHeaders)
            ),
        ] as [(String, [UInt8])])
    func malformed(_ name: String, _ bytes: [UInt8]) throws {
        let pair = try WirePair()
        pair.push(2)
        _ = pair.heard()
        pair.say(bytes + WirePair.frame(Frame.headers, Self.end, 3, [0x88]))
        #expect(pair.driver.outcomes == [0: "failed(malformed_answer)", 1: "accepted"], "\(name)")
        #expect(pair.heard() == [.init(type: Frame.reset, stream: 1, payload: [0, 0, 0, 1])], "\(name)")
        #expect(pair.connection.state == .open && pair.connection.inFlight == 0)
    }

    @Test(
        "An answer is taken in each of the shapes it may have",
        arguments: [
            ("status alone", headers([0x88]), "accepted"),
            ("a table entry that is made and used", headers(literal(0x48, "410")), "rejected(status: 410)"),
            (
                "interim answers first",
                headers(literal(0x08, "100"), Frame.endHeaders) + headers(literal(0x08, "103"), Frame.endHeaders)
                    + headers([0x88]), "accepted"
            ),
            (
                "a body and trailers",
                headers([0x8C], Frame.endHeaders) + WirePair.frame(Frame.data, 0, 1, [0x7B, 0x7D])
                    + headers([0x00, 0x01, 0x61, 0x00]), "rejected(status: 400)"
            ),
            (
                "padding and priority",
                headers([2, 0, 0, 0, 0, 16, 0x88, 0, 0], end | Frame.padded | Frame.hasPriority),
                "accepted"
            ),
            (
                "padded DATA, all of it padding but one byte",
                headers([0x8C], Frame.endHeaders)
                    + WirePair.frame(Frame.data, Frame.padded | Frame.endStream, 1, [3, 0x7B, 0, 0, 0]),
                "rejected(status: 400)"
            ),
            (
                "a block in three frames, one of them empty",
                headers([0x88], Frame.endStream) + WirePair.frame(Frame.continuation, 0, 1)
                    + WirePair.frame(Frame.continuation, Frame.endHeaders, 1, [0x00, 0x01, 0x61, 0x00]), "accepted"
            ),
            (
                "a block cut within a string",
                headers([0x08, 0x03, 0x34], Frame.endStream)
                    + WirePair.frame(Frame.continuation, Frame.endHeaders, 1, [0x31, 0x30]), "rejected(status: 410)"
            ),
            (
                "content-length as long as DATA, padding and an empty frame aside",
                headers([0x88] + field("content-length", "2"), Frame.endHeaders)
                    + WirePair.frame(Frame.data, 0, 1) + WirePair.frame(Frame.data, Frame.padded, 1, [2, 0x7B, 0, 0])
                    + WirePair.frame(Frame.data, Frame.endStream, 1, [0x7D]), "accepted"
            ),
            ("content-length 0, and no DATA", headers([0x88] + field("content-length", "0")), "accepted"),
            (
                "status 304, whose content-length is of another", headers([0x8B] + field("content-length", "9")),
                "rejected(status: 304)"
            ),
            ("values coded with Huffman", headers([0x88, 0x00, 0x01, 0x61, 0x81, 0x1F]), "accepted"),
            (
                "every character of a name, and a value beyond ASCII",
                headers([0x88] + field("a!#$%&'*+-.^_`|~09", "\u{e9}\t~")), "accepted"
            ),
            ("a table made smaller and larger again", headers([0x20, 0x3F, 0xE1, 0x1F, 0x88]), "accepted"),
        ] as [(String, [UInt8], String)])
    func shapes(_ name: String, _ bytes: [UInt8], _ outcome: String) throws {
        // All at once, and byte by byte.
        for isWhole in [true, false] {
            let pair = try WirePair()
            pair.push(1)
            if isWhole { pair.say(bytes) } else { for byte in bytes { pair.say([byte]) } }
            #expect(pair.driver.outcomes == [0: outcome], "\(name)")
            #expect(pair.connection.state == .open && pair.connection.inFlight == 0, "\(name)")
        }
    }

    @Test("What was wrong with the first malformed answer of a connection is told, and once")
    func fault() throws {
        let pair = try WirePair()
        pair.push(3)
        let body = WirePair.frame(Frame.data, Frame.endStream, 1, [UInt8](repeating: 0x7B, count: 20))
        pair.say(Self.headers([0x88] + Self.field("content-length", "34"), Frame.endHeaders) + body)
        pair.say(WirePair.frame(Frame.headers, Self.end, 3, [0x88, 0x88]))
        #expect(pair.driver.faults == ["malformed answer: 14 bytes of DATA less than content-length"])
        let other = try WirePair()
        other.push(1)
        other.say(Self.headers([0x88] + Self.field("keep-alive", "5")))
        #expect(other.driver.faults == ["malformed answer: the connection-specific field keep-alive"])
    }

    @Test(
        "A string that is not well coded with Huffman ends the connection (RFC 7541 section 5.2)",
        arguments: [
            ("padding that is not ones", [0x81, 0x18]), ("padding of more than seven bits", [0x82, 0x1F, 0xFF]),
            ("the end of string within", [0x84, 0xFF, 0xFF, 0xFF, 0xFF]),
        ] as [(String, [UInt8])])
    func huffman(_ name: String, _ value: [UInt8]) throws {
        for usual in ["apns-id", "a"] {
            let pair = try WirePair()
            pair.push(2)
            _ = pair.heard()
            pair.say(Self.headers([0x88] + Self.literal(0x00, usual) + value))
            #expect(
                pair.driver.outcomes == [0: "failed(malformed_answer)", 1: "failed(protocol_violation)"], "\(name)")
            #expect(
                pair.heard() == [.init(type: Frame.goAway, stream: 0, payload: [0, 0, 0, 0, 0, 0, 0, 9])], "\(name)")
            #expect(pair.connection.state == .closed)
        }
    }

    @Test("A push whose status has come is not sent again, whatever the server says then")
    func statusIsProcessing() throws {
        let pair = try WirePair()
        pair.push(4)
        for stream in [1, 5, 7] as [Int32] { pair.say(WirePair.frame(Frame.headers, Frame.endHeaders, stream, [0x88])) }
        pair.say(WirePair.frame(Frame.reset, 0, 1, [0, 0, 0, 7]) + WirePair.frame(Frame.reset, 0, 3, [0, 0, 0, 7]))
        #expect(pair.driver.outcomes == [0: "failed(stream_reset_REFUSED_STREAM)"])
        #expect(pair.connection.refused.map(\.sequence) == [1])
        pair.say(WirePair.frame(Frame.goAway, 0, 0, [0, 0, 0, 5, 0, 0, 0, 0]))
        #expect(pair.driver.outcomes[2] == nil && pair.driver.outcomes[3] == "failed(malformed_answer)")
        #expect(pair.connection.refused.map(\.sequence) == [1])
        // An answer that comes before the request is whole, and is never whole itself.
        let early = try WirePair()
        early.say(WirePair.frame(Frame.settings, 0, 0, [0, 4, 0, 0, 0, 0]))
        early.push(2)
        early.say(WirePair.frame(Frame.headers, Frame.endHeaders, 1, [0x88]))
        early.connection.close(.connectionReset, text: "gone")
        #expect(early.driver.outcomes == [0: "failed(answer_incomplete)"])
        #expect(early.connection.refused.map(\.sequence) == [1])
    }

    @Test("The last stream ids of a connection are answered, and then it drains")
    func lastStreams() throws {
        let pair = try WirePair(firstStream: .max - 4)
        pair.push(3)
        let streams = pair.heard().filter { $0.type == Frame.headers }.map(\.stream)
        let last = Int32.max
        #expect(streams == [last - 4, last - 2, last])
        pair.say(WirePair.frame(Frame.headers, Self.end, .max - 4, [0x88]))
        pair.say(WirePair.frame(Frame.headers, Self.end, .max, [0x88]))
        #expect(pair.connection.state == .open)
        // There is no stream for a fourth: it is to be sent on another connection.
        pair.push(1)
        #expect(pair.connection.state == .draining && pair.connection.refused.map(\.sequence) == [3])
        pair.say(WirePair.frame(Frame.headers, Self.end, .max - 2, [0x88]))
        #expect(pair.driver.outcomes == [0: "accepted", 1: "accepted", 2: "accepted"])
        #expect(pair.connection.inFlight == 0)
    }
}

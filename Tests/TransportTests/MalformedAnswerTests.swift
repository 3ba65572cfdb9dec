import HTTP2
import Networking
import Testing

@testable import Transport

/// Both engines that read frames make the same of what a server must not say about a push.
@Suite(.serialized) struct MalformedAnswerTests {
    private static let engines: [TestedEngine] = [.wire, .wireHuffman, .nghttp2]
    private static let whole = Frame.endStream | Frame.endHeaders
    private static let violation = "failed(malformed_answer)"

    private static func headers(_ flags: UInt8, _ status: UInt8, _ fields: [(String, String)] = []) -> [UInt8] {
        func text(_ value: String) -> [UInt8] { [UInt8(value.utf8.count)] + Array(value.utf8) }
        return WirePair.frame(Frame.headers, flags, 1, [status] + fields.flatMap { [0x00] + text($0.0) + text($0.1) })
    }

    private static func data(_ count: Int) -> [UInt8] {
        WirePair.frame(Frame.data, Frame.endStream, 1, [UInt8](repeating: 0x7B, count: count))
    }

    /// Too short, which ends the connection.
    private static let ping = WirePair.frame(Frame.ping, 0, 0, [1])

    /// What the client ends the connection with, where it does.
    private static let ends: [String: ErrorCode] = [
        "Huffman padding": .compressionError, "no header block": .compressionError,
        "a header block that another frame interrupts": .protocolError, "a broken connection": .frameSizeError,
        "a broken connection after the status": .frameSizeError,
    ]

    private static let cases: [(name: String, bytes: [UInt8], outcome: String)] = [
        (
            "DATA as long as content-length", headers(Frame.endHeaders, 0x88, [("content-length", "3")]) + data(3),
            "accepted"
        ),
        ("content-length 0", headers(whole, 0x88, [("content-length", "0")]), "accepted"),
        ("304 with content-length", headers(whole, 0x8B, [("content-length", "3")]), "rejected(status: 304)"),
        ("less DATA", headers(Frame.endHeaders, 0x88, [("content-length", "34")]) + data(20), violation),
        ("more DATA", headers(Frame.endHeaders, 0x88, [("content-length", "3")]) + data(4), violation),
        ("no DATA", headers(whole, 0x88, [("content-length", "34")]), violation),
        ("content-length twice", headers(whole, 0x88, [("content-length", "0"), ("content-length", "0")]), violation),
        ("content-length of letters", headers(whole, 0x88, [("content-length", "x")]), violation),
        ("DATA with 204", headers(Frame.endHeaders, 0x89) + data(1), violation),
        ("connection", headers(whole, 0x88, [("connection", "close")]), violation),
        ("transfer-encoding", headers(whole, 0x88, [("transfer-encoding", "chunked")]), violation),
        ("upper case", headers(whole, 0x88, [("Server", "x")]), violation),
        ("101", WirePair.frame(Frame.headers, Frame.endHeaders, 1, [0x08, 3, 0x31, 0x30, 0x31]), violation),
        ("103 at the end", WirePair.frame(Frame.headers, whole, 1, [0x08, 3, 0x31, 0x30, 0x33]), violation),
        ("Huffman padding", WirePair.frame(Frame.headers, whole, 1, [0x88, 0x00, 0x01, 0x61, 0x81, 0x18]), violation),
        ("a window beyond 2^31-1", WirePair.frame(Frame.windowUpdate, 0, 1, [0x7F, 0xFF, 0xFF, 0xFF]), violation),
        (
            "refused after its status",
            headers(Frame.endHeaders, 0x88) + WirePair.frame(Frame.reset, 0, 1, [0, 0, 0, 7]),
            "failed(stream_reset_REFUSED_STREAM)"
        ),
        ("no header block", WirePair.frame(Frame.headers, whole, 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]), violation),
        (
            "a header block that another frame interrupts",
            headers(0, 0x88) + WirePair.frame(Frame.ping, 0, 0, [UInt8](repeating: 0, count: 8)), violation
        ),
        ("a broken connection", ping, "failed(protocol_violation)"),
        ("a broken connection after the status", headers(Frame.endHeaders, 0x88) + ping, "failed(answer_incomplete)"),
    ]

    @Test("A malformed answer fails its push, once and for all", arguments: engines)
    func outcome(_ engine: TestedEngine) throws {
        for (name, bytes, outcome) in Self.cases {
            let server = try RawServer(WirePair.frame(Frame.settings), answer: bytes)
            let control = RunControl()
            var options = TransportOptions()
            options.streams = 4
            let driver = OnePush(control)
            try engine.make(
                target: Target(address: server.address, host: "127.0.0.1", authority: "a", tls: nil), options: options,
                driver: driver, control: control, payloadCapacity: 64
            ).run()
            #expect(driver.outcomes == [outcome] && driver.requeues == 0, "\(name): \(driver.outcomes)")
            #expect(server.goAwayCode() == Self.ends[name], "\(name)")
            if Self.ends[name] == nil {
                let isBroken = outcome == Self.violation || name == "refused after its status"
                #expect(driver.faults.count == (isBroken ? 1 : 0), "\(name): \(driver.faults)")
            }
        }
    }
}

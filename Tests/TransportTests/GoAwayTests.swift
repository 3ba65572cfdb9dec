import HTTP2
import TestSupport
import Testing

@testable import Transport

/// What is kept of a GOAWAY: a stranger's bytes, which end up on terminals and in pages.
@Suite struct GoAwayTests {
    @Test(
        "The reason is the one in the JSON, else the text, and is safe to print",
        arguments: [
            ("{\"reason\":\"IdleTimeout\"}", "NO_ERROR IdleTimeout"),
            ("{ \"timestamp\" : 1,\n \"reason\" :\t\"Shutdown\"\n}\0", "NO_ERROR Shutdown"),
            ("{\"reason\":\"two words\"}", "NO_ERROR two words"),
            ("{\"reason\":\"\"}", "NO_ERROR"),
            ("", "NO_ERROR"), (" \r\n\0", "NO_ERROR"),
            ("  too_many_pings\0", "NO_ERROR too_many_pings"),
            // JSON that is not as APNs writes it is a text like any other.
            ("{\"reason\":7}", "NO_ERROR {\"reason\":7}"), ("{\"reason\"", "NO_ERROR {\"reason\""),
            ("{\"reason\":\"x", "NO_ERROR {\"reason\":\"x"),
            ("{\"reason\":\"a\\u0000\"}", "NO_ERROR {\"reason\":\"a\\u0000\"}"),
            ("{\"reason\":\"\u{1B}[2J\"}", "NO_ERROR (unreadable)"), ("a\nb", "NO_ERROR (unreadable)"),
            ("\u{7F}", "NO_ERROR (unreadable)"), ("Größe", "NO_ERROR (unreadable)"),
            ("0123456789012345678901234567890123456789", "NO_ERROR 0123456789012345678901234567890123456789"),
            ("01234567890123456789012345678901234567890", "NO_ERROR 0123456789012345678901234567890123456..."),
        ])
    func reasons(_ text: String, _ expected: String) {
        #expect(GoAway(code: .noError, debugData: text.utf8).description == expected)
    }

    @Test("Only the first 256 bytes are looked at, and codes without a name are numbers")
    func bounds() {
        let far = String(repeating: " ", count: 256) + "{\"reason\":\"Shutdown\"}"
        #expect(GoAway(code: .enhanceYourCalm, debugData: far.utf8).description == "ENHANCE_YOUR_CALM")
        #expect(GoAway(code: ErrorCode(rawValue: .max), debugData: []).description == "error code 4294967295")
        // Endless.
        #expect(GoAway(code: .cancel, debugData: sequence(first: 0xFF) { $0 }).description == "CANCEL (unreadable)")
    }

    @Test("Whatever the bytes are, what is kept of them is short and printable")
    func anything() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed)
        let pieces: [[UInt8]] = [
            Array("{\"reason\":\"".utf8), Array("\"}".utf8), Array("\"reason\"".utf8), [0x3A, 0x22], [0x5C], [0],
            [0xFF], Array("Idle".utf8), [0x1B, 0x5B], Array("é".utf8), [UInt8](repeating: 0x61, count: 100),
        ]
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...8, using: &random)).flatMap { _ -> [UInt8] in
                if Bool.random(using: &random) { return pieces.randomElement(using: &random)! }
                return (0..<4).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            let reason = GoAway(code: .noError, debugData: bytes).reason
            #expect(
                reason.utf8.count <= GoAway.longestReason && reason.utf8.allSatisfy { (0x20...0x7E).contains($0) },
                "seed \(seed): \(bytes)")
        }
    }

    @Test("At most 64 ends are told apart, also when workers are added up; none is forgotten")
    func labels() {
        var ends = ConnectionEnds()
        for number in 0..<1000 {
            let text = "reason \(number % 100)"
            ends.add(.goAway(GoAway(code: .noError, debugData: text.utf8)))
        }
        #expect(ends.counts.count == ConnectionEnds.limit + 1 && ends.counts.values.reduce(0, +) == 1000)
        #expect(ends.counts["goaway NO_ERROR reason 63"] == 10 && ends.counts[ConnectionEnds.other] == 360)
        var all = ConnectionEnds()
        for number in 0..<64 { all.add(.goAway(GoAway(code: .cancel, debugData: "other \(number)".utf8))) }
        all.add(ends)
        #expect(all.counts.count == ConnectionEnds.limit + 1 && all.counts[ConnectionEnds.other] == 1000)
        #expect(all.counts.values.reduce(0, +) == 1064)
    }
}

import Foundation
import Testing

@testable import MockAPNs

/// Payloads that are like one before them are not walked over: what is said of them must be what a walk says.
@Suite struct RepeatedPayloadsTests {
    /// What is known of a payload: nil, or its marks and its trace tag.
    private func found(_ walk: JSONWalk?) -> [String]? {
        walk.map {
            ["\($0.hasAPS)", "\($0.hasMDM)", $0.trace.map { String(decoding: $0, as: UTF8.self) } ?? "none"]
        }
    }

    private func found(_ text: [UInt8], in scratch: JSONScratch?) -> [String]? {
        text.withUnsafeBytes { found(JSONWalk.over($0, in: scratch)) }
    }

    /// Whether a payload is taken for one like another, which was walked over.
    private func isLike(_ text: String, _ other: String) -> Bool {
        var repeated = RepeatedPayloads()
        defer { repeated.deallocate() }
        func look<Result>(_ text: String, _ body: (PayloadBytes) -> Result) -> Result {
            let bytes = Array(text.utf8)
            let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count + PayloadBytes.slack)
            defer { memory.deallocate() }
            return bytes.withUnsafeBytes { body(PayloadBytes($0, copiedTo: memory)) }
        }
        _ = look(other) { repeated.walk($0) }
        return look(text) { repeated.isLikeLast($0) }
    }

    @Test("Only values may be others, each of the kind that it was, and all of them whole")
    func likeness() {
        let one = #"{"aps":{"alert":{"title":"a","body":"b c"},"badge":1,"x":[true,null,-1.5e3,"t"]},"n":{"k":"v"}}"#
        for like in [
            one,
            #"{"aps":{"alert":{"title":"","body":"\u00e9\n ž 😀"},"badge":99,"x":[false,null,0,"u"]},"n":{"k":"w"}}"#,
            #"{"aps":{"alert":{"title":"\#(String(repeating: "x", count: 100))","body":"b"},"badge":0.25,"x":[null,true,10,""]},"n":{"k":""}}"#,
        ] {
            #expect(isLike(like, one), "\(like)")
        }
        for other in [
            one + " ", " " + one, String(one.dropLast()), one + "}", "{}",
            // Another key, a blank, another kind, a value less, one more, and brackets elsewhere.
            one.replacing("badge", with: "bodge"), one.replacing(":1,", with: ": 1,"),
            one.replacing("1,\"x", with: "\"1\",\"x"),
            one.replacing("true,", with: "\"\","), one.replacing("true,", with: ""),
            one.replacing("true,", with: "true,true,"),
            one.replacing("true", with: "{}"), one.replacing("\"t\"", with: "[]"),
            // No JSON any more.
            one.replacing(":1,", with: ":01,"), one.replacing(":1,", with: ":1.,"), one.replacing(":1,", with: ":-,"),
            one.replacing(":1,", with: ":,"), one.replacing("true", with: "trve"),
            one.replacing("\"a\"", with: "\"\\q\""),
            one.replacing("\"a\"", with: "\"\u{1}\""), one.replacing("\"v\"", with: "\"v"),
        ] {
            #expect(!isLike(other, one), "\(other)")
        }
        #expect(
            isLike("{}", "{}") && isLike(#"{"a":[[],{}]}"#, #"{"a":[[],{}]}"#) && !isLike(#"{"a":[]}"#, #"{"a":{}}"#))
    }

    @Test("Between two values any number of bytes is compared, all of them")
    func literals() {
        for length in 1...70 {
            let key = String(repeating: "k", count: length)
            let text = "{\"a\":\"1\",\"\(key)\":2}"
            #expect(isLike(text.replacing("2", with: "77"), text))
            for place in 0..<length {
                var other = Array(key)
                other[place] = "l"
                #expect(!isLike("{\"a\":\"1\",\"\(String(other))\":2}", text), "\(length) bytes, another at \(place)")
            }
        }
    }

    @Test("Values that never change are compared in one piece with what is around them, and may change after all")
    func constants() {
        let scratch = JSONScratch(capacity: 1000)
        func look(_ badge: Int, _ sound: String, _ trace: String, _ end: String = "null") -> [String]? {
            let text =
                "{\"aps\":{\"badge\":\(badge),\"sound\":\"\(sound)\",\"x\":[1,true,\"y\"]},\"pushload-trace\":\"\(trace)\",\"z\":\(end)}"
            return found(Array(text.utf8), in: scratch)
        }
        // The tag does not change at first either, and is still found.
        for badge in 0..<100 { #expect(look(badge, "default", "0-1") == ["true", "false", "0-1"]) }
        for (sound, trace) in [
            ("default", "0-22"), ("d", "0-1"), ("\\u00e9", ""), ("default", "0-333"), ("defaulu", "1"),
        ] {
            for badge in 0..<100 {
                #expect(look(badge, sound, trace) == ["true", "false", trace], "\(sound), \(trace)")
            }
        }
        #expect(look(1, "default", "t", "true") == ["true", "false", "t"] && look(1, "default", "t", "nul") == nil)
        #expect(look(1, "de\"fault", "t") == nil && look(1, "default", "t\n") == nil)
        // All of it the same, again and again.
        for _ in 0..<100 { #expect(look(5, "same", "tag") == ["true", "false", "tag"]) }
    }

    @Test("More values or bytes than are kept are walked over each time, and right each time")
    func bounds() {
        for values in [1, 63, 64, 65, 66, 200] {
            let text = "{\"aps\":{},\"l\":[\((0..<values).map(String.init).joined(separator: ","))]}"
            #expect(isLike(text, text) == (values <= PayloadShape.mostValues), "\(values)")
            let scratch = JSONScratch(capacity: 6000)
            for _ in 0..<3 { #expect(found(Array(text.utf8), in: scratch) == ["true", "false", "none"]) }
        }
        for length in [5000, 5110, 5111, 5112, 5500] {
            let text = "{\"aps\":{},\"\(String(repeating: "k", count: length - 15))\":1}"
            #expect(text.utf8.count == length)
            #expect(isLike(text, text) == (length <= PayloadShape.mostBytes), "\(length)")
            let scratch = JSONScratch(capacity: 6000)
            for _ in 0..<3 { #expect(found(Array(text.utf8), in: scratch) == ["true", "false", "none"]) }
        }
        // The longest that is kept, and one byte more.
        let most = "{\"aps\":{},\"\(String(repeating: "k", count: PayloadShape.mostBytes - 15))\":1}"
        #expect(isLike(most, most) && !isLike(most + " ", most + " "))
    }

    @Test("Whatever comes in whatever order, and however damaged, is what a walk over it alone says")
    func sequences() {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        func text() -> String {
            ["", "plain", "a longer text than sixteen bytes, by far", "\\u00e9\\n", "ž", "\\\"", "0123456789abcdef"][
                random(7)]
        }
        func number() -> String { ["0", "7", "42", "-1", "1.5", "1e9", "-0.25E-3", "1234567890123456789"][random(8)] }
        let templates: [() -> String] = [
            { "{\"aps\":{\"alert\":\"\(text())\",\"badge\":\(number())},\"pushload-trace\":\"\(text())\"}" },
            { "{\"mdm\":\"\(text())\"}" }, { "{\"mdm\":\(number())}" }, { "{\"aps\":{}}" }, { "{\"aps\":\(number())}" },
            {
                "{\"pushload-trace\":\"\(text())\",\"aps\":{\"x\":[\(number()),\"\(text())\",null]},\"pushload-trace\":\"\(text())\"}"
            },
            { "{\"pushload-trace\":\(number()),\"\\u0061ps\":{\"y\":\"\(text())\"}}" },
            { "{\"a\":[\((0..<random(6)).map { _ in number() }.joined(separator: ","))]}" },
            { " {\"aps\": {\"content-available\": 1}, \"k\" :true } " },
        ]
        var taken = 0
        for round in 0..<300 {
            let scratch = JSONScratch(capacity: 1000)
            let few = (0...random(5)).map { _ in templates[random(templates.count)] }
            // Long enough for values that never change to be known as such.
            for step in 0..<(round % 4 == 0 ? 300 : 60) {
                var bytes = Array(few[random(few.count)]().utf8)
                if random(3) == 0 {
                    for _ in 0...random(2) where !bytes.isEmpty {
                        switch random(3) {
                        case 0: bytes[random(bytes.count)] = UInt8(truncatingIfNeeded: random(256))
                        case 1: bytes.remove(at: random(bytes.count))
                        default: bytes.insert(Array("{}[],:\"\\0e-. ".utf8)[random(13)], at: random(bytes.count + 1))
                        }
                    }
                }
                let (ours, alone) = (found(bytes, in: scratch), found(bytes, in: nil))
                #expect(
                    ours == alone,
                    "seed \(seed), round \(round), step \(step): \(String(decoding: bytes, as: UTF8.self))")
                if ours != nil { taken += 1 }
            }
        }
        #expect(taken > 10_000, "seed \(seed)")
    }
}

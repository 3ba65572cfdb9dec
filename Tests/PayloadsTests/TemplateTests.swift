import Foundation
import TestSupport
import Testing

@testable import Payloads

@Suite struct TemplateTests {
    private func write(
        _ json: String, sequence: UInt64 = 7, seed: UInt64 = 42, pushType: PushType = .alert,
        time: UInt64 = 1_700_000_000
    ) throws -> String {
        let template = try PayloadTemplate(json: json, name: "t", pushType: pushType)
        let writer = PayloadWriter(
            mix: ProfileMix(Profile(name: "t", pushType: pushType, template: template)),
            population: .synthetic(SyntheticDevices(seed: seed, count: 1000)), run: RunID(0xABC), seed: seed)
        var buffer = [UInt8](repeating: 0, count: writer.maximumPayloadSize + PayloadWriter.slack)
        let count = writer.write(sequence: sequence, profile: 0, unixTime: time, into: &buffer)
        #expect(count <= template.maximumSize && count >= template.minimumSize)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    @Test("Holes become what they are documented to become")
    func holes() throws {
        let text = try write(
            """
            { "aps" : {} , "a": [ {{device_index}}, {{ sequence }} ], "b": "{{run_id}}|{{unix_time}}|{{pick(x|x)}}",
              "c": "{{device_token}}", "d": "{{tag}}" }
            """)
        let token = SyntheticDevices(seed: 42, count: 1000).token(7)
        #expect(
            text
                == "{\"aps\":{},\"a\":[7,7],\"b\":\"0000000000000abc|1700000000|x\",\"c\":\"\(token)\","
                + "\"d\":\"username:user7\",\"pushload-trace\":\"0000000000000abc-7\"}")
    }

    @Test("The same seed gives the same bytes on every machine")
    func golden() throws {
        let text = try write(
            "{\"aps\":{},\"r\":{{random(1,1000000)}},\"p\":\"{{pick(red|green|blue)}}\",\"t\":\"{{text(12,12)}}\"}")
        #expect(text == Self.goldenText)
        #expect(
            try write("{\"aps\":{},\"r\":{{random(1,1000000)}}}", seed: 1)
                != write("{\"aps\":{},\"r\":{{random(1,1000000)}}}", seed: 2))
    }

    static let goldenText =
        "{\"aps\":{},\"r\":455135,\"p\":\"blue\",\"t\":\"tso edn aesr\",\"pushload-trace\":\"0000000000000abc-7\"}"

    @Test(
        "A wrong template is refused with line, column and reason",
        arguments: [
            (
                "{\"aps\":{},\n \"a\": \"{{devise_index}}\"}",
                "t:2:8: unknown hole \"devise_index\"; did you mean \"device_index\"?"
            ),
            ("[]", "t:1:1: expected '{': a payload is a JSON object; found '['"),
            ("{\"a\":1}", "t:1:1: the key \"aps\" is missing"),
            ("{\"aps\":{},}", "t:1:11: expected a key in quotes; found '}'"),
            ("{\"aps\":{}", "t:1:10: expected ',' or '}'; found the end of the text"),
            ("{\"aps\":{},\"aps\":1}", "t:1:11: the key \"aps\" stands twice"),
            ("{\"aps\":{},\"n\":01}", "t:1:16: a number may not begin with 0"),
            ("{\"aps\":{},\"s\":\"a\nb\"}", "t:1:17: a control character must be escaped in JSON; found byte 0xa"),
            (
                "{\"aps\":{},\"s\":\"\\x\"}",
                "t:1:16: unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u0000"
            ),
            ("{\"aps\":{},\"s\":\"\\uD800\"}", "t:1:16: a high surrogate without its low one"),
            ("{\"aps\":{},\"s\":{{tag}}}", "t:1:15: this hole is text and must stand inside quotes"),
            ("{\"aps\":{},\"{{sequence}}\":1}", "t:1:12: keys take no holes"),
            ("{\"aps\":{},\"s\":\"{{sequence}\"}", "t:1:16: this hole has no closing }}"),
            ("{\"aps\":{\"s\":\"{{tag}\"}}", "t:1:14: this hole has no closing }}"),
            ("{\"aps\":{\"s\":\"{{tag(1)\"}}", "t:1:14: this hole has no closing }}"),
            (
                "{\"aps\":{},\"s\":{{random(5,1)}}}",
                "t:1:15: hole \"random(5,1)\": expected a first number up to the second, at most 9223372036854775807"
            ),
            ("{\"aps\":{},\"s\":\"{{pick()}}\"}", "t:1:16: hole \"pick\" takes texts, as in {{pick(red|green|blue)}}"),
            (
                "{\"aps\":{},\"pushload-trace\":1}",
                "t:1:11: the key \"pushload-trace\" is pushload's own: it is added to every payload"
            ),
            ("{\"aps\":{}} x", "t:1:12: expected nothing after the payload's '}'; found 'x'"),
            ("{\"aps\":tru}", "t:1:11: expected true; found '}'"),
        ])
    func errors(_ json: String, _ message: String) {
        #expect { try PayloadTemplate(json: json, name: "t") } throws: { "\($0)" == message }
    }

    @Test("A template that can exceed its limit is refused where it passes it, and one that just fits is taken")
    func limits() throws {
        func json(_ count: Int) -> String { "{\"aps\":{},\n\"s\":\"" + String(repeating: "x", count: count) + "\"}" }
        let constant = "{\"aps\":{},\"s\":\"\"}".utf8.count
        for (pushType, limit) in [(PushType.alert, 4096), (.voip, 5120)] {
            let room = limit - PayloadTemplate.traceOverhead - constant
            let template = try PayloadTemplate(json: json(room), name: "t", pushType: pushType)
            #expect(template.maximumSize == limit)
            #expect(throws: TemplateError.self) {
                try PayloadTemplate(json: json(room + 1), name: "t", pushType: pushType)
            }
        }
        do {
            _ = try PayloadTemplate(json: "{\"aps\":{},\n\"s\":\"{{text(1,5000)}}\"}", name: "t")
            Issue.record("accepted")
        } catch {
            #expect(error.line == 2 && error.column == 6)
        }
    }

    @Test("Random templates always give valid JSON within their size, the same for the same seed")
    func property() throws {
        let holes = [
            "\"{{device_index}}\"", "{{sequence}}", "\"{{text(0,40)}}\"", "\"{{sealed(0,50)}}\"", "{{random(0,99)}}",
            "\"{{pick(a||ccc)}}\"", "\"x{{tag(2)}}y{{tag(9)}}\"", "[{{unix_time}},null,true,-1.5e3]",
            "{\"k\":\"\\u00e9\\n\"}",
        ]
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed)
        for round in 0..<300 {
            let members = (0..<Int.random(in: 0...6, using: &random)).map {
                "\"k\($0)\" : \(holes.randomElement(using: &random)!)"
            }
            let json = "{\"aps\":{}\(members.map { "," + $0 }.joined())}"
            let sequence = UInt64.random(in: 0...10_000_000, using: &random)
            let text = try write(json, sequence: sequence, seed: seed)
            let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            #expect(
                object?["pushload-trace"] as? String == "0000000000000abc-\(sequence)",
                "seed \(seed) round \(round): \(text)")
            #expect(try write(json, sequence: sequence, seed: seed) == text, "seed \(seed) round \(round)")
        }
    }
}

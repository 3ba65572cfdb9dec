import Foundation
import Testing

@testable import Devices
@testable import MockAPNs

@Suite("What a device is told of a payload that was checked")
struct MemberListTests {
    private static let names = [
        "aps", "alert", "title", "subtitle", "body", "loc-key", "badge", "sound", "category", "thread-id",
        "mutable-content", "content-available", "interruption-level", "richId", "richType", "richMessage",
        "attachment-url", "encrypted-content", "story", "relevance-score", "\\u0061ps", "al\\u0065rt", "b\\u006Fdy",
        "interruption\\u002Dlevel", "pushload-trace",
    ]
    private static let texts = [
        "", "a", "passive", #"p\u0061ssive"#, "img", "Late goal decides the final: story 123456.",
        #"\"quoted\" and \\"#,
        "größer als 8 Bytes €",
    ]
    private static let plain = [
        "1", "0", "-7", "1.0", "1e0", "99999999999", "true", "null", "[]", "[{\"aps\": {}}, \"}\"]",
    ]

    /// An object of random members, those that are looked for at any level.
    private func object(_ random: inout SystemRandomNumberGenerator, depth: Int) -> String {
        let space = ["", "", " ", "\n  "].randomElement(using: &random)!
        let members = (0..<Int.random(in: 0...6, using: &random)).map { _ in
            let name = Self.names.randomElement(using: &random)!
            // What may be nested mostly is.
            let value: String
            if depth < 4, Int.random(in: 0..<(name.contains("al") || name.contains("ps") ? 2 : 8), using: &random) == 0
            {
                value = object(&random, depth: depth + 1)
            } else if Bool.random(using: &random) {
                value = "\"\(Self.texts.randomElement(using: &random)!)\""
            } else {
                value = Self.plain.randomElement(using: &random)!
            }
            return "\(space)\"\(name)\"\(space):\(space)\(value)"
        }
        return "{" + members.joined(separator: space + ",") + space + "}"
    }

    @Test("A payload says the same where its members were listed as where it is read")
    func same() throws {
        var random = SystemRandomNumberGenerator()
        let list = MemberList()
        var shown = 0
        for _ in 0..<3000 {
            var text = object(&random, depth: 1)
            if Bool.random(using: &random) { text = "{\"aps\":\(text)}" }
            Array(text.utf8).withUnsafeBytes { payload in
                #expect(JSONWalk.over(payload, listing: list) != nil, "\(text)")
                let read = PushContent(payload, members: .init(start: nil, count: 0))
                #expect(PushContent(payload, members: list.found) == read, "\(text)")
                if read
                    != PushContent(UnsafeRawBufferPointer(start: nil, count: 0), members: .init(start: nil, count: 0))
                {
                    shown += 1
                }
            }
        }
        #expect(shown > 500)
    }

    @Test("Of a payload with more members than are listed none are, nor of one that is no JSON")
    func bounds() {
        let list = MemberList()
        func count(_ members: Int, end: String = "}") -> Int {
            let text = "{" + (0..<members).map { "\"\($0)\":\($0)" }.joined(separator: ",") + end
            _ = Array(text.utf8).withUnsafeBytes { JSONWalk.over($0, listing: list) }
            return list.found.count
        }
        #expect(count(1) == 1 && count(MemberList.capacity) == MemberList.capacity)
        #expect(count(MemberList.capacity + 1) == 0 && count(3, end: "") == 0 && count(0) == 0)
    }
}

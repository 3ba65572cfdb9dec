import Foundation
import Testing

@testable import Payloads

@Suite struct ProfileTests {
    private func payload(_ mix: ProfileMix, _ sequence: UInt64, seed: UInt64 = 1) -> (profile: Int, bytes: [UInt8]) {
        let writer = PayloadWriter(
            mix: mix, population: .synthetic(SyntheticDevices(seed: seed, count: 100)), run: RunID(1), seed: seed)
        var buffer = [UInt8](repeating: 0, count: writer.maximumPayloadSize + PayloadWriter.slack)
        let profile = writer.profileIndex(sequence: sequence)
        let count = writer.write(sequence: sequence, profile: profile, unixTime: 1_700_000_000, into: &buffer)
        return (profile, Array(buffer[..<count]))
    }

    @Test("Every bundled profile makes payloads that decode as Apple's notification", arguments: Profile.names)
    func decodes(_ name: String) throws {
        let mix = try ProfileMix(parsing: name)
        for sequence in 0..<200 {
            let bytes = payload(mix, UInt64(sequence)).bytes
            let notification = try JSONDecoder().decode(Notification.self, from: Data(bytes))
            let aps = try #require(notification.aps)
            #expect(bytes.count <= mix.entries[0].profile.pushType.payloadLimit)
            switch name {
            case "alert": #expect(aps.alert != nil && aps.badge != nil && aps.threadID == "news")
            case "silent": #expect(aps.contentAvailable == 1 && aps.alert == nil)
            case "rich": #expect(aps.mutableContent == 1 && notification.custom["encrypted-content"] != nil)
            case "rich-push":
                #expect(aps.contentAvailable == 1 && aps.alert == nil && notification.custom["richId"] != nil)
            case "live-activity":
                #expect(aps.event == .update && aps.contentState != nil && aps.timestamp == 1_700_000_000)
            default: #expect(notification.custom["call"] != nil)
            }
        }
    }

    @Test("A mix keeps its weights and is the same for the same seed")
    func mix() throws {
        let mix = try ProfileMix(parsing: "alert:80,silent:15,rich:5")
        var counts = [0, 0, 0]
        let writer = PayloadWriter(
            mix: mix, population: .synthetic(SyntheticDevices(seed: 1, count: 1)), run: RunID(1), seed: 1)
        for sequence in 0..<100_000 { counts[writer.profileIndex(sequence: UInt64(sequence))] += 1 }
        // Fixed seed: a binomial of 100,000 draws; the bounds are over five standard deviations.
        #expect(abs(counts[0] - 80_000) < 700 && abs(counts[1] - 15_000) < 600 && abs(counts[2] - 5_000) < 400)
    }

    @Test("What is sealed for a device opens with that device's key only")
    func sealed() throws {
        let mix = try ProfileMix(parsing: "rich")
        var seen: Set<[UInt8]> = []
        let opener = Sealer(seed: 1, longest: 1200)
        for sequence in UInt64(0)..<50 {
            let notification = try JSONDecoder().decode(Notification.self, from: Data(payload(mix, sequence).bytes))
            guard case .string(let text)? = notification.custom["encrypted-content"] else {
                Issue.record("no encrypted-content")
                continue
            }
            let sealed = Array(try #require(Data(base64Encoded: text)))
            let plain = try #require(Sealer.open(sealed, seed: 1, device: sequence))
            #expect(plain.allSatisfy { (97...122).contains($0) } && (120...1200).contains(plain.count))
            #expect(Sealer.open(sealed, seed: 1, device: sequence + 1) == nil)
            #expect(Sealer.open(sealed, seed: 2, device: sequence) == nil)
            var damaged = sealed
            damaged[damaged.count / 2] ^= 1
            #expect(Sealer.open(damaged, seed: 1, device: sequence) == nil)
            #expect(seen.insert(Array(sealed[..<12])).inserted)
            // The same by a device, which opens one after the other from their digits.
            #expect(opened(text, sequence) == plain)
            #expect(opened(text, sequence + 1) == nil)
            for broken in [String(text.dropLast()), text + "AAA=", "!" + text.dropFirst(), text + text, "AAAA", ""] {
                #expect(opened(broken, sequence) == nil)
            }
            #expect(opened(text, sequence) == plain)
        }
        func opened(_ digits: String, _ device: UInt64) -> [UInt8]? {
            Array(digits.utf8).withUnsafeBytes { opener.open(base64: $0, device: device) }
        }
    }

    @Test(
        "A wrong mix gets one line",
        arguments: [
            ("alrt", "unknown profile \"alrt\"; known: alert, silent, rich, rich-push, live-activity, voip"),
            (
                "alert:80,silent",
                "profile mix \"alert:80,silent\": \"silent\" has no weight; expected name:weight of all, or names alone, each as often as the others"
            ),
            ("alert:0", "profile mix \"alert:0\": weight \"0\"; expected 1 to 1000000"),
            ("alert,alert", "profile mix \"alert,alert\": \"alert\" stands twice"),
            ("", "profile mix \"\": expected name:weight pairs, as in alert:80,silent:15,rich:5"),
        ])
    func mixErrors(_ text: String, _ message: String) {
        #expect { try ProfileMix(parsing: text) } throws: { "\($0)" == message }
    }

    @Test(
        "Headers carry the topic suffix; a priority that APNs refuses for the type is sent as asked, what is no value is refused"
    )
    func headers() throws {
        let headers = try PushHeaders(
            pushType: .voip, bundleID: "com.example.app", priority: 5, expiration: 0, collapseID: "c")
        #expect(
            headers.fields.map { "\($0.0)=\($0.1)" } == [
                "apns-topic=com.example.app.voip", "apns-push-type=voip", "apns-priority=5", "apns-expiration=0",
                "apns-collapse-id=c",
            ])
        for (type, priority) in [(PushType.background, 10), (.liveactivity, 1)] {
            #expect(try PushHeaders(pushType: type, bundleID: "a", priority: priority).priority == priority)
        }
        #expect(throws: PayloadError.self) { try PushHeaders(pushType: .alert, bundleID: "a b") }
        #expect(throws: PayloadError.self) { try PushHeaders(pushType: .alert, bundleID: "a", priority: 7) }
        #expect(throws: PayloadError.self) {
            try PushHeaders(pushType: .alert, bundleID: "a", collapseID: String(repeating: "x", count: 65))
        }
        #expect(
            PushHeaders.problems(bundleID: "a b", priority: 7, expiration: -1, collapseID: "") == [
                "topic \"a b\": expected a bundle id of letters, digits, '-', '_' and '.'",
                "priority 7: expected 10, 5 or 1", "expiration -1: expected UNIX seconds, or 0 to try once",
                "collapse id \"\": expected 1 to 64 bytes, this has 0",
            ])
    }

    @Test("The notification model has every key of aps, by Apple's names")
    func model() throws {
        let json = """
            {"aps":{"alert":{"body":"b","launch-image":"l","loc-args":["x"],"loc-key":"k","subtitle":"s",\
            "subtitle-loc-args":["y"],"subtitle-loc-key":"sk","title":"t","title-loc-args":["z"],"title-loc-key":"tk"},\
            "attributes":{"a":1},"attributes-type":"A","badge":3,"category":"c","content-available":1,\
            "content-state":{"n":[1,2.5,null,true]},"dismissal-date":5,"event":"end","filter-criteria":"f",\
            "interruption-level":"time-sensitive","mutable-content":1,"relevance-score":0.5,\
            "sound":{"critical":1,"name":"n","volume":0.5},"stale-date":4,"target-content-id":"w","thread-id":"th",\
            "timestamp":3},"custom":{"deep":[{}]}}
            """
        let notification = try JSONDecoder().decode(Notification.self, from: Data(json.utf8))
        #expect(try notification.json() == json)
        let template = try PayloadTemplate(notification, name: "model")
        #expect(template.maximumSize == json.utf8.count + PayloadTemplate.traceOverhead)
    }

    @Test("A trace tag is read back, and nothing else is taken for one")
    func trace() {
        var buffer = [UInt8](repeating: 0, count: TraceTag.capacity)
        for sequence in [UInt64(0), 9, 10, 1_234_567, .max] {
            let count = TraceTag.write(run: RunID(0xDEAD_BEEF), sequence: sequence, into: &buffer)
            let parsed = buffer[..<count].withUnsafeBytes { TraceTag.parse($0) }
            #expect(parsed?.run == RunID(0xDEAD_BEEF) && parsed?.sequence == sequence)
        }
        for text in [
            "", "0123456789abcdef", "0123456789abcdef-", "0123456789abcdef-1x", "0123456789abcdef-99999999999999999999",
            "g123456789abcdef-1",
        ] {
            #expect(Array(text.utf8).withUnsafeBytes { TraceTag.parse($0) } == nil)
        }
    }

    @Test("A number of every length is read, and refused with any other character in any place")
    func everyDigit() {
        for length in 1...20 {
            let digits = (0..<length).map { UInt8(0x30 + ($0 == 0 ? 1 : (3 * $0 + length) % 10)) }
            let tag = Array("0123456789abcdef-".utf8) + digits
            let number = UInt64(String(decoding: digits, as: UTF8.self))
            #expect(tag.withUnsafeBytes { TraceTag.parse($0) }?.sequence == number, "\(length) digits")
            for place in 0..<length {
                for byte in UInt8.min ... .max where !(0x30...0x39).contains(byte) {
                    var other = tag
                    other[17 + place] = byte
                    #expect(
                        other.withUnsafeBytes { TraceTag.parse($0) } == nil,
                        "\(length) digits, byte \(byte) at \(place)")
                }
            }
        }
    }
}

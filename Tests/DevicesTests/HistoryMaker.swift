import Foundation
import TestSupport

@testable import Payloads

/// Makes up a history: a model in which nothing is left to chance, and what happens to three devices whose states are all said.
struct HistoryMaker {
    typealias JSON = [String: Any]
    static let sealingSeed: UInt64 = 77
    static let devices = ["d0", "d1", "d2"]
    private static let second: UInt64 = 1_000_000_000
    private var random: SeededRandom
    private var now: UInt64
    private var tickets: UInt64 = 0

    init(seed: UInt64) {
        random = SeededRandom(seed)
        now = 1_790_000_000 * Self.second + random.next() % (400 * 86_400 * Self.second)
    }

    mutating func history() throws -> JSON {
        let start = now
        let model = model()
        var events: [JSON] = []
        for device in Self.devices {
            for (what, values) in Self.states { events.append(set(device, what, random.one(of: values))) }
        }
        for number in 1...Int.random(in: 30...80, using: &random) {
            now += gap()
            events.append(try event())
            if number % 10 == 0 { events.append(["do": "check", "at": now]) }
        }
        // Beyond what is stored: with repeated requests that is long.
        now += (random.chance(0.03) ? 40 * 86_400 : random.one(of: [0, 1, 40, 4000])) * Self.second
        events.append(["do": "check", "at": now])
        return ["model": model, "start": start, "events": events]
    }

    private mutating func gap() -> UInt64 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: 0
        case 1...3: random.next() % Self.second
        case 4...6: random.next() % (10 * Self.second)
        case 7, 8: random.next() % (60 * Self.second)
        default: random.next() % (7200 * Self.second)
        }
    }

    // MARK: The model

    private mutating func certain() -> String { random.one(of: ["0%", "100%"]) }
    private mutating func time(_ times: [String]) -> JSON { ["median": random.one(of: times), "sigma": 0] }

    private mutating func model() -> JSON {
        let options: [Any] = [
            "none", ["alert"], ["alert", "sound", "badge"], ["badge"], ["sound"], ["alert", "badge"],
        ]
        let limits: [Any] = [0, 1, 2, 3, "unlimited"]
        return [
            "utc_offsets": [random.one(of: ["-5", "0", "2", "9"]): "100%"], "will_present": random.one(of: options),
            "silent": [
                "per_hour": random.one(of: limits), "fetches": random.one(of: ["0%", "100%", "100%"]), "path": "/sync",
            ],
            "service_extension": [
                "time": time(["0s", "200ms", "8s", "29s", "30s", "31s", "50s"]),
                "crashes": random.one(of: ["0%", "0%", "100%"]),
                "best_attempt": certain(),
            ],
            "reaction": reaction(), "categories": ["MESSAGE": category(), "richPush": category()],
        ]
    }

    private mutating func reaction() -> JSON {
        let kind = Int.random(in: 0..<5, using: &random)
        return [
            "opens": kind == 0 ? "100%" : "0%", "dismisses": kind == 1 ? "100%" : "0%",
            "delay": time(["0s", "3s", "90s", "2h"]),
        ]
    }

    private mutating func category() -> JSON {
        var category = reaction()
        let isTaken = category["opens"] as? String == "100%" || category["dismisses"] as? String == "100%"
        let chosen = isTaken ? 0 : Int.random(in: 0..<5, using: &random)
        func share(_ number: Int) -> String { number == chosen ? "100%" : "0%" }
        category["dismiss_action"] = random.chance(0.5)
        category["actions"] = [
            "REPLY": ["does": "text", "share": share(1), "text": "On my way", "unlock": random.chance(0.5)],
            "LIKE": ["does": "background", "share": share(2), "unlock": random.chance(0.3)],
            "More": ["does": "foreground", "share": share(3)],
        ]
        return category
    }

    // MARK: Events

    private static let states: [(String, [any Hashable & Sendable])] = [
        ("online", [true, true, false]), ("unlocked", [true, false]),
        ("app", ["foreground", "background", "not_running"]),
        ("platform", ["phone", "phone", "tablet", "tv", "watch"]),
        ("alert", ["granted", "granted", "granted", "denied", "never_asked"]), ("sound", ["granted", "denied"]),
        ("badge", ["granted", "denied", "never_asked"]),
    ]

    private mutating func set(_ device: String, _ what: String, _ value: Any) -> JSON {
        ["do": "set", "at": now, "device": device, "what": what, "value": value]
    }

    private mutating func event() throws -> JSON {
        let device = random.one(of: Self.devices)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<50: return try push(device)
        case 50..<64:
            let (what, values) = random.one(of: Self.states)
            return set(device, what, random.one(of: values))
        case 64..<74:
            let action = random.one(of: ["default", "dismiss", "REPLY", "LIKE", "More", "NONE"])
            let text: Any = random.chance(0.5) ? "Hëllo \"there\"" : NSNull()
            return [
                "do": "act", "at": now, "device": device, "index": Int.random(in: 0..<3, using: &random),
                "action": action, "text": text,
            ]
        case 74..<82: return add(device)
        case 82..<84:
            return ["do": "remove_pending", "at": now, "device": device, "identifiers": identifiers()]
        case 84..<86:
            return ["do": "remove_delivered", "at": now, "device": device, "identifiers": identifiers()]
        case 86..<90:
            return [
                "do": "crossed", "at": now, "device": device, "region": random.one(of: ["home", "work"]),
                "entering": random.chance(0.5),
            ]
        default:
            return [
                "do": "finish", "at": now, "request": Int.random(in: 0..<30, using: &random),
                // Those of actions are few, and would seldom be met.
                "from_newest": random.chance(0.5),
                "how": random.one(of: ["new_data", "new_data", "no_data", "failed"]),
            ]
        }
    }

    private mutating func identifiers() -> Any {
        let some: [Any] = [NSNull(), ["score"], ["local", "17"], ["mätch"]]
        return random.one(of: some)
    }

    private mutating func add(_ device: String) -> JSON {
        var trigger: JSON
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            trigger = ["kind": "interval", "time": random.one(of: [0, 1, 5, 59, 60, 600, 7200]) * Self.second]
        case 1:
            trigger = ["kind": "calendar"]
            let units: [(String, ClosedRange<Int>)] = [
                ("month", 1...12), ("day", 1...31), ("weekday", 1...7), ("hour", 0...23), ("minute", 0...59),
                ("second", 0...59),
            ]
            let (always, _) = random.one(of: units)
            for (unit, range) in units where unit == always || random.chance(0.3) {
                trigger[unit] = Int.random(in: range, using: &random)
            }
        default:
            trigger = ["kind": "region", "region": random.one(of: ["home", "work"]), "entering": random.chance(0.5)]
        }
        trigger["repeats"] = random.chance(0.3)
        let badge: Any = random.chance(0.3) ? Int.random(in: 0...9, using: &random) : NSNull()
        return [
            "do": "add", "at": now, "device": device,
            "request": [
                "identifier": random.one(of: ["local", "17", "score", "other"]),
                "title": random.one(of: ["", "Title"]),
                "body": random.one(of: ["Local news", "Größe \u{1F600}\n"]),
                "category": random.one(of: ["", "MESSAGE", "richPush", "OTHER"]), "sound": random.chance(0.5),
                "badge": badge, "trigger": trigger,
            ],
        ]
    }

    private mutating func push(_ device: String) throws -> JSON {
        tickets += 1
        var aps: JSON = [:]
        var payload: JSON = [:]
        var plain: Any = NSNull()
        var type = random.one(of: ["alert", "alert", "alert", "alert", "alert", "alert", "alert", "voip"])
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            type = "background"
            aps["content-available"] = 1
            if random.chance(0.5) { aps["sound"] = "" }
            if random.chance(0.6) {
                let identifier: Any = random.chance(0.5) ? random.one(of: ["17", "18"]) : 19
                payload["richId"] = identifier
                payload["richMessage"] = random.one(of: ["A picture for you", "Ein \"Bild\" für dich"])
                payload["richType"] = random.one(of: ["img", "img", "img", "txt"])
            }
        case 2: break
        default:
            let alerts: [Any] = [
                "Kick-off", "", ["title": "Goal", "body": "2:1 \u{2013} \"late\""], ["loc-key": "GOAL"],
                ["title": "Goal", "subtitle": "Arsenal\u{0} \u{1F3C6}", "body": "A/B\\C"], [String: String](),
            ]
            if random.chance(0.85) { aps["alert"] = random.one(of: alerts) }
            if random.chance(0.4) { aps["badge"] = Int.random(in: 0...12, using: &random) }
            if random.chance(0.4) { aps["sound"] = random.one(of: ["default", "", "ping.aiff"]) }
            if random.chance(0.5) { aps["category"] = random.one(of: ["MESSAGE", "richPush", "OTHER"]) }
            if random.chance(0.3) { aps["thread-id"] = random.one(of: ["news", "sport"]) }
            if random.chance(0.2) { aps["interruption-level"] = random.one(of: ["passive", "active"]) }
            if random.chance(0.4) {
                aps["mutable-content"] = 1
                if random.chance(0.6) { (payload["encrypted-content"], plain) = sealed(for: device) }
                if random.chance(0.4) { payload["attachment-url"] = "https://example.com/a.jpg?x=1/2" }
            }
        }
        payload["aps"] = aps
        let expirations: [Any] = [NSNull(), NSNull(), 0, Int(now / Self.second) + 5, Int(now / Self.second) + 6000, 5]
        let options: JSONSerialization.WritingOptions =
            random.chance(0.5) ? [.prettyPrinted, .sortedKeys] : .sortedKeys
        let text = String(
            decoding: try JSONSerialization.data(withJSONObject: payload, options: options), as: UTF8.self)
        return [
            "do": "push", "at": now, "device": device, "ticket": tickets, "type": type,
            "priority": random.one(of: [10, 10, 5, 1]), "collapse": random.one(of: ["", "score", "mätch", "17"]),
            "expiration": random.one(of: expirations), "payload": text, "plain": plain,
        ]
    }

    /// Base64 of letters sealed for a device, and the letters; of some the seal is of another device.
    private mutating func sealed(for device: String) -> (String, Any) {
        let isBroken = random.chance(0.3)
        let number = UInt64(Self.devices.firstIndex(of: device)!)
        let sealer = Sealer(seed: Self.sealingSeed, longest: 300)
        var digits = [UInt8](repeating: 0, count: 600)
        let count = sealer.write(
            count: Int.random(in: 1...200, using: &random), random: random.next(), device: isBroken ? 99 : number,
            sequence: tickets, into: &digits)
        let text = String(decoding: digits[..<count], as: UTF8.self)
        let plain = Sealer.open(
            Array(Data(base64Encoded: text)!), seed: Self.sealingSeed, device: number)
        return (text, plain.map { String(decoding: $0, as: UTF8.self) } ?? NSNull() as Any)
    }
}

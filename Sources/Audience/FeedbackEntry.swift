import Settings

/// What APNs said of a device: a line of the feedback journal.
package struct FeedbackEntry: Sendable, Equatable {
    /// Hexadecimal digits.
    package var token: String
    /// The topic it was said for; nil: whichever the registrations of the token have.
    package var topic: String?
    /// As APNs names it: `Unregistered`, `ExpiredToken`, `BadDeviceToken`, …
    package var reason: String
    /// UNIX time, ms: when APNs confirmed that the token was no longer valid. It comes with status 410 only.
    package var timestamp: UInt64?
    /// When it was heard, UNIX seconds.
    package var seen: Int64

    package init(token: String, topic: String? = nil, reason: String, timestamp: UInt64? = nil, seen: Int64) {
        self.token = token
        self.topic = topic
        self.reason = reason
        self.timestamp = timestamp
        self.seen = seen
    }

    /// What answers say of a device, rather than of the push. A journal has no others.
    package static let reasons = ["Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic"]

    /// Whether a number can be UNIX time in ms: 1973 to 2106. Seconds of these years are below, microseconds above.
    package static func isMilliseconds(_ number: UInt64) -> Bool {
        (100_000_000_000...Moment.latest * 1000).contains(number)
    }

    /// What it says of its device; `moment` tells two of them apart only where a registration leaves.
    package struct Subject: Hashable {
        package let token: String
        let topic: String?
        let reason: String
    }

    /// Letters of tokens may be large or small.
    package var subject: Subject { Subject(token: token.lowercased(), topic: topic, reason: reason) }

    /// UNIX time, ms: until when registrations leave for it. Without a timestamp the moment it was heard stands for it.
    package var moment: UInt64 { timestamp ?? UInt64(min(Int64(Moment.latest), max(0, seen))) * 1000 }

    /// Reasons of status 410, for which a registration leaves.
    ///
    /// After Apple's page on handling notification responses from APNs: status 410 says that a token is not valid for its topic any
    /// more, or has expired; its `timestamp` is when APNs last found that so, and a provider stops pushing until the device has
    /// registered a token later than that. BadDeviceToken (400) may also mean the wrong environment, and so is only reported, as the
    /// others are.
    package var removes: Bool { Self.removes(reason) }

    package static func removes(_ reason: String) -> Bool { reason == "Unregistered" || reason == "ExpiredToken" }

    /// Whether a registration of the token (and topic) leaves: unless it is known to have been made later.
    ///
    /// - Parameter registered: UNIX seconds; nil when it is not known.
    package func removes(registered: UInt32?) -> Bool {
        guard removes else { return false }
        guard let registered else { return true }
        return UInt64(registered) * 1000 <= moment
    }

    // MARK: As a line

    /// How each line begins.
    static let start = "{\"token\":"

    /// A line of NDJSON with its line feed.
    var line: String {
        var line = "\(Self.start)\(Self.quoted(token))"
        if let topic { line += ",\"topic\":\(Self.quoted(topic))" }
        line += ",\"reason\":\(Self.quoted(reason))"
        if let timestamp { line += ",\"timestamp\":\(timestamp)" }
        return line + ",\"seen\":\(seen)}\n"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\0"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// - Parameter line: without its line feed.
    /// - Throws: what is wrong, and at which byte.
    init(line: UnsafeBufferPointer<UInt8>) throws(JSONScan.Problem) {
        guard let base = line.baseAddress, !line.isEmpty else {
            throw .init(position: 0, text: "an empty line; expected an object")
        }
        var scan = JSONScan(base: base, position: 0, end: line.count)
        self.init(token: "", reason: "", seen: -1)
        scan.skipBlanks()
        try scan.expect(0x7B, "an object in braces")
        scan.skipBlanks()
        var isFirst = true
        var seenKeys: Set<String> = []
        while !scan.take(0x7D) {
            if !isFirst { try scan.expect(0x2C, "a comma or }") }
            isFirst = false
            scan.skipBlanks()
            let at = scan.position
            let key = try Self.text(&scan)
            scan.skipBlanks()
            try scan.expect(0x3A, "a colon")
            scan.skipBlanks()
            guard seenKeys.insert(key).inserted else {
                throw .init(position: at, text: "\"\(ByteText.shown(key))\" stands twice")
            }
            switch key {
            case "token": token = try Self.token(&scan)
            case "topic": topic = scan.takeNull() ? nil : try Self.text(&scan)
            case "reason": reason = try Self.reason(&scan)
            case "timestamp": timestamp = scan.takeNull() ? nil : try Self.timestamp(&scan)
            case "seen": seen = try Self.seconds(&scan)
            default:
                throw .init(
                    position: at,
                    text: "unknown key \"\(ByteText.shown(key))\""
                        + NearestName.hint(key, among: ["token", "topic", "reason", "timestamp", "seen"]))
            }
            scan.skipBlanks()
        }
        scan.skipBlanks()
        guard scan.position == scan.end else {
            throw .init(position: scan.position, text: "something behind the object")
        }
        for (key, isThere) in [("token", !token.isEmpty), ("reason", !reason.isEmpty), ("seen", seen >= 0)]
        where !isThere {
            throw .init(position: 0, text: "no \"\(key)\" in this object")
        }
    }

    private static func token(_ scan: inout JSONScan) throws(JSONScan.Problem) -> String {
        let at = scan.position
        let token = try text(&scan)
        let isToken =
            !token.isEmpty && token.utf8.count % 2 == 0 && token.utf8.count <= RegistrationRules.longestToken
            && token.utf8.allSatisfy { ByteText.classes[Int($0)] & ByteText.hexadecimal != 0 }
        guard isToken else {
            throw .init(
                position: at,
                text:
                    "\"\(ByteText.shown(token))\" is no device token; expected an even number of hexadecimal digits, at most 400"
            )
        }
        return token
    }

    private static func reason(_ scan: inout JSONScan) throws(JSONScan.Problem) -> String {
        let at = scan.position
        let reason = try text(&scan)
        guard reasons.contains(reason) else {
            let shown = ByteText.shown(reason)
            throw .init(position: at, text: "unknown reason \"\(shown)\"" + NearestName.hint(shown, among: reasons))
        }
        return reason
    }

    private static func timestamp(_ scan: inout JSONScan) throws(JSONScan.Problem) -> UInt64 {
        let at = scan.position
        let number = try whole(&scan)
        guard isMilliseconds(number) else {
            throw .init(
                position: at,
                text: "the timestamp \(number) is not between 1973 and 2106; expected milliseconds since 1970"
                    + (number > 0 && number <= Moment.latest ? ", these look like seconds" : ""))
        }
        return number
    }

    private static func seconds(_ scan: inout JSONScan) throws(JSONScan.Problem) -> Int64 {
        let at = scan.position
        let number = try whole(&scan)
        guard number <= Moment.latest else {
            throw .init(
                position: at,
                text: "\(number) for \"seen\" is after 2106; expected seconds since 1970"
                    + (isMilliseconds(number) ? ", these look like milliseconds" : ""))
        }
        return Int64(number)
    }

    private static func text(_ scan: inout JSONScan) throws(JSONScan.Problem) -> String {
        let at = scan.position
        let text = try scan.string()
        guard let bytes = JSONText.read(scan.base + text.start, text.end - text.start) else {
            throw .init(position: at, text: "an escape that JSON does not have")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func whole(_ scan: inout JSONScan) throws(JSONScan.Problem) -> UInt64 {
        let place = scan.number()
        let text = String(
            decoding: UnsafeBufferPointer(start: scan.base + place.start, count: place.end - place.start), as: UTF8.self
        )
        guard let value = UInt64(text) else {
            throw .init(position: place.start, text: "expected a whole number, 0 or more")
        }
        return value
    }
}

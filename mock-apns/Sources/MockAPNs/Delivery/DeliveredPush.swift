import Devices
import Payloads

/// An accepted push on its way to a device, or a broadcast on its way to a channel's subscribers.
struct DeliveredPush: Sendable {
    /// As in the path, lower case; empty for a broadcast.
    let token: String
    let key: TokenKey
    /// Base64; nil for a push to one device.
    let channel: String?
    let topic: String
    let pushType: PushType
    let priority: Int
    let identifier: String
    let collapseID: String?
    /// UNIX seconds; nil when the push does not say.
    let expiration: Int64?
    /// UNIX milliseconds.
    let acceptedAt: Int64
    let payload: [UInt8]
    /// The namespace it came to; nil: the default one.
    var namespace: String?
    /// Of a push that is kept: its `apns-unique-id`.
    var unique: RandomUUID?
    /// What its device did with it at once; nil: there is no device model.
    var outcome: DeviceOutcome?

    /// The topic without its push type's suffix.
    var bundleID: String { String(topic.dropLast(pushType.topicSuffix.utf8.count)) }

    /// One line of JSON. The payload is JSON that was checked, so that its line ends can only be white space.
    func json(deliveredAt: Int64) -> String {
        var text = "{"
        if let channel {
            text += "\"channel\":\(JSONText.quoted(channel)),"
        } else {
            text += "\"token\":\"\(token)\","
        }
        text += "\"topic\":\(JSONText.quoted(topic)),\"push_type\":\"\(pushType.rawValue)\",\"priority\":\(priority)"
        text += ",\"apns_id\":\(JSONText.quoted(identifier))"
        if let unique { text += ",\"unique_id\":\"\(unique.text)\"" }
        if let namespace { text += ",\"namespace\":\(JSONText.quoted(namespace))" }
        if let collapseID { text += ",\"collapse_id\":\(JSONText.quoted(collapseID))" }
        if let expiration { text += ",\"expiration\":\(expiration)" }
        text += ",\"accepted_at\":\(acceptedAt),\"delivered_at\":\(deliveredAt)"
        if let outcome { text += ",\"outcome\":\"\(outcome.name)\"" }
        text += ",\"payload\":"
        let line = payload.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
        return text + String(decoding: line, as: UTF8.self) + "}"
    }
}

/// Texts in JSON (RFC 8259 section 7).
enum JSONText {
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{0}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

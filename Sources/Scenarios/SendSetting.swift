import Foundation
import Payloads
import Settings

/// One of several sends of a run, as people give it: who gets what, and when. Written as a map (`{name: …, audience: …}`), in YAML or
/// JSON.
public struct SendSetting: Sendable, Equatable {
    /// What its row is called.
    public var name: String
    /// A tag expression; `*` is everyone.
    public var audience: String
    /// After the run's start, ns.
    public var start: UInt64 = 0
    /// `apns-priority`. Of the sends that have begun the one with the highest goes first; nil: the run's, or else its push type's.
    public var priority: Int?
    /// A profile or a mix; nil: the run's.
    public var profile: String?
    /// The name of one of the run's `templates`, for all its devices.
    public var template: String?
    /// `apns-collapse-id`, at most 64 bytes; nil: the run's.
    public var collapseID: String?
    /// How often it is sent, each `every` after the one before, ns: as sends of their own, `NAME 1` and so on.
    public var times = 1
    public var every: UInt64 = 0
    /// `NAME=VALUE`, besides the run's `properties`.
    public var properties: [String] = []

    /// Sends a run may have.
    public static let most = 50
    static let longestName = 60

    /// Each time it is sent.
    package var each: [SendSetting] {
        guard times > 1 else { return [self] }
        return (0..<times).map { number in
            var one = self
            one.name += " \(number + 1)"
            let (after, isLong) = every.multipliedReportingOverflow(by: UInt64(number))
            one.start = isLong ? .max : start.addingReportingOverflow(after).overflow ? .max : start + after
            (one.times, one.every) = (1, 0)
            return one
        }
    }

    public init(name: String, audience: String) {
        self.name = name
        self.audience = audience
    }

    /// - Parameter text: a map in YAML's flow style or JSON.
    /// - Throws: what is wrong with it, without a place in a file.
    public init(parsing text: String) throws(SettingsError) {
        let none = SettingsError(
            "\"\(text.prefix(60))\": expected {name: …, audience: …}, the audience in quotes where it begins with * or !"
        )
        let value: YAMLValue
        do throws(SettingsError) { value = try YAMLValue(parsing: text, file: Self.origin) } catch { throw none }
        guard value.isMap else { throw none }
        do throws(SettingsError) { try self.init(value) } catch {
            // Lines and columns would be those of a text that nobody has written.
            let parts = error.description.split(separator: ":", maxSplits: 3)
            guard parts.count == 4, parts[0] == Self.origin else { throw error }
            throw SettingsError(String(parts[3].dropFirst()))
        }
    }

    private static let origin = "send"

    static let keys = [
        "name", "audience", "start", "priority", "profile", "template", "properties", "collapse_id",
        "repeat", "every",
    ]

    /// - Throws: what is wrong, at its place.
    init(_ value: YAMLValue) throws(SettingsError) {
        var map = try value.map()
        // One that is misspelt rather than missing is found first.
        for key in Self.keys { _ = map.take(key) }
        try map.finish()
        let named = try map.need("name")
        let audienceValue = try map.need("audience")
        name = try named.text()
        audience = try audienceValue.text()
        guard !audience.isEmpty else { throw audienceValue.error("empty; in quotes where it begins with * or !") }
        if let value = map.take("start") { start = try value.duration() }
        if let value = map.take("priority") {
            let text = try value.text()
            guard let number = Int(text), [1, 5, 10].contains(number) else {
                throw value.error("\"\(text)\": expected 10, 5 or 1")
            }
            priority = number
        }
        if let value = map.take("profile") {
            profile = try value.reading { text throws(PayloadError) in
                _ = try ProfileMix(parsing: text)
                return text
            }
        }
        if let value = map.take("template") { template = try value.text() }
        if let value = map.take("properties") { properties = try value.pairs() }
        if let value = map.take("collapse_id") {
            let text = try value.text()
            let isText = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            guard (1...64).contains(text.utf8.count), isText else {
                throw value.error(
                    "\(YAMLValue.quoted(String(text.prefix(80)))): expected 1 to 64 bytes, none a control character")
            }
            collapseID = text
        }
        try readRepeats(&map)
        let isName = name.unicodeScalars.allSatisfy {
            !"{}=\"".unicodeScalars.contains($0) && $0.properties.generalCategory != .control
        }
        guard !name.isEmpty, name.count <= Self.longestName, isName else {
            throw named.error(
                "\"\(name.prefix(80))\": expected 1 to \(Self.longestName) characters, none of {}=\"")
        }
        guard name == name.trimmingCharacters(in: .whitespaces) else {
            throw named.error("\"\(name)\": expected a name that neither begins nor ends with a blank")
        }
        guard profile == nil || template == nil else {
            throw value.error("profile and template exclude each other: give one of them")
        }
    }

    private mutating func readRepeats(_ map: inout YAMLMap) throws(SettingsError) {
        let (repeats, pause) = (map.take("repeat"), map.take("every"))
        if let repeats {
            let text = try repeats.text()
            guard let number = Int(text), (1...Self.most).contains(number) else {
                throw repeats.error("\"\(text)\": expected 1 to \(Self.most) times")
            }
            guard number == 1 || pause != nil else {
                throw repeats.error("say how long after each other: every, such as every: 5s")
            }
            times = number
        }
        if let pause {
            every = try pause.duration()
            guard repeats != nil else { throw pause.error("goes with repeat, how often it is sent") }
            guard every > 0 else { throw pause.error("expected more than 0") }
        }
    }

    /// - Parameter text: a map, or a list of maps.
    static func list(parsing text: String) throws(SettingsError) -> [SendSetting] {
        guard text.drop(while: \.isWhitespace).first == "[", let value = try? YAMLValue(parsing: text, file: origin),
            let items = try? value.list()
        else { return [try SendSetting(parsing: text)] }
        var sends: [SendSetting] = []
        for item in items { sends.append(try SendSetting(parsing: try item.flow())) }
        return sends
    }

    /// The maps of a text that holds several, with semicolons between.
    static func apart(_ text: String) -> [String] {
        var (parts, depth, quote, isEscaped) = ([""], 0, Character?.none, false)
        for character in text {
            if let open = quote {
                if character == open, !isEscaped { quote = nil }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if "{[".contains(character) {
                depth += 1
            } else if "}]".contains(character) {
                depth -= 1
            } else if character == ";", depth <= 0 {
                parts.append("")
                continue
            }
            isEscaped = character == "\\" && !isEscaped && quote == "\""
            parts[parts.count - 1].append(character)
        }
        return parts.filter { !$0.allSatisfy(\.isWhitespace) }
    }

    /// Reads back as the same.
    public var text: String {
        var parts = ["name: \(YAMLValue.quoted(name))", "audience: \(YAMLValue.quoted(audience))"]
        if start > 0 { parts.append("start: \(Units.written(duration: start))") }
        if let priority { parts.append("priority: \(priority)") }
        if let profile { parts.append("profile: \(YAMLValue.quoted(profile))") }
        if let template { parts.append("template: \(YAMLValue.quoted(template))") }
        if let collapseID { parts.append("collapse_id: \(YAMLValue.quoted(collapseID))") }
        if times > 1 { parts.append("repeat: \(times), every: \(Units.written(duration: every))") }
        if !properties.isEmpty {
            let pairs = properties.map { pair in
                let sign = pair.firstIndex(of: "=") ?? pair.endIndex
                return "\(YAMLValue.quoted(String(pair[..<sign]))): "
                    + YAMLValue.quoted(String(pair[sign...].dropFirst()))
            }
            parts.append("properties: {\(pairs.joined(separator: ", "))}")
        }
        return "{\(parts.joined(separator: ", "))}"
    }
}

extension SendSetting: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(SettingsError) { try self.init(parsing: text) } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

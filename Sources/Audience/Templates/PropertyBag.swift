import Settings

/// What one send says to all templates: properties with a name and a text each.
///
/// "The request body is a JSON object, with only string properties", and "the message size cannot be over 64Kb" (Azure's REST
/// page "Send a Template Notification"). "Property names are not case-sensitive" ("Notification Hubs templates"). How many there may be is not documented; 64
/// is the bound here, as are names of 1 to 120 letters, digits and _ - . (of ASCII).
package struct PropertyBag: Sendable, Equatable {
    /// In the order they were given, or by name where there was none.
    package private(set) var properties: [(name: String, value: String)] = []
    private var places: [String: Int] = [:]
    /// Bytes of the JSON object that a backend would send to the hub.
    package private(set) var size = 2

    package static let mostProperties = 64
    package static let longestName = 120
    package static let largestSize = 64 * 1024

    /// With none.
    package init() {}

    /// From `name=value` texts, as flags give them; the value is what comes after the first `=`, and may be empty.
    ///
    /// - Throws: one line with the text that is wrong.
    package init(flags: [String]) throws(AudienceError) {
        for flag in flags {
            guard let equals = flag.utf8.firstIndex(of: 0x3D) else {
                throw AudienceError("property \"\(HubText.short(flag))\": expected NAME=VALUE, as in title=News")
            }
            try add(String(flag[..<equals]), String(flag[flag.utf8.index(after: equals)...]))
        }
    }

    /// From a JSON object of texts; numbers, true and false become their text.
    ///
    /// - Parameter place: where the object stands, for messages.
    package init(_ json: JSONValue, place: String) throws(AudienceError) {
        guard case .object(let object) = json else {
            throw AudienceError("\(place): expected a JSON object with a text for each property")
        }
        for (name, value) in object.sorted(by: { $0.key < $1.key }) {
            do throws(AudienceError) {
                try add(name, Self.text(value, name))
            } catch {
                throw AudienceError("\(place): \(error)")
            }
        }
    }

    /// From the keys of a YAML map, each with a single value.
    ///
    /// - Throws: `file:line:column: …`
    package init(_ yaml: YAMLValue) throws(AudienceError) {
        do {
            for entry in try yaml.map().entries {
                let text = try entry.value.text()
                do throws(AudienceError) {
                    try add(entry.name, text)
                } catch {
                    throw AudienceError("\(entry.key.place): \(error)")
                }
            }
        } catch let error as SettingsError {
            throw AudienceError(error.description)
        } catch let error as AudienceError {
            throw error
        } catch {
            throw AudienceError("\(error)")
        }
    }

    package static func == (left: PropertyBag, right: PropertyBag) -> Bool {
        left.properties.elementsEqual(right.properties) { $0.name == $1.name && $0.value == $1.value }
    }

    /// The text of a property, whatever the case of its name; nil when there is none.
    package subscript(name: String) -> String? { places[Self.folded(name)].map { properties[$0].value } }

    /// Adds a property.
    ///
    /// - Throws: for a name or a size outside the bounds, and a name that is there already.
    package mutating func add(_ name: String, _ value: String) throws(AudienceError) {
        guard !name.isEmpty, name.utf8.count <= Self.longestName, name.utf8.allSatisfy(Self.isNameByte) else {
            throw AudienceError(
                "property \"\(HubText.short(name))\": expected a name of 1 to \(Self.longestName) letters, digits and _ - ."
            )
        }
        if let place = places[Self.folded(name)] {
            let other = properties[place].name
            throw AudienceError(
                "property \"\(name)\" is given twice"
                    + (other == name ? "" : ": \"\(other)\" is the same, as case makes no difference"))
        }
        guard properties.count < Self.mostProperties else {
            throw AudienceError("property \"\(name)\" is one too many; at most \(Self.mostProperties) in a send")
        }
        var text: [UInt8] = []
        HubText.appendEscaped(value, to: &text, isForPayloads: false)
        // Two pairs of quotes, a colon, and a comma after the first.
        let larger = size + name.utf8.count + text.count + 5 + (properties.isEmpty ? 0 : 1)
        guard larger <= Self.largestSize else {
            throw AudienceError(
                "property \"\(name)\": all together have more than \(Self.largestSize) bytes, the most a send may have")
        }
        size = larger
        places[Self.folded(name)] = properties.count
        properties.append((name, value))
    }

    /// `; did you mean …?`, or what there is.
    func hint(_ name: String) -> String {
        let names = properties.map(\.name)
        if let near = NearestName.of(name, among: names) { return "; did you mean \"\(near)\"?" }
        if names.isEmpty { return "; it is empty" }
        return "; it has " + names.prefix(10).joined(separator: ", ") + (names.count > 10 ? " …" : "")
    }

    private static func text(_ value: JSONValue, _ name: String) throws(AudienceError) -> String {
        switch value {
        case .string(let text): return text
        case .integer(let number): return "\(number)"
        case .number(let number) where number.isFinite: return "\(number)"
        case .bool(let flag): return flag ? "true" : "false"
        case .null, .number, .array, .object:
            throw AudienceError(
                "property \"\(HubText.short(name))\": expected a text; a send has only texts and what can be one")
        }
    }

    // MARK: Names

    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D, 0x2E: true
        default: false
        }
    }

    /// A name without its case.
    static func folded(_ name: String) -> String {
        String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

import Settings

/// Keys of each kind, and how their texts are read and written.
extension ScenarioKey {
    static func one(_ texts: [String]) throws(SettingsError) -> String {
        guard texts.count == 1, let text = texts.first else { throw SettingsError("expected one value") }
        return text
    }

    static func text(
        _ name: String, _ help: String, example: String? = nil, _ path: WritableKeyPath<Scenario, String> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(
            name, .text, help, example: example,
            write: { $0[keyPath: path].isEmpty ? nil : $0[keyPath: path] }
        ) { (scenario, texts) throws(SettingsError) in
            scenario[keyPath: path] = try one(texts)
        }
    }

    static func optional(
        _ name: String, _ help: String, example: String, _ path: WritableKeyPath<Scenario, String?> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(name, .text, help, example: example, write: { $0[keyPath: path] }) {
            (scenario, texts) throws(SettingsError) in
            scenario[keyPath: path] = try one(texts)
        }
    }

    static func choice(
        _ name: String, _ choices: [String], _ help: String, _ path: WritableKeyPath<Scenario, String> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(name, .choice(choices), help, write: { $0[keyPath: path] }) {
            (scenario, texts) throws(SettingsError) in
            let text = try one(texts)
            guard choices.contains(text) else {
                throw SettingsError("\"\(text)\"" + NearestName.hint(text, among: choices))
            }
            scenario[keyPath: path] = text
        }
    }

    static func read<Value>(
        _ texts: [String], _ read: (String) throws(Units.ParseError) -> Value
    ) throws(SettingsError) -> Value {
        let text = try one(texts)
        do throws(Units.ParseError) { return try read(text) } catch { throw SettingsError(error.description) }
    }

    static func count(
        _ name: String, _ help: String, range: String? = nil, _ path: WritableKeyPath<Scenario, UInt64> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(name, .count, help, range: range, write: { Units.written(count: $0[keyPath: path]) }) {
            (scenario, texts) throws(SettingsError) in
            scenario[keyPath: path] = try read(texts, Units.count)
        }
    }

    static func whole(
        _ name: String, _ range: ClosedRange<Int>, _ help: String, _ path: WritableKeyPath<Scenario, Int> & Sendable
    ) -> ScenarioKey {
        func written(_ value: Int) -> String { Units.grouped(UInt64(value)) }
        return ScenarioKey(
            name, .count, help, range: "\(written(range.lowerBound)) to \(written(range.upperBound))",
            write: { Units.written(count: UInt64($0[keyPath: path])) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario[keyPath: path] = Int(clamping: try read(texts, Units.count))
        }
    }

    static func duration(
        _ name: String, _ help: String, range: String? = nil, _ path: WritableKeyPath<Scenario, UInt64> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(name, .duration, help, range: range, write: { Units.written(duration: $0[keyPath: path]) }) {
            (scenario, texts) throws(SettingsError) in
            scenario[keyPath: path] = try read(texts, Units.duration)
        }
    }

    static func bytes(
        _ name: String, _ range: ClosedRange<Int>, _ help: String, _ path: WritableKeyPath<Scenario, Int> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(
            name, .bytes, help,
            range: "\(Units.written(bytes: range.lowerBound)) to \(Units.written(bytes: range.upperBound))",
            write: { Units.written(bytes: $0[keyPath: path]) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario[keyPath: path] = try read(texts, Units.bytes)
        }
    }

    static func flag(
        _ name: String, _ help: String, _ path: WritableKeyPath<Scenario, Bool> & Sendable
    ) -> ScenarioKey {
        ScenarioKey(name, .flag, help, write: { "\($0[keyPath: path])" }) { (scenario, texts) throws(SettingsError) in
            switch try one(texts) {
            case "true", "yes", "on": scenario[keyPath: path] = true
            case "false", "no", "off": scenario[keyPath: path] = false
            default: throw SettingsError("\"\(texts[0])\": expected true or false")
            }
        }
    }

    static func words(_ texts: [String]) -> [String] {
        texts.flatMap { $0.split(separator: ",").map { String($0).filter { $0 != " " } } }
    }

    /// nil for none.
    static func listed(_ texts: [String]) -> String? {
        texts.isEmpty ? nil : "[\(texts.joined(separator: ", "))]"
    }

    /// A text of a list in YAML, in quotes where it would be something else without.
    static func written(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D, 0x2E, 0x3D, 0x20: true
            default: false
            }
        }
        return isPlain && text.first?.isLetter == true && text.last != " " ? text : YAMLValue.quoted(text)
    }
}

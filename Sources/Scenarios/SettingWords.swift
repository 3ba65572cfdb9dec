import Settings

/// Settings as people read them in reports: results hold times in nanoseconds and sizes in bytes.
public enum SettingWords {
    /// A setting by the name a result has it under.
    ///
    /// - Returns: `30s`, `100ms`, `64KiB`: exactly the value; nil when the setting is neither a time nor a size.
    public static func text(_ name: String, _ value: Int64) -> String? {
        guard value >= 0, let unit = units[name] else { return nil }
        return unit == .duration ? duration(UInt64(value)) : bytes(value)
    }

    /// The name of a property of `Scenario` in documents: `keyID` is `key_id`.
    public static func documentName(_ property: String) -> String {
        var name = ""
        var wasLower = false
        for character in property {
            if character.isUppercase, wasLower { name += "_" }
            name += character.lowercased()
            wasLower = !character.isUppercase
        }
        return name
    }

    static func duration(_ nanoseconds: UInt64) -> String {
        let units: [(UInt64, String)] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")]
        guard nanoseconds > 0 else { return "0s" }
        let (size, unit) = units.first { nanoseconds % $0.0 == 0 } ?? (1, "ns")
        return "\(nanoseconds / size)\(unit)"
    }

    private static func bytes(_ count: Int64) -> String {
        let units: [(Int64, String)] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        let (size, unit) = units.first { count > 0 && count % $0.0 == 0 } ?? (1, "B")
        return "\(count / size)\(unit)"
    }

    private enum Unit { case duration, bytes }

    /// Found by setting each key of that kind and looking what became of it, so that no list has to be kept.
    private static let units: [String: Unit] = {
        var units: [String: Unit] = [:]
        func values(_ scenario: Scenario) -> [String: String] {
            Dictionary(
                uniqueKeysWithValues: Mirror(reflecting: scenario).children.compactMap { child in
                    child.label.map { ($0, "\(child.value)") }
                })
        }
        let usual = values(Scenario())
        for key in ScenarioKey.all {
            let unit: Unit
            switch key.kind {
            case .duration: unit = .duration
            case .bytes: unit = .bytes
            // A time, or something else.
            case .text where key.name == "warmup": unit = .duration
            default: continue
            }
            var scenario = Scenario()
            do throws(SettingsError) { try key.apply([unit == .duration ? "7919s" : "7919"], to: &scenario) } catch {
                continue
            }
            for (name, value) in values(scenario) where value != usual[name] { units[documentName(name)] = unit }
        }
        return units
    }()
}

import Settings

/// Settings as people read them in reports: results hold times in nanoseconds and sizes in bytes.
public enum SettingWords {
    /// A setting by the name a result has it under.
    ///
    /// - Returns: `30s`, `100ms`, `64KiB`: exactly the value; nil when the setting is neither a time nor a size.
    public static func text(_ name: String, _ value: Int64) -> String? {
        guard value >= 0, let unit = units[name] else { return nil }
        return unit == .duration ? Units.written(duration: UInt64(value)) : Units.written(bytes: Int(value))
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

    /// The key of the scenario that a setting of a document belongs to, as people give it.
    public static func key(_ documentName: String) -> String { keys[documentName] ?? documentName }
    private static let keys = [
        "warmup_pushes": "warmup", "warmup_auto": "warmup", "thresholds": "threshold",
        "expected_reasons": "expect_reasons", "header_table_size": "header_table",
        "encoder_table_size": "encoder_table", "max_frame_size": "max_frame", "tls_minimum": "tls_min",
        "tls_maximum": "tls_max", "no_delay": "nodelay", "kernel_tls": "ktls", "push_timeout": "timeout",
        "mock_flag_text": "mock_flags", "backend_flag_text": "backend_flags",
    ]

    /// A setting of a warm-up that is not in force; another one of them may be.
    public static func isNoWarmup(_ documentName: String, _ setting: JSONValue) -> Bool {
        switch documentName {
        case "warmup", "warmup_pushes": setting == .integer(0)
        case "warmup_auto": setting == .bool(false)
        default: false
        }
    }

    /// A warm-up as its key has it, where that is not a time: `auto`, `10,000 pushes`.
    public static func warmup(_ documentName: String, _ setting: JSONValue) -> String? {
        switch (documentName, setting) {
        case ("warmup_auto", .bool(true)): "auto"
        case ("warmup_pushes", .integer(let count)): Units.counted(count, "push")
        default: nil
        }
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
            for text in unit == .duration ? ["7919s", "7919ms", "7us"] : ["7919B", "77777B"] {
                // Whatever is within the key's range.
                do throws(SettingsError) { try key.apply([text], to: &scenario) } catch { continue }
            }
            for (name, value) in values(scenario) where value != usual[name] { units[documentName(name)] = unit }
        }
        return units
    }()
}

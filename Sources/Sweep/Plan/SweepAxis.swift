import Scenarios
import Settings

/// What a sweep varies: one setting, or several that move together, and the values they take.
struct SweepAxis: Sendable, Equatable, Codable {
    /// A key of a scenario with its value as people write it.
    struct Assignment: Sendable, Equatable, Codable {
        let key: String
        let text: String

        init(_ key: String, _ text: String) {
            self.key = key
            self.text = text
        }
    }

    struct Value: Sendable, Equatable, Codable {
        /// As tables and pictures call it.
        let label: String
        let settings: [Assignment]

        /// - Throws: what is wrong with the value, without the place.
        func apply(to scenario: inout Scenario) throws(SettingsError) {
            try scenario.makeRoom(for: settings.map { ($0.key, $0.text) }) { problem, _ in SettingsError(problem) }
            for setting in settings {
                guard let key = ScenarioKey.named(setting.key) else {
                    throw SettingsError("unknown key \"\(setting.key)\"")
                }
                try key.apply([setting.text], to: &scenario)
            }
        }
    }

    /// The setting's name, or what the file calls several together.
    let name: String
    let values: [Value]

    /// Values of one axis.
    static let most = 1000

    /// What may not be varied, because it is about the sweep or its outcome rather than the run.
    static let fixed: Set<String> = [
        "name", "threshold", "metrics_port", "abort_on_fail", "abort_on_fail_window", "abort_on_fail_delay",
        "allowed_targets",
    ]

    /// The names of settings that may be varied.
    static var keys: [String] { ScenarioKey.allNames.filter { !fixed.contains($0) } }

    /// What its values are, for an axis of one setting whose values are all numbers: counts, bytes, nanoseconds, pushes a
    /// second. nil when they are texts.
    var numbers: [Double]? {
        guard values.allSatisfy({ $0.settings.count == 1 }) else { return nil }
        let numbers = values.compactMap { value -> Double? in
            guard let setting = value.settings.first, let key = ScenarioKey.named(setting.key) else { return nil }
            return SweepNumber(key)?.read(setting.text)
        }
        return numbers.count == values.count ? numbers : nil
    }

    /// Its numbers are nanoseconds.
    var isTime: Bool {
        guard numbers != nil, let setting = values.first?.settings.first, let key = ScenarioKey.named(setting.key)
        else {
            return false
        }
        return SweepNumber(key)?.unit == .duration
    }

    /// All its settings.
    var keysVaried: [String] {
        var seen: Set<String> = []
        return values.flatMap(\.settings).map(\.key).filter { seen.insert($0).inserted }
    }

    /// - Throws: what is wrong, without the place: no value, too many, a value that is not one, the same twice.
    func check() throws(SettingsError) {
        guard !values.isEmpty else { throw SettingsError("expected at least one value") }
        guard values.count <= Self.most else {
            throw SettingsError("\(values.count) values: expected at most \(Self.most)")
        }
        var seen: [(label: String, scenario: Scenario)] = []
        for value in values {
            var scenario = Scenario()
            try value.apply(to: &scenario)
            // Two spellings of the same value, 1k and 1000, are the same.
            if let same = seen.first(where: { $0.scenario == scenario || $0.label == value.label }) {
                let spelling = same.label == value.label ? "" : ", as \"\(same.label)\""
                throw SettingsError("\"\(value.label)\" is given twice\(spelling)")
            }
            seen.append((value.label, scenario))
        }
    }
}

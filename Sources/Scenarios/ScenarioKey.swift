import Settings

/// One setting of a run as people give it: a key of a scenario file, and the flag of the same name (`push_type`,
/// `--push-type`). The one list of them: files, flags, `--set`, environment variables and the JSON Schema are made of it.
public struct ScenarioKey: Sendable {
    public enum Kind: Sendable {
        case text, count, number, rate, duration, bytes, flag
        /// Several texts.
        case list
        /// One of these.
        case choice([String])
    }

    public let name: String
    public let kind: Kind
    public let help: String
    /// What it may be: `1 to 256`; nil: its help says it.
    public let range: String?
    /// A value for keys that are not set unless asked for.
    public let example: String?
    /// Its value in a scenario as people write it; nil: not set.
    let write: @Sendable (Scenario) -> String?
    let set: @Sendable (inout Scenario, [String]) throws(SettingsError) -> Void

    /// What it is without being asked for; nil: not set.
    public var standard: String? { write(Scenario()) }
    /// Its value in a scenario as people write it; nil: not set.
    public func text(in scenario: Scenario) -> String? { write(scenario) }
    /// Among those that `--help` shows; the others are in `--help-all`.
    public var isEveryday: Bool { Self.everyday.contains(name) }
    private static let everyday: Set<String> = [
        "pushes", "duration", "until", "rate", "stages", "connections", "streams", "threads", "warmup",
        "profile", "threshold",
        "credentials", "target", "allowed_targets", "rtt", "registrations", "audience",
    ]

    /// As a flag: `--push-type`. One that is given several times is called after one of its values.
    public var flag: String {
        "--" + (Self.ofOne[name] ?? name).replacing("_", with: "-")
    }
    private static let ofOne = ["allowed_targets": "allow-target", "properties": "property", "sends": "send"]
    /// As an environment variable: `PUSHLOAD_PUSH_TYPE`.
    public var variable: String { "PUSHLOAD_" + name.uppercased() }

    /// Reads the value's text (of a list: its texts) into a scenario.
    ///
    /// - Throws: what is wrong with the value and what would be right, without the place.
    public func apply(_ texts: [String], to scenario: inout Scenario) throws(SettingsError) {
        guard !isPath || !texts.contains("") else { throw SettingsError("expected a path, not an empty text") }
        try set(&scenario, texts)
    }

    /// Of several maps, which one is wrong: ` 2`; empty where there is but one, or where a value can be found by its text.
    package func number(ofWrong texts: [String]) -> String {
        guard name == "sends", texts.count > 1 else { return "" }
        let wrong = texts.firstIndex { (try? SendSetting.list(parsing: $0)) == nil }
        return wrong.map { " \($0 + 1)" } ?? ""
    }

    /// Its value is a file or folder, in a scenario file meant from where that lies.
    package var isPath: Bool { Self.paths.contains(name) }
    private static let paths: Set<String> = [
        "trace", "replay", "template", "device_file", "registrations", "templates", "credentials", "key", "cert",
        "cert_key",
        "cacert", "device_model",
    ]
    /// Values that are no paths after all, whatever their case.
    private static let noPaths = ["device_model": ["on", "off", "yes", "no", "true", "false"]]

    /// A value as it is meant in a scenario file in `folder`.
    package func resolved(_ text: String, in folder: String) -> String {
        if name == "target", text.hasPrefix("@") {
            return "@" + ScenarioFile.resolve(String(text.dropFirst()), folder)
        }
        return isPath && !isWord(text) ? ScenarioFile.resolve(text, folder) : text
    }

    /// It is a word instead of the path that the key may have.
    func isWord(_ text: String) -> Bool { Self.noPaths[name]?.contains(text.lowercased()) == true }

    public static func named(_ name: String) -> ScenarioKey? { byName[name] }
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    public static var allNames: [String] { all.map(\.name) }

    /// In the order in which they are documented.
    public static let all: [ScenarioKey] = load + who + transport

    init(
        _ name: String, _ kind: Kind, _ help: String, range: String? = nil, example: String? = nil,
        write: @escaping @Sendable (Scenario) -> String?,
        _ set: @escaping @Sendable (inout Scenario, [String]) throws(SettingsError) -> Void
    ) {
        self.name = name
        self.kind = kind
        self.help = help
        self.range = range
        self.example = example
        self.write = write
        self.set = set
    }
}

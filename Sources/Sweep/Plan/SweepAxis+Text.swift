import Scenarios
import Settings

extension SweepAxis {
    /// Reads `KEY=VALUES`, as `--vary` gives it; the key as in a file or as the flag (`push_type`, `push-type`).
    ///
    /// - Throws: what is wrong, with the nearest known name.
    init(parsing text: String) throws(SettingsError) {
        guard let sign = text.firstIndex(of: "=") else {
            throw SettingsError("--vary \(text): expected KEY=VALUES, such as streams=100,500,1000")
        }
        let given = String(text[..<sign])
        do throws(SettingsError) {
            let key = try Self.key(given)
            let values = try SweepValues.parse(String(text[text.index(after: sign)...]), for: key)
            self = try Self.of(key, values)
        } catch { throw SettingsError("--vary \(given): \(error)") }
    }

    /// Reads all of `--vary`.
    ///
    /// - Throws: also when a setting is varied twice.
    static func list(parsing texts: [String]) throws(SettingsError) -> [SweepAxis] {
        var axes: [SweepAxis] = []
        for text in texts {
            let axis = try SweepAxis(parsing: text)
            guard !axes.contains(where: { $0.name == axis.name }) else {
                throw SettingsError(
                    "--vary \(axis.name): given twice; give all its values at once, separated by commas")
            }
            axes.append(axis)
        }
        return axes
    }

    static func of(_ key: ScenarioKey, _ texts: [String]) throws(SettingsError) -> SweepAxis {
        let axis = SweepAxis(
            name: key.name, values: texts.map { Value(label: $0, settings: [Assignment(key.name, $0)]) })
        try axis.check()
        return axis
    }

    /// A setting that may be varied, by its name or its flag's.
    static func key(_ given: String) throws(SettingsError) -> ScenarioKey {
        var name = given.filter { $0 != " " }
        while name.hasPrefix("-") { name.removeFirst() }
        name = name.replacing("-", with: "_")
        guard let key = ScenarioKey.named(name) else {
            let hint = NearestName.of(name, among: keys).map { "; did you mean \"\($0)\"?" }
            throw SettingsError("unknown key \"\(given)\"" + (hint ?? "; pushload scenario init lists all keys"))
        }
        guard !fixed.contains(name) else { throw SettingsError("\"\(name)\" cannot be varied") }
        return key
    }
}

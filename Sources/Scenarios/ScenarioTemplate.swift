import Settings

/// The file `pushload scenario init` writes: a bundled scenario, and every other key as a comment, with its default.
public enum ScenarioTemplate {
    /// What the file's first line names; it lies beside it.
    public static let schemaName = "scenario.schema.json"

    /// - Parameter schema: names the schema for editors.
    public static func text(_ entry: BundledScenarios.Entry, schema: Bool) -> String {
        var text = schema ? "# yaml-language-server: $schema=./\(schemaName)\n" : ""
        text +=
            "# \(entry.summary)\n# Run it: pushload run FILE [--set key=value]; check it: pushload scenario check FILE.\n\n"
        text +=
            entry.textOfItsOwn
            + "\n\n# Every other key, with its default, or an example where nothing is set without it:\n"
        let used = Set(entry.text.split(separator: "\n").compactMap { $0.split(separator: ":").first.map(String.init) })
        for key in ScenarioKey.all where !used.contains(key.name) && key.name != "measure" {
            let range = key.range.map { " (\($0))" } ?? ""
            let value = key.standard ?? "\(key.example ?? "")  # not set"
            text += "\n# \(key.help)\(range)\n# \(key.name): \(value)\n"
        }
        return text + "\n# Scenarios this one builds on.\n# include: base.yaml\n"
    }
}

extension BundledScenarios.Entry {
    /// Its text for another folder: files that it names are named with their folder.
    package var textOfItsOwn: String {
        let entries = (try? YAMLValue(parsing: text, file: name).map().entries) ?? []
        return entries.reduce(text) { text, entry in
            guard folder != ".", ScenarioKey.named(entry.name)?.isPath == true, let path = try? entry.value.text()
            else {
                return text
            }
            return text.replacing(
                "\n\(entry.name): \(path)", with: "\n\(entry.name): \(ScenarioFile.resolve(path, folder))")
        }
    }
}

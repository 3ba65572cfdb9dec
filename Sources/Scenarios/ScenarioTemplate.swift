/// The file `pushload init` writes: a bundled scenario, and every other key as a comment.
public enum ScenarioTemplate {
    public static func text(_ entry: BundledScenarios.Entry) -> String {
        var text = "# yaml-language-server: $schema=./scenario.schema.json\n"
        text += "# \(entry.summary)\n# Run it: pushload run FILE [--set key=value]; check it: pushload check FILE.\n\n"
        text += entry.text + "\n\n# Every other key, with what it means:\n"
        let used = Set(entry.text.split(separator: "\n").compactMap { $0.split(separator: ":").first.map(String.init) })
        for key in ScenarioKey.all where !used.contains(key.name) && key.name != "measure" {
            text += "\n# \(key.help)\n# \(key.name): \(example(key))\n"
        }
        return text + "\n# Scenarios this one builds on.\n# include: base.yaml\n"
    }

    private static func example(_ key: ScenarioKey) -> String {
        switch key.kind {
        case .text: ""
        case .count: "1000"
        case .number: "10"
        case .rate: "20k"
        case .duration: "10s"
        case .bytes: "64KiB"
        case .flag: "true"
        case .list: "[]"
        case .choice(let choices): choices[0]
        }
    }
}

import Results
import Scenarios
import Settings

/// What a run was, apart from its figures: machine, versions and settings, by name.
package enum RunFacts {
    package static func of(_ result: ResultDocument) -> [String: String] {
        let environment = result.environment
        var facts = [
            "host": environment.host, "cpu": environment.cpu, "cores": "\(environment.cores)",
            "memory": "\(Units.grouped(environment.memoryBytes)) B", "kernel": environment.kernel,
            "system": environment.system,
            "workers": "\(max(1, result.workers?.count ?? 1))", "commit": environment.commit ?? "none",
            "engine": result.run.engine, "tls": result.run.tls ?? "none",
        ]
        for (name, version) in environment.versions { facts["version of \(name)"] = version }
        // By the keys that people give them with; of those that one key sets the one that is in force.
        for (name, setting) in result.scenario where !SettingWords.isNoWarmup(name, setting) {
            facts[SettingWords.key(name)] = text(name, setting)
        }
        if facts["target"] == nil { facts["target"] = result.run.target }
        // It is the budget then.
        if case .string? = result.scenario["until"] { facts["duration"] = nil }
        return facts
    }

    /// A setting with its unit.
    private static func text(_ name: String, _ setting: JSONValue) -> String {
        if let warmup = SettingWords.warmup(name, setting) { return warmup }
        if case .integer(let value) = setting, let text = SettingWords.text(name, value) { return text }
        let text = setting.description
        return text.isEmpty ? "none" : text
    }

    /// What all runs of a series share. Others may change within it: causes of changes, and what a run is judged by, which changes
    /// nothing of what is sent but how long.
    package static func areOfSeries(_ name: String) -> Bool {
        !name.hasPrefix("version of ") && !["kernel", "system", "commit", "memory"].contains(name)
            && !judging.contains(name)
    }

    private static let judging: Set<String> = [
        "threshold", "abort_on_fail", "abort_on_fail_window", "abort_on_fail_delay", "expect_reasons", "budget",
    ]
}

import Results
import Scenarios
import Settings

/// What a run was, apart from its figures: machine, versions and settings, by name.
enum RunFacts {
    static func of(_ result: ResultDocument) -> [String: String] {
        let environment = result.environment
        var facts = [
            "host": environment.host, "cpu": environment.cpu, "cores": "\(environment.cores)",
            "memory": "\(Units.grouped(environment.memoryBytes)) B", "kernel": environment.kernel,
            "system": environment.system,
            "commit": environment.commit ?? "none", "engine": result.run.engine, "tls": result.run.tls ?? "none",
        ]
        for (name, version) in environment.versions { facts["version of \(name)"] = version }
        for (name, setting) in result.scenario { facts[name] = text(name, setting) }
        if facts["target"] == nil { facts["target"] = result.run.target }
        return facts
    }

    /// A setting with its unit.
    private static func text(_ name: String, _ setting: Setting) -> String {
        if case .integer(let value) = setting, let text = SettingWords.text(name, value) { return text }
        return setting.description
    }

    /// What may change from run to run of a series: the causes of changes, rather than other questions.
    static func areOfSeries(_ name: String) -> Bool {
        !name.hasPrefix("version of ") && !["kernel", "system", "commit", "memory"].contains(name)
    }
}

import Results

/// What a run was, apart from its figures: machine, versions and settings, by name.
enum RunFacts {
    static func of(_ result: ResultDocument) -> [String: String] {
        let environment = result.environment
        var facts = [
            "host": environment.host, "cpu": environment.cpu, "cores": "\(environment.cores)",
            "memory": "\(environment.memoryBytes)", "kernel": environment.kernel, "system": environment.system,
            "commit": environment.commit ?? "none", "engine": result.run.engine, "tls": result.run.tls ?? "none",
        ]
        for (name, version) in environment.versions { facts["version of \(name)"] = version }
        for (name, setting) in result.scenario { facts[name] = setting.description }
        if facts["target"] == nil { facts["target"] = result.run.target }
        return facts
    }

    /// What may change from run to run of a series: the causes of changes, rather than other questions.
    static func areOfSeries(_ name: String) -> Bool {
        !name.hasPrefix("version of ") && !["kernel", "system", "commit", "memory"].contains(name)
    }
}

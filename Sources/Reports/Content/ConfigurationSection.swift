import Results
import Scenarios
import Settings

/// What was run, and where.
enum ConfigurationSection {
    private static func ofTheEnd(_ result: ResultDocument) -> [(String, String)] {
        let load = Units.fixed((result.generator.workerLoad.first ?? 0) * 100, places: 1)
        return [
            ("busiest worker", "\(load) % of the time"),
            ("CPU time taken by other virtual machines", "\(Units.fixed(result.generator.steal * 100, places: 2)) %"),
            ("provider tokens signed", Written.count(result.cost.tokensSigned)),
        ]
    }

    /// The settings, with one for the warm-up.
    private static func inForce(_ settings: [String: JSONValue]) -> [String: JSONValue] {
        func isWarmup(_ name: String) -> Bool { SettingWords.key(name) == "warmup" }
        var kept = settings.filter { !SettingWords.isNoWarmup($0.key, $0.value) }
        if !kept.keys.contains(where: isWarmup) { kept["warmup"] = settings["warmup"] }
        return kept
    }

    static func make(_ run: ReportedRun) -> ReportSection {
        let result = run.result
        let environment = result.environment
        var facts = ReportTable(["environment", "value"])
        let known = [
            ("run", result.run.id), ("started", result.run.startedAt), ("engine", result.run.engine),
            ("target", result.run.target), ("TLS", result.security), ("host", environment.host),
            ("CPU", environment.cpu), ("cores", "\(environment.cores)"),
            ("memory", Units.bytes(environment.memoryBytes)), ("kernel", environment.kernel),
            ("system", environment.system), ("commit", environment.commit ?? "none"),
        ]
        for (name, value) in result.isPartial ? known : known + ofTheEnd(result) { facts.add([name, value]) }
        for (name, version) in environment.versions.sorted(by: { $0.key < $1.key }) {
            facts.add(["version of \(name)", version])
        }
        var settings = ReportTable(["setting", "value"])
        for (key, value) in inForce(result.scenario).sorted(by: { $0.key < $1.key }) {
            settings.add([SettingWords.key(key), SettingWords.warmup(key, value) ?? Written.setting(key, value)])
        }
        return ReportSection(
            title: "Configuration and environment",
            blocks: [.folded("Environment", [.table(facts)]), .folded("Settings", [.table(settings)])])
    }
}

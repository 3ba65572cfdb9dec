import ArgumentParser
import Foundation
import Harness
import Scenarios
import Settings

extension ArgumentHelp {
    /// The help of a scenario key.
    static func of(_ key: String, _ valueName: String? = nil) -> ArgumentHelp {
        ArgumentHelp(stringLiteral: ScenarioKey.named(key)?.help ?? "").naming(valueName)
    }

    private func naming(_ valueName: String?) -> ArgumentHelp {
        var help = self
        help.valueName = valueName
        return help
    }
}

/// Where the settings of a run come from, in this order, the later the stronger: a scenario file (or a bundled scenario's
/// name), environment variables, `--set`, flags.
struct ScenarioArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A scenario file (YAML), or the name of a bundled scenario (pushload scenarios).", valueName: "scenario"))
    var file: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Set a key of the scenario, as in --set rate=20k; several times.", valueName: "key=value"))
    var settings: [String] = []

    func scenario(_ flags: [(key: String, texts: [String]?)]) throws(HarnessError) -> Scenario {
        try Self.scenario(file: file, settings: settings, flags: flags)
    }

    static func scenario(
        file: String?, settings: [String], flags: [(key: String, texts: [String]?)]
    ) throws(HarnessError) -> Scenario {
        var scenario = Scenario()
        do throws(ScenarioFile.Problems) {
            if let file { try BundledScenarios.apply(file, to: &scenario) }
        } catch { throw HarnessError(error.description) }
        do throws(SettingsError) {
            try ScenarioFile.applyEnvironment(ProcessInfo.processInfo.environment, to: &scenario)
        } catch { throw HarnessError(error.description) }
        try apply(settings: settings, flags: flags, to: &scenario)
        return scenario
    }

    /// `--set` and then flags, over what a scenario has already.
    static func apply(
        settings: [String], flags: [(key: String, texts: [String]?)], to scenario: inout Scenario
    ) throws(HarnessError) {
        do throws(SettingsError) {
            for text in settings { try ScenarioFile.set(text, in: &scenario) }
            for (name, texts) in flags {
                guard let texts, let key = ScenarioKey.named(name) else { continue }
                do throws(SettingsError) { try key.apply(texts, to: &scenario) } catch {
                    throw SettingsError("\(key.flag): \(error)")
                }
            }
        } catch { throw HarnessError(error.description) }
    }
}

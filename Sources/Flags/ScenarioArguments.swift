import ArgumentParser
import Foundation
import Harness
import Scenarios
import Settings
import Synchronization

extension ArgumentHelp {
    /// The help of a scenario key, with its range and default; unless it is of daily use, only `--help-all` shows it.
    package static func of(_ key: String, _ valueName: String? = nil) -> ArgumentHelp {
        var help = shown(key, valueName)
        if ScenarioKey.named(key)?.isEveryday != true { help.visibility = .hidden }
        return help
    }

    /// The same, shown always.
    package static func shown(_ key: String, _ valueName: String? = nil) -> ArgumentHelp {
        guard let key = ScenarioKey.named(key) else { return "" }
        var standard = key.standard
        if case .flag = key.kind { standard = standard == "true" ? "on" : "off" }
        let facts = [key.range, standard.map { "default: \($0)" }].compactMap { $0 }
        var help = ArgumentHelp(
            stringLiteral: key.help + (facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))"))
        help.valueName = valueName
        return help
    }
}

/// Where the settings of a run come from, in this order, the later the stronger: a scenario file (or a bundled scenario's
/// name), environment variables, `--set`, flags.
package struct ScenarioArguments: ParsableArguments {
    package init() {}

    @Argument(
        help: ArgumentHelp(
            "A scenario file (YAML), or the name of a bundled scenario (pushload scenario list).", valueName: "scenario"
        ))
    package var file: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Set a key of the scenario, as in --set rate=20k; several times.", valueName: "key=value"))
    package var settings: [String] = []

    /// Keys that the file and the environment name.
    package var named: [String] {
        let environment = ProcessInfo.processInfo.environment
        return (file.map { ScenarioFile.places($0).map(\.key) } ?? [])
            + ScenarioKey.all.filter { key in
                environment[key.variable].map { !ScenarioFile.isOfService(key.variable, $0) } ?? false
            }.map(\.name)
    }

    private static let hasTold = Atomic(false)

    /// Says once that variables are passed over.
    package static func tell(passedOver variables: [String]) {
        guard let first = variables.first, !hasTold.exchange(true, ordering: .relaxed) else { return }
        let others = variables.count > 1 ? " and \(variables.count - 1) more" : ""
        Console.error(
            "\(first)\(others): no setting, but what Kubernetes sets for a Service; ignored (enableServiceLinks: false leaves it out)"
        )
    }

    package func scenario(_ flags: [(key: String, texts: [String]?)]) throws(HarnessError) -> Scenario {
        try Self.scenario(file: file, settings: settings, flags: flags)
    }

    package static func scenario(
        file: String?, settings: [String], flags: [(key: String, texts: [String]?)], leavingOut leftOut: String? = nil
    ) throws(HarnessError) -> Scenario {
        var scenario = Scenario()
        try read(file, leavingOut: leftOut, to: &scenario)
        let sends = scenario.sends.count
        do throws(SettingsError) {
            let without = leftOut.flatMap(ScenarioKey.named)?.variable
            let environment = ProcessInfo.processInfo.environment.filter { $0.key != without }
            Self.tell(passedOver: try ScenarioFile.applyEnvironment(environment, to: &scenario))
        } catch { throw HarnessError(error.description) }
        try apply(settings: settings, flags: flags, to: &scenario)
        if leftOut == nil, sends > 0, scenario.sends.isEmpty, scenario.audience != nil, let file {
            Console.error(
                "the audience that is given takes the place of the \(Units.counted(sends, "send")) of \(file)")
        }
        return scenario
    }

    /// Of the command line, which is of one run alone, also what asks for a default has to have an effect; turning something off has.
    ///
    /// - Throws: a line for each flag or `--set` that has none. What asks for something else is refused with the scenario.
    package func refuseIdle(
        _ scenario: Scenario, _ flags: [(key: String, texts: [String]?)]
    ) throws(HarnessError) {
        let sets = settings.map { setting -> (key: String, texts: [String]?) in
            let name = setting.prefix { $0 != "=" }
            return (String(name), [String(setting.dropFirst(name.count + 1))])
        }
        var lines: [String] = []
        for (name, texts) in flags + sets {
            guard let texts, let key = ScenarioKey.named(name), !key.isChanged(in: scenario),
                !["off", "false", "no"].contains(texts.first), let line = key.lacking(in: scenario),
                !lines.contains(line)
            else { continue }
            lines.append(line)
        }
        guard lines.isEmpty else { throw HarnessError(lines.joined(separator: "\n")) }
    }

    /// - Throws: a line for each problem; what has none is in the scenario all the same.
    package static func read(
        _ file: String?, leavingOut leftOut: String? = nil, to scenario: inout Scenario
    ) throws(HarnessError) {
        do throws(ScenarioFile.Problems) {
            if let file { try BundledScenarios.apply(file, leavingOut: leftOut, to: &scenario) }
        } catch { throw HarnessError(error.description) }
    }

    /// `--set` and then flags, over what a scenario has already.
    package static func apply(
        settings: [String], flags: [(key: String, texts: [String]?)], to scenario: inout Scenario
    ) throws(HarnessError) {
        do throws(SettingsError) {
            try ScenarioFile.set(settings, in: &scenario)
            try scenario.apply(flags: flags)
        } catch { throw HarnessError(error.description) }
    }
}

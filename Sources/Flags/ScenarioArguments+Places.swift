import Foundation
import Harness
import Scenarios

/// What is wrong with settings of a scenario file or of the environment, each by itself right, says where they stand.
extension ScenarioArguments {
    /// - Parameters:
    ///   - scenario: what was made of the file, the environment and `flags`.
    ///   - body: throws what is wrong with it.
    package func locating<Value>(
        _ scenario: Scenario, _ flags: [(key: String, texts: [String]?)], _ body: () throws -> Value
    ) throws -> Value {
        do { return try body() } catch let error as HarnessError {
            let file = file.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
            let problems = Set(RunInputs.problems(scenario.withDefaultTopic))
            var lines = error.description.components(separatedBy: "\n")
            for part in error.parts {
                guard let file, let first = lines.firstIndex(of: part.line),
                    inForce(of: file, scenario, flags).contains(where: { $0.key == part.part.key }),
                    let place = ScenarioFile.place(of: part.part, in: file)
                else { continue }
                lines[first] = "\(place): \(part.problem)"
            }
            guard lines.contains(where: problems.contains) else {
                throw HarnessError(lines.joined(separator: "\n"), error.kind)
            }
            let ofFile = file.map { inForce(of: $0, scenario, flags) } ?? []
            let settings = (ofFile + variables(in: scenario, flags)).map {
                ($0, withoutIt: self.problems(without: $0.key, flags))
            }
            let located = lines.map { line in
                guard problems.contains(line) else { return line }
                let places = settings.filter { setting, withoutIt in
                    isNamed(setting.key, line)
                        || withoutIt.map { !$0.contains(line) && $0.isSubset(of: problems) } == true
                }
                return (places.isEmpty ? "" : places.map(\.0.place).joined(separator: " and ") + ": ") + line
            }
            throw HarnessError(located.joined(separator: "\n"), error.kind)
        }
    }

    /// The file's keys whose values nothing stronger has changed.
    private func inForce(
        of file: String, _ scenario: Scenario, _ flags: [(key: String, texts: [String]?)]
    ) -> [(key: String, place: String)] {
        var own = Scenario()
        try? Self.read(file, to: &own)
        return ScenarioFile.places(file).filter { setting in
            guard let key = ScenarioKey.named(setting.key) else { return false }
            return key.text(in: own) == key.text(in: scenario)
        }
    }

    /// The environment's settings that nothing stronger has changed, each with its variable.
    private func variables(
        in scenario: Scenario, _ flags: [(key: String, texts: [String]?)]
    ) -> [(key: String, place: String)] {
        let environment = ProcessInfo.processInfo.environment
        var own = Scenario()
        guard (try? ScenarioFile.applyEnvironment(environment, to: &own)) != nil else { return [] }
        return ScenarioKey.all.filter { key in
            environment[key.variable].map { !ScenarioFile.isOfService(key.variable, $0) } == true
                && key.text(in: own) == key.text(in: scenario)
                && !flags.contains { $0.key == key.name && $0.texts != nil }
                && !settings.contains { $0.prefix { $0 != "=" } == key.name }
        }.map { ($0.name, $0.variable) }
    }

    /// What would be wrong if neither file nor environment had a key; nil when that cannot be read. A run that nothing else ends would
    /// go on for long.
    private func problems(without key: String, _ flags: [(key: String, texts: [String]?)]) -> Set<String>? {
        guard var scenario = try? Self.scenario(file: file, settings: settings, flags: flags, leavingOut: key) else {
            return nil
        }
        if scenario.pushes == nil, scenario.duration == nil, scenario.trace == nil, scenario.stages.isEmpty {
            scenario.pushes = 1 << 39
        }
        return Set(RunInputs.problems(scenario.withDefaultTopic))
    }

    /// `connections 1: …`, `abort on fail: …`: begins with the key.
    private func isNamed(_ key: String, _ line: String) -> Bool {
        [key, key.replacingOccurrences(of: "_", with: " ")].contains {
            line.hasPrefix($0 + " ") || line.hasPrefix($0 + ":")
        }
    }
}

import ArgumentParser
import Flags
import Foundation
import Harness
import Scenarios
import Settings

struct ScenarioCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario", abstract: "Make, check and look at scenario files.",
        subcommands: [
            InitCommand.self, CheckCommand.self, ListCommand.self, ShowCommand.self, ScheduleCommand.self,
        ])
}

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a scenario file without running it.",
        discussion: "Prints every mistake with its line and column. Exit status 0 when there is none, else 64.")

    @OptionGroup var source: ScenarioArguments

    func run() throws {
        guard let file = source.file else { throw HarnessError("give a scenario file") }
        var readable = Scenario()
        do throws(ScenarioFile.Problems) { try BundledScenarios.apply(file, to: &readable) } catch {
            // Parts of pushes (p99{profile=alert}) are those of these settings.
            if error.keys?.isDisjoint(with: ["by", "profile", "template"]) == false {
                readable.thresholds.removeAll { $0.contains("{") }
            }
            // What is missing now for a wrong value would be another run's mistakes.
            let isTelling = error.keys.map { RunInputs.shaping.isDisjoint(with: $0) } ?? false
            let others = isTelling ? RunInputs.problems(readable) : RunInputs.unusable(readable)
            let lines = error.lines + others.filter { !error.lines.contains($0) }
            return try source.locating(readable, []) { throw HarnessError(lines.joined(separator: "\n")) }
        }
        let scenario = try source.scenario([])
        try source.refuseIdle(scenario, [])
        // Also what it names: template, devices, trace.
        let inputs = try source.locating(scenario, []) {
            let inputs = try RunInputs(scenario)
            try inputs.checkMeaning()
            return inputs
        }
        var what = "closed loop"
        if let schedule = inputs.schedule { what = "open loop, \(Units.counted(schedule.count, "push"))" }
        Console.output("\(file): can be run (\(what))\n")
    }
}

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a commented scenario file to start from.",
        discussion: "Beside it the JSON Schema is put that it names, for editors, unless one is there.")

    @Argument(help: ArgumentHelp("The file to write; - for standard output, without a schema.", valueName: "file"))
    var file = "scenario.yaml"

    @Option(help: ArgumentHelp("A bundled scenario to start from.", valueName: "name"))
    var from = "steady"

    func run() throws {
        guard let entry = BundledScenarios.all.first(where: { $0.name == from }) else {
            throw HarnessError(
                "--from \(from): bundled scenarios are \(BundledScenarios.all.map(\.name).joined(separator: ", "))")
        }
        let text = ScenarioTemplate.text(entry, schema: file != "-")
        if file == "-" {
            Console.output(text)
            return
        }
        guard !FileManager.default.fileExists(atPath: file) else {
            throw HarnessError("\(file) is there already; give another name")
        }
        try Self.write(text, to: file)
        let schema = URL(fileURLWithPath: file).deletingLastPathComponent()
            .appendingPathComponent(ScenarioTemplate.schemaName).path
        if !FileManager.default.fileExists(atPath: schema) { try Self.write(ScenarioSchema.text, to: schema) }
        Console.output("wrote \(file); run it with: pushload run \(file)\n")
    }

    private static func write(_ text: String, to file: String) throws(HarnessError) {
        do { try text.write(toFile: file, atomically: true, encoding: .utf8) } catch {
            throw HarnessError("cannot write \(file): \(FileObstacle.text(file))", .unwritable)
        }
    }
}

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the bundled scenarios.")

    func run() throws {
        for entry in BundledScenarios.all {
            Console.output(entry.name.padding(toLength: 22, withPad: " ", startingAt: 0) + entry.summary + "\n")
        }
    }
}

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print a bundled scenario, or the JSON Schema of scenario files.")

    @Argument(help: ArgumentHelp("The scenario to print.", valueName: "name"))
    var name: String?

    @Flag(help: "Print the JSON Schema.")
    var schema = false

    func run() throws {
        guard !schema else {
            Console.output(ScenarioSchema.text)
            return
        }
        guard let name, let entry = BundledScenarios.all.first(where: { $0.name == name }) else {
            let what = name.map { "no bundled scenario \($0)" } ?? "show: give the name of a bundled scenario"
            throw HarnessError(what + NearestName.hint(name ?? "", among: BundledScenarios.all.map(\.name)))
        }
        Console.output(entry.textOfItsOwn + "\n")
    }
}

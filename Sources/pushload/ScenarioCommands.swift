import ArgumentParser
import Foundation
import Harness
import Scenarios

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a scenario file without running it.",
        discussion: "Prints every mistake with its line and column. Exit status 0 when there is none, else 64.")

    @OptionGroup var source: ScenarioArguments

    func run() throws {
        guard source.file != nil else { throw HarnessError("give a scenario file") }
        let scenario = try source.scenario([])
        let problems = scenario.validate()
        guard problems.isEmpty else { throw HarnessError(problems.joined(separator: "\n")) }
        // Also what it names: template, devices, trace.
        let inputs = try RunInputs(scenario)
        try inputs.checkMeaning()
        var what = "closed loop"
        if let schedule = inputs.schedule { what = "open loop, \(schedule.count) pushes" }
        Console.output("\(source.file ?? ""): can be run (\(what))\n")
    }
}

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a commented scenario file to start from.")

    @Argument(help: ArgumentHelp("The file to write; - for standard output.", valueName: "file"))
    var file = "scenario.yaml"

    @Option(help: ArgumentHelp("A bundled scenario to start from.", valueName: "name"))
    var from = "steady"

    func run() throws {
        guard let entry = BundledScenarios.all.first(where: { $0.name == from }) else {
            throw HarnessError(
                "--from \(from): bundled scenarios are \(BundledScenarios.all.map(\.name).joined(separator: ", "))")
        }
        let text = ScenarioTemplate.text(entry)
        if file == "-" {
            Console.output(text)
            return
        }
        guard !FileManager.default.fileExists(atPath: file) else {
            throw HarnessError("\(file) is there already; give another name")
        }
        do { try text.write(toFile: file, atomically: true, encoding: .utf8) } catch {
            throw HarnessError("cannot write \(file): \((error as NSError).localizedDescription)")
        }
        Console.output("wrote \(file); run it with: pushload run \(file)\n")
    }
}

struct ScenariosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenarios", abstract: "List the bundled scenarios, or print one.")

    @Argument(help: ArgumentHelp("The scenario to print.", valueName: "name"))
    var name: String?

    @Flag(help: "Print the JSON Schema of scenario files.")
    var schema = false

    func run() throws {
        if schema {
            Console.output(ScenarioSchema.text)
        } else if let name {
            guard let entry = BundledScenarios.all.first(where: { $0.name == name }) else {
                throw HarnessError(
                    "no bundled scenario \(name): there are \(BundledScenarios.all.map(\.name).joined(separator: ", "))"
                )
            }
            Console.output(entry.text + "\n")
        } else {
            for entry in BundledScenarios.all {
                Console.output(entry.name.padding(toLength: 18, withPad: " ", startingAt: 0) + entry.summary + "\n")
            }
        }
    }
}

import ArgumentParser
import Harness
import Reports
import Scenarios
import Settings

struct ScheduleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Print when pushes would be due, without sending any.")

    @OptionGroup var source: ScenarioArguments
    @OptionGroup(title: "Load") var load: LoadOptions

    @Flag(help: "Print pushes a second over time as CSV.")
    var csv = false

    @Option(help: "Rows of the CSV.")
    var rows = 100

    func run() throws {
        let scenario = try source.scenario(load.given)
        let problems = scenario.validate()
        guard problems.isEmpty else { throw HarnessError(problems.joined(separator: "\n")) }
        guard (1...1_000_000).contains(rows) else { throw HarnessError("--rows \(rows): expected 1 to 1000000") }
        do throws(SettingsError) {
            guard let schedule = try scenario.makeSchedule() else {
                throw SettingsError("closed loop has no schedule: give --rate, --stages or --trace")
            }
            let stages =
                scenario.stages.isEmpty && scenario.rate != nil
                ? [LoadStage(name: "hold", shape: .hold(rate: scenario.rate ?? 0))] : scenario.stages
            Console.output(
                csv
                    ? ScheduleReport.csv(schedule, buckets: rows)
                    : ScheduleReport.text(schedule, stages: stages, width: Console.picture.width))
        } catch { throw HarnessError(error.description) }
    }
}

import ArgumentParser
import Flags
import Harness
import Reports
import Scenarios

struct ScheduleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Print when pushes would be due, without sending any.")

    @OptionGroup var source: ScenarioArguments
    @Option(name: .customLong("rate"), help: .shown("rate", "rate"))
    var rate: String?

    @Option(name: .customLong("stages"), help: .shown("stages", "stages"))
    var stages: [String] = []

    @Option(name: .customLong("trace"), help: .shown("trace", "file"))
    var trace: String?

    @Option(name: .customLong("replay"), help: .shown("replay", "file"))
    var replay: String?

    @Option(name: .customLong("speed"), help: .shown("speed", "factor"))
    var speed: String?

    @Option(name: [.customShort("n"), .customLong("pushes")], help: .shown("pushes", "count"))
    var pushes: String?

    @Option(name: [.customShort("D"), .customLong("duration")], help: .shown("duration", "duration"))
    var duration: String?

    @Option(name: .customLong("arrivals"), help: .shown("arrivals", "text"))
    var arrivals: String?

    @Option(name: .customLong("seed"), help: .shown("seed", "count"))
    var seed: String?

    @Flag(help: "Print pushes a second over time as CSV.")
    var csv = false

    @Option(help: "Rows of the CSV, 1 to 1,000,000.")
    var rows = 100

    private var given: [(key: String, texts: [String]?)] {
        [
            ("rate", rate.map { [$0] }), ("stages", stages.isEmpty ? nil : stages), ("trace", trace.map { [$0] }),
            ("replay", replay.map { [$0] }), ("speed", speed.map { [$0] }),
            ("pushes", pushes.map { [$0] }), ("duration", duration.map { [$0] }),
            ("arrivals", arrivals.map { [$0] }), ("seed", seed.map { [$0] }),
        ]
    }

    func run() throws {
        let scenario = try source.scenario(given)
        guard (1...1_000_000).contains(rows) else { throw HarnessError("--rows \(rows): expected 1 to 1000000") }
        // As a run has it: an audience says how many pushes there are, and sends whose turn it is.
        let inputs = try source.locating(scenario, given) { try RunInputs(scenario) }
        guard let schedule = inputs.schedule else {
            throw HarnessError("closed loop has no schedule: give --rate, --stages, --trace or --replay")
        }
        guard !csv || schedule.duration > 0 else {
            throw HarnessError("--csv: all pushes are due at once, which is no rate over time")
        }
        let stages =
            scenario.stages.isEmpty && scenario.rate != nil
            ? [LoadStage(name: "hold", shape: .hold(rate: scenario.rate ?? 0))] : scenario.stages
        if let facts = inputs.replayFacts, !csv { Console.output(ReplayReport.text(facts)) }
        Console.output(
            csv
                ? ScheduleReport.csv(schedule, buckets: rows)
                : ScheduleReport.text(schedule, stages: stages, width: Console.picture.width))
    }
}

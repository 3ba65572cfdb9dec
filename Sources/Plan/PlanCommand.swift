import Analysis
import ArgumentParser
import Flags
import Foundation
import Harness
import Reports
import Results
import Scenarios
import Settings

package struct PlanCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract:
            "Say what it takes to reach so many devices in so long: connections, cores, machines, memory, bandwidth.",
        discussion: """
            The cost of a push comes from results (--from), from a calibration made earlier (--calibration), or from two minutes of \
            runs against the bundled mock. Without --devices, and with --connections and --machines, it says what those can do. \
            With --device-model it also says what the devices then ask of their backend. Formulas and assumptions: docs/planning.md. \
            Exit status: 0, 1 when a calibration fails, 64 when the request itself is wrong, 99 when the devices are not reached in time or \
            a goal is missed.
            """)

    @Option(
        help: ArgumentHelp(
            "Devices to reach, such as 100M. Required, unless --registrations, or --connections and --machines, are given.",
            valueName: "count"))
    var devices: String?

    @Option(
        help: ArgumentHelp(
            "From the first connection to the last answer. Required with --devices or --registrations.",
            valueName: "duration"))
    var within: String?

    @Option(
        help: ArgumentHelp(
            "Round-trip time to the server, such as 80ms; 0 on this machine. Required.", valueName: "duration"))
    var rtt: String?

    @Option(
        help: ArgumentHelp(
            "What must hold besides, as thresholds are written: \"p99 < 1s\", \"echo.peak < 50k\".",
            valueName: "condition"))
    var goal: [String] = []

    @OptionGroup(title: "Devices of an audience") var audience: PlanAudienceOptions
    @OptionGroup(title: "Client") var client: PlanClientOptions
    @OptionGroup(title: "Link and server") var server: PlanServerOptions
    @OptionGroup(title: "Echo") var echo: PlanEchoOptions

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Measured runs: result files, run folders, folders of runs, calibrations.", valueName: "path"))
    var from: [String] = []

    @Option(
        help: ArgumentHelp(
            "Take the costs from this file; when it is not there, measure them and write it.", valueName: "file"))
    var calibration: String?

    @Option(help: ArgumentHelp("Seed of the simulation and of the bootstrap.", valueName: "number"))
    var seed = "1"

    @Flag(help: "Print the plan as JSON, and nothing else on standard output.")
    var json = false

    @Flag(help: "Print the plan as Markdown.")
    var markdown = false

    package init() {}

    package func run() async throws {
        guard from.isEmpty || calibration == nil else {
            throw HarnessError("--from and --calibration: give one of them")
        }
        guard !(json && markdown) else { throw HarnessError("--json and --markdown: give one of them") }
        var question = PlanQuestion()
        let goals: [Threshold]
        do throws(SettingsError) {
            var read: [Threshold] = []
            for text in goal { read += try Threshold.list(parsing: text) }
            goals = read
        } catch { throw HarnessError("--goal \(error)") }
        guard let rtt else {
            throw HarnessError("plan: expected \(missing)")
        }
        question.roundTrip = Double(try PlanValue.read("--rtt", rtt, Units.duration))
        question.seed = try PlanValue.read("--seed", seed, Units.count)
        try load(into: &question)
        try client.apply(to: &question)
        try server.apply(to: &question)
        let seed = question.seed
        let echo = try echo.question(seed: seed, pushes: question.pushes) { () throws(HarnessError) in
            var scenario = try audience.scenario(client.flags)
            scenario.seed = seed
            if let pushes = question.pushes, scenario.registrations == nil { scenario.devices = pushes }
            return scenario
        }
        do throws(Planner.Failure) { try Planner.check(goals, hasEcho: echo != nil) } catch {
            throw HarnessError(error.description)
        }
        let (samples, origin) = try await measured()
        let plan = try Self.plan(question, goals, samples, origin, echo)
        do throws(ResultError) {
            Console.output(
                json
                    ? String(decoding: try PlanFile.encode(plan), as: UTF8.self)
                    : markdown ? PlanReport.markdown(plan) : PlanReport.text(plan, on: Console.picture))
        } catch { throw HarnessError(error.description, .unwritable) }
        if !plan.isReached { throw ExitCode(99) }
    }

    /// Where there is no --rtt: that, and what is missing besides.
    private var missing: String {
        let isAsked = devices != nil || audience.isGiven
        if !isAsked, within == nil, client.connections == nil || client.machines == nil {
            return "--devices, --within and --rtt, as in --devices 100M --within 60s --rtt 80ms; or --connections, "
                + "--machines and --rtt to judge these"
        }
        var other = ""
        if isAsked, within == nil { other = "--within and " }
        if !isAsked, within != nil { other = "--devices and " }
        return "\(other)--rtt, the round-trip time to the server, such as --rtt 80ms; 0 on this machine"
    }

    /// Shows what it is at, which may take most of a minute.
    private static func plan(
        _ question: PlanQuestion, _ goals: [Threshold], _ samples: [CostSample], _ origin: String,
        _ echo: EchoQuestion?
    ) throws(HarnessError) -> PlanDocument {
        let line = PlanProgress()
        defer { line.end() }
        do throws(Planner.Failure) {
            return try Planner.plan(
                question, goals: goals, samples: samples, origin: origin, echo: echo, progress: line.show)
        } catch { throw HarnessError(error.description) }
    }

    private func load(into question: inout PlanQuestion) throws(HarnessError) {
        guard devices != nil || within != nil || audience.isGiven else {
            guard client.connections != nil, client.machines != nil else {
                throw HarnessError("plan: expected --devices and --within, or --connections and --machines to judge")
            }
            return
        }
        guard devices == nil || !audience.isGiven else {
            throw HarnessError(
                audience.registrations == nil
                    ? "\(audience.firstGiven): says whom of --registrations to push to; give that file instead of --devices"
                    : "--devices and --registrations exclude each other: give one of them")
        }
        guard devices != nil || audience.isGiven, let within else {
            throw HarnessError("plan: \(audience.isGiven ? "--registrations" : "--devices") and --within go together")
        }
        let time = try PlanValue.read("--within", within, Units.duration)
        guard time > 0 else { throw HarnessError("--within \(within): expected more than 0, such as 60s") }
        if let devices {
            question.pushes = try Self.count(devices)
            question.devices = question.pushes
        } else {
            (question.pushes, question.devices) = try audience.count()
        }
        question.within = Double(time)
    }

    private static func count(_ devices: String) throws(HarnessError) -> UInt64 {
        let count = try PlanValue.read("--devices", devices, Units.count)
        guard (1...1_000_000_000_000).contains(count) else {
            throw HarnessError("--devices \(devices): expected 1 to 1000G")
        }
        return count
    }

    private func measured() async throws -> ([CostSample], String) {
        if !from.isEmpty {
            return (try PlanSamples.read(from, engine: client.engine), from.joined(separator: ", "))
        }
        var isFolder: ObjCBool = false
        if let calibration, FileManager.default.fileExists(atPath: calibration, isDirectory: &isFolder) {
            guard !isFolder.boolValue else {
                throw HarnessError("--calibration \(calibration): expected a file; runs in a folder go by --from")
            }
            return (try PlanSamples.read([calibration], engine: client.engine), calibration)
        }
        // Before minutes are spent on it.
        if let calibration {
            do throws(ResultError) { try ResultFile.checkWritable(calibration, room: ResultFile.roomForCosts) } catch {
                throw HarnessError(error.description)
            }
        }
        let document = try await Calibration.measure(client.scenario())
        if let calibration {
            do throws(ResultError) { try PlanFile.write(document, to: calibration) } catch {
                throw HarnessError(error.description, .unwritable)
            }
        }
        return (document.samples, calibration ?? "a calibration against the bundled mock on this machine, just now")
    }
}

/// Numbers of flags.
enum PlanValue {
    static func read<Value>(
        _ flag: String, _ text: String, _ read: (String) throws(Units.ParseError) -> Value
    ) throws(HarnessError) -> Value {
        do throws(Units.ParseError) { return try read(text) } catch { throw HarnessError("\(flag): \(error)") }
    }

    static func whole(_ flag: String, _ text: String, _ range: ClosedRange<UInt64>) throws(HarnessError) -> Int {
        let value = try read(flag, text, Units.count)
        guard range.contains(value) else {
            throw HarnessError("\(flag) \(text): expected \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(value)
    }
}

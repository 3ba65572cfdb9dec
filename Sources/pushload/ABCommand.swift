import Analysis
import ArgumentParser
import Foundation
import Harness
import Reports
import Results
import Scenarios
import Settings

struct ABCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ab",
        abstract: "Run a scenario two ways in alternation (A B B A …), and compare.",
        discussion: """
            Flags outside --a and --b are both sides'. One round more is run first and thrown away. Exit status: 0 whatever the \
            verdict, 64 when the request itself is wrong or a run was not whole.
            """)

    @OptionGroup var source: ScenarioArguments

    @Option(
        name: .customLong("a"), parsing: .unconditional,
        help: ArgumentHelp("Flags of run that only A has, as one word: --a '--streams 100'.", valueName: "flags"))
    var a = ""

    @Option(
        name: .customLong("b"), parsing: .unconditional,
        help: ArgumentHelp("Flags of run that only B has.", valueName: "flags"))
    var b: String?

    @Flag(
        name: .customLong("self"),
        help: "A against A: what this machine calls a difference, and how wide intervals are.")
    var isSelf = false

    @Option(help: "Runs a side; four are the fewest of which a difference can be called.")
    var rounds = 6

    @OptionGroup(title: "Load") var load: LoadOptions
    @OptionGroup(title: "Identity") var identity: IdentityOptions
    @OptionGroup(title: "Transport") var transport: TransportFlags

    @Option(help: ArgumentHelp("Keep each run's result.json under this folder, in a/ and b/.", valueName: "folder"))
    var output: String?

    @Flag(help: "Print the comparison as JSON, and nothing else on standard output.")
    var json = false

    func run() async throws {
        guard isSelf != (b != nil) else { throw HarnessError("ab: expected either --b with flags, or --self") }
        guard (1...1000).contains(rounds) else { throw HarnessError("--rounds \(rounds): expected 1 to 1000") }
        let base = try source.scenario(load.given + identity.given + transport.given)
        let sides = [try ABSide("A", a, base), try ABSide("B", isSelf ? a : b ?? "", base)]
        // Before anything is sent: what cannot be run is found out now.
        for side in sides { _ = try side.makeRun() }
        var runs: [[(path: String, result: ResultDocument)]] = [[], []]
        for round in 0...rounds {
            for index in round % 2 == 0 ? [0, 1] : [1, 0] {
                let result = try await sides[index].makeRun().execute(isTerminal: false) { _ in }.result
                let place = round == 0 ? "warm-up" : "round \(round) of \(rounds)"
                let rate = Units.grouped(UInt64(result.throughput.perSecond.rounded()))
                Console.diagnostic("\(place), \(sides[index].name): \(rate) pushes/s\n")
                if round > 0 { runs[index].append((try keep(result, sides[index], round), result)) }
            }
        }
        do {
            // All runs share a process, which has one peak.
            var comparison = try ResultComparison.compare(
                .init(name: sides[0].description, runs: runs[0]), .init(name: sides[1].description, runs: runs[1]),
                leavingOut: ["client peak memory"])
            comparison.warnings.append("client peak memory: not compared, all runs were made by one process")
            if json {
                Console.output(String(decoding: try ComparisonFile.encode(comparison), as: UTF8.self))
            } else {
                Console.output(ComparisonReport.text(comparison) + (isSelf ? ComparisonReport.noise(comparison) : ""))
            }
        } catch let error as ResultComparison.Failure {
            throw HarnessError(error.description)
        }
    }

    /// Writes a result if that was asked for; returns what to call it in messages.
    private func keep(_ result: ResultDocument, _ side: ABSide, _ round: Int) throws(HarnessError) -> String {
        guard let output else { return "\(side.name), round \(round)" }
        do throws(ResultError) {
            let time = result.run.startedAt.filter { $0 != "-" && $0 != ":" }
            let folder = try ResultFile.makeRunFolder(
                parent: "\(output)/\(side.name.lowercased())", time: time,
                name: "round-\(round < 10 ? "0" : "")\(round)")
            try ResultFile.write(result, to: folder + "/result.json")
            return folder + "/result.json"
        } catch {
            throw HarnessError(error.description, isUsage: false)
        }
    }
}

/// One side of an A/B run.
private struct ABSide {
    let name: String
    private let flags: String
    private let scenario: Scenario

    var description: String { flags.isEmpty ? "as given" : flags }

    /// Flags of `run`, without where results go.
    private struct Flags: ParsableArguments {
        @OptionGroup var source: ScenarioArguments
        @OptionGroup var load: LoadOptions
        @OptionGroup var identity: IdentityOptions
        @OptionGroup var transport: TransportFlags
    }

    init(_ name: String, _ flags: String, _ base: Scenario) throws(HarnessError) {
        let parsed: Flags
        do { parsed = try Flags.parse(try ShellWords.split(flags)) } catch let error as HarnessError {
            throw HarnessError("--\(name.lowercased()): \(error.description)")
        } catch {
            // A request for help is answered with pages.
            let line = Flags.message(for: error).split(separator: "\n").first.map(String.init) ?? ""
            let why = Flags.exitCode(for: error).isSuccess ? "expected flags of run" : line
            throw HarnessError("--\(name.lowercased()) \"\(flags)\": \(why)")
        }
        guard parsed.source.file == nil else {
            throw HarnessError("--\(name.lowercased()): expected flags; a scenario is named outside --a and --b")
        }
        var scenario = base
        try ScenarioArguments.apply(
            settings: parsed.source.settings,
            flags: parsed.load.given + parsed.identity.given + parsed.transport.given, to: &scenario)
        self.name = name
        self.flags = flags
        self.scenario = scenario
    }

    func makeRun() throws(HarnessError) -> Run { try Run(scenario, identity: try scenario.identity()) }
}

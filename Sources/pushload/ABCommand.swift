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
            Flags outside --a and --b are both sides'. One round more is run first and thrown away. With --a-binary or --b-binary \
            each run is a process of its own; a side without one is this program. Exit status: 0 whatever the verdict, 64 when \
            the request itself is wrong or a run was not whole. --help-all lists every flag.
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

    @Option(
        name: .customLong("a-binary"),
        help: ArgumentHelp("The pushload to run as A; it uses the mock-apns beside it.", valueName: "path"))
    var binaryA: String?

    @Option(
        name: .customLong("b-binary"), help: ArgumentHelp("The pushload to run as B.", valueName: "path"))
    var binaryB: String?

    @Flag(
        name: .customLong("self"),
        help: "A against A: what this machine calls a difference, and how wide intervals are.")
    var isSelf = false

    @Option(
        help:
            "Runs a side, 1 to 1,000; six are the fewest of which a difference of all figures can be called, four of one (--metric)."
    )
    var rounds = 6

    @OptionGroup var flags: RunFlags

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Keep each run's result.json under this folder, in a/ and b/.", valueName: "folder"))
    var output: String?

    @Option(
        name: .customLong("metric"),
        help: ArgumentHelp("A figure to judge, several times; the others are left out.", valueName: "name"))
    var metrics: [String] = []

    @Flag(help: "Print the comparison as JSON, and nothing else on standard output.")
    var json = false

    func run() async throws {
        let isOther = b != nil || binaryB != nil
        guard isSelf ? !isOther : isOther || binaryA != nil else {
            throw HarnessError("ab: expected either --b with flags, --a-binary or --b-binary, or --self")
        }
        guard (1...1000).contains(rounds) else { throw HarnessError("--rounds \(rounds): expected 1 to 1000") }
        let given = flags.given
        let base = try source.scenario(given)
        let sides: [any ABSide]
        if binaryA != nil || binaryB != nil {
            let shared = ABBinarySide.words(source, given)
            sides = [
                try await ABBinarySide("A", binaryA, shared, a),
                try await ABBinarySide("B", isSelf ? binaryA : binaryB, shared, isSelf ? a : b ?? ""),
            ]
        } else {
            sides = [try ABOwnSide("A", a, base), try ABOwnSide("B", isSelf ? a : b ?? "", base)]
        }
        var runs: [[(path: String, result: ResultDocument)]] = [[], []]
        let series = RunSeries()
        let signals = StopSignals { series.stop() }
        defer { signals.cancel() }
        making: for round in 0...rounds {
            for index in round % 2 == 0 ? [0, 1] : [1, 0] {
                guard let result = try await sides[index].execute(in: series) else { break making }
                let place = round == 0 ? "warm-up" : "round \(round) of \(rounds)"
                let rate = Units.perSecond(result.throughput.answered)
                Console.diagnostic("\(place), \(sides[index].name): \(rate) answered\n")
                if round > 0 { runs[index].append((try keep(result, sides[index], round), result)) }
            }
        }
        if series.isStopped {
            // Rounds that both sides have are as good as if no more had been asked for.
            let whole = min(runs[0].count, runs[1].count)
            guard whole >= 2 else {
                throw HarnessError(
                    "interrupted after \(whole) of \(Units.counted(rounds, "round")): nothing to compare", .failed)
            }
            Console.diagnostic("interrupted after \(whole) of \(Units.counted(rounds, "round")): these are compared\n")
            runs = runs.map { Array($0.prefix(whole)) }
        }
        do {
            let isOneProcess = sides.contains { $0 is ABOwnSide }
            var comparison = try ResultComparison.compare(
                .init(name: sides[0].description, runs: runs[0]), .init(name: sides[1].description, runs: runs[1]),
                leavingOut: isOneProcess ? ["client peak memory"] : [], judging: metrics)
            // One process has one peak.
            if isOneProcess {
                comparison.warnings.append("client peak memory: not compared, all runs were made by one process")
            } else if let warning = ABBinarySide.mockWarning(sides, runs.flatMap { $0.map(\.result) }) {
                comparison.warnings.append(warning)
            }
            if json {
                Console.output(String(decoding: try ComparisonFile.encode(comparison), as: UTF8.self))
            } else {
                let picture = Console.picture
                Console.output(
                    ComparisonReport.text(comparison, on: picture)
                        + (isSelf ? ComparisonReport.noise(comparison, on: picture) : ""))
            }
        } catch let error as ResultComparison.Failure {
            throw HarnessError(error.description)
        }
        if series.isStopped { throw ExitCode(1) }
    }

    /// Writes a result if that was asked for; returns what to call it in messages.
    private func keep(_ result: ResultDocument, _ side: any ABSide, _ round: Int) throws(HarnessError) -> String {
        guard let output else { return "\(side.name), round \(round)" }
        do throws(ResultError) {
            let time = result.run.startedAt.filter { $0 != "-" && $0 != ":" }
            let folder = try ResultFile.makeRunFolder(
                parent: "\(output)/\(side.name.lowercased())", time: time,
                name: "round-\(round < 10 ? "0" : "")\(round)")
            try ResultFile.write(result, to: folder + "/result.json")
            return folder + "/result.json"
        } catch {
            throw HarnessError(error.description, .unwritable)
        }
    }
}

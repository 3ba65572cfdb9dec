import Analysis
import ArgumentParser
import Flags
import Foundation
import Harness
import Reports
import Results
import Scenarios

package struct ABCommand: AsyncParsableCommand, RunFlags {
    package static let configuration = CommandConfiguration(
        commandName: "ab",
        abstract: "Run a scenario two ways in rounds of one run each, and compare.",
        discussion: """
            Which side of a round is run first is drawn, another order each time or that of --seed, and each run of B is \
            held against the run of A in its round: what changes on the machine meanwhile is in neither. Flags outside --a and --b are both sides'. One round more is run \
            first and thrown away. With --a-binary or --b-binary \
            each run is a process of its own; a side without one is this program. A round in which a run went wrong is said and \
            left out. Exit status: 0 whatever the verdict, 1 when fewer than two rounds of several were whole, the target was gone or \
            Ctrl-C ended it, 64 when the request itself is wrong. --help-all lists every flag.
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
            "Runs a side, 1 to 1,000; nine are the fewest of which a difference of all figures can be called, six of one (--metric)."
    )
    var rounds = 10

    @OptionGroup(title: "Load") package var length: LengthOptions
    @OptionGroup(title: "Load", visibility: .private) package var thresholds: ThresholdOptions
    @OptionGroup(title: "Load", visibility: .private) package var aborting: AbortOptions
    @OptionGroup(title: "Load") package var load: LoadOptions
    @OptionGroup(title: "Identity") package var identity: IdentityOptions
    @OptionGroup(title: "Transport") package var transport: TransportFlags

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Keep each run's result.json under this folder, in a/ and b/.", valueName: "folder"))
    var output: String?

    @Option(
        name: .customLong("metric"),
        help: ArgumentHelp("A figure to judge, several times; the others are left out.", valueName: "name"))
    var metrics: [String] = []

    @OptionGroup var margin: SameMargin

    @Flag(help: "Print the comparison as JSON, and nothing else on standard output.")
    var json = false

    package init() {}

    package func run() async throws {
        let isOther = b != nil || binaryB != nil
        guard isSelf ? !isOther : isOther || binaryA != nil else {
            throw HarnessError("ab: expected either --b with flags, --a-binary or --b-binary, or --self")
        }
        guard (1...1000).contains(rounds) else { throw HarnessError("--rounds \(rounds): expected 1 to 1000") }
        for name in metrics where !ComparedMetric.names.contains(name) {
            throw HarnessError(
                "--metric \(name): expected one of \(ComparedMetric.names.joined(separator: ", "))")
        }
        try refuseThresholds(source.settings, "ab judges differences")
        let margin = try margin.share()
        // Said before runs are made that could not be kept.
        if let output { try RunFolder(in: output, name: "ab").removeIfEmpty() }
        let sides: [any ABSide]
        if binaryA != nil || binaryB != nil {
            var shared = ABBinarySide.words(source, given)
            // What one run hears of devices must not change who the next pushes to.
            let hasAudience =
                (try? source.scenario(given))?.registrations != nil
                || [a, b ?? ""].contains { $0.contains("registrations") }
            if hasAudience { shared += ["--set", "feedback=false"] }
            // A version without that key has nothing to turn off.
            if (try? source.scenario(given))?.abortOnFail == true { shared += ["--set", "abort_on_fail=false"] }
            sides = [
                try await ABBinarySide("A", binaryA, shared, a),
                try await ABBinarySide("B", isSelf ? binaryA : binaryB, shared, isSelf ? a : b ?? ""),
            ]
        } else {
            let own = [
                try ABOwnSide("A", a, source, given), try ABOwnSide("B", isSelf ? a : b ?? "", source, given),
            ]
            if !isSelf, own[0].scenario == own[1].scenario {
                Console.diagnostic("note: A and B have the same settings: what they differ in is chance\n")
            }
            sides = own
        }
        let series = RunSeries()
        let signals = StopSignals { series.stop() }
        defer { signals.cancel() }
        var made = ABRounds()
        // Another toss each time, unless one is asked for again.
        let scenario = try source.scenario(given)
        if scenario.abortOnFail || !scenario.thresholds.isEmpty {
            Console.diagnostic("note: the scenario's thresholds are not heeded: ab judges differences\n")
        }
        let seed = scenario.seed
        let isAsked = load.seed != nil || seed != Scenario().seed
        let order = ABRounds.order(of: rounds, seed: isAsked ? seed : .random(in: 1 ... .max))
        let end = try await made.make(order, of: sides, in: series, keep: keep)
        try check(made, end)
        let runs = made.runs
        do {
            let isOneProcess = sides.contains { $0 is ABOwnSide }
            var comparison = try ResultComparison.compare(
                .init(name: sides[0].description, runs: runs[0]), .init(name: sides[1].description, runs: runs[1]),
                by: .rounds, margin: margin, leavingOut: isOneProcess ? ["client peak memory"] : [], judging: metrics)
            // One process has one peak.
            if isOneProcess {
                comparison.warnings.append("client peak memory: not compared, all runs were made by one process")
            } else if let warning = ABBinarySide.mockWarning(sides, runs.flatMap { $0.map(\.result) }) {
                comparison.warnings.append(warning)
            }
            comparison.warnings += made.leftOut
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
        Console.diagnostic(
            output.map { "runs: \($0)/a and \($0)/b\n" }
                ?? "runs: not kept (--output FOLDER keeps each one's result.json)\n")
        if end != .finished { throw ExitCode(1) }
    }

    /// Whole rounds are as good as if no more had been asked for.
    private func check(_ made: ABRounds, _ end: ABRounds.End) throws(HarnessError) {
        guard made.whole < rounds else { return }
        let count = "\(made.whole) of \(rounds) rounds"
        guard made.whole >= min(2, rounds) else {
            throw HarnessError(
                end == .interrupted
                    ? "interrupted after \(count): nothing to compare" : "\(count) are whole: too few to compare",
                .failed)
        }
        Console.diagnostic(
            end == .interrupted
                ? "interrupted after \(count): these are compared\n" : "\(count) are whole: these are compared\n")
    }

    /// Writes a result if that was asked for; returns what to call it in messages.
    private func keep(_ result: ResultDocument, _ side: any ABSide, _ round: Int) throws(HarnessError) -> String {
        guard let output else { return "\(side.name), round \(round)" }
        do throws(ResultError) {
            // To the second, as all folders of runs.
            let time = result.run.startedAt.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
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

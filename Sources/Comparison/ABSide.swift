import ArgumentParser
import Flags
import Foundation
import Harness
import Results
import Scenarios

/// One side of an A/B run.
protocol ABSide {
    /// A or B.
    var name: String { get }
    /// What sets it apart.
    var description: String { get }
    /// One run; nil when the series was stopped.
    func execute(in series: RunSeries) async throws(HarnessError) -> ResultDocument?
}

/// A side that this process runs.
struct ABOwnSide: ABSide {
    let name: String
    private let flags: String
    let scenario: Scenario

    var description: String { flags.isEmpty ? "as given" : flags }

    /// Flags of `run`, without where results go.
    private struct Flags: ParsableArguments, RunFlags {
        @OptionGroup var source: ScenarioArguments
        @OptionGroup(title: "Load") var length: LengthOptions
        @OptionGroup(title: "Load") var thresholds: ThresholdOptions
        @OptionGroup(title: "Load") var aborting: AbortOptions
        @OptionGroup(title: "Load") var load: LoadOptions
        @OptionGroup(title: "Identity") var identity: IdentityOptions
        @OptionGroup(title: "Transport") var transport: TransportFlags
    }

    /// - Parameters:
    ///   - flags: of this side, as they were typed.
    ///   - source: the scenario of both, and `given` the flags of both.
    init(
        _ name: String, _ flags: String, _ source: ScenarioArguments, _ given: [(key: String, texts: [String]?)]
    ) throws {
        let parsed: Flags
        do { parsed = try Flags.parse(try ShellWords.split(flags)) } catch let error as HarnessError {
            throw HarnessError("--\(name.lowercased()): \(error.description)")
        } catch {
            // A request for help is answered with pages.
            let line = Flags.message(for: error).split(separator: "\n").first.map(String.init) ?? ""
            let why = Flags.exitCode(for: error).isSuccess ? "expected flags of run" : line
            throw HarnessError("--\(name.lowercased()) \"\(flags)\": \(why)")
        }
        if let text = parsed.source.file {
            throw HarnessError(
                "--\(name.lowercased()): expected flags\(Self.meant(text, name)); a scenario is named outside --a and --b"
            )
        }
        try parsed.refuseThresholds(parsed.source.settings, "ab judges differences")
        var scenario = try source.scenario(given)
        try ScenarioArguments.apply(
            settings: parsed.source.settings,
            flags: parsed.given, to: &scenario)
        self.name = name
        self.flags = flags
        self.scenario = scenario
        // Before anything is sent: what cannot be run is found out now.
        _ = try source.locating(scenario, given + parsed.given) { try makeRun() }
    }

    /// `rate=5` is how --set has it.
    private static func meant(_ text: String, _ side: String) -> String {
        let words = text.split(separator: "=", maxSplits: 1)
        guard words.count == 2, let key = ScenarioKey.named(String(words[0])) else { return "" }
        if case .flag = key.kind { return ", as in --\(side.lowercased()) '--set \(text)'" }
        return ", as in --\(side.lowercased()) '\(key.flag) \(words[1])'"
    }

    func execute(in series: RunSeries) async throws(HarnessError) -> ResultDocument? {
        try await series.execute(try makeRun())
    }

    private func makeRun() throws(HarnessError) -> Run { try Run(scenario, identity: try scenario.identity()) }
}

/// A side that another process runs, and perhaps another version.
struct ABBinarySide: ABSide {
    let name: String
    let description: String
    private let run: ChildRun
    private let arguments: [String]

    /// - Parameters:
    ///   - path: nil: this program.
    ///   - shared: what both sides have of the command line.
    init(_ name: String, _ path: String?, _ shared: [String], _ flags: String) async throws(HarnessError) {
        self.name = name
        run = try await ChildRun(path, origin: "--\(name.lowercased())-binary")
        let own = try ShellWords.split(flags)
        // Another version may have other flags, so that it reads them itself.
        let refused = ["--threshold", "--abort-on-fail", "--no-abort-on-fail", "threshold=", "abort_on_fail"]
        for word in own.map({ $0.replacing("--set=", with: "") }) where refused.contains(where: word.hasPrefix) {
            throw HarnessError(
                "--\(name.lowercased()): \(word.prefix { $0 != "=" }): ab judges differences, not thresholds: pushload run does"
            )
        }
        for word in own where word == "--until" || word.hasPrefix("--until=") {
            throw HarnessError("--\(name.lowercased()): --until: runs of ab are all as long: pushload run does")
        }
        arguments = shared + own
        description = [run.executable, flags].filter { !$0.isEmpty }.joined(separator: " ")
        Console.diagnostic("\(name): \(run.executable) (pushload \(run.version)), bundled mock \(run.mock)\n")
    }

    func execute(in series: RunSeries) async throws(HarnessError) -> ResultDocument? {
        do throws(HarnessError) { return try await run.execute(arguments, in: series) } catch {
            throw HarnessError("\(name): \(error.description)", error.kind)
        }
    }

    /// The scenario and its settings as words: flags become --set, so that a side's own are the stronger ones.
    static func words(_ source: ScenarioArguments, _ given: [(key: String, texts: [String]?)]) -> [String] {
        let flags = given.compactMap { key, texts in texts.map { "\(key)=\($0.joined(separator: ";"))" } }
        return (source.file.map { [$0] } ?? []) + (source.settings + flags).flatMap { ["--set", $0] }
    }

    /// Different mocks make different figures.
    static func mockWarning(_ sides: [any ABSide], _ results: [ResultDocument]) -> String? {
        let mocks = sides.compactMap { ($0 as? ABBinarySide)?.run.mock }
        guard mocks.count == 2, results.contains(where: { $0.run.target == "bundled mock" }),
            !FileManager.default.contentsEqual(atPath: mocks[0], andPath: mocks[1])
        else { return nil }
        return "A and B use different mocks: \(mocks[0]) and \(mocks[1])"
    }
}

import Analysis
import ArgumentParser
import Dispatch
import Flags
import Foundation
import Glibc
import Harness
import Reports
import Results
import Scenarios
import Settings

package struct SweepCommand: AsyncParsableCommand, RunFlags {
    package static let configuration = CommandConfiguration(
        commandName: "sweep",
        abstract: "Run a scenario with many settings, and say which are best.",
        discussion: """
            A range is 1..16x2 (1, 2, 4, 8, 16) or 10..50+10; values with commas in them are separated by semicolons. The points \
            are run in an order drawn anew for each repetition; a run before the first is thrown away. A point of which a run crosses \
            a --threshold is unfit to be the best. A sweep that was \
            interrupted, or whose target was gone, goes on with --resume. Exit status: 0 when every run was made, whatever came of \
            it; 1 when it was interrupted, a target could not be reached, or every point failed; 64 when the request itself is \
            wrong. --help-all lists every flag.
            """)

    @Argument(
        help: ArgumentHelp(
            "A sweep file or scenario file (YAML), or the name of a bundled sweep (--list).",
            valueName: "sweep"))
    var file: String?

    @Option(help: ArgumentHelp("Vary a setting: streams=100,500,1000; several times.", valueName: "key=values"))
    var vary: [String] = []

    @Option(
        help:
            "Which points: grid (all), random (--points drawn), halving (the better half for twice as long). (default: grid)"
    )
    var search: String?

    @Option(
        help: ArgumentHelp(
            "Points that random draws, or halving begins with (default: all there are).", valueName: "count"))
    var points: String?

    @Option(help: "What makes a point the best: rate, p50, p99 or cpu (the client's, a push). (default: rate)")
    var goal: String?

    @Option(
        name: .customLong("repeat"),
        help: ArgumentHelp("Runs of each point, 1 to 100 (default: 3).", valueName: "count"))
    var repeats: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Set a key of the scenario, as in --set rate=20k; several times.", valueName: "key=value"))
    var settings: [String] = []

    @OptionGroup(title: "Load") package var length: LengthOptions
    @OptionGroup(title: "Load") package var thresholds: ThresholdOptions
    @OptionGroup(title: "Load", visibility: .private) package var aborting: AbortOptions
    @OptionGroup(title: "Load") package var load: LoadOptions
    @OptionGroup(title: "Identity") package var identity: IdentityOptions
    @OptionGroup(title: "Transport") package var transport: TransportFlags

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Folder of the sweep (default: a new one in results/runs); the same sweep there goes on.",
            valueName: "folder"))
    var output: String?

    @Option(help: ArgumentHelp("Go on with the sweep in this folder, or show what came of it.", valueName: "folder"))
    var resume: String?

    @Option(
        help: ArgumentHelp(
            "Make at most so many runs now (0: only show what is there); --resume makes the others.", valueName: "count"
        ))
    var runs: Int?

    @Option(
        help: ArgumentHelp("Write a report too: one HTML page, or Markdown when it ends in .md.", valueName: "file"))
    var report: String?

    @Flag(help: "Run nothing: print the points of the sweep; with nothing to sweep, the bundled sweeps.")
    var list = false

    @Flag(help: "Run nothing: print the bundled sweep of that name, a file to start from.")
    var show = false

    @Flag(help: "Print the outcome as JSON, and nothing else on standard output.")
    var json = false

    @Flag(help: "Print the points as CSV, and nothing else on standard output.")
    var csv = false

    @Flag(name: .shortAndLong, help: "Print no progress.")
    var quiet = false

    package init() {}

    package func run() async throws {
        guard !(json && csv) else { throw HarnessError("--json and --csv: give one of them") }
        if show {
            try Self.show(file)
            return
        }
        if list, resume == nil, flagOfPlan == nil {
            Self.listBundled()
            return
        }
        try refuseAborting(settings, "a sweep makes whole runs, and none ends early")
        if let runs, runs < 0 { throw HarnessError("--runs \(runs): expected 0 or more") }
        if let report { try FileName.check(report, "--report", [".html", ".htm", ".md"]) }
        if let resume, let flag = flagOfPlan {
            throw HarnessError("--resume takes everything from \(resume)/sweep.json: leave out \(flag)")
        }
        let plan = try resume.map(SweepStore.plan) ?? makePlan()
        if let resume, plan.version != Versions.pushload {
            throw HarnessError(
                "\(resume): made by version \(plan.version), this is \(Versions.pushload); the runs of two versions do not "
                    + "belong in one sweep")
        }
        if plan.scenario.abortOnFail {
            Console.diagnostic("note: abort_on_fail is not heeded: a sweep makes whole runs, and none ends early\n")
        }
        let session = try SweepSession(plan, most: runs, isQuiet: quiet)
        if list {
            Console.output(session.listing)
            return
        }
        let folder = try resume ?? output ?? RunFolder(in: "results/runs", name: plan.scenario.name).path
        let store = try SweepStore.open(folder, plan)
        let signals = StopSignals { session.runner.stop() }
        defer { signals.cancel() }
        let end = try await session.go(store)
        let outcome = SweepAnalysis.make(plan, session.schedule, end.runs, isFinished: end.reason == .finished)
        try write(outcome, store)
        let failures = SweepAnalysis.failures(outcome)
        let unreached = SweepAnalysis.unreached(end.runs, of: outcome.points.count)
        for line in failures.isEmpty ? unreached : failures { Console.error(line) }
        if end.reason != .finished {
            let what =
                switch end.reason {
                case .interrupted: "interrupted"
                case .unreached: "not finished"
                default: "stopped after \(Units.counted(runs ?? 0, "run"))"
                }
            Console.diagnostic("\(what); go on with: pushload sweep --resume \(folder)\n")
        }
        let isWhole = end.reason == .finished || end.reason == .limit
        if !isWhole || !failures.isEmpty { throw ExitCode(1) }
    }

    /// What was given of that which makes a plan.
    private var flagOfPlan: String? {
        let own: [(String, Bool)] = [
            (file ?? "", file != nil), ("--vary", !vary.isEmpty), ("--search", search != nil),
            ("--points", points != nil),
            ("--goal", goal != nil), ("--repeat", repeats != nil), ("--set", !settings.isEmpty),
            ("--output", output != nil),
        ]
        if let flag = own.first(where: \.1)?.0 { return flag }
        let key = given.first { $0.texts != nil }?.key
        return key.flatMap(ScenarioKey.named)?.flag
    }

    private func makePlan() throws(HarnessError) -> SweepPlan {
        var scenario = Scenario()
        var sweep = SweepFile()
        do throws(ScenarioFile.Problems) {
            if let file { sweep = try SweepFile.read(file, to: &scenario) }
        } catch { throw HarnessError(error.description) }
        do throws(SettingsError) {
            ScenarioArguments.tell(
                passedOver: try ScenarioFile.applyEnvironment(ProcessInfo.processInfo.environment, to: &scenario))
            for axis in try SweepAxis.list(parsing: vary) { sweep.vary(axis) }
            // What is varied would replace a flag without a word.
            let flags = given.filter { $0.texts != nil }.map { ($0.key, $0.texts?.first) }
            for axis in sweep.axes {
                var both = scenario
                let varied = (axis.values.first?.settings ?? []).map { ($0.key, String?.none) }
                try both.makeRoom(for: flags + varied) { text, _ in SettingsError("\(axis.name) is varied: \(text)") }
            }
            try sweep.search.apply(method: search, points: points, repeats: repeats, goal: goal)
        } catch { throw HarnessError(error.description) }
        try ScenarioArguments.apply(
            settings: settings, flags: given, to: &scenario)
        if file == nil, length.name == nil { scenario.name = "sweep" }
        do throws(SettingsError) {
            return try SweepPlan(
                version: Versions.pushload, startedAt: ResultDocument.Run.timestamp(Date()), scenario: scenario,
                axes: sweep.axes, search: sweep.search)
        } catch { throw HarnessError(error.description) }
    }

    private func write(_ outcome: SweepDocument, _ store: SweepStore) throws(HarnessError) {
        let table = SweepCSV.text(outcome)
        let bytes: [UInt8]
        do throws(ResultError) { bytes = try SweepFiles.encode(outcome) } catch {
            throw HarnessError(error.description, .failed)
        }
        if json { Console.output(String(decoding: bytes, as: UTF8.self)) }
        try store.write(bytes, named: "outcome.json")
        try store.write(Array(table.utf8), named: "points.csv")
        if csv { Console.output(table) }
        let picture = json || csv ? Console.picture(of: STDERR_FILENO) : Console.picture
        let text = SweepReport.text(outcome, on: picture) + "sweep: \(store.folder)\n"
        if json || csv { Console.diagnostic(quiet ? "" : text) } else { Console.output(text) }
        if let report {
            let page = report.hasSuffix(".md") ? SweepPage.markdown(outcome) : SweepPage.html(outcome)
            do throws(ResultError) { try ResultFile.write(Array(page.utf8), to: report) } catch {
                throw HarnessError(error.description, .unwritable)
            }
            Console.diagnostic("report: \(report)\n")
        }
    }

    private static func listBundled() {
        for entry in BundledSweeps.all {
            Console.output(entry.name.padding(toLength: 21, withPad: " ", startingAt: 0) + entry.summary + "\n")
        }
    }

    private static func show(_ name: String?) throws(HarnessError) {
        guard let name, let entry = BundledSweeps.all.first(where: { $0.name == name }) else {
            let what = name.map { "no bundled sweep \($0)" } ?? "--show: give the name of a bundled sweep"
            throw HarnessError(what + NearestName.hint(name ?? "", among: BundledSweeps.all.map(\.name)))
        }
        Console.output("# \(entry.summary)\n\(entry.text)\n")
    }
}

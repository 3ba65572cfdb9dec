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
import Synchronization
import Workers

struct RunCommand: AsyncParsableCommand, RunFlags {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Send pushes and measure them.",
        discussion: """
              pushload run -n 1M                            a million to the bundled mock
              pushload run --rate 20k -D 30s --warmup 5s    open loop: 20,000 a second
              pushload run steady --threshold "p99 < 50ms"  a scenario with a condition

            --help-all lists every flag, each with its default and range: the key, topic and certificates for a server of your own \
            and traces among them; those of one run of many workers too (docs/workers.md).

            Exit status: 0 when every push was accepted (or rejected for an expected reason, or as a threshold about accepted, \
            rejected, failed or unsent pushes allows), 1 when pushes failed, were rejected, not sent, lost or doubled, or the \
            rate was not reached, 64 when the request itself is wrong, 74 when what was made cannot be written, 98 when the figure of \
            --until is not known well enough, 99 when a threshold was crossed. Of several: 74; then 1 for books or a ledger that are \
            wrong, or no connection at all; then 99, then 1, then 98.
            """)

    @OptionGroup var source: ScenarioArguments
    @OptionGroup(title: "Load") var length: LengthOptions
    @OptionGroup(title: "Load") var thresholds: ThresholdOptions
    @OptionGroup(title: "Load") var aborting: AbortOptions
    @OptionGroup(title: "Load") var precision: PrecisionOptions
    @OptionGroup(title: "Load") var load: LoadOptions
    @OptionGroup(title: "Identity") var identity: IdentityOptions
    @OptionGroup(title: "Transport") var transport: TransportFlags
    @OptionGroup(title: "Workers") var workers: WorkerOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Folder for results. Default: results/runs. Not of several workers, whose own folder has them.",
            valueName: "folder"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Write a report too; a name without a folder is put beside the result, its end says the format: .html, .md or .txt. Of several workers the first writes it.",
            valueName: "file"))
    var report: String?

    @Flag(
        help:
            "Print the result document on standard output, and nothing else there. Of several workers the first prints it."
    )
    var json = false

    @Flag(name: .shortAndLong, help: "Print neither progress nor summary.")
    var quiet = false

    @Flag(help: "Charts over time instead of the progress line, where the terminal has 40 columns and 16 rows or more.")
    var live = false

    /// The flags that were given, those that only this command has among them.
    private var settings: [(key: String, texts: [String]?)] { given + precision.given }

    func run() async throws {
        guard !(live && quiet) else { throw HarnessError("--live and --quiet: give one of them") }
        let scenario = try source.scenario(settings)
        try source.refuseIdle(scenario, settings)
        if let report { try FileName.check(report, "--report", ReportFormat.allCases.flatMap(\.endings)) }
        if let rank = try workers.rank() {
            if let output {
                throw HarnessError("--output \(output): results go to the folder of --rendezvous; leave --output out")
            }
            // Before the folder has anything of it.
            if let replay = scenario.replay { throw RunInputs.refusal(ofWorkersFor: replay) }
            return try await run(scenario, as: rank)
        }
        let run = try source.locating(scenario, settings) { try Run(scenario, identity: try scenario.identity()) }
        let display = RunDisplay(name: scenario.name, isQuiet: quiet, isLive: live)
        defer { display.close() }
        let signals = stopSignals(run, display)
        defer { signals.cancel() }
        // Before anything is sent: a result that cannot be written is found out now.
        let folder = try RunFolder(in: output ?? "results/runs", name: scenario.name)
        do { try checkRoom(folder.path) } catch {
            folder.removeIfEmpty()
            throw error
        }
        // Ctrl-Z gives the terminal back before the program sleeps.
        let pauses = StopSignals(live && display.isRedrawn ? [SIGTSTP] : []) {
            display.close()
            kill(getpid(), SIGSTOP)
        }
        defer { pauses.cancel() }
        let product: RunProduct
        do {
            let output = RunOutput(
                folder: folder.path, warn: { problem in display.say(problem) },
                tell: { [isQuiet = quiet] words in if !isQuiet { display.say(words) } })
            product = try await run.execute(
                isTerminal: display.isRedrawn, judge: judge(scenario), output: output
            ) { display.show(Reports.Progress($0)) }
        } catch let error as HarnessError {
            // Stays when the run had already left something in it.
            folder.removeIfEmpty()
            throw error
        } catch {
            folder.removeIfEmpty()
            throw HarnessError("\(error)", .failed)
        }
        display.close()
        try finish(product, folder.path, scenario.parsedThresholds)
    }

    /// Ctrl-C stops the run.
    func stopSignals(_ run: Run, _ display: RunDisplay) -> StopSignals {
        let stops = Mutex(0)
        return StopSignals { [isQuiet = quiet] in
            run.stop()
            let isFirst = stops.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst, !isQuiet {
                display.say("stopping: open pushes may still be answered, for 5 s; once more ends the run at once")
            }
        }
    }

    /// - Parameter workers: of the run: each judges its own pushes.
    func judge(_ scenario: Scenario, workers: Int = 1) -> LiveJudge? {
        guard scenario.abortOnFail else { return nil }
        let live = LiveThresholds(
            scenario.parsedThresholds, window: scenario.abortOnFailWindow, delay: scenario.abortOnFailDelay,
            isOpenLoop: scenario.isOpenLoop, workers: workers)
        if !quiet, let warning = live.warning(rate: scenario.rate.map { $0 / Double(workers) }) {
            Console.error(warning)
        }
        return { live.crossed(at: $0, $1, total: $2, due: $3, planned: $4) }
    }

    /// What would keep the result from being written.
    func checkRoom(_ folder: String) throws(HarnessError) {
        do throws(ResultError) {
            try ResultFile.checkRoom(in: folder)
            if let report, report.contains("/") { try ResultFile.checkWritable(report) }
        } catch {
            throw HarnessError(error.description)
        }
    }

    /// Prints before it writes: what was measured is seen whatever becomes of the disk.
    private func finish(_ product: RunProduct, _ folder: String, _ thresholds: [Threshold]) throws {
        let result = product.result
        let (verdict, printed) = try show(result, folder, thresholds, abortedFor: product.abortedFor)
        try write(product, folder, encoded: printed)
        try writeReport(result, folder)
        if let lost = product.lostFeedback {
            Console.error(lost)
            if verdict.isGood { throw ExitCode(HarnessError.Kind.unwritable.rawValue) }
        }
        if !verdict.isGood { throw ExitCode(verdict.exitCode) }
    }

    /// Prints the result, or where nothing is to be printed what is wrong with it.
    ///
    /// - Returns: the result as JSON too, if that was printed.
    func show(
        _ result: ResultDocument, _ folder: String, _ thresholds: [Threshold], abortedFor: String? = nil
    ) throws -> (verdict: RunVerdict, printed: [UInt8]?) {
        let path = folder + "/result.json"
        let verdict = RunVerdict(result, thresholds: thresholds)
        let held = verdict.thresholds.map { (text: $0.description, isHeld: $0.isHeld) }
        if !quiet {
            let text = SummaryReport.text(
                result, path: path, problems: verdict.problems, thresholds: held,
                on: json ? Console.picture(of: STDERR_FILENO) : Console.picture)
            if json { Console.diagnostic(text) } else { Console.output(text) }
        } else if !verdict.isGood {
            if let why = abortedFor { Console.error("ended early: \(why)") }
            let missed = verdict.isPrecise ? [] : ["not reached: \(result.trust?.until?.words ?? "")"]
            Console.error(
                (verdict.problems + held.filter { !$0.isHeld }.map { "threshold crossed: \($0.text)" } + missed).joined(
                    separator: "\n"))
        }
        guard json else { return (verdict, nil) }
        let encoded: [UInt8]
        do throws(ResultError) { encoded = try ResultFile.encode(result) } catch {
            throw HarnessError(error.description, .unwritable)
        }
        Console.output(String(decoding: encoded, as: UTF8.self))
        return (verdict, encoded)
    }

    /// - Parameters:
    ///   - worker: whose part of a run it is; nil: the run is one process's.
    ///   - encoded: the result, if it is there as JSON already.
    /// - Throws: one line that says where the result is instead.
    func write(
        _ product: RunProduct, _ folder: String, worker: Int? = nil, encoded: [UInt8]? = nil
    ) throws(HarnessError) {
        let path = folder + "/result.json"
        do throws(ResultError) {
            let encoded = if let encoded { encoded } else { try ResultFile.encode(product.result) }
            try ResultFile.write(encoded, to: path)
            try ResultFile.write(Array(product.percentiles.utf8), to: folder + "/latency.hgrm")
            try ResultFile.write(Array(SeriesReport.csv(product.result).utf8), to: folder + "/series.csv")
        } catch {
            let name = product.result.run.id + (worker.map { "-worker-\($0)" } ?? "")
            throw HarnessError(error.description + Self.rescued(product.result, from: path, name), .unwritable)
        }
    }

    func writeReport(_ result: ResultDocument, _ folder: String) throws {
        guard let report else { return }
        try ReportFile.write(
            [ReportFile.run(result)], ReportFormat(name: report) ?? .html,
            to: report.contains("/") ? report : folder + "/" + report)
    }

    /// Where the result is that could not be written whole beside its run, as the end of a sentence.
    private static func rescued(_ result: ResultDocument, from path: String, _ name: String) -> String {
        if (try? ResultFile.read(path)) == result { return "; the result itself is in \(path)" }
        let other = FileManager.default.temporaryDirectory.path + "/pushload-\(name).json"
        do throws(ResultError) { try ResultFile.write(result, to: other) } catch {
            return "; nor can \(other) be written: the summary is all there is"
        }
        return "; the result is in \(other) instead"
    }
}

extension Reports.Progress {
    init(_ progress: RunProgress) {
        self.init(
            done: progress.counts.ended, planned: progress.planned, perSecond: progress.perSecond,
            target: progress.target, inFlight: progress.inFlight, p50: progress.p50, p99: progress.p99,
            errors: progress.counts.ended - progress.counts.accepted, elapsed: progress.elapsed,
            secondsLeft: progress.secondsLeft, backlog: progress.backlog,
            outage: progress.noConnection.map {
                Self.outage(lasts: $0.lasts, cause: $0.cause, nextAttempt: $0.nextAttempt)
            } ?? "")
    }
}

import ArgumentParser
import Flags
import Foundation
import Harness
import Measurement
import Reference
import Reports
import Results
import Scenarios
import Settings

package struct GateCommand: AsyncParsableCommand, RunFlags {
    package static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Hold what a push costs against a baseline, for CI.",
        discussion: """
            Runs the baseline's scenario until it can tell. Exit status: 0 when no cost has grown by more than --tolerance, 99 for \
            a regression, 98 when the rounds there was time for do not tell (--cannot-tell pass: 0), 1 when a round went wrong, 64 \
            when the request itself is wrong. With --update, makes or renews the baseline; the flags of run are for that. \
            --help-all lists every one.
            """)

    @Option(help: ArgumentHelp("The baseline's file, as results/baselines/alert.json.", valueName: "file"))
    var baseline: String

    @Flag(help: "Make the baseline, or renew it.")
    var update = false

    @Option(help: ArgumentHelp("Why the baseline is made or renewed; with --update.", valueName: "text"))
    var reason: String?

    @OptionGroup(title: "Judging") var judging: GateOptions
    @OptionGroup(title: "Output") var output: GateOutput
    @OptionGroup var source: ScenarioArguments
    @OptionGroup(title: "Load") package var length: LengthOptions
    @OptionGroup(title: "Load") package var load: LoadOptions
    @OptionGroup(title: "Identity") package var identity: IdentityOptions
    @OptionGroup(title: "Transport") package var transport: TransportFlags

    package init() {}

    package func run() async throws {
        try judging.check()
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: baseline, isDirectory: &isFolder), isFolder.boolValue {
            throw HarnessError("--baseline \(baseline): is a folder; expected a file, such as \(baseline)/alert.json")
        }
        let series = RunSeries()
        let signals = StopSignals { series.stop() }
        defer { signals.cancel() }
        if update {
            try await renew(series)
        } else {
            try await judge(series)
        }
    }

    // MARK: Judging

    private func judge(_ series: RunSeries) async throws {
        let flag = given.first { $0.texts != nil }.map { ScenarioKey.named($0.key)?.flag ?? $0.key }
        if let word = flag ?? source.settings.first ?? source.file {
            throw HarnessError("\(word): the baseline says what is run; flags of run go with --update")
        }
        guard reason == nil else { throw HarnessError("--reason goes with --update") }
        let known: BaselineDocument
        do throws(ResultError) { known = try BaselineFile.read(baseline) } catch {
            throw HarnessError(error.description)
        }
        guard known.kernel == ReferenceKernel.version else {
            throw HarnessError(
                "\(baseline): made with reference kernel \(known.kernel), this version has \(ReferenceKernel.version); "
                    + "renew it with --update")
        }
        let rules = try judging.rules(known)
        try output.check()
        let rounds = try GateRounds(
            try ScenarioSettings.read(known.scenario, origin: baseline), in: series,
            ifStopped: "the rounds so far do not tell", injectedCPU: judging.injectedCPU, onOneCore: known.oneCore)
        let begun = MonotonicSeconds.now()
        let budget = try judging.seconds
        _ = try rounds.next()
        var progress = GateProgress(known, rules)
        var step = GateProgress.Step.round
        while step != .decided {
            if step == .pause { try await Self.pause(series) }
            let roundBegun = MonotonicSeconds.now()
            let round = try rounds.next()
            let now = MonotonicSeconds.now()
            step = progress.add(round, isLast: now - begun + (now - roundBegun) > budget)
            show(progress, step)
        }
        var warnings = GateWarnings.of(known)
        if judging.injectedCPU > 0 { warnings.append("every push was slowed down by \(judging.injectedCPU) ns") }
        let gate = GateDocument(
            baseline: known.name, reason: known.reason, baselineUpdatedAt: known.updatedAt, verdict: progress.verdict,
            metrics: progress.metrics, rounds: progress.rounds, baselineRounds: known.metrics[0].raw.count,
            seconds: MonotonicSeconds.now() - begun, warnings: warnings)
        try output.write(gate, failsWhenUnsure: judging.cannotTell == .fail)
        switch gate.verdict {
        case .pass, .improved, .information: return
        case .regression: throw ExitCode(99)
        case .cannotTell: if judging.cannotTell == .fail { throw ExitCode(98) }
        }
    }

    private func show(_ progress: GateProgress, _ step: GateProgress.Step) {
        guard !output.quiet else { return }
        let count = progress.rounds.count
        if step == .pause {
            Console.diagnostic(
                "\(Units.counted(count, "round")): looks like a regression; as many again after a pause\n")
        } else if count % GateRules.roundsPerLook == 0 {
            Console.diagnostic("\(Units.counted(count, "round"))\(step == .decided ? "" : ": cannot tell yet")\n")
        }
    }

    // MARK: Making baselines

    private func renew(_ series: RunSeries) async throws {
        guard let reason, !reason.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty else {
            throw HarnessError("--update needs --reason: why what a push costs may be what it is now")
        }
        try output.refuse(with: "--update")
        let exists = FileManager.default.fileExists(atPath: baseline)
        var before: BaselineDocument?
        if exists {
            // What cannot be read is not overwritten.
            do throws(ResultError) { before = try BaselineFile.read(baseline) } catch {
                throw HarnessError("\(error); remove it to make it anew")
            }
        }
        let scenario = try scenario(before)
        let rounds = try GateRounds(
            scenario, in: series,
            ifStopped: before == nil ? "no baseline was written" : "\(baseline) is kept as it was",
            injectedCPU: judging.injectedCPU, onOneCore: !judging.allCores)
        // Before anything is sent: what cannot be written is found out now.
        do throws(ResultError) { try BaselineFile.checkWritable(baseline) } catch {
            throw HarnessError(error.description)
        }
        _ = try rounds.next()
        var made: [GateDocument.Round] = []
        let count = judging.baselineRounds
        while made.count < count {
            // In four parts, so that what disturbs the machine for a while is not all there is.
            if !made.isEmpty, made.count % max(1, count / 4) == 0 { try await Self.pause(series) }
            made.append(try rounds.next())
            if !output.quiet, made.count % GateRules.roundsPerLook == 0 {
                Console.diagnostic("\(made.count) of \(Units.counted(count, "round"))\n")
            }
        }
        let facts = MachineFacts()
        let renewed = BaselineDocument(
            name: Self.name(baseline), reason: reason, updatedAt: Date().formatted(.iso8601),
            version: Versions.pushload, commit: Versions.commit,
            scenario: ScenarioSettings.write(scenario),
            machine: .init(
                host: facts.host, cpu: facts.cpuModel, cores: facts.cores, kernel: facts.kernel, system: facts.system),
            kernel: ReferenceKernel.version, oneCore: !judging.allCores, metrics: GateMetric.baseline(made))
        do throws(ResultError) {
            try BaselineFile.write(renewed, to: baseline)
            Console.output(
                output.json
                    ? String(decoding: try BaselineFile.encode(renewed), as: UTF8.self)
                    : GateReport.update(renewed, before: before, path: baseline, on: Console.picture))
        } catch {
            throw HarnessError(error.description, .unwritable)
        }
    }

    /// What the flags say, over what the baseline had; a scenario that is named begins anew.
    private func scenario(_ before: BaselineDocument?) throws(HarnessError) -> Scenario {
        var scenario: Scenario
        if let before, source.file == nil {
            scenario = try ScenarioSettings.read(before.scenario, origin: baseline)
            try ScenarioArguments.apply(settings: source.settings, flags: given, to: &scenario)
        } else {
            scenario = try source.scenario(given)
        }
        if scenario.pushes == nil, scenario.duration == nil, scenario.stages.isEmpty, scenario.trace == nil,
            scenario.sends.isEmpty, scenario.replay == nil
        {
            scenario.pushes = GateOptions.pushes
        }
        return scenario
    }

    private static func pause(_ series: RunSeries) async throws {
        let end = MonotonicSeconds.now() + GateOptions.pause
        while MonotonicSeconds.now() < end, !series.isStopped { try await Task.sleep(nanoseconds: 50_000_000) }
    }

    /// The file's name without its suffix.
    private static func name(_ path: String) -> String {
        ((path as NSString).lastPathComponent as NSString).deletingPathExtension
    }
}
